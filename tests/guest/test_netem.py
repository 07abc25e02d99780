"""The kernel's netem does what is asked of a link: the very lines that a test-bed runs, in a kernel that has it."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from guest import Guest, guest
from middlemark.plan.topology.network import Link, Network
from middlemark.suite import Direction
from middlemark.testbed.capabilities import _netem_wanted
from middlemark.testbed.hosts.rootfs import Contents
from middlemark.testbed.network.probe import (
    LOSS_INTERVAL_NS,
    LOSS_PACKETS,
    LOSS_SIZE_BYTES,
    Measured,
    link_probe_spec,
    measured_from,
)
from middlemark.testbed.network.shaping import Backend
from middlemark.testbed.network.verify import link_verdict
from middlemark.testbed.network.wiring import Wire, _of_a_host, _of_the_switch, wires
from middlemark.testbed.processes.child import executable, required

pytestmark = [pytest.mark.guest, pytest.mark.timeout(700)]
MS, MBIT = 1_000_000, 1_000_000
PORT = 7000
LINKS: Mapping[str, tuple[Direction, Direction]] = {
    "plain": (Direction(), Direction()),
    "delay_10": (Direction(delay_ns=10 * MS), Direction(delay_ns=10 * MS)),
    "delay_100": (Direction(delay_ns=100 * MS), Direction(delay_ns=100 * MS)),
    "delay_one_way": (Direction(delay_ns=50 * MS), Direction()),
    "loss": (Direction(loss=0.1), Direction(loss=0.01)),
    "loss_one_way": (Direction(), Direction(loss=0.1)),
    "jitter": (Direction(delay_ns=10 * MS, jitter_ns=2 * MS), Direction(delay_ns=20 * MS, jitter_ns=5 * MS)),
    "rate": (Direction(rate_bits_per_s=10 * MBIT), Direction(rate_bits_per_s=20 * MBIT)),
    "rate_delay": (Direction(rate_bits_per_s=100 * MBIT, delay_ns=10 * MS), Direction(rate_bits_per_s=100 * MBIT)),
    "rate_loss": (Direction(rate_bits_per_s=50 * MBIT, loss=0.1), Direction(rate_bits_per_s=50 * MBIT, delay_ns=MS)),
    "duplication": (Direction(duplication=0.1), Direction(duplication=0.01)),
    "reordering": (Direction(delay_ns=10 * MS, reordering=0.25), Direction(delay_ns=10 * MS, reordering=0.1)),
    "corruption": (Direction(corruption=0.02), Direction(corruption=0.05)),
    "all": (
        Direction(delay_ns=10 * MS, jitter_ns=MS, loss=0.02, reordering=0.1, corruption=0.01),
        Direction(rate_bits_per_s=100 * MBIT, queue_frames=50, jitter_ns=MS, duplication=0.03),
    ),
}


@pytest.fixture(scope="module")
def wired() -> list[Wire]:
    links = [
        Link(host=name, network="lan", outgoing=outgoing, incoming=incoming, offloads=name == "plain")
        for name, (outgoing, incoming) in LINKS.items()
    ]
    return wires(list(LINKS), [Network(name="lan", hosts=tuple(LINKS))], links, 7, Backend.NETEM)


@pytest.fixture(scope="module")
def found(wired: list[Wire], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Measured]:
    """What the probe found of each link; as chance has its part in it, what is wrong is measured once more."""
    tools = tuple(Path(required(tool)) for tool in ("ip", "tc", "ethtool"))
    contents = Contents(executable("probe"), tools)
    machine = guest(tmp_path_factory.mktemp("guest"), contents, script(wired, contents))
    first = measured(wired, machine)
    if not any(link_verdict(wire.link, first[wire.link.host]) for wire in wired):
        return first
    second = measured(wired, machine)
    return {
        wire.link.host: (second if link_verdict(wire.link, first[wire.link.host]) else first)[wire.link.host]
        for wire in wired
    }


def measured(wired: list[Wire], machine: Guest) -> dict[str, Measured]:
    said = machine.run().splitlines()
    return {wire.link.host: measured_from(json.loads(line)) for wire, line in zip(wired, said, strict=True)}


def script(wired: list[Wire], contents: Contents) -> str:
    """Makes the links as a test-bed does, and has the probe measure one after the other."""
    probe = contents.inside(str(contents.worker))
    # Where the process is expected whose namespace it is, `ip` takes the name of a namespace as well.
    pids = {wire.link.host: 1001 + number for number, wire in enumerate(wired)}
    ip = required("ip")
    lines = [f"{ip} netns add {pid}" for pid in pids.values()]
    lines += [f"{ip} netns add tried", f"{ip} netns exec tried sh -e <<'TRIED'", _netem_wanted(), "TRIED"]
    lines += _of_the_switch(wired, pids)
    for name, pid in pids.items():
        lines += [f"{ip} netns exec {pid} sh -e <<'HOST'", *_of_a_host(wired, name), "HOST"]
    lines += [
        "mkfifo /run/front",
        f"{probe} answer --address {wired[0].switch_address} --port {PORT} </run/front >/dev/null &",
    ]
    lines += ["exec 3>/run/front"]
    for wire in wired:
        # Over links too that nothing of the kind is asked of: they may neither lose, double nor reorder a frame.
        loss = {"packets": LOSS_PACKETS, "interval_ns": LOSS_INTERVAL_NS, "size_bytes": LOSS_SIZE_BYTES}
        told = json.dumps({"to": wire.switch_address, "port": PORT, "loss": loss, **link_probe_spec(wire.link)})
        lines += [f"echo '{told}' | {ip} netns exec {pids[wire.link.host]} {probe} measure"]
    return "\n".join(lines)


@pytest.mark.parametrize("name", LINKS)
def test_a_link_by_netem_is_what_was_asked(name: str, wired: list[Wire], found: dict[str, Measured]) -> None:
    asked = next(wire.link for wire in wired if wire.link.host == name)
    assert link_verdict(asked, found[name]) is None, found[name]
