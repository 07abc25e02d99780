"""The history of a metric over many runs: its estimates in the order of time, and where its level changed for good.

A series has one middleware in one setting on one machine (of runs that recorded no machine's id: one processor, size
and kind of machine). A change is a change point of `metrics.timeseries` with levels more than 5 % apart; it reads
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from middlemark.analysis.metrics.timeseries import EQUAL, change_points
from middlemark.plan import Side
from middlemark.plan.matrix import SIDE_FACTOR
from middlemark.results.manifest import RunHead
from middlemark.suite.metrics import TRIAL, Metric

FEWEST = 6
"""Runs from which on a change of level can be separated from chance: three on either side."""


@dataclass(frozen=True)
class PastRun:
    """A run as far as histories need it."""

    name: str
    manifest: RunHead
    """The head of it, or all."""
    estimates: pl.DataFrame
    """Its `summary.parquet`, or the rows that `of_figure` leaves."""


@dataclass(frozen=True)
class Point:
    """The metric in one run."""

    run: str
    started_at: str
    library_version: str
    middlemark_version: str
    value: float
    low: float | None
    high: float | None
    n_trials: int


@dataclass(frozen=True)
class Change:
    """The first run of a new level."""

    run: str
    started_at: str
    times: float
    """The new level's median over that of the one before."""


@dataclass(frozen=True)
class History:
    """One metric of one middleware in one setting on one machine, over runs."""

    middleware: str
    setting: str
    stream: str | None
    """Or the chain; None where the metric is of the trial."""
    machine: str
    points: tuple[Point, ...]
    changes: tuple[Change, ...]


def histories(runs: Sequence[PastRun], metric: Metric) -> list[History]:
    """Every series that has the metric, by setting and middleware; points in the order in which runs began."""
    points_by_series: dict[tuple[str, str, str, str], list[Point]] = {}
    for run in sorted(runs, key=lambda other: other.manifest.started_at):
        machine = machine_of(run.manifest)
        for row in run.estimates.filter(rows_of_metric(metric)).iter_rows(named=True):
            key = (_setting(row), row["middleware"], row["subject"], machine)
            points_by_series.setdefault(key, []).append(_point(run, row))
    return [
        History(middleware, setting, _stream(subject), machine, tuple(points), level_changes(points))
        for (setting, middleware, subject, machine), points in sorted(points_by_series.items())
    ]


def machine_of(manifest: RunHead) -> str:
    """What identifies a machine: `AMD EPYC 9354 (machine 5d41402a…)`; without its id, what it is made of."""
    facts = manifest.machine
    model = str(facts.get("cpu_model", "unknown"))
    if facts.get("machine_id", "unknown") != "unknown":
        return f"{model} (machine {facts['machine_id']})"
    cpus, memory_bytes, virtualisation = (facts.get(name) for name in ("cpus", "memory_bytes", "virtualisation"))
    parts = (
        f"{cpus} CPUs" if cpus else "",
        f"{float(memory_bytes) / 2**30:.0f} GiB" if memory_bytes else "",
        str(virtualisation) if virtualisation not in {None, "none"} else "",
    )
    return ", ".join(part for part in (model, *parts) if part)


def rows_of_metric(metric: Metric) -> pl.Expr:
    """Which estimates a history of the metric is of: those of unobserved trials, where there is one."""
    of_each = pl.col("subject").str.starts_with(metric.key("").subject)
    subject = pl.col("subject") == TRIAL if metric.of_trial else of_each
    is_estimated = pl.col("estimate").is_not_null() & pl.col("observation").is_null()
    return (pl.col("metric") == metric.stored_name) & subject & is_estimated


def _setting(row: dict[str, str]) -> str:
    return row["factors"].removeprefix(f"middleware={row['middleware']} ")


def _stream(subject: str) -> str | None:
    return None if subject == TRIAL else subject.partition(":")[2]


def _point(run: PastRun, row: dict[str, float]) -> Point:
    is_base = f"{SIDE_FACTOR}={Side.BASE}" in str(row["factors"]).split()
    middleware = (run.manifest.base if is_base else run.manifest.middlewares).get(str(row["middleware"]))
    return Point(
        run=run.name,
        started_at=run.manifest.started_at,
        library_version=middleware.library.version if middleware else "unknown",
        middlemark_version=run.manifest.middlemark_version,
        value=row["estimate"],
        low=row["low"],
        high=row["high"],
        n_trials=int(row["n_trials"]),
    )


def level_changes(points: Sequence[Point]) -> tuple[Change, ...]:
    """Where the level changed; none where runs are too few, or a value has no logarithm."""
    values = np.array([point.value for point in points])
    if len(values) < FEWEST or values.min() <= 0:
        return ()
    levels = np.log(values)
    ends = change_points(levels)
    begins = [0, *ends[:-1]]
    medians = [float(np.median(levels[begin:end])) for begin, end in zip(begins, ends, strict=True)]
    return tuple(
        Change(points[begin].run, points[begin].started_at, float(np.exp(after - before)))
        for begin, before, after in zip(begins[1:], medians, medians[1:], strict=False)
        if abs(after - before) > EQUAL
    )
