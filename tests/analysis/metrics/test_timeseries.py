"""A trial's course over its window: where messages stay away, and which trial stands for all."""

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import ruptures

from behaviour import BEGIN_NS, Behaviour
from middlemark.analysis.metrics import timeseries as course_module
from middlemark.analysis.metrics.timeseries import (
    PARTS,
    PARTS_DRAWN,
    PARTS_OF_STEADY,
    PENALTY,
    SHORTEST_SEGMENT,
    Settling,
    Steadiness,
    change_points,
    classify,
    median_trial,
    settling_of,
    steadiness_cautions,
    time_series,
)
from middlemark.analysis.run import analyse
from middlemark.analysis.stats.quantiles import Measured, needed
from middlemark.plan import WarningKind
from middlemark.results.record import TrialRecord
from run_builder import build_run
from shared_runs import SharedRuns

SUITE = """
suite: x
trials: 1
middlewares: a
workloads: [{workload: WORKLOAD, windows: {window: 3 s}}]
conditions: {faults: {timeline: own, events: [{at: 1 s, do: pause, of: subscriber_0}]}}
"""
RNG = np.random.default_rng(3)


def trial(runs: SharedRuns, workload: str) -> tuple[TrialRecord, pl.DataFrame]:
    run = runs.run(SUITE.replace("WORKLOAD", workload), {"a": Behaviour(latency_ns=100_000, spread=0.01)})
    (folder,) = run.stored_trials()
    return folder.read_record(), folder.read_received()


def test_every_message_of_the_window_is_in_one_part_and_silence_is_empty(runs: SharedRuns) -> None:
    record, received = trial(runs, "imu")
    silent = received.filter(~pl.col("received_ns").is_between(BEGIN_NS + 10**9, BEGIN_NS + 2 * 10**9))
    course = time_series(record, silent)["imu"]
    assert len(course.received) == PARTS_DRAWN
    assert sum(course.received) == len(silent)
    assert all(n == 0 for n in course.received[41:79])
    together = course.latency_part_ns // course.part_ns
    assert all(latency is None for latency in course.latency_p50_ns[-(-41 // together) : 79 // together])
    assert course.latency_p50_ns[3] == pytest.approx(100_000, rel=0.2)


def test_a_median_is_given_only_where_enough_messages_arrived(runs: SharedRuns) -> None:
    record, received = trial(runs, "imu")
    few = received.gather_every(2)
    course = time_series(record, few)["imu"]
    assert sum(course.received) == len(few)
    parts = (few["received_ns"] - BEGIN_NS) // course.latency_part_ns
    numbers = [(parts == part).sum() for part in range(len(course.latency_p50_ns))]
    given = [latency is not None for latency in course.latency_p50_ns]
    assert given == [number >= needed(0.5) for number in numbers]
    assert sum(given) > len(given) / 2


def test_of_very_many_messages_so_many_at_random_tell_the_latency(
    runs: SharedRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    record, received = trial(runs, "imu")
    everything = time_series(record, received)["imu"]
    monkeypatch.setattr(course_module, "LOOKED_AT", len(received) * 3 // 4)
    some = time_series(record, received)["imu"]
    assert some.received == everything.received
    assert some.latency_p50_ns != everything.latency_p50_ns
    known = [us for us in some.latency_p50_ns if us is not None]
    assert known == pytest.approx([100_000] * len(known), rel=0.2)
    assert len(known) > 10


def test_a_ping_pong_is_about_its_round_trips(runs: SharedRuns) -> None:
    record, received = trial(runs, "ping_pong")
    course = time_series(record, received)["ping_pong"]
    assert course.latency_p50_ns[1] == pytest.approx(200_000, rel=0.2)


def test_where_nothing_changes_the_course_has_fewer_parts(runs: SharedRuns) -> None:
    record, received = trial(runs, "imu")
    still = record.trial.model_copy(update={"experiment": record.trial.experiment.model_copy(update={"timeline": ()})})
    course = time_series(record.model_copy(update={"trial": still}), received)["imu"]
    assert len(course.received) == PARTS_OF_STEADY
    assert sum(course.received) == len(received)


def test_the_middle_trial_is_the_lower_median_of_those_with_a_value() -> None:
    values = [Measured(9, 1), None, Measured(1, 1), Measured(5, 1), Measured(7, 1)]
    assert median_trial(values) == 3
    assert median_trial([None, None]) == 0


def levels(*pieces: tuple[int, float], noise: float = 0.02) -> np.ndarray:
    """Parts at a latency each, with log-normal noise."""
    steady = np.concatenate([np.full(parts, np.log(latency)) for parts, latency in pieces])
    return steady + RNG.normal(0, noise, len(steady))


@pytest.mark.parametrize(
    ("pieces", "kind", "after"),
    [
        ([(60, 100.0)], Steadiness.FLAT, 0.0),
        ([(12, 200.0), (48, 100.0)], Steadiness.WARM_UP, 0.2),
        ([(30, 100.0), (30, 150.0)], Steadiness.SLOW_DOWN, 0.5),
        ([(50, 100.0), (10, 200.0)], Steadiness.NEVER, None),
        ([(20, 100.0), (20, 103.0), (20, 101.0)], Steadiness.FLAT, 0.0),
        ([(25, 100.0), (5, 900.0), (30, 100.0)], Steadiness.DISTURBED, 0.0),
        ([(6, 200.0), (20, 100.0), (4, 900.0), (30, 100.0)], Steadiness.WARM_UP, 0.1),
        ([(30, 100.0), (20, 200.0), (10, 100.0)], Steadiness.NEVER, None),
    ],
)
def test_a_known_course_is_classified(pieces: list[tuple[int, float]], kind: Steadiness, after: float | None) -> None:
    assert classify(levels(*pieces)) == Settling(kind, after)


def test_what_grows_to_the_end_never_settles() -> None:
    assert classify(np.log(np.linspace(100, 400, PARTS))).kind is Steadiness.NEVER


@pytest.mark.parametrize("noise", [0.01, 0.05, 0.2])
def test_noise_alone_is_seldom_taken_for_a_change(noise: float) -> None:
    found = [classify(levels((60, 100.0), noise=noise)).kind for _ in range(200)]
    assert sum(kind is not Steadiness.FLAT for kind in found) <= 6


def test_few_messages_are_too_short_to_tell() -> None:
    frame = pl.DataFrame({"received_ns": range(150), "latency_ns": [100] * 150})
    assert settling_of(frame).kind is Steadiness.TOO_SHORT


def test_messages_are_looked_at_in_the_order_in_which_they_came() -> None:
    latency = np.repeat([300, 100], [400, 1600])
    frame = pl.DataFrame({"received_ns": np.arange(2000), "latency_ns": latency}).sample(2000, shuffle=True, seed=1)
    found = settling_of(frame)
    assert found.kind is Steadiness.WARM_UP
    assert found.after_share == pytest.approx(0.2)


def test_a_stall_in_the_middle_is_told_as_such_and_not_as_late_settling() -> None:
    (caution,) = steadiness_cautions({"imu": classify(levels((25, 100.0), (5, 900.0), (30, 100.0)))})
    assert caution.kind is WarningKind.DISTURBED
    assert "imu left its steady state" in caution.text


def test_a_steady_run_has_no_caution_of_it(tmp_path: Path) -> None:
    suite = "suite: s\ntrials: 3\nmiddlewares: all\nworkloads: [{workload: imu, windows: {window: 5 s}}]\n"
    findings = analyse(build_run(tmp_path / "run", suite, {"one": Behaviour()}))
    assert [caution for caution, _ in findings.experiments[0].cautions if "settled" in caution.kind] == []


def test_changes_are_those_that_the_library_finds_by_its_own_cost() -> None:
    draws = np.random.default_rng(0)
    for number in range(60):
        levels = 10 + draws.normal(0, 0.03, int(draws.integers(20, 61)))
        levels[len(levels) // 3 :] += draws.normal(0, 0.2) if number % 3 else 0
        levels = np.round(levels, 2) if number % 5 == 0 else levels
        steps = np.diff(levels)
        noise = 1.4826 * float(np.median(np.abs(steps - np.median(steps)))) / math.sqrt(2)
        penalty = PENALTY * max(noise, 1e-4) ** 2 * math.log(len(levels))
        search = ruptures.Pelt(model="l2", min_size=SHORTEST_SEGMENT, jump=1).fit(levels.reshape(-1, 1))
        assert change_points(levels) == search.predict(pen=penalty)
