"""A host that is another machine, reached by SSH: one connection for the campaign, workers copied and checked by hash.

Of the other machine it needs a shell, coreutils, tar and iproute2, and leaves nothing on it but what runs right now.
How well its clock agrees with this machine's, `clock_sync` finds out.
"""

from __future__ import annotations

import secrets
import shlex
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from middlemark.errors import EnvironmentBroke, EnvironmentNotReady, EnvironmentUnusable
from middlemark.installation import OWN_UMASK
from middlemark.plan.topology import network as plan
from middlemark.testbed.hosts.host import ALONE, Attachment, Host
from middlemark.testbed.hosts.rootfs import WORKERS, Contents, file_hash, files_of
from middlemark.testbed.processes import remote
from middlemark.testbed.processes.child import Lifeline, required
from middlemark.testbed.processes.ledger import Ledger, make_private
from middlemark.testbed.processes.procfs import MARK_VARIABLE
from middlemark.testbed.processes.remote import REMOTE_VARIABLE, RemoteFolder, Unanswered, Unreachable

LISTING = "ip -o address show"
REMEDY = "try it: ssh -o BatchMode=yes TARGET true; keys and addresses are configured in ~/.ssh/config"


@dataclass(frozen=True)
class Connection:
    """An open connection, and a folder of its own on the other machine, for the executables."""

    target: str
    folder: RemoteFolder
    lifeline: Lifeline
    _copied: dict[Path, str] = field(default_factory=dict)

    def run(self, script: str, data: bytes = b"") -> str:
        """What a shell there prints."""
        try:
            return remote.run_script(self.target, script, data)
        except Unreachable as lost:
            kind = EnvironmentBroke if isinstance(lost, Unanswered) else EnvironmentNotReady
            raise kind(str(lost), remedy=REMEDY.replace("TARGET", self.target)) from lost

    def copy_executable(self, executable: Path) -> str:
        """Copies an executable and the libraries that came with it, unless that was done; gives its path there."""
        if executable not in self._copied:
            for place, source in files_of(Contents(executable)).items():
                if place.is_relative_to(WORKERS):
                    self._copy(source, self.folder.path / place.relative_to(WORKERS))
            self._copied[executable] = str(self.folder.path / executable.name)
        return self._copied[executable]

    def _copy(self, source: Path, destination: Path) -> None:
        path, parent = shlex.quote(str(destination)), shlex.quote(str(destination.parent))
        script = f"mkdir -p {parent} && cat > {path} && chmod 700 {path} && sha256sum < {path}"
        status = source.stat()
        mine, its = file_hash(source, status.st_size, status.st_mtime_ns), self.run(script, source.read_bytes()).split()
        if its[:1] != [mine]:
            raise EnvironmentNotReady(
                f"{source} was changed on its way to {self.target} (SHA-256 {' '.join(its)} instead of {mine})",
                remedy=f"is there enough space in {self.folder.path.parent} there?",
            )


_connections: dict[tuple[Path, str], Connection] = {}
"""By ledger and target: a connection lasts until its ledger is closed, which removes all of it."""


def connected(target: str, ledger: Ledger) -> Connection:
    """The connection to a target, opened unless there is one."""
    existing = _connections.get((ledger.path, target))
    if existing is not None and existing.lifeline.is_alive:
        return existing
    sockets = remote.control_folder()
    if not sockets.exists():
        ledger.enter("folder", sockets)
    make_private(sockets)
    command = [*remote.client(target, "-M"), "exec cat"]
    lifeline = Lifeline(f"the connection to {target}", command, ledger, REMEDY.replace("TARGET", target))
    folder = RemoteFolder(target, Path(tempfile.gettempdir(), f"mm-{secrets.token_hex(6)}"))
    ledger.enter("remote_folder", str(folder))
    connection = Connection(target, folder, lifeline)
    try:
        _check_silence(connection)
        connection.run(f"mkdir -m 700 {shlex.quote(str(folder.path))}")
    except EnvironmentUnusable:
        lifeline.end()
        raise
    _connections[ledger.path, target] = connection
    return connection


def _check_silence(connection: Connection) -> None:
    """A shell that prints by itself would be taken for what is asked of it."""
    if printed := connection.run("true").strip():
        raise EnvironmentNotReady(
            f"a shell of {connection.target} prints by itself: {printed.splitlines()[0][:80]!r}",
            remedy="let its ~/.bashrc print in interactive shells only: [[ $- == *i* ]] || return, as its first line",
        )


@dataclass(frozen=True)
class SshHost(Host):
    """A machine at the other end of a connection."""

    connection: Connection
    executables: Mapping[str, str]
    """Where there the executables of this machine are."""
    client_address: str
    """The address of this machine that it sees."""

    @property
    def is_connected(self) -> bool:
        """Whether the connection that it was prepared over still is."""
        return self.connection.lifeline.is_alive

    @property
    def shares_memory(self) -> bool:
        """It is another machine."""
        return False

    @property
    def starts_directly(self) -> bool:
        """It starts the SSH client."""
        return False

    def command(self, program: Sequence[str]) -> list[str]:
        """The program on the other machine, in its environment the mark that the client has in its own."""
        command = [self.executables.get(program[0], program[0]), *program[1:]]
        set_too = f"{REMOTE_VARIABLE}={shlex.quote(str(self.connection.folder.path))}"
        script = f'exec "$@" "umask {OWN_UMASK:03o}; exec env {set_too} {MARK_VARIABLE}=${MARK_VARIABLE} $PROGRAM"'
        return [
            "env",
            f"PROGRAM={shlex.join(command)}",
            *("sh", "-c", script, "sh"),
            *remote.client(self.connection.target),
        ]

    def process_of(self, mark: str, executable: Path) -> int | None:
        """The number there of the process of an executable that was started with a mark; None where none lives."""
        # What a process is about to start still executes its file; it has the higher number but where numbers wrap.
        script = f"""
            for process in /proc/[0-9]*; do
                if [ "$process/exe" -ef {shlex.quote(self.executables[str(executable)])} ] &&
                    tr '\\0' '\\n' < "$process/environ" 2> /dev/null | grep -Fqx {MARK_VARIABLE}={shlex.quote(mark)}
                then echo "${{process#/proc/}}"; fi
            done"""
        return min(map(int, self.connection.run(script).split()), default=None)

    def create_folder(self, name: str, ledger: Ledger) -> tuple[Path, str]:
        """A folder at the same path as on this machine."""
        path = Path(tempfile.gettempdir(), name)
        mark = ledger.enter("remote_folder", str(RemoteFolder(self.connection.target, path)))
        self.connection.run(f"mkdir -m 700 {shlex.quote(str(path))}")
        return path, mark

    def collect(self, folder: Path, into: Path) -> Path:
        """Brings the folder over the connection."""
        into.mkdir(parents=True, exist_ok=True)
        try:
            pack = f"tar -C {shlex.quote(str(folder))} -cf - ."
            remote.unpack_from(self.connection.target, pack, into)
        except Unreachable as lost:
            raise EnvironmentBroke(f"{folder} can't be brought from {self.name}: {lost}", remedy=REMEDY) from lost
        return into


def ssh_host(host: plan.Host, networks: Sequence[str], executables: Sequence[Path], ledger: Ledger) -> SshHost:
    """A remote host with its executables in place; without an address, it has the one that the client has reached."""
    connection = connected(host.ssh or "", ledger)
    client_address, _, reached, _ = connection.run("echo $SSH_CONNECTION").split()
    address = host.address or reached
    interface = _interface(address, connection.run(LISTING), connection.target, "give it an `address:`")
    attachments = tuple(Attachment(network, address, interface) for network in networks or (ALONE.network,))
    copies = {str(executable): connection.copy_executable(executable) for executable in executables}
    return SshHost(host.name, attachments, connection, copies, client_address)


def attachments_here(networks: Sequence[str], others: Iterable[SshHost]) -> tuple[Attachment, ...]:
    """Where this machine is on networks that other machines are on, by the address that the first of them sees."""
    addresses: dict[str, str] = {}
    for other in others:
        for network in other.addresses.keys() & (networks or (ALONE.network,)):
            addresses.setdefault(network, other.client_address)
    if not addresses:
        return (ALONE,)
    listing = subprocess.run([required("ip"), *LISTING.split()[1:]], capture_output=True, text=True, check=True).stdout
    remedy = "addresses are translated between the machines: use SSH for this machine too, with its own address"
    return tuple(
        Attachment(network, address, _interface(address, listing, "this machine", remedy))
        for network, address in sorted(addresses.items())
    )


def _interface(address: str, listing: str, machine: str, remedy: str) -> str:
    """`2: eth0    inet 192.0.2.7/24 brd …` is a line of the listing."""
    for line in listing.splitlines():
        fields = line.split()
        if fields[3].partition("/")[0] == address:
            return fields[1]
    raise EnvironmentNotReady(f"{machine} has no interface with the address {address}", remedy=remedy)
