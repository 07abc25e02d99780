"""A guest: a kernel of its own that runs one script and ends, for what this machine's kernel may lack.

It is emulated, and its time is the count of its instructions: a busy machine makes it slower to wait for, not slower for
itself. What it runs comes from this machine, its kernel from a Debian package that is unpacked and never installed.
"""

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from middlemark.errors import EnvironmentNotReady
from middlemark.installation import CHECKOUT
from middlemark.testbed.hosts import rootfs
from middlemark.testbed.hosts.rootfs import Contents

KERNELS = Path(os.environ.get("CARGO_TARGET_DIR") or CHECKOUT / "target") / "guest"
GET_KERNEL = (
    f"mkdir -p {KERNELS} && cd {KERNELS} && "
    "apt-get download $(apt-cache depends linux-image-cloud-amd64 | awk '/Depends: linux-image/ { print $2 }')"
)
MODULES = ("veth", "bridge", "sch_netem", "sch_tbf", "sch_ingress", "cls_matchall", "act_mirred")
# What a program prints goes to the second serial port: the kernel writes to the first when it likes.
SAID = "/dev/ttyS1"
PATIENCE_S = 600
# 1 ns an instruction, and no waiting where the guest has nothing to do.
CLOCK = ("-icount", "shift=0,sleep=off", "-rtc", "base=2026-01-01,clock=vm", "-seed", "1")


@dataclass(frozen=True)
class Guest:
    """What a guest is booted from."""

    kernel: Path
    initial: Path
    folder: Path

    def run(self) -> str:
        """Boots it, and gives what it printed to `SAID` when it has ended by itself."""
        console, said = self.folder / "console", self.folder / "said"
        # It goes when its starter is gone, however that ended.
        command = ["setpriv", "--pdeathsig", "KILL", "qemu-system-x86_64", "-M", "pc", "-cpu", "max", "-m", "512"]
        command += [*CLOCK, "-nodefaults", "-display", "none", "-no-reboot"]
        command += ["-kernel", str(self.kernel), "-initrd", str(self.initial)]
        command += ["-append", "console=ttyS0 quiet panic=-1"]
        command += ["-serial", f"file:{console}", "-serial", f"file:{said}"]
        result = subprocess.run(command, check=False, timeout=PATIENCE_S, capture_output=True, text=True)
        shown = console.read_text() if console.exists() else ""
        assert "the guest has ended well" in shown, f"{result.stderr}{shown.partition('Kernel panic')[0]}"
        return said.read_text()


def guest(folder: Path, contents: Contents, script: str) -> Guest:
    """A guest with these programs that runs a shell script as root; the first command that fails ends it."""
    package = _kernel_package()
    unpacked, root = folder / "kernel", folder / "root"
    subprocess.run(["dpkg-deb", "-x", package, unpacked], check=True)
    rootfs._build(root, rootfs.files_of(contents))
    _add_busybox(root)
    modules = _in_order(MODULES, {file.stem: file for file in unpacked.rglob("*.ko")})
    for module in modules:
        shutil.copy(module, root)
    _write_program(root / "script", script)
    _write_program(root / "init", _first_process([module.name for module in modules]))
    initial = folder / "initial"
    with initial.open("wb") as archive:
        # Not compressed: an emulated processor unpacks slowly.
        subprocess.run(["sh", "-ec", "find . | busybox cpio -o -H newc"], cwd=root, stdout=archive, check=True)
    return Guest(next(unpacked.glob("boot/vmlinuz-*")), initial, folder)


def _kernel_package() -> Path:
    if platform.machine() != "x86_64":
        raise EnvironmentNotReady("the guest runs this machine's programs", remedy="run its tests on x86-64")
    for program, package in (("qemu-system-x86_64", "qemu-system-x86"), ("busybox", "busybox-static")):
        if shutil.which(program) is None:
            raise EnvironmentNotReady(
                f"`{program}` is not installed, and guests need it",
                remedy=f"apt-get install --no-install-recommends {package}",
            )
    packages = sorted(KERNELS.glob("linux-image-*_amd64.deb"))
    if not packages:
        raise EnvironmentNotReady(f"there is no kernel package in {KERNELS}", remedy=GET_KERNEL)
    return packages[-1]


def _add_busybox(root: Path) -> None:
    busybox = Path(str(shutil.which("busybox")))
    (root / "bin").mkdir(exist_ok=True)
    shutil.copy(busybox, root / "bin/busybox")
    (root / "bin/sh").symlink_to("busybox")


def _in_order(names: Iterable[str], modules: dict[str, Path]) -> list[Path]:
    """The modules and what they need, which comes first, as each module says itself."""
    ordered: dict[Path, None] = {}
    for name in names:
        module = modules.get(name)
        if module is None:  # part of the kernel itself
            continue
        needed = re.search(rb"\0depends=([^\0]*)\0", module.read_bytes())
        needs = needed[1].decode().replace("-", "_").split(",") if needed else []
        ordered |= dict.fromkeys([*_in_order(filter(None, needs), modules), module])
    return list(ordered)


def _first_process(modules: Sequence[str]) -> str:
    """When it ends, the kernel panics, and the guest with it: a command that fails needs no more than that."""
    lines = [
        "/bin/busybox mkdir /applets",
        "/bin/busybox --install -s /applets",
        "export PATH=/applets",
        "mount -t proc proc /proc",
        "mount -t sysfs sysfs /sys",
        "mount -t devtmpfs dev /dev",
        *(f"insmod /{module}" for module in modules),
        f"/script > {SAID}",
        "echo the guest has ended well",
        "poweroff -f",
    ]
    return "\n".join(lines)


def _write_program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\nset -e\n{script}\n")
    path.chmod(0o755)
