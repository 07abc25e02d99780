"""A trial's course over its window: where messages stay away, and which trial stands for all."""

import polars as pl
import pytest

from behaviour import BEGIN_NS, Behaviour
from middlemark.analysis.metrics import timeseries as course_module
from middlemark.analysis.metrics.timeseries import PARTS_DRAWN, PARTS_OF_STEADY, median_trial, time_series
from middlemark.analysis.stats.quantiles import Measured, needed
from middlemark.results.record import TrialRecord
from shared_runs import SharedRuns

SUITE = """
suite: x
trials: 1
middlewares: a
workloads: [{workload: WORKLOAD, windows: {window: 3 s}}]
conditions: {faults: {timeline: own, events: [{at: 1 s, do: pause, of: subscriber_0}]}}
"""


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
