"""Test-beds for tests, and what to run on their hosts."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from middlemark.plan.topology.network import Host as PlannedHost
from middlemark.plan.topology.network import Link, Network
from middlemark.suite import HostKind
from middlemark.testbed import capabilities
from middlemark.testbed.hosts.host import Host
from middlemark.testbed.processes import cgroup, ledger, procfs, slot
from middlemark.testbed.processes.podman import CGROUPS, Storage
from middlemark.testbed.testbed import PlannedTestbed, Testbed, built

DEADLINE_S = 20.0
needs_namespaces = pytest.mark.skipif(
    capabilities.namespaces_missing() is not None, reason=f"no hosts in namespaces: {capabilities.namespaces_missing()}"
)


def can_limit() -> bool:
    there = cgroup.hierarchies()
    return os.geteuid() == 0 and {"cpu", "cpuset", "memory"} <= set(there) and os.access(there["cpu"].top, os.W_OK)


LAN = (Network(name="lan", hosts=("host_0", "host_1")),)


def netns(*names: str) -> list[PlannedHost]:
    return [PlannedHost(name=name, kind=HostKind.NETNS) for name in names]


def plain(*networks: Network) -> list[Link]:
    return [Link(host=host, network=network.name) for network in networks for host in network.hosts]


@contextmanager
def two_hosts(*, shown: tuple[Path, ...] = (), links: list[Link] | None = None) -> Iterator[Testbed]:
    hosts = netns("host_0", "host_1")
    with (
        ledger.opened() as entries,
        slot.reserved() as reserved,
        built(PlannedTestbed(hosts, LAN, links or plain(*LAN), shown=shown), reserved, entries) as testbed,
    ):
        yield testbed


def on(host: Host, *program: str) -> str:
    """What a program printed that ran on the host."""
    result = subprocess.run(host.command(program), capture_output=True, text=True, timeout=30, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


ANSWERING = """
import socket, struct, sys
address, group = sys.argv[1:]
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 7000))
s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(group) + socket.inet_aton(address))
print("ready", flush=True)
data, asker = s.recvfrom(100)
s.sendto(data[::-1], asker)
"""
ASKING = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(10)
s.sendto(b"abc", (sys.argv[1], 7000))
data, answerer = s.recvfrom(100)
print(data.decode(), answerer[0])
"""
HEARS_LINES = 'while read -r line; do echo "heard $line"; done; exit 7'


def answers_each_line_and_ends_as_it_said(process: subprocess.Popen[str]) -> None:
    """What `HEARS_LINES` does wherever a shell runs it: lines go both ways as they come."""
    assert process.stdin is not None
    assert process.stdout is not None
    for number in range(3):
        process.stdin.write(f"{number}\n")
        process.stdin.flush()
        assert process.stdout.readline() == f"heard {number}\n"
    process.stdin.close()
    assert process.wait(20) == 7


def started(host: Host, script: str, *arguments: str) -> subprocess.Popen[str]:
    """A Python script under way on the host, once it has said `ready`."""
    child = subprocess.Popen(
        host.command([sys.executable, "-c", script, *arguments]),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    return child


def ledgers(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "state/middlemark/ledgers").glob("*"))


def is_gone(child: subprocess.Popen[bytes]) -> bool:
    """Whether it has ended, at once; it may have been waited for already."""
    return procfs.identity(child.pid) is None and child.poll() is not None


def traces(storage: Storage) -> list[str]:
    """What a storage of containers has left on the machine."""
    mounts = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    found = [mount for mount in mounts if mount.startswith(str(storage.folder))]
    found += [str(path) for where in ("", "*/") for path in CGROUPS.glob(where + storage.folder.name)]
    return found + [str(path) for path in (storage.folder,) if path.exists()]


def until(condition: Callable[[], object]) -> None:
    """Waits for a condition, and fails where it does not become true in time."""
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, "it did not become true in time"
        time.sleep(0.01)
