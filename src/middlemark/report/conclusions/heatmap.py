"""The overview of a run with many settings: a heat map a load, middlewares down, topologies or what else varies across.

Each cell is the median that its setting ranks by, or the word for why there is none. It ranks nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.stats.estimate import Method
from middlemark.report.elements.formatting import unit_of
from middlemark.report.elements.labels import (
    LOAD,
    Series,
    Trials,
    deliveries_of,
    distinguishing,
    load_words,
    trials_behind,
)
from middlemark.report.elements.tables import MIDDLEWARE, NOTHING, Table, estimate_cell, table, values

ACROSS = ("topology", "faults", "deployment", "cpu_load", "security", "link", "size", "rate")
"""The factors that columns may show; the first that varies is used."""
WITH_TOPOLOGY = ("link", "host")
"""Factors that come with a topology; those of one link or host begin with these words."""


@dataclass(frozen=True)
class HeatCell:
    """One experiment."""

    text: str
    heat: float | None
    """0 for the best of the map to 1 for the worst, on a logarithmic scale; None where there is no value."""
    note: str
    """Why it has no value, or is not ranked."""
    section: str


@dataclass(frozen=True)
class HeatMap:
    """One load."""

    title: str
    unit: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[HeatCell | None, ...]], ...]
    """Label, colour, and a cell for each column; None where nothing was planned."""
    trials: Trials
    """By label."""
    deliveries: str
    """In a sentence, which row has which delivery; empty where all have the same."""


def heat_maps(comparisons: Sequence[Comparison], ids: Sequence[str], series_of: Mapping[str, Series]) -> list[HeatMap]:
    """A map for each load of which something varies; empty for a run with a single setting of each."""
    across = next((name for name in ACROSS if _varies(comparisons, name)), None)
    if across is None:
        return []
    groups: dict[str, list[tuple[Comparison, str]]] = {}
    for comparison, section in zip(comparisons, ids, strict=True):
        groups.setdefault(_title(comparison, across), []).append((comparison, section))
    varying = distinguishing(comparisons)
    return [_heat_map(title, across, group, series_of, varying) for title, group in groups.items()]


def heat_table(heat_map: HeatMap) -> Table:
    """A map in words, for a file of its own."""
    rows = [(label, *(NOTHING if cell is None else cell.text for cell in cells)) for label, _, cells in heat_map.rows]
    notes = [
        f"{label}, {column}: {cell.note}"
        for label, _, cells in heat_map.rows
        for column, cell in zip(heat_map.columns, cells, strict=True)
        if cell is not None and cell.note and cell.note != cell.text
    ]
    columns = (MIDDLEWARE, *values(*heat_map.columns))
    caption = " ".join(filter(None, [heat_map.deliveries, "; ".join(notes)]))
    return table(heat_map.title, columns, rows, caption, detail=heat_map.unit)


def _varies(comparisons: Sequence[Comparison], name: str) -> bool:
    by_workload: dict[str, set[str | None]] = {}
    for comparison in comparisons:
        by_workload.setdefault(comparison.setting.workload, set()).add(dict(comparison.setting.factors).get(name))
    return any(len(values) > 1 for values in by_workload.values())


def _bound(name: str, across: str) -> bool:
    """Whether a factor is the one of the columns, or changes with it."""
    return name == across or (across == "topology" and name.split(".", maxsplit=1)[0] in WITH_TOPOLOGY)


def _title(comparison: Comparison, across: str) -> str:
    factors = {name: value for name, value in comparison.setting.factors if not _bound(name, across)}
    chain = f", {comparison.setting.stream}" if comparison.setting.of_chain else ""
    return f"{comparison.setting.workload}{chain}".replace("_", " ") + f": {load_words(factors)}"


def _heat_map(
    title: str,
    across: str,
    group: Sequence[tuple[Comparison, str]],
    series_of: Mapping[str, Series],
    varying: frozenset[str],
) -> HeatMap:
    columns = tuple(dict.fromkeys(_column(comparison, across) for comparison, _ in group))
    by_series: dict[tuple[str, str], dict[str, tuple[ExperimentFindings, Comparison, str]]] = {}
    for comparison, section in group:
        for candidate in comparison.experiments:
            series = series_of[candidate.experiment.id]
            key = (series.label, series.colour)
            if _column(comparison, across) in by_series.get(key, {}):  # they differ in what the title leaves out
                key = (f"{series.label} ({_left_out(comparison, across, varying)})", series.colour)
            by_series.setdefault(key, {})[_column(comparison, across)] = (candidate, comparison, section)
    cells = [cell for of_columns in by_series.values() for cell in of_columns.values()]
    values = [value for measured, comparison, _ in cells if (value := _value(measured, comparison)) is not None]
    rows = tuple(
        (label, colour, tuple(_cell(by_column[name], values) if name in by_column else None for name in columns))
        for (label, colour), by_column in sorted(by_series.items())
    )
    kind = group[0][0].criterion.distribution
    unit = f"median, {unit_of(kind).name}" if kind else "payload, MB/s"
    labelled = [
        (label, measured)
        for (label, _), by_column in sorted(by_series.items())
        for measured, _, _ in by_column.values()
    ]
    return HeatMap(title, unit, columns, rows, trials_behind(labelled), deliveries_of(labelled))


def _column(comparison: Comparison, across: str) -> str:
    return dict(comparison.setting.factors).get(across, "none").replace("_", " ")


def _left_out(comparison: Comparison, across: str, varying: frozenset[str]) -> str:
    return ", ".join(
        value.replace("_", " ")
        for name, value in comparison.setting.factors
        if name in varying and name not in LOAD and not _bound(name, across)
    )


def _value(candidate: ExperimentFindings, comparison: Comparison) -> float | None:
    estimate = candidate.estimate(comparison.setting.subject, comparison.criterion.metric)
    return estimate.value if estimate and estimate.value and estimate.value > 0 else None


def _cell(content: tuple[ExperimentFindings, Comparison, str], values: Sequence[float]) -> HeatCell:
    candidate, comparison, section = content
    value = _value(candidate, comparison)
    why = comparison.unranked.get(candidate.experiment.id, "")
    if value is None:
        return HeatCell(_outcome(candidate, comparison), None, why, section)
    unit = unit_of(comparison.criterion.distribution)
    estimate = candidate.estimate(comparison.setting.subject, comparison.criterion.metric)
    return HeatCell(estimate_cell(estimate, unit).text, _heat(value, values, comparison), why, section)


def _heat(value: float, values: Sequence[float], comparison: Comparison) -> float:
    low, high = min(values), max(values)
    if low == high:
        return 0.0
    heat = math.log(value / low) / math.log(high / low)
    return heat if comparison.criterion.lower_is_better else 1 - heat


def _outcome(candidate: ExperimentFindings, comparison: Comparison) -> str:
    """The word for a cell without a value: how most trials ended."""
    if candidate.n_valid:
        if candidate.accounting.overloaded.get(comparison.setting.stream) == candidate.n_valid:
            return "overloaded"
        estimate = candidate.estimate(comparison.setting.subject, comparison.criterion.metric)
        if estimate and estimate.method is Method.WITHIN_CLOCKS:
            return "within clocks"
        return "too few samples" if estimate and estimate.n_messages else "nothing in time"
    most = Counter(outcome.kind for outcome in candidate.outcomes).most_common(1)
    return most[0][0].replace("_", " ") if most else "damaged"
