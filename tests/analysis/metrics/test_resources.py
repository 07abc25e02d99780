"""Samples of known growth and known rates give these very figures, and what was not sampled gives none."""

import polars as pl
import pytest

from behaviour import BEGIN_NS, MS, T0_NS, Behaviour
from middlemark.analysis.metrics.resources import memory_series, resource_values
from middlemark.results.record import TrialRecord
from middlemark.results.tables import MACHINE_SCHEMA, PROCESSES_SCHEMA
from middlemark.suite.metrics import TRIAL, Key, host_subject, process_subject
from shared_runs import SharedRuns

SUITE = """
suite: known
trials: 1
middlewares: one
workloads: [{workload: imu, rate: 200 Hz, windows: {window: 2 s}}]
"""
SAMPLES = 40
PERIOD_NS = 100 * MS
PRESSURES = ("cpu_pressure_ns", "memory_pressure_ns", "io_pressure_ns", "observer_cpu_ns")


@pytest.fixture(scope="module")
def record(runs: SharedRuns) -> TrialRecord:
    (folder,) = runs.run(SUITE, {"one": Behaviour()}).stored_trials()
    return folder.read_record()


def sampled(**columns: list[int | None]) -> pl.DataFrame:
    """From a second before the window to a second after it."""
    at_ns = [BEGIN_NS - 10 * PERIOD_NS + number * PERIOD_NS for number in range(SAMPLES)]
    plain = {name: [1] * SAMPLES for name in PROCESSES_SCHEMA if name not in {"process", "at_ns"}}
    return pl.DataFrame(
        {"process": ["publisher_0"] * SAMPLES, "at_ns": at_ns, **plain, **columns}, schema=PROCESSES_SCHEMA
    )


def value(record: TrialRecord, processes: pl.DataFrame, metric: str) -> float:
    found = resource_values(record, processes, pl.DataFrame(schema=MACHINE_SCHEMA))
    measured = found[Key(process_subject("publisher_0"), metric)]
    return measured.value  # type: ignore[union-attr]


def test_a_process_that_is_busy_a_tenth_of_the_time_uses_a_tenth_of_a_core(record: TrialRecord) -> None:
    busy = sampled(cpu_ns=[number * 10 * MS for number in range(SAMPLES)], cpu_user_ns=[0] * SAMPLES)
    busy = busy.with_columns(cpu_system_ns=pl.col("cpu_ns"))
    assert value(record, busy, "cpu_system_percent_of_core") == pytest.approx(10)
    assert value(record, busy, "cpu_user_percent_of_core") == 0
    assert value(record, busy, "sampled_cpu_percent_of_core") == pytest.approx(10)
    assert value(record, busy, "cpu_per_message_ns") == pytest.approx(0.1e9 / 200)


def test_a_leak_is_found_in_spite_of_a_leap(record: TrialRecord) -> None:
    leak = [1_000_000 + number * 100 for number in range(SAMPLES)]
    leak[20:23] = [50_000_000] * 3
    assert value(record, sampled(unique_bytes=leak), "memory_slope_bytes_per_s") == pytest.approx(1000, rel=0.05)


def test_what_is_outside_the_window_enters_no_figure(record: TrialRecord) -> None:
    threads = [9] * 10 + [4] * 21 + [9] * 9
    assert value(record, sampled(threads=threads), "threads") == 4


def test_what_could_not_be_had_has_no_metric(record: TrialRecord) -> None:
    blind = sampled(unique_bytes=[None] * SAMPLES, cgroup_memory_bytes=[None] * SAMPLES)
    found = resource_values(record, blind, pl.DataFrame(schema=MACHINE_SCHEMA))
    metrics = {key.metric for key in found}
    assert not metrics & {"unique_bytes", "cgroup_memory_bytes", "memory_slope_bytes_per_s"}
    assert "resident_bytes" in metrics


def test_the_machine_and_the_observer_have_shares_of_time(record: TrialRecord) -> None:
    at_ns = [BEGIN_NS + number * PERIOD_NS for number in range(20)]
    columns: dict[str, list[int | None]] = {
        "host": [None] * 20,
        "at_ns": list(at_ns),
        "cpu_pressure_ns": [number * 25 * MS for number in range(20)],
        "memory_pressure_ns": [None] * 20,
        "io_pressure_ns": [0] * 20,
        "observer_cpu_ns": [number * 1 * MS for number in range(20)],
    }
    found = resource_values(record, pl.DataFrame(schema=PROCESSES_SCHEMA), pl.DataFrame(columns, MACHINE_SCHEMA))
    assert {key.metric: measured.value for key, measured in found.items()} == {  # type: ignore[union-attr]
        "cpu_pressure_percent": pytest.approx(25),
        "io_pressure_percent": 0,
        "observer_cpu_percent_of_core": pytest.approx(1),
    }
    assert all(key.subject == TRIAL for key in found)


def test_the_memory_of_a_long_trial_is_drawn_with_few_points(record: TrialRecord) -> None:
    (course,) = memory_series(record, sampled(resident_bytes=list(range(SAMPLES))), most_points=10)
    assert len(course.at_s) == len(course.resident_bytes) == 10
    assert course.at_s[0] == pytest.approx(-1)


def test_another_machine_has_its_own_pressure_and_its_own_observer(record: TrialRecord) -> None:
    rows = [
        {"host": host, "at_ns": BEGIN_NS + after_ns, **dict.fromkeys(PRESSURES, percent * after_ns // 100)}
        for host, percent in ((None, 10), ("far", 20))
        for after_ns in (0, 1000 * MS)
    ]
    found = resource_values(record, sampled(), pl.DataFrame(rows, schema=MACHINE_SCHEMA))
    for subject, percent in ((TRIAL, 10), (host_subject("far"), 20)):
        for metric in ("cpu_pressure_percent", "observer_cpu_percent_of_core"):
            assert found[Key(subject, metric)].value == pytest.approx(percent)  # type: ignore[union-attr]


def test_the_trial_has_no_cpu_time_a_message_where_a_process_was_not_sampled(record: TrialRecord) -> None:
    busy = sampled(cpu_ns=[number * 10 * MS for number in range(SAMPLES)])
    machine = pl.DataFrame(schema=MACHINE_SCHEMA)
    assert Key(TRIAL, "cpu_per_message_ns") not in resource_values(record, busy, machine)
    both = pl.concat([busy, busy.with_columns(process=pl.lit("subscriber_0"))])
    assert Key(TRIAL, "cpu_per_message_ns") in resource_values(record, both, machine)


def test_a_service_s_cpu_time_is_told_for_each_message_delivered(record: TrialRecord) -> None:
    busy = sampled(cpu_ns=[number * 10 * MS for number in range(SAMPLES)])
    broker = busy.with_columns(process=pl.lit("broker_0"))
    found = resource_values(record, broker, pl.DataFrame(schema=MACHINE_SCHEMA))
    assert found[Key(process_subject("broker_0"), "cpu_per_message_ns")].value == pytest.approx(0.1e9 / 200)  # type: ignore[union-attr]


def of_discovery(process: str, begin_ns: int, spent_of_period_ns: int) -> pl.DataFrame:
    numbers = range(SAMPLES)
    at_ns = [begin_ns + number * PERIOD_NS for number in numbers]
    spent = sampled(cpu_ns=[number * spent_of_period_ns for number in numbers], at_ns=at_ns)
    return spent.with_columns(process=pl.lit(process))


def test_the_cpu_time_of_discovery_is_of_all_processes_until_its_end(record: TrialRecord) -> None:
    """The first message comes after about 40 ms, so that the first sample after the start is behind it."""
    begin_ns = T0_NS - 20 * MS
    both = pl.concat([of_discovery("publisher_0", begin_ns, 10 * MS), of_discovery("subscriber_0", begin_ns, 20 * MS)])
    found = resource_values(record, both, pl.DataFrame(schema=MACHINE_SCHEMA))
    assert found[Key(TRIAL, "discovery_cpu_ns")].value == 30 * MS  # type: ignore[union-attr]


def test_a_process_that_was_not_seen_from_the_start_leaves_discovery_unknown(record: TrialRecord) -> None:
    begin_ns = T0_NS - 20 * MS
    early = of_discovery("publisher_0", begin_ns, MS)
    for processes in (early, pl.concat([early, of_discovery("subscriber_0", T0_NS + 1, MS)])):
        found = resource_values(record, processes, pl.DataFrame(schema=MACHINE_SCHEMA))
        assert Key(TRIAL, "discovery_cpu_ns") not in found
