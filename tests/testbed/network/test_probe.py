"""Links are measured, and are what was asked; needs the observers built."""

import json
import re
import sys
import time
from pathlib import Path

import pytest

from middlemark.errors import EnvironmentNotReady
from middlemark.plan.topology.network import Link, TracePoint
from middlemark.plan.trial.duration import PROBE_NS, PROBED_FRAMES, PROBED_RATE_NS, PROBED_SHARES_NS
from middlemark.suite import Direction
from middlemark.testbed.network import probe as probing
from middlemark.testbed.network import shaping
from middlemark.testbed.network.probe import Measured, link_probe_spec, measured_by, probe, requested_now
from middlemark.testbed.network.verify import link_verdict
from middlemark.testbed.processes import child
from testbeds import ANSWERING, ASKING, needs_namespaces, on, started, two_hosts

pytestmark = pytest.mark.timed

MS = 1_000_000
HOUR_NS = 3_600_000 * MS
observers_built = pytest.mark.skipif(shaping.relay_missing() is not None, reason=f"{shaping.relay_missing()}")


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def links(outgoing: Direction, incoming: Direction, trace: tuple[TracePoint, ...] = ()) -> list[Link]:
    first = Link(host="host_0", network="lan", outgoing=outgoing, incoming=incoming, trace=trace, offloads=False)
    return [first, Link(host="host_1", network="lan")]


@needs_namespaces
@observers_built
@pytest.mark.parametrize(
    ("outgoing", "incoming"),
    [
        (Direction(), Direction()),
        (Direction(rate_bits_per_s=10**7), Direction(rate_bits_per_s=2 * 10**7)),
        (Direction(delay_ns=10 * MS, jitter_ns=MS), Direction(delay_ns=20 * MS)),
        (Direction(loss=0.1), Direction(loss=0.01)),
        (Direction(rate_bits_per_s=10**7, delay_ns=5 * MS, loss=0.02), Direction(delay_ns=5 * MS)),
        (Direction(delay_ns=10 * MS, jitter_ns=MS, reordering=0.1), Direction(duplication=0.01)),
    ],
)
def test_a_link_is_what_was_asked_in_each_direction(outgoing: Direction, incoming: Direction) -> None:
    asked = links(outgoing, incoming)
    deadline = time.monotonic() + 40
    with two_hosts(links=asked, shown=(child.executable("probe").parent,)) as testbed:
        verdicts: list[str | None] = ["not measured"]
        while any(verdicts) and time.monotonic() < deadline:  # another program may have had the CPUs meanwhile
            found = probe(testbed)
            verdicts = [link_verdict(link, found[f"{link.host}/{link.network}"]) for link in asked]
    assert verdicts == [None, None]


@needs_namespaces
@observers_built
def test_a_link_that_is_not_what_was_asked_is_found_out() -> None:
    asked = links(Direction(loss=0.1), Direction(delay_ns=5 * MS))
    with two_hosts(links=asked, shown=(child.executable("probe").parent,)) as testbed:
        found = probe(testbed)["host_0/lan"]
    unlike = Direction(loss=0.3, duplication=0.1, reordering=0.1, delay_ns=2 * MS)
    wrong = asked[0].model_copy(update={"outgoing": unlike})
    said = str(link_verdict(wrong, found))
    assert re.search(r"outgoing frames 0 came twice.*outgoing frames 0 overtook others", said)
    wrong = asked[0].model_copy(update={"outgoing": Direction(loss=0.3), "incoming": Direction()})
    said = str(link_verdict(wrong, found))
    assert re.search(r"the round trip takes .*, requested: 0 ns", said)
    assert "outgoing frames" in said


@needs_namespaces
@observers_built
def test_a_cut_link_is_found_dead_and_a_mended_one_carries_again_through_the_relay() -> None:
    asked = links(Direction(delay_ns=MS), Direction())
    with two_hosts(links=asked, shown=(child.executable("probe").parent,)) as testbed:
        testbed.link_down("host_0/lan")
        assert link_verdict(asked[0], probe(testbed)["host_0/lan"]) == "no reply from the other end"
        testbed.link_up("host_0/lan")
        asker, answerer = testbed.hosts["host_0"], testbed.hosts["host_1"]
        answering = started(answerer, ANSWERING, answerer.address, "239.1.2.3")
        assert on(asker, sys.executable, "-c", ASKING, answerer.address).startswith("cba")
        answering.communicate(timeout=10)
        assert testbed.relay_reports()["host_0/lan"].outgoing.n > 0


@needs_namespaces
@observers_built
@pytest.mark.parametrize(("due_ns", "is_cut_short"), [(1, False), (HOUR_NS, True)], ids=["due", "cut short"])
def test_a_trace_changes_the_link_when_it_is_due_or_when_it_is_cut_short(due_ns: int, *, is_cut_short: bool) -> None:
    before, after = Direction(), Direction(delay_ns=30 * MS)
    points = tuple(
        TracePoint(at_ns=at_ns, outgoing=outgoing, incoming=before)
        for at_ns, outgoing in ((0, before), (due_ns, after))
    )
    asked = links(Direction(), Direction(), points)
    with two_hosts(links=asked, shown=(child.executable("probe").parent,)) as testbed:
        assert requested_now(testbed, "host_0/lan").outgoing == before
        assert shortest_ns(probe(testbed)["host_0/lan"]) < after.delay_ns
        testbed.begin(time.monotonic_ns())
        if is_cut_short:
            testbed.finish_traces()
        assert requested_now(testbed, "host_0/lan").outgoing == after
        # A busy machine makes it later, never earlier.
        assert shortest_ns(probe(testbed)["host_0/lan"]) >= after.delay_ns


def shortest_ns(found: Measured) -> int:
    assert found.round_trip is not None
    assert found.round_trip.min_ns is not None
    return found.round_trip.min_ns


def test_only_what_is_asked_of_a_link_is_measured() -> None:
    plain = Link(host="host_0", network="lan")
    assert set(link_probe_spec(plain)) == {"patience_ns", "round_trip"}
    assert set(link_probe_spec(plain.model_copy(update={"incoming": Direction(loss=0.1)}))) == {
        "patience_ns",
        "round_trip",
        "loss",
    }
    for alone in (Direction(duplication=0.1), Direction(delay_ns=MS, reordering=0.1)):
        assert "loss" in link_probe_spec(plain.model_copy(update={"outgoing": alone}))
    assert "loss" not in link_probe_spec(plain.model_copy(update={"outgoing": Direction(delay_ns=MS, jitter_ns=MS)}))
    slow = link_probe_spec(plain.model_copy(update={"outgoing": Direction(rate_bits_per_s=10**6, loss=0.1)}))
    assert slow["rate"]["duration_ns"] > 10**9  # as long as its frames take
    assert slow["loss"]["interval_ns"] > 10**6  # no faster than half the rate
    json.dumps(slow)


def test_the_address_of_a_neighbour_may_be_lost_more_than_once() -> None:
    plain = Link(host="host_0", network="lan")
    lossy = plain.model_copy(update={"outgoing": Direction(loss=0.1)})
    assert link_probe_spec(plain)["patience_ns"] < 2_000_000_000  # what is dead is found dead soon
    assert link_probe_spec(lossy)["patience_ns"] > 5_000_000_000


def test_an_observer_that_is_not_built_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MIDDLEMARK_WORKERS", str(tmp_path))
    monkeypatch.setenv("CARGO_TARGET_DIR", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentNotReady, match=r"no middlemark-probe(.|\n)*make workers"):
        child.executable("probe")


@pytest.mark.parametrize(
    ("says", "told"),
    [
        ("cat /dev/zero", "more than 1 MiB"),
        ("sleep 600", "not ended"),
        ("echo no such address >&2; exit 3", "no such address"),
        ("echo '[1]'", "another version"),
        ("echo '{\"reachable\": 1}'", "another version"),
        ("head -c 100000 /dev/zero | tr '\\0' '['", "another version"),
    ],
    ids=["without end", "silent", "failing", "a list", "too little", "deep"],
)
def test_what_a_probe_says_is_heard_within_bounds_and_understood(
    monkeypatch: pytest.MonkeyPatch, says: str, told: str
) -> None:
    monkeypatch.setattr(probing, "_ENDED_NS", 2_000_000_000)
    monkeypatch.setattr(probing, "executable", Path)
    with pytest.raises(EnvironmentNotReady, match=told):
        measured_by(["sh", "-c", says], {})


def test_the_time_that_a_plan_counts_for_a_link_is_what_its_probe_takes() -> None:
    spec = link_probe_spec(links(Direction(rate_bits_per_s=10**9, loss=0.01), Direction())[0])
    assert spec["round_trip"]["pings"] * spec["round_trip"]["interval_ns"] <= PROBE_NS
    assert spec["rate"]["duration_ns"] == PROBED_RATE_NS
    assert 2 * spec["loss"]["packets"] * spec["loss"]["interval_ns"] == PROBED_SHARES_NS
    slow = link_probe_spec(links(Direction(rate_bits_per_s=10**6), Direction())[0])
    assert slow["rate"]["duration_ns"] == pytest.approx(PROBED_FRAMES * 1500 * 8 * 1000, rel=0.03)


def test_pings_are_many_where_chance_decides_about_them() -> None:
    steady, varying = (
        link_probe_spec(links(direction, Direction())[0])["round_trip"]["pings"]
        for direction in (Direction(rate_bits_per_s=10**9, delay_ns=MS), Direction(delay_ns=MS, jitter_ns=MS // 2))
    )
    assert varying == 4 * steady
