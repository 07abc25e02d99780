"""A server of SSH for tests, with keys, settings and mounts of its own, and hosts that are reached through it."""

import os
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from middlemark.errors import EnvironmentNotReady
from middlemark.plan.topology.network import Host as PlannedHost
from middlemark.suite import HostKind
from middlemark.testbed.hosts import ssh
from middlemark.testbed.hosts.ssh import SshHost
from middlemark.testbed.processes import abandoned, procfs
from middlemark.testbed.processes.child import required
from middlemark.testbed.processes.ledger import Ledger
from testbeds import until

DEADLINE_S = 20.0


def sshd() -> str | None:
    try:
        return required("sshd")
    except EnvironmentNotReady:
        return None


# It separates privileges in /run/sshd, which is made in mounts of its own.
SERVE = """
mount -t tmpfs tmpfs /run && mkdir /run/sshd /run/sshd-settings && mount --bind "$1" /run/sshd-settings && eval "$2" &&
exec "$0" -D -e -f /run/sshd-settings/sshd_config
"""


@contextmanager
def serving(folder: Path, namespaces: Sequence[str], preparation: str = "true") -> Iterator[str]:
    """A server of the test's own on the loopback: its port, its keys, its settings; gives the target."""
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (folder / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey /run/sshd-settings/host\n"
        "AuthorizedKeysFile /run/sshd-settings/user.pub\nStrictModes no\nUsePAM no\n"
        "PermitRootLogin prohibit-password\nPasswordAuthentication no\nPidFile none\n"
    )
    (folder / "known").write_text(f"[127.0.0.1]:{port} {(folder / 'host.pub').read_text()}")
    (folder / "config").write_text(
        f"IdentityFile {folder}/user\nIdentitiesOnly yes\nUserKnownHostsFile {folder}/known\n"
    )
    command = [required("unshare"), *namespaces, "sh", "-c", SERVE, str(sshd()), str(folder), preparation]
    log = folder / "log"  # a pipe that nobody reads is full after some hundred connections, and then nobody is let in
    with log.open("w") as said, subprocess.Popen(command, stderr=said) as daemon:
        try:
            until(lambda: "listening" in log.read_text())
            (folder / "pid").write_text(str(daemon.pid))
            yield f"root@127.0.0.1:{port}"
        finally:
            daemon.kill()  # `unshare` passes on no other signal


def nothing_is_left(state: Path) -> None:
    """To be asked while there is a server: afterwards nobody could remove what is entered."""
    left = abandoned.sweep()
    assert left == []
    assert list((state / "middlemark/ledgers").iterdir()) == []


def made(target: str, entries: Ledger, *executables: Path) -> SshHost:
    planned = PlannedHost(name="far", kind=HostKind.SSH, ssh=target)
    return ssh.ssh_host(planned, ["lan"], executables, entries)


def started(host: SshHost, *program: str, mark: str = "") -> subprocess.Popen[str]:
    return subprocess.Popen(
        host.command(program),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {procfs.MARK_VARIABLE: mark},
    )
