"""How a figure went over many runs: its estimates in the order of time, and where its level changed for good.

One series has one middleware in one setting on one machine, since figures of different machines are no history; of runs
that recorded no machine's id, those on machines of one processor, size and kind are taken for one machine's. The
changes are those that `settling` finds, where the levels before and after differ by more than 5 %. It reads nothing.

Which runs of the base a head is held against: those of the same suite on the same machine, each of them once.

It pairs each experiment of the head with itself in those runs; `verdict.next_run` has the statistics. `pairing` pairs
two runs, and experiments of one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from middlemark.analysis.compare.pairing import Pair, Pairs, differing, telling, words
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.metrics.catalog import TRIAL, Metric
from middlemark.analysis.metrics.timeseries import EQUAL, changes
from middlemark.analysis.run import RunFindings
from middlemark.errors import UsageError
from middlemark.plan import Side
from middlemark.plan.matrix import FACTOR
from middlemark.results.manifest import Manifest, RunHead

FEWEST = 6
"""Runs from which on a change of level can be told from chance: three on either side."""


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
    """The figure in one run."""

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
    """One figure of one middleware in one setting on one machine, over runs."""

    middleware: str
    setting: str
    stream: str | None
    """Or the chain; None where the figure is of the trial."""
    machine: str
    points: tuple[Point, ...]
    changes: tuple[Change, ...]


def histories(runs: Sequence[PastRun], figure: Metric) -> list[History]:
    """Every series that has the figure, by setting and middleware; points in the order in which runs began."""
    found: dict[tuple[str, str, str, str], list[Point]] = {}
    for run in sorted(runs, key=lambda each: each.manifest.started_at):
        machine = machine_of(run.manifest)
        for row in run.estimates.filter(of_figure(figure)).iter_rows(named=True):
            key = (_setting(row), row["middleware"], row["subject"], machine)
            found.setdefault(key, []).append(_point(run, row))
    return [
        History(middleware, setting, _stream(subject), machine, tuple(points), level_changes(points))
        for (setting, middleware, subject, machine), points in sorted(found.items())
    ]


def machine_of(manifest: RunHead) -> str:
    """What tells a machine from others: `AMD EPYC 9354 (machine 5d41402a…)`; without its id, what it is made of."""
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


def of_figure(figure: Metric) -> pl.Expr:
    """Which estimates a history of the figure is of: those of unobserved trials, where there is one."""
    of_each = pl.col("subject").str.starts_with(figure.key("").subject)
    subject = pl.col("subject") == TRIAL if figure.of_trial else of_each
    known = pl.col("estimate").is_not_null() & pl.col("observation").is_null()
    return (pl.col("metric") == figure.metric) & subject & known


def _setting(row: dict[str, str]) -> str:
    return row["factors"].removeprefix(f"middleware={row['middleware']} ")


def _stream(subject: str) -> str | None:
    return None if subject == TRIAL else subject.partition(":")[2]


def _point(run: PastRun, row: dict[str, float]) -> Point:
    is_base = f"{FACTOR}={Side.BASE}" in str(row["factors"]).split()
    known = (run.manifest.base if is_base else run.manifest.middlewares).get(str(row["middleware"]))
    return Point(
        run=run.name,
        started_at=run.manifest.started_at,
        library_version=known.library.version if known else "unknown",
        middlemark_version=run.manifest.middlemark_version,
        value=row["estimate"],
        low=row["low"],
        high=row["high"],
        n_trials=int(row["n_trials"]),
    )


def level_changes(points: Sequence[Point]) -> tuple[Change, ...]:
    """Where the level changed; none where runs are too few to tell, or a value has no logarithm."""
    values = np.array([point.value for point in points])
    if len(values) < FEWEST or values.min() <= 0:
        return ()
    levels = np.log(values)
    ends = changes(levels)
    begins = [0, *ends[:-1]]
    medians = [float(np.median(levels[begin:end])) for begin, end in zip(begins, ends, strict=True)]
    return tuple(
        Change(points[begin].run, points[begin].started_at, float(np.exp(after - before)))
        for begin, before, after in zip(begins[1:], medians, medians[1:], strict=False)
        if abs(after - before) > EQUAL
    )


def of_base_runs(bases: Sequence[RunFindings], head: RunFindings) -> Pairs:
    """Pair each experiment of the head with itself in the runs of the base that have it."""
    name = bases[0].folder.path.name if len(bases) == 1 else f"{len(bases)} base runs"
    of_runs = [{each.experiment.id: each for each in run.comparable} for run in bases]
    of_base = {key: each for run in of_runs for key, each in run.items()}
    of_head = {each.experiment.id: each for each in head.comparable}
    common = sorted(of_base.keys() & of_head.keys())
    if not common:
        raise UsageError(
            "base and head have no experiment in common",
            remedy=f"they differ in {', '.join(differing(of_base.values(), of_head.values()))}; give runs of one suite",
        )
    shown = telling([of_head[key] for key in common])
    pairs = tuple(
        Pair(
            words(of_head[key], shown),
            (name, head.folder.path.name),
            (of_base[key], of_head[key]),
            paired=False,
            base_runs=tuple(run[key] for run in of_runs if key in run),
        )
        for key in common
    )
    of_all = telling([*of_base.values(), *of_head.values()])
    gone = _only(name, of_base, of_head, of_all)
    return Pairs(pairs, (*gone, *_only(head.folder.path.name, of_head, of_base, of_all)), gone)


def _only(
    name: str, own: Mapping[str, ExperimentFindings], others: Mapping[str, ExperimentFindings], shown: Sequence[str]
) -> tuple[str, ...]:
    has = "have" if name.endswith("base runs") else "has"
    return tuple(f"only {name} {has} {words(each, shown)}" for key, each in own.items() if key not in others)


def check_alike(runs: Sequence[tuple[str, Manifest]], *, across_machines: bool = False) -> None:
    """Refuse runs, each with the name that it was given by, that differ in more than what is judged."""
    _check_each_once(runs)
    _check_one([(name, manifest.suite) for name, manifest in runs], "suites", "give runs of one suite")
    if not across_machines:
        _check_one(
            [(name, machine_of(manifest)) for name, manifest in runs],
            "machines",
            "give runs of one machine; with --across-machines their difference counts as one between runs",
        )


def _check_each_once(runs: Sequence[tuple[str, Manifest]]) -> None:
    """A run and its copy would seem to agree."""
    names: dict[tuple[str, int, str], str] = {}
    for name, manifest in runs:
        began = manifest.started_at, manifest.seed, manifest.suite_text
        if began in names:
            raise UsageError(f"{name} is the same run as {names[began]}", remedy="give each run once")
        names[began] = name


def _check_one(found: Sequence[tuple[str, str]], what: str, remedy: str) -> None:
    """The first run of each kind is named."""
    kinds = {value: name for name, value in reversed(found)}
    if len(kinds) > 1:
        said = "; ".join(f"{name}: {value}" for value, name in reversed(kinds.items()))
        raise UsageError(f"the runs are of different {what}: {said}", remedy=remedy)
