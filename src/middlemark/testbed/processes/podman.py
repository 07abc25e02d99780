"""One private storage of Podman: where it is, how Podman is called on it, and how it is removed with all it holds.

Nothing of the user's own containers is read or touched, as every storage is a folder of its own with its own settings;
all containers in it are ours. Who runs containers in it is `hosts.container`'s, the ledger's entry its creator's.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from middlemark.results.files import writing
from middlemark.testbed.processes import cgroup, procfs
from middlemark.testbed.processes.procfs import Identity

CGROUPS = Path("/sys/fs/cgroup")
REMOVAL_S = 20.0
# Podman requests higher limits than a process without CAP_SYS_RESOURCE may have, and never more processes than this.
MOST_FILES, MOST_PROCESSES = 1 << 20, 32768


_FOLDERS = {"root": "root", "runroot": "run", "tmpdir": "tmp"}


@dataclass(frozen=True)
class Runtime:
    """The program that makes containers of Podman's orders, and who makes their control groups."""

    name: str
    cgroup_manager: str


@dataclass(frozen=True)
class Storage:
    """A folder of Podman's; everything that it writes lies in it."""

    folder: Path

    def create(self, runtime: Runtime) -> None:
        """Makes the folder and its settings; it must be in the ledger already."""
        with writing(self.folder):
            self.folder.mkdir(mode=0o700)
            self._settings.write_text(_settings(runtime, self.folder))

    def command(self, arguments: Sequence[str]) -> list[str]:
        """Podman on this storage, for whatever environment it is started in."""
        folders = [f"--{option}={self.folder / name}" for option, name in _FOLDERS.items()]
        return ["env", f"CONTAINERS_CONF={self._settings}", "podman", *folders, "--storage-driver=vfs", *arguments]

    def remove(self) -> None:
        """Ends and removes the containers, then all else of the storage; says nothing of what is gone already."""
        if self._settings.exists() and shutil.which("podman"):
            removal = self.command(["rm", "--all", "--force", "--time=0", "--volumes"])
            with suppress(subprocess.TimeoutExpired):  # the rest goes without it
                subprocess.run(removal, capture_output=True, timeout=REMOVAL_S, check=False)
        _wait_or_kill(self.folder)
        for mount in sorted(_mounts_below(self.folder), reverse=True):
            subprocess.run(["umount", "--lazy", mount], capture_output=True, check=False)
        for group in self._cgroups():
            cgroup.remove_group(group)  # an ended monitor stays a member until its status was read
        if not _mounts_below(self.folder):  # else their contents would be deleted
            shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def cgroup_parent(self) -> str:
        """The control group that holds those of its containers."""
        return f"/{self.folder.name}"

    @property
    def _settings(self) -> Path:
        return self.folder / "containers.conf"

    def _cgroups(self) -> Iterator[Path]:
        """Its control groups in all hierarchies, the innermost first."""
        for top in (*CGROUPS.glob(self.folder.name), *CGROUPS.glob(f"*/{self.folder.name}")):
            for folder, _, _ in os.walk(top, topdown=False):
                yield Path(folder)


def parent_folder() -> Path:
    """Where storages may be: Podman refuses paths of over 50 characters, and hosts hide temporary folders."""
    if os.geteuid() == 0:
        return Path("/run")
    return Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir())


def _settings(runtime: Runtime, folder: Path) -> str:
    files = min(resource.getrlimit(resource.RLIMIT_NOFILE)[1], MOST_FILES)
    count = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    most = MOST_PROCESSES if count == resource.RLIM_INFINITY else min(count, MOST_PROCESSES)
    return f"""\
[containers]
default_ulimits = ["nofile={files}:{files}", "nproc={most}:{most}"]
[engine]
cgroup_manager = "{runtime.cgroup_manager}"
events_logger = "none"
lock_type = "file"
runtime = "{runtime.name}"
[network]
network_backend = "netavark"
network_config_dir = "{folder / "networks"}"
"""


def _wait_or_kill(folder: Path) -> None:
    """Waits until no process works on the storage: each container's monitor cleans up after it and then ends."""
    deadline = time.monotonic() + REMOVAL_S
    while left := _processes_of(folder):
        if time.monotonic() > deadline:
            procfs.end(left)
            return
        time.sleep(0.01)


def _processes_of(folder: Path) -> list[Identity]:
    """Podman's processes that were told of the folder: nobody else knows its name."""
    processes = []
    for process in Path("/proc").glob("[0-9]*"):  # a pattern below would be looked up in those that are gone
        try:
            if f"{folder}/".encode() in (process / "cmdline").read_bytes():
                processes.append(procfs.identity(int(process.name)))
        except OSError:  # gone meanwhile
            continue
    return [process for process in processes if process is not None]


def _mounts_below(folder: Path) -> list[str]:
    points = (line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines())
    return [point for point in points if point.startswith(f"{folder}/")]
