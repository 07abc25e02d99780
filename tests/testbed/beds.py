"""Test-beds for tests, and what to run on their hosts."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from middlemark.plan.network import Host as PlannedHost
from middlemark.plan.network import Link, Network
from middlemark.suite import HostKind
from middlemark.testbed import capabilities
from middlemark.testbed.hosts.host import Host
from middlemark.testbed.processes import ledger, slot
from middlemark.testbed.testbed import Testbed, built

needs_namespaces = pytest.mark.skipif(
    capabilities.namespaces_missing() is not None, reason=f"no hosts in namespaces: {capabilities.namespaces_missing()}"
)
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
        slot.taken() as taken,
        built(hosts, LAN, links or plain(*LAN), taken, entries, shown=shown) as testbed,
    ):
        yield testbed


def on(host: Host, *program: str) -> str:
    """What a program printed that ran on the host."""
    result = subprocess.run(host.command(program), capture_output=True, text=True, timeout=30, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


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
