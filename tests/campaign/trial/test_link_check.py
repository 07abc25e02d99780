"""A link that is not what was asked makes its trial invalid, by the probe's figures alone."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from behaviour import Behaviour
from middlemark.campaign.trial import link_check, validity
from middlemark.campaign.trial.events import TrialOver
from middlemark.errors import EnvironmentNotReady
from middlemark.plan import Invalid, InvalidKind, InvalidReason, MissingPath, NoCommunication, Outcome
from middlemark.plan.topology.network import Link
from middlemark.results.record import LinkMeasured
from middlemark.suite import Direction, Disturbance
from middlemark.testbed.network.probe import DirectionMeasured, Loss, Measured, RoundTrip
from run_builder import build_run

MS = 1_000_000
NOTHING = Direction()
SUITE = """
suite: linked
trials: 1
middlewares: all
workloads: {workload: imu, windows: {window: 1 s}}
topologies: D1-1
"""


def found(*, spread_ns: int = 0, **counted: int) -> Measured:
    trip = RoundTrip(
        sent=40,
        lost=0,
        min_ns=20 * MS,
        p50_ns=20 * MS,
        p90_ns=20 * MS + spread_ns,
        p99_ns=20 * MS + spread_ns,
        max_ns=20 * MS + spread_ns,
    )
    nothing = {"sent": 2000, "lost": 0, "duplicates": 0, "reordered": 0, "overtaking": 0, "dropped_by_receiver": 0}
    return Measured(
        reachable=True,
        round_trip=trip,
        outgoing=DirectionMeasured(loss=Loss(**nothing | counted)),
        incoming=DirectionMeasured(loss=Loss(**nothing)),
    )


def judged(asked: Direction, measured: Measured, folder: Path, patch: pytest.MonkeyPatch) -> tuple[InvalidReason, ...]:
    """What a trial is found to be whose one link was asked for and measured like this."""
    link = Link(host="host_0", network="lan", outgoing=asked, incoming=Direction(delay_ns=10 * MS), offloads=False)
    patch.setattr(link_check, "probe", lambda *_: {"host_0/lan": measured})
    patch.setattr(link_check, "requested_now", lambda *_: link)
    testbed = SimpleNamespace(links={"host_0/lan": "relay"}, relay_reports=dict, routes=())
    environment: Any = SimpleNamespace(testbed=testbed)
    seen: tuple[LinkMeasured, ...] = asyncio.run(link_check.probed_links(environment, "before"))
    (stored,) = build_run(folder / "run", SUITE, {"one": Behaviour()}).stored_trials()
    record = stored.read_record().model_copy(update={"links": seen})
    return validity.reasons(record, stored.read_received(), Disturbance(), 2)


@pytest.mark.parametrize(
    ("asked", "measured", "said"),
    [
        ({"loss": 0.01}, found(), "of 2000 outgoing frames 0 were lost"),
        ({"duplication": 0.01}, found(), "of 2000 outgoing frames 0 came twice"),
        ({"reordering": 0.01}, found(), "of 2000 outgoing frames 0 overtook others"),
        ({"jitter_ns": 2 * MS}, found(spread_ns=MS // 20), "round trips vary by 50 µs"),
        ({"delay_ns": 20 * MS}, found(), "the round trip takes 20 ms, requested: 30 ms"),
    ],
)
def test_a_link_that_is_not_as_requested_makes_the_trial_invalid(
    asked: dict[str, float], measured: Measured, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (reason,) = judged(Direction.model_validate({"delay_ns": 10 * MS} | asked), measured, tmp_path, monkeypatch)
    assert reason.kind is InvalidKind.LINK
    assert reason.text.startswith(f"host_0/lan before the trial: {said}")


def test_a_link_that_is_as_requested_leaves_the_trial_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Direction(delay_ns=10 * MS, jitter_ns=2 * MS, duplication=0.01, reordering=0.1)
    measured = found(spread_ns=4 * MS, duplicates=20, overtaking=200, reordered=1800)
    assert judged(asked, measured, tmp_path, monkeypatch) == ()


def measured_route(
    probed: Callable[..., Measured], patch: pytest.MonkeyPatch, declared: Direction = NOTHING
) -> LinkMeasured:
    """What is recorded of the one route, of which this is declared both ways."""
    link = Link(host="far", network="cable", outgoing=declared, incoming=declared)
    route = SimpleNamespace(
        host=SimpleNamespace(name="far"), to=SimpleNamespace(name="farther"), network="cable", declared=link
    )
    patch.setattr(link_check, "probe", lambda *_: {})
    patch.setattr(link_check, "probe_route", probed)
    environment: Any = SimpleNamespace(
        testbed=SimpleNamespace(routes=[route], links={}, relay_reports=dict, ledger=object())
    )
    (seen,) = asyncio.run(link_check.probed_links(environment, "before"))
    return seen


def test_of_a_route_nothing_is_judged_that_nothing_is_declared_of(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = measured_route(lambda *_: found(lost=100, overtaking=300), monkeypatch)
    assert (seen.problem, seen.is_dead, seen.figures["probes"]) == (None, False, 1)
    assert (seen.host, seen.to, seen.network) == ("far", "farther", "cable")
    assert seen.figures["outgoing_loss_share"] == 0.05
    assert seen.figures["round_trip_median_ns"] == 20 * MS


def test_of_a_route_what_is_declared_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = measured_route(lambda *_: found(), monkeypatch, Direction(delay_ns=5 * MS, rate_bits_per_s=10**9))
    assert seen.figures["probes"] == link_check.PROBES
    (reason,) = validity.unlike([seen])
    assert reason.kind is InvalidKind.LINK
    assert reason.text.startswith(
        "far – farther over cable before the trial: the round trip takes 20 ms, requested: 10 ms"
    )
    assert "the outgoing rate is 0 bit/s, declared: 1 Gbit/s" in reason.text
    assert not seen.is_dead


def test_a_route_through_which_nothing_comes_ends_its_trial_before_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    dead = Measured(reachable=False, round_trip=None, outgoing=DirectionMeasured(), incoming=DirectionMeasured())
    seen = measured_route(lambda *_: dead, monkeypatch)
    assert (seen.is_dead, seen.figures["probes"]) == (True, 1)
    with pytest.raises(TrialOver) as over:
        link_check.check_alive((seen,))
    assert isinstance(over.value.outcome, Invalid)
    assert "far – farther over cable before the trial: no reply from the other end" in over.value.outcome.detail


def test_a_probe_that_fails_on_a_machine_is_reported_and_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def failing(*_: object) -> Measured:
        calls.append(1)
        raise EnvironmentNotReady("what answers the probe fails: cannot execute", remedy="look there")

    seen = measured_route(failing, monkeypatch)
    assert (seen.problem, len(calls)) == ("what answers the probe fails: cannot execute", 1)
    assert seen.is_dead


SILENT = NoCommunication(missing=(MissingPath(stream="imu", publisher=0, subscriber=0),))


def ended(outcome: Outcome | None) -> None:
    if outcome is not None:
        raise TrialOver(outcome)


@pytest.mark.parametrize("outcome", [None, SILENT])
def test_a_trial_whose_packets_had_no_neighbour_is_invalid_however_it_ends(
    outcome: Outcome | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = iter([5, 12])
    monkeypatch.setattr(link_check, "times_full", lambda: next(counts))
    testbed: Any = SimpleNamespace(wiring=object())
    with pytest.raises(TrialOver) as over, link_check.invalid_where_neighbours_had_no_room(testbed):
        ended(outcome)
    assert isinstance(over.value.outcome, Invalid)
    (reason,) = over.value.outcome.reasons
    assert reason.kind is InvalidKind.LINK
    assert "had no room 7 times" in reason.text


@pytest.mark.parametrize(("wiring", "last"), [(object(), 5), (None, 12)])
def test_it_ends_as_it_does_where_the_table_had_room_or_no_host_is_in_a_namespace(
    wiring: object, last: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = iter([5, last, 5, last])
    monkeypatch.setattr(link_check, "times_full", lambda: next(counts))
    testbed: Any = SimpleNamespace(wiring=wiring)
    with link_check.invalid_where_neighbours_had_no_room(testbed):
        ended(None)
    with pytest.raises(TrialOver) as over, link_check.invalid_where_neighbours_had_no_room(testbed):
        ended(SILENT)
    assert over.value.outcome is SILENT
