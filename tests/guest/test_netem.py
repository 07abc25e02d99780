"""The kernel's netem does what is asked of a link: the very lines that a test-bed runs, in a kernel that has it."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from guest.guest import guest
from middlemark.plan.network import Direction, Link, Network
from middlemark.testbed.ability import _netem_wanted
from middlemark.testbed.holder import required
from middlemark.testbed.link.parts import Backend
from middlemark.testbed.observer import executable
from middlemark.testbed.probe import (
    LOSS_INTERVAL_NS,
    LOSS_PACKETS,
    LOSS_SIZE_BYTES,
    Loss,
    read,
    what,
)
from middlemark.testbed.root_filesystem import Contents
from middlemark.testbed.switch import Wire, wires
from middlemark.testbed.verdict import DELAY_NS, lost_frames, verdict
from middlemark.testbed.wiring import _of_a_host, _of_the_switch

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
    "loss_duplication": (Direction(loss=0.2, duplication=0.3), Direction(loss=0.3, duplication=0.1)),
    "corruption": (Direction(corruption=0.02), Direction(corruption=0.05)),
    "all": (
        Direction(delay_ns=10 * MS, jitter_ns=MS, loss=0.02, duplication=0.03, reordering=0.04, corruption=0.01),
        Direction(rate_bits_per_s=100 * MBIT, queue_frames=50, jitter_ns=MS, loss=0.02),
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
def found(wired: list[Wire], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the probe said of each link, by host."""
    tools = tuple(Path(required(tool)) for tool in ("ip", "tc", "ethtool"))
    contents = Contents(executable("probe"), tools)
    said = guest(tmp_path_factory.mktemp("guest"), contents, script(wired, contents)).run()
    return dict(zip(LINKS, map(json.loads, said.splitlines()), strict=True))


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
        loss = {"packets": LOSS_PACKETS, "interval_ns": LOSS_INTERVAL_NS, "size_bytes": LOSS_SIZE_BYTES}
        told = json.dumps({"to": wire.switch_address, "port": PORT, "loss": loss, **what(wire.link)})
        lines += [f"echo '{told}' | {ip} netns exec {pids[wire.link.host]} {probe} measure"]
    return "\n".join(lines)


@pytest.mark.parametrize("name", LINKS)
def test_a_link_by_netem_is_what_was_asked(name: str, wired: list[Wire], found: dict[str, Any]) -> None:
    asked = next(wire.link for wire in wired if wire.link.host == name)
    print(name, json.dumps(found[name]))
    assert verdict(asked, read(found[name])) is None


@pytest.mark.parametrize("name", ["duplication", "loss_duplication", "all", "delay_10"])
def test_netem_doubles_the_asked_share_of_what_it_does_not_lose(name: str, found: dict[str, Any]) -> None:
    for asked, loss in trains(name, found):
        least, most = lost_frames(LOSS_PACKETS, asked.duplication * (1 - asked.loss) * (1 - asked.corruption))
        assert least <= loss.duplicates <= most


def test_all_are_overtaken_that_do_not_skip_the_delay(found: dict[str, Any]) -> None:
    for asked, loss in trains("reordering", found):  # so many are in flight that some always skip it
        least, most = lost_frames(LOSS_PACKETS, 1 - asked.reordering)
        assert least <= loss.reordered <= most


@pytest.mark.parametrize("name", sorted(set(LINKS) - {"reordering", "all"}))
def test_jitter_and_all_else_keeps_frames_in_their_order(name: str, found: dict[str, Any]) -> None:
    assert [loss.reordered for _, loss in trains(name, found)] == [0, 0]


def test_jitter_is_spread_on_both_sides_of_the_delay_and_no_further(found: dict[str, Any]) -> None:
    trip = read(found["jitter"]).round_trip
    assert trip is not None
    assert 23 * MS < trip.min_ns < 28 * MS
    assert 32 * MS < trip.max_ns < 37 * MS + DELAY_NS


def trains(name: str, found: dict[str, Any]) -> Iterator[tuple[Direction, Loss]]:
    """What was asked of each direction, and what became of its numbered frames."""
    measured = read(found[name])
    for asked, direction in zip(LINKS[name], (measured.outgoing, measured.incoming), strict=True):
        assert direction.loss is not None
        yield asked, direction.loss
