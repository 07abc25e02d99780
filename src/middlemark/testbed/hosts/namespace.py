"""A host made of namespaces: own interfaces and sockets, host name, shared memory and temporary folders.

What would let two hosts reach each other beside their networks is private to each; all else of the file system is this
machine's. A shell holds the namespaces, and nothing is made in this machine's own: when it ends, even because its
starter was killed, the kernel takes their interfaces and mounts away.
"""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from middlemark.errors import EnvironmentBroke, EnvironmentNotReady, EnvironmentUnusable
from middlemark.installation import CHECKOUT
from middlemark.installation.answers import is_kill
from middlemark.testbed.hosts.host import Host
from middlemark.testbed.processes import procfs
from middlemark.testbed.processes.child import LineProcess, required
from middlemark.testbed.processes.ledger import Ledger
from middlemark.testbed.processes.procfs import SHARED_MEMORY

# A host starts from the machine's own values where a new namespace would have the kernel's. The limits of all
# sockets' buffers, net.core.rmem_max and wmem_max, are the machine's in every namespace.
_AS_THE_MACHINE = (
    "net/ipv4/tcp_rmem",
    "net/ipv4/tcp_wmem",
    "net/ipv4/tcp_congestion_control",
    "net/ipv4/ip_local_port_range",
    "net/ipv4/igmp_max_memberships",
    "net/core/somaxconn",
)
# Without IPv6 no neighbour or router discovery is among the frames that are counted.
_SET = {"net/ipv4/ip_forward": "0", "net/ipv6/conf/all/disable_ipv6": "1", "net/ipv6/conf/default/disable_ipv6": "1"}
_MOUNT_FLAGS = {
    os.ST_NOSUID: "nosuid", os.ST_NODEV: "nodev", os.ST_NOEXEC: "noexec", os.ST_NOATIME: "noatime",
    os.ST_NODIRATIME: "nodiratime", os.ST_RELATIME: "relatime",
}  # fmt: skip
_END = "= the status is"


@dataclass(frozen=True)
class PrivateFolders:
    """The machine's folders that a host has its own of, and where they really are."""

    base: Path
    hidden: tuple[Path, ...]
    shown: tuple[Path, ...]
    """What of the hidden folders is seen all the same, to be read only."""

    @classmethod
    def below(cls, base: Path, shown: Iterable[Path]) -> PrivateFolders:
        """Those of a host whose private files are below this folder."""
        temporary = {Path("/tmp"), Path("/var/tmp"), Path(tempfile.gettempdir())}  # noqa: S108 - they are what is hidden
        if "XDG_RUNTIME_DIR" in os.environ:
            temporary.add(Path(os.environ["XDG_RUNTIME_DIR"]))
        hidden = _outermost(path.resolve() for path in temporary if path.is_dir())
        wanted = _outermost(path.resolve() for path in (*shown, CHECKOUT, Path(sys.prefix)))
        return cls(
            base, hidden, tuple(path for path in wanted if any(path.is_relative_to(folder) for folder in hidden))
        )

    def really(self, path: Path) -> Path:
        """Where on this machine a path of the host is."""
        path = path.parent.resolve() / path.name
        for number, folder in enumerate(self.hidden):
            if path.is_relative_to(folder):
                return self.base / str(number) / path.relative_to(folder)
        return path

    def create(self) -> None:
        """Makes the folders, and in them the places of what is shown."""
        self.base.mkdir(mode=0o700)
        for number, _ in enumerate(self.hidden):
            folder = self.base / str(number)
            folder.mkdir()
            folder.chmod(0o1777)
        self.really(Path(tempfile.gettempdir(), "x")).parent.mkdir(parents=True, exist_ok=True)
        for path in self.shown:
            place = self.really(path)
            if path.is_dir():
                place.mkdir(parents=True, exist_ok=True)
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.touch()

    def mounts(self) -> list[str]:
        """The commands that put them in place."""
        lines = []
        for path in self.shown:
            place = shlex.quote(str(self.really(path)))
            lines += [
                f"mount --bind {shlex.quote(str(path))} {place}",
                f"mount -o remount,bind,ro{_flags(path)} {place}",
            ]
        # The folder that holds them all goes last: behind its own private one they are seen no more.
        for folder in sorted(self.hidden, key=self.base.is_relative_to):
            private = self.base / str(self.hidden.index(folder))
            lines.append(f"mount --rbind {shlex.quote(str(private))} {shlex.quote(str(folder))}")
        return lines


def _outermost(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Without those that lie below another."""
    outermost: list[Path] = []
    for path in sorted(set(paths)):
        if not any(path.is_relative_to(folder) for folder in outermost):
            outermost.append(path)
    return tuple(outermost)


def _flags(path: Path) -> str:
    """The flags of a mount, which have to be repeated when it is mounted again in a user namespace."""
    flags = os.statvfs(path).f_flag
    return "".join(f",{name}" for flag, name in _MOUNT_FLAGS.items() if flags & flag)


@dataclass(frozen=True)
class NamespaceHost(Host):
    """A host in the namespaces of a holder."""

    holder: Holder
    folders: PrivateFolders

    @property
    def shares_memory(self) -> bool:
        """It has a /dev/shm of its own, which goes with its namespaces."""
        return False

    def command(self, program: Sequence[str]) -> list[str]:
        """The program in the host's namespaces; the process is the program itself."""
        return [*self.limits, *self.holder.entering("net", "mount", "uts", "ipc"), *program]

    def create_folder(self, name: str, ledger: Ledger) -> tuple[Path, str]:
        """A folder under the temporary one, which is the host's own."""
        path = Path(tempfile.gettempdir(), name)
        real = self.folders.really(path)
        mark = ledger.enter("folder", real)
        real.mkdir(mode=0o700)
        return path, mark

    def collect(self, folder: Path, into: Path) -> Path:
        """Nothing to bring: it is on this machine, elsewhere."""
        del into
        return self.folders.really(folder)


def setting_up(name: str, folders: PrivateFolders) -> str:
    """The commands that make of new namespaces a host, but for its interfaces."""
    size = os.statvfs(SHARED_MEMORY)
    return "\n".join(
        [
            f"hostname {shlex.quote(name.replace('_', '-'))}",  # RFC 952 allows no underscore
            f"mount -t tmpfs -o size={size.f_blocks * size.f_frsize},mode=1777 tmpfs {SHARED_MEMORY}",
            *folders.mounts(),
            *network_settings(),
        ]
    )


def network_settings() -> list[str]:
    """The commands that give a new network namespace the machine's settings and those of a test-bed."""
    settings = {name: _setting(name) for name in _AS_THE_MACHINE} | _SET
    return [_setting_command(f"/proc/sys/{name}", value) for name, value in settings.items() if value is not None]


def _setting_command(file: str, value: str) -> str:
    """Writes only what differs, as not every user may write everything."""
    quoted = shlex.quote(value)
    return f'[ ! -e {file} ] || [ "$(cat {file})" = {quoted} ] || echo {quoted} > {file}'


def _setting(name: str) -> str | None:
    try:
        return Path("/proc/sys", name).read_text().strip()
    except FileNotFoundError:
        return None


class Holder:
    """A shell with a network, mounts, a host name and System V IPC of its own."""

    def __init__(self, name: str, ledger: Ledger, beside: Holder | None = None) -> None:
        """Starts it; where this user is not root, in the user namespace of the holder beside it, or in a new one."""
        self.name = name
        self._rootless = os.geteuid() != 0
        own_user = [] if not self._rootless or beside else ["--user", "--map-root-user"]
        enter = beside.entering("user") if self._rootless and beside else []
        command = [*enter, required("unshare"), *own_user, "--net", "--mount", "--uts", "--ipc", "sh"]
        self._shell = LineProcess(f"holds the namespaces of {name}", command, ledger)

    @property
    def pid(self) -> int:
        """The process whose namespaces are entered."""
        return self._shell.pid

    @property
    def is_alive(self) -> bool:
        """Whether there still are its namespaces to be entered."""
        return procfs.identity(self.pid) is not None

    def entering(self, *namespaces: str) -> list[str]:
        """The prefix of a command that is to run in these namespaces of it."""
        user = ["--user", "--preserve-credentials"] if self._rootless else []
        others = [f"--{namespace}" for namespace in namespaces if namespace != "user"]
        return [required("nsenter"), "--target", str(self.pid), *user, *others, "--"]

    def tell(self, script: str) -> None:
        """Gives it commands and doesn't wait; `heard` must follow."""
        # Children get no standard input: it is the shell's own script that would be read.
        self._shell.tell(f"(\nset -e\n{script}\n) </dev/null; status=$?; echo; echo '{_END}' $status")

    def heard(self) -> str:
        """Waits for the commands' end and gives what they printed."""
        printed: list[str] = []
        while (line := self._shell.line()) is not None:
            if line == f"{_END} 0":
                return "\n".join(printed).strip()
            if line.startswith(_END):
                break
            printed.append(line)
        is_broken = line is None or is_kill(int(line.removeprefix(_END)))
        reason = "\n".join(printed).strip() or "it gave no reason"
        raise (EnvironmentBroke if is_broken else EnvironmentNotReady)(
            f"the namespaces of {self.name} can't be set up: {reason}",
            remedy="`middlemark doctor` says what a test-bed needs of this machine",
        )

    def run(self, script: str) -> str:
        """Has commands run in its namespaces and gives what they printed; the first that fails ends them."""
        self.tell(script)
        return self.heard()

    def end(self) -> None:
        """Ends it, and with it what its namespaces hold."""
        self._shell.end()


@contextmanager
def held_namespaces(name: str, ledger: Ledger, beside: Holder | None = None) -> Iterator[Holder]:
    """A holder that ends with the context."""
    holder = Holder(name, ledger, beside)
    try:
        yield holder
    finally:
        holder.end()


@contextmanager
def breaking_with(holders: Sequence[Holder]) -> Iterator[None]:
    """What is not ready within because one of the holders is gone, and its namespaces with it, broke."""
    try:
        yield
    except EnvironmentUnusable as lacking:
        gone = [holder.name for holder in holders if not holder.is_alive]
        if not gone:
            raise
        text = f"the namespaces of {', '.join(gone)} are gone: {lacking.missing}"
        raise EnvironmentBroke(text, remedy=lacking.remedy or "") from lacking


def run_in_all(scripts: Sequence[tuple[Holder, str]]) -> None:
    """Has each holder run its script, all at the same time."""
    for holder, script in scripts:
        holder.tell(script)
    for holder, _ in scripts:
        holder.heard()
