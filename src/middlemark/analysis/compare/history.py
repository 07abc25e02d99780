"""The history of a metric over many runs: its estimates in the order of time, and where its level changed for good.

A series has one middleware in one setting on one machine (of runs that recorded no machine's id: one processor, size
and kind of machine). A change is a change point of `metrics.timeseries` with levels more than 5 % apart; it reads
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl

from middlemark.analysis.metrics.timeseries import EQUAL, change_points
from middlemark.plan import Side
from middlemark.plan.factors import SIDE_FACTOR
from middlemark.results.manifest import RunHead
from middlemark.suite.metrics import TRIAL, Metric

FEWEST = 6
"""Runs from which on a change of level can be separated from chance: three on either side."""


IS_KNOWN = pl.col("estimate").is_not_null() & pl.col("observation").is_null()
"""Of `summary.parquet`: which estimates are history, those of unobserved trials, where there is one."""


@dataclass(frozen=True)
class PastRun:
    """A run as far as histories need it."""

    name: str
    head: RunHead


class HistoryPoint(NamedTuple):
    """The metric in one run."""

    run: str
    started_at: str
    library_version: str
    middlemark_version: str
    value: float
    low: float | None
    high: float | None
    n_trials: int

    @property
    def began(self) -> str:
        """The minute in which the run began: `2026-01-31 12:00`."""
        return self.started_at[:16].replace("T", " ")


@dataclass(frozen=True)
class LevelChange:
    """The first run of a new level, and the last of the one before."""

    before: HistoryPoint
    first: HistoryPoint
    times: float
    """The new level's median over that of the one before."""

    @property
    def brought(self) -> tuple[str, ...]:
        """What else is another from that run on, in words: the version of the library, that of Middlemark."""
        libraries, tools = (
            (getattr(self.before, name), getattr(self.first, name))
            for name in ("library_version", "middlemark_version")
        )
        return tuple(
            f"{subject} {old} → {new}"
            for subject, (old, new) in (("library", libraries), ("Middlemark", tools))
            if old != new
        )


@dataclass(frozen=True)
class History:
    """One metric of one middleware in one setting on one machine, over runs."""

    middleware: str
    setting: str
    stream: str | None
    """Or the chain; None where the metric is of the trial."""
    machine: str
    points: tuple[HistoryPoint, ...]

    @cached_property
    def changes(self) -> tuple[LevelChange, ...]:
        """Where its level changed; looked for when they are asked for, as a page shows few of many series."""
        return level_changes(self.points)


def histories(runs: Sequence[PastRun], estimates: pl.DataFrame, metric: Metric) -> list[History]:
    """Every series that has the metric, by setting and middleware; points in the order in which runs began.

    `estimates` has rows of `summary.parquet` that are known, with the place of the run in `run`.
    """
    began = [(place, run.head.started_at, run.head.machine_identity) for place, run in enumerate(runs)]
    of_runs = pl.DataFrame(
        began, {"run": estimates.schema["run"], "began": pl.String(), "machine": pl.String()}, orient="row"
    )
    middleware = pl.concat_str(pl.lit("middleware="), pl.col("middleware"), pl.lit(" "))
    rows = (
        estimates.filter(rows_of_metric(metric))
        .join(of_runs, on="run")
        .with_columns(setting=pl.col("factors").str.strip_prefix(middleware))
        .sort("began", maintain_order=True)
    )
    series = rows.partition_by("setting", "middleware", "subject", "machine", as_dict=True)
    return [_history(key, runs, group) for key, group in sorted(series.items())]


def _history(key: tuple[str, str, str, str], runs: Sequence[PastRun], rows: pl.DataFrame) -> History:
    setting, middleware, subject, machine = key
    is_base = f"{SIDE_FACTOR}={Side.BASE}" in setting.split()
    values = rows.select("run", "estimate", "low", "high", "n_trials").iter_rows()
    points = tuple(_point(runs[place], middleware, numbers, is_base=is_base) for place, *numbers in values)
    stream = None if subject == TRIAL else subject.partition(":")[2]
    return History(middleware, setting, stream, machine, points)


def _point(run: PastRun, middleware: str, numbers: Sequence[float], *, is_base: bool) -> HistoryPoint:
    stored = (run.head.base if is_base else run.head.middlewares).get(middleware)
    value, low, high, n_trials = numbers
    return HistoryPoint(
        run=run.name,
        started_at=run.head.started_at,
        library_version=stored.library.version if stored else "unknown",
        middlemark_version=run.head.middlemark_version,
        value=value,
        low=low,
        high=high,
        n_trials=int(n_trials),
    )


def rows_of_metric(metric: Metric) -> pl.Expr:
    """Which estimates are of the metric."""
    of_each = pl.col("subject").str.starts_with(metric.key("").subject)
    subject = pl.col("subject") == TRIAL if metric.of_trial else of_each
    return (pl.col("metric") == metric.stored_name) & subject


def level_changes(points: Sequence[HistoryPoint]) -> tuple[LevelChange, ...]:
    """Where the level changed; none where runs are too few, or a value has no logarithm."""
    values = np.array([point.value for point in points])
    if len(values) < FEWEST or values.min() <= 0:
        return ()
    levels = np.log(values)
    ends = change_points(levels)
    begins = [0, *ends[:-1]]
    medians = [float(np.median(levels[begin:end])) for begin, end in zip(begins, ends, strict=True)]
    return tuple(
        LevelChange(points[begin - 1], points[begin], float(np.exp(after - before)))
        for begin, before, after in zip(begins[1:], medians, medians[1:], strict=False)
        if abs(after - before) > EQUAL
    )
