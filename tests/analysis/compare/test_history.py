"""A figure over runs: points in the order of time, and changes of its level, not of chance."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import middlemark
from behaviour import Behaviour
from known_suites import CHAIN_OF_THREE_NODES
from middlemark.analysis.compare.history import IS_KNOWN, History, HistoryPoint, PastRun, level_changes
from middlemark.analysis.compare.history import histories as histories_of
from middlemark.analysis.metrics.timeseries import EQUAL
from middlemark.results.manifest import RunHead
from middlemark.suite.metrics import Metric, metric_named
from run_builder import build_run
from shared_runs import SharedRuns


@dataclass(frozen=True)
class Run:
    """A run with its whole `summary.parquet`."""

    name: str
    head: RunHead
    estimates: pl.DataFrame


def histories(runs: list[Run], metric: Metric) -> list[History]:
    rows = [
        run.estimates.filter(IS_KNOWN).with_columns(run=pl.lit(place, pl.UInt32())) for place, run in enumerate(runs)
    ]
    return histories_of([PastRun(run.name, run.head) for run in runs], pl.concat(rows), metric)


@pytest.fixture(scope="module")
def past(runs: SharedRuns) -> Run:
    run = runs.golden("run-format-1")
    return Run("golden", run.manifest, run.estimates)


def _points(values: list[float]) -> list[HistoryPoint]:
    return [
        HistoryPoint(f"run-{i}", f"2026-01-{i + 1:02}", "1", "1", value, None, None, 3)
        for i, value in enumerate(values)
    ]


def test_runs_come_in_the_order_in_which_they_began_whatever_the_order_given(past: Run) -> None:
    early = replace(past, name="early", head=past.head.model_copy(update={"started_at": "2025-01-01T00:00:00+00:00"}))
    series = histories([past, early], metric_named("median(latency)"))
    assert {each.middleware for each in series} == {"alpha", "beta"}
    for each in series:
        assert [point.run for point in each.points] == ["early", "golden"]
        assert each.stream in {"imu", "ping_pong"}
        assert not each.setting.startswith("middleware=")


def test_figures_of_another_machine_are_another_series(past: Run) -> None:
    elsewhere = past.head.model_copy(update={"machine": {"cpu_model": "another"}})
    series = histories([past, replace(past, name="elsewhere", head=elsewhere)], metric_named("cpu"))
    assert all(len(each.points) == 1 for each in series)
    assert {each.machine for each in series} == {"another", "unknown, 2 CPUs, 24 GiB"}


def test_the_machine_is_the_one_that_a_real_run_recorded(runs: SharedRuns) -> None:
    run = runs.golden("run-format-1-observed")
    series = histories([Run("real", run.manifest, run.estimates)], metric_named("median(latency)"))
    assert {each.machine for each in series} == {"AMD EPYC, 2 CPUs, 24 GiB, virtual machine (unknown)"}


def test_two_machines_of_one_model_are_two_series(past: Run) -> None:
    runs = [
        replace(past, head=past.head.model_copy(update={"machine": {"cpu_model": "same", "machine_id": each}}))
        for each in ("0a", "0b", "0a")
    ]
    series = histories(runs, metric_named("cpu"))
    assert {(each.machine, len(each.points)) for each in series} == {("same (machine 0a)", 2), ("same (machine 0b)", 1)}


@pytest.mark.parametrize("fact", [{"cpus": 4}, {"memory_bytes": 8 << 30}, {"virtualisation": "virtual machine (a)"}])
def test_where_no_id_was_recorded_other_facts_tell_machines_of_one_model_apart(
    past: Run, fact: dict[str, str | int]
) -> None:
    known: dict[str, str | int] = {"cpu_model": "same", "cpus": 2, "memory_bytes": 4 << 30, "virtualisation": "none"}
    runs = [
        replace(past, head=past.head.model_copy(update={"machine": machine}))
        for machine in (known, known, known | fact)
    ]
    assert sorted({len(each.points) for each in histories(runs, metric_named("cpu"))}) == [1, 2]


def test_observed_trials_and_missing_figures_have_no_point(past: Run) -> None:
    estimates = past.estimates.with_columns(observation=pl.lit("wire"))
    assert histories([replace(past, estimates=estimates)], metric_named("loss")) == []
    assert histories([past], metric_named("p9999(latency)")) == []


def test_a_figure_of_chains_has_a_history_of_each_chain(tmp_path: Path) -> None:
    run = middlemark.load(build_run(tmp_path / "run", CHAIN_OF_THREE_NODES, {"udp": Behaviour()}).path)
    series = histories([Run("chained", run.manifest, run.estimates)], metric_named("median(end_to_end)"))
    assert [(each.stream, len(each.points)) for each in series] == [("whole", 1)]
    streams = histories([Run("chained", run.manifest, run.estimates)], metric_named("median(latency)"))
    assert {each.stream for each in streams} == {"image", "objects"}


def test_a_side_has_the_version_of_its_own_library(past: Run) -> None:
    known = past.head.middlewares["alpha"]
    older = known.model_copy(update={"library": known.library.model_copy(update={"version": "0.9"})})
    both = pl.concat(
        past.estimates.with_columns(factors=pl.col("factors") + f" side={side}") for side in ("base", "head")
    )
    sided = replace(past, head=past.head.model_copy(update={"base": {"alpha": older}}), estimates=both)
    series = [each for each in histories([sided], metric_named("cpu")) if each.middleware == "alpha"]
    versions = {
        side: {each.points[0].library_version for each in series if f"side={side}" in each.setting}
        for side in ("base", "head")
    }
    assert versions == {"base": {"0.9"}, "head": {known.library.version}}


def test_a_new_level_is_found_where_it_begins_with_its_ratio() -> None:
    rng = np.random.default_rng(2)
    values = [*(100 * np.exp(rng.normal(0, 0.01, 8))), *(120 * np.exp(rng.normal(0, 0.01, 6)))]
    (change,) = level_changes(_points(values))
    assert (change.before.run, change.first.run) == ("run-7", "run-8")
    assert change.brought == ()
    assert change.times == pytest.approx(1.2, rel=0.02)


def test_a_new_level_names_the_versions_that_came_with_it() -> None:
    points = _points([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])
    newer = [point._replace(library_version="2", middlemark_version="0.2") for point in points[3:]]
    (change,) = level_changes([*points[:3], *newer])
    assert change.brought == ("library 1 → 2", "Middlemark 1 → 0.2")


def test_a_level_that_moves_by_less_than_five_percent_is_no_change() -> None:
    assert level_changes(_points([100.0] * 6 + [100 * np.exp(0.9 * EQUAL)] * 6)) == ()


def test_five_runs_are_too_few_and_nought_has_no_level() -> None:
    assert level_changes(_points([1.0, 1.0, 9.0, 9.0, 9.0])) == ()
    assert level_changes(_points([0.0] * 4 + [1.0] * 4)) == ()


def test_chance_alone_seldom_makes_a_change() -> None:
    rng = np.random.default_rng(3)
    found = [level_changes(_points(list(100 * np.exp(rng.normal(0, 0.05, 20))))) for _ in range(300)]
    assert sum(map(bool, found)) / 300 <= 0.05
