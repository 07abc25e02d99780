"""What a test-bed costs and how exact its links are on this machine: tables, in Markdown.

    python bench/testbed.py [REPETITIONS]

It needs the workers and observers built (`make workers`) and hosts in namespaces (`middlemark doctor`).
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from middlemark.plan.topology.network import Host, Link, Network
from middlemark.suite import ContainerIpc, Deployment, DeploymentKind, Direction, HostKind
from middlemark.testbed.hosts.container import deployed
from middlemark.testbed.hosts.host import LocalHost
from middlemark.testbed.hosts.rootfs import Contents
from middlemark.testbed.network.probe import Measured, probe
from middlemark.testbed.network.verify import link_verdict
from middlemark.testbed.processes import ledger, procfs, slot
from middlemark.testbed.processes.child import executable
from middlemark.testbed.testbed import PlannedTestbed, Testbed, built
from middlemark.worker import executables

MS, MBIT, GBIT = 1_000_000, 10**6, 10**9
ASKED = (
    Direction(),
    Direction(rate_bits_per_s=100 * MBIT),
    Direction(rate_bits_per_s=GBIT),
    Direction(delay_ns=MS),
    Direction(delay_ns=10 * MS),
    Direction(delay_ns=100 * MS),
    Direction(loss=0.01),
    Direction(loss=0.1),
    Direction(delay_ns=10 * MS, loss=0.01),
    Direction(rate_bits_per_s=GBIT, delay_ns=10 * MS),
)


@contextmanager
def two_hosts(direction: Direction) -> Iterator[tuple[Testbed, float, list[float]]]:
    """A test-bed with one link like this; how long it took, and, once it is gone, how long that took."""
    names = ("host_0", "host_1")
    hosts = [Host(name=name, kind=HostKind.NETNS) for name in names]
    plain = direction.is_plain
    links = [
        Link(host="host_0", network="lan", outgoing=direction, incoming=direction, offloads=plain),
        Link(host="host_1", network="lan"),
    ]
    removal: list[float] = []
    with ledger.opened() as entries, slot.reserved() as reserved:
        begin = time.monotonic()
        shown = [executable("probe").parent]
        with built(
            PlannedTestbed(hosts, [Network(name="lan", hosts=names)], links, shown=shown), reserved, entries
        ) as testbed:
            yield testbed, time.monotonic() - begin, removal
            begin = time.monotonic()
        removal.append(time.monotonic() - begin)


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):.4g} ({min(values):.4g} to {max(values):.4g})"


def costs(repetitions: int) -> None:
    print("| two hosts, one network | build ms: median (range) | remove ms |\n| --- | --- | --- |")
    for name, direction in (("plain links", ASKED[0]), ("one link with a rate", ASKED[2]), ("one relayed", ASKED[3])):
        built_s, removed_s = [], []
        for _ in range(repetitions):
            with two_hosts(direction) as (_, built_in_s, removal):
                built_s.append(1e3 * built_in_s)
            removed_s.append(1e3 * removal[0])
        print(f"| {name} | {spread(built_s)} | {spread(removed_s)} |")


def deployments(repetitions: int) -> None:
    """What it takes until a host's processes can be started, to start one that ends at once, and to remove it all."""
    worker = executables.worker("udp")
    print(
        "\n| deployment | make ms: median (range) | start and end a worker ms | remove ms |\n| --- | --- | --- | --- |"
    )
    for deployment in (
        Deployment(),
        Deployment(deployment=DeploymentKind.SINGLE_CONTAINER),
        Deployment(deployment=DeploymentKind.MULTI_CONTAINER),
        Deployment(deployment=DeploymentKind.MULTI_CONTAINER, ipc=ContainerIpc.SHAREABLE),
    ):
        times = [deployment_times(deployment, worker) for _ in range(repetitions)]
        name = " ".join(word for word in (deployment.deployment, deployment.ipc and f"ipc {deployment.ipc}") if word)
        print(f"| {name} | {' | '.join(spread(list(each)) for each in zip(*times, strict=True))} |", flush=True)


def deployment_times(deployment: Deployment, worker: Path) -> tuple[float, float, float]:
    """Milliseconds to make it, to have the worker describe itself there, and to remove it."""
    with ledger.opened() as entries, slot.reserved() as reserved:
        host = LocalHost()
        folder, mark = host.create_folder(reserved.name, entries)
        begin = time.monotonic()
        with deployed(host, deployment, Contents(worker), folder, entries) as place:
            made = time.monotonic()
            command = place.command([str(worker), "describe"])
            environment = os.environ | {procfs.MARK_VARIABLE: entries.enter("process", "describes itself")}
            subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=True)
            ended = time.monotonic()
        removed = time.monotonic()
        entries.remove(mark)
    return 1e3 * (made - begin), 1e3 * (ended - made), 1e3 * (removed - ended)


def links(repetitions: int) -> None:
    print("\n| requested, each way | round trip ms: median (range) | rate Mbit/s | lost of 2000 | as requested |")
    print("| --- | --- | --- | --- | --- |")
    for direction in ASKED:
        found: list[Measured] = []
        with two_hosts(direction) as (testbed, _, _):
            found += [probe(testbed)["host_0/lan"] for _ in range(repetitions)]
            words = testbed.links["host_0/lan"]
            asked = next(wire.link for wire in testbed.wiring.wires) if testbed.wiring else None
        assert asked is not None
        trips = [each.round_trip.p50_ns / 1e6 for each in found if each.round_trip and each.round_trip.p50_ns]
        ways = [way for each in found for way in (each.outgoing, each.incoming)]
        rates = [way.rate_bits_per_s / 1e6 for way in ways if way.rate_bits_per_s]
        lost = [float(way.loss.lost) for way in ways if way.loss]
        good = sum(link_verdict(asked, each) is None for each in found)
        cells = [spread(values) if values else "" for values in (trips, rates, lost)]
        print(f"| {words} | {' | '.join(cells)} | {good} of {len(found)} |", flush=True)


if __name__ == "__main__":
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    costs(repetitions)
    deployments(repetitions)
    links(repetitions)
