"""How discovery grows with endpoints and participants: a table for each cost, and charts with the fitted curves.

It computes nothing but where a curve passes: `analysis.compare.scaling` fitted it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from middlemark.analysis.compare.scaling import Coefficient, Fit, Growth, GrowthMetric, Over, Shape
from middlemark.analysis.run import RunFindings
from middlemark.plan.factors import is_of_candidate
from middlemark.report.elements.chart import Chart, Identity, finished, identity, log_scale, short
from middlemark.report.elements.formatting import (
    COUNT,
    MEBIBYTES,
    MICROSECONDS,
    MILLISECONDS,
    Unit,
    ends,
    interval,
)
from middlemark.report.elements.labels import DELIVERY, Series, deliveries_cell, load_words, n_trials, trials_behind
from middlemark.report.elements.tables import (
    MIDDLEWARE,
    NOTHING,
    Cell,
    Column,
    Table,
    estimate_cell,
    sentences,
    table,
)

BYTES, KILOBYTES, KIBIBYTES = Unit("B"), Unit("kB", 1e3), Unit("KiB", 1024)
_UNITS: Mapping[str, tuple[Unit, Unit]] = {
    "first_message_ns": (MILLISECONDS, MICROSECONDS),
    "recovery_ns": (MILLISECONDS, MICROSECONDS),
    "discovery_cpu_ns": (MILLISECONDS, MICROSECONDS),
    "wire_discovery_bytes": (KILOBYTES, BYTES),
    "wire_discovery_packets": (COUNT, COUNT),
    "peak_memory_bytes": (MEBIBYTES, KIBIBYTES),
}
"""What a cost is shown in, and what a further endpoint or participant costs."""
_ONE = {Over.ENDPOINTS: "endpoint", Over.PARTICIPANTS: "participant"}
READING = (
    "Medians of trials with their intervals. Growth: a line and a parabola are fitted to all trials, each weighted by "
    "the median at its place; it is called quadratic where the parabola's 95 % interval excludes a line, linear where "
    "the line's excludes none. With fewer than four places nothing is fitted."
)
GROWTH_READING = (
    "Medians of trials with their intervals. Growth is that over all numbers that were measured; a cost that it does "
    "not name shows none, or was measured at fewer than four of them."
)
CURVE_POINTS = 24
Factors = tuple[tuple[str, str], ...]
Group = tuple[Factors, Over, GrowthMetric]
"""The load without its candidates, what grows, and the cost."""


def growth_tables(findings: RunFindings, series_of: Mapping[str, Series]) -> list[Table]:
    """A table for each load and cost, a row for each candidate."""
    return [_table(group, grown, series_of) for group, grown in _groups(findings).items()]


def growth_charts(findings: RunFindings, series_of: Mapping[str, Series]) -> list[Chart]:
    """A chart for each load and cost of which any growth was fitted."""
    groups = [(group, grown) for group, grown in _groups(findings).items() if any(growth.fit for growth in grown)]
    return [_chart(place, group, grown, series_of) for place, (group, grown) in enumerate(groups)]


def growth_summary(findings: RunFindings, series_of: Mapping[str, Series]) -> list[Table]:
    """A table for each load: all costs at its last place, a row for each candidate, the least time first."""
    grown_under: dict[tuple[Factors, Over], list[Growth]] = {}
    for (load, over, _), grown in _groups(findings).items():
        grown_under.setdefault((load, over), []).extend(grown)
    return [_summary(load, over, grown, series_of) for (load, over), grown in grown_under.items()]


def _groups(findings: RunFindings) -> dict[Group, list[Growth]]:
    groups: dict[Group, list[Growth]] = {}
    for growth in findings.growths:
        load = tuple((name, value) for name, value in growth.factors if not is_of_candidate(name))
        groups.setdefault((load, growth.over, growth.metric), []).append(growth)
    return groups


def _title(group: Group) -> str:
    load, over, metric = group
    name, factors = metric.name, dict(load)
    return f"{name[0].upper()}{name[1:]} over {over}: {factors['workload'].replace('_', ' ')}, {load_words(factors)}"


def _series(growth: Growth, series_of: Mapping[str, Series]) -> Series:
    return series_of[next(iter(growth.points.values())).experiment.id]


def _summary(load: Factors, over: Over, grown: Sequence[Growth], series_of: Mapping[str, Series]) -> Table:
    last = max(place for growth in grown for place in growth.points)
    metrics = list(dict.fromkeys(growth.metric for growth in grown))
    units = {metric: _UNITS[metric.stored_name][0] for metric in metrics}
    columns = (MIDDLEWARE, *(Column(metric.name, units[metric].name) for metric in metrics), sentences("growth"))
    rows = [
        (
            _series(next(iter(growth_of.values())), series_of).label,
            *(_cell(growth_of[metric], last, units[metric]) if metric in growth_of else NOTHING for metric in metrics),
            _shapes(growth_of.values()) or NOTHING,
        )
        for growth_of in _by_candidate(grown)
    ]
    factors = dict(load)
    title = f"At {last} {over}: {factors['workload'].replace('_', ' ')}, {load_words(factors)}"
    return table(title, columns, sorted(rows, key=_least_first), GROWTH_READING)


def _by_candidate(grown: Iterable[Growth]) -> Iterable[Mapping[GrowthMetric, Growth]]:
    """The growth of each cost, for each candidate."""
    candidates: dict[Factors, dict[GrowthMetric, Growth]] = {}
    for growth in grown:
        candidates.setdefault(growth.factors, {})[growth.metric] = growth
    return candidates.values()


def _least_first(row: Sequence[str | Cell]) -> float:
    first = row[1]
    return first.value if isinstance(first, Cell) and isinstance(first.value, (int, float)) else math.inf


def _shapes(grown: Iterable[Growth]) -> str:
    """`quadratic: time to first message; linear: bytes of discovery, memory`."""
    names: dict[str, list[str]] = {}
    for growth in grown:
        if growth.fit is not None and growth.fit.shape is not Shape.NONE:
            names.setdefault(growth.fit.shape, []).append(growth.metric.name)
    return "; ".join(f"{shape}: {', '.join(metrics)}" for shape, metrics in names.items())


def _table(group: Group, grown: Sequence[Growth], series_of: Mapping[str, Series]) -> Table:
    _, over, metric = group
    unit, of_one = _UNITS[metric.stored_name]
    places = sorted({place for growth in grown for place in growth.points})
    columns = (MIDDLEWARE, DELIVERY, *(Column(f"{place} {over}", unit.name) for place in places), sentences("growth"))
    rows = [
        (
            _series(growth, series_of).label,
            deliveries_cell(growth.points.values()),
            *(_cell(growth, place, unit) if place in growth.points else NOTHING for place in places),
            growth_words(growth.fit, _ONE[over], of_one) if growth.fit else NOTHING,
        )
        for growth in grown
    ]
    return table(_title(group), columns, rows, READING)


def _cell(growth: Growth, place: int, unit: Unit) -> Cell:
    candidate = growth.points[place]
    if candidate.not_applicable is not None:
        return Cell(None, reason=f"not applicable: {candidate.not_applicable}")
    estimate = growth.estimate(place)
    if estimate is not None:
        return estimate_cell(estimate, unit)
    if candidate.n_valid:
        return NOTHING
    return Cell(None, reason=", ".join(sorted({outcome.kind.replace("_", " ") for outcome in candidate.outcomes})))


def growth_words(fit: Fit, noun: str, unit: Unit) -> str:
    """`linear: 41 µs (38–44) an endpoint`."""
    of_one = f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
    words = f"{fit.shape}: {_amount(fit.slope, unit)} {of_one}"
    return words if fit.curvature is None else f"{words} and {_amount(fit.curvature, unit)} {of_one} squared"


def _amount(coefficient: Coefficient, unit: Unit) -> str:
    span = ends(coefficient.low, coefficient.high, unit)
    return " ".join([unit.write(coefficient.value), *filter(None, [unit.name, f"({span})" if span else ""])])


def _chart(place: int, group: Group, grown: Sequence[Growth], series_of: Mapping[str, Series]) -> Chart:
    _, over, metric = group
    unit = _UNITS[metric.stored_name][0]
    points = [point for growth in grown for point in _points(growth, unit, series_of)]
    curves = [point for growth in grown for point in _curve(growth, unit, series_of)]
    shown = identity(_series(growth, series_of) for growth in grown)
    estimates = (growth.estimate(at) for growth in grown for at in growth.points)
    return Chart(
        id=f"growth{place}",
        title=_title(group),
        caption=(
            f"Points: medians of trials with interval, {unit.name or 'number'}. Lines: the fitted curves. "
            f"{n_trials(estimates)}"
        ),
        description="A line with its points for each middleware; the table below has the values.",
        spec=finished(
            *_layers(points, curves, over, shown, unit),
            height=300,
            points=points,
            curves=curves,
            spans=[row for row in points if (row["low"] or 0) > 0],
        ),
        trials=trials_behind(
            (_series(growth, series_of).label, candidate) for growth in grown for candidate in growth.points.values()
        ),
    )


Drawn = list[dict[str, Any]]


def _points(growth: Growth, unit: Unit, series_of: Mapping[str, Series]) -> Drawn:
    rows: Drawn = []
    for place in growth.points:
        estimate = growth.estimate(place)
        if estimate is not None and estimate.value:
            spans = [None if end is None else short(unit.of(end)) for end in (estimate.low, estimate.high)]
            value = {"value": short(unit.of(estimate.value)), "low": spans[0], "high": spans[1]}
            words = f"{unit.write(estimate.value)} {unit.name} {interval(estimate, unit)}".strip()
            rows.append({"series": _series(growth, series_of).label, "place": place, **value, "words": words})
    return rows


def _curve(growth: Growth, unit: Unit, series_of: Mapping[str, Series]) -> Drawn:
    """The fitted curve where it is above 0, which a logarithmic axis can show."""
    if growth.fit is None:
        return []
    places = np.geomspace(min(growth.points), max(growth.points), CURVE_POINTS)
    values = [(float(place), growth.fit.at(float(place))) for place in places]
    label = _series(growth, series_of).label
    return [
        {"series": label, "place": short(place), "value": short(unit.of(value))} for place, value in values if value > 0
    ]


def _layers(points: Drawn, curves: Drawn, over: Over, shown: Identity, unit: Unit) -> list[alt.Chart]:
    x = log_scale([float(row["place"]) for row in points]).x("place:Q", str(over))
    ends_of_spans = [row[end] for row in points for end in ("low", "high") if (row[end] or 0) > 0]
    y = log_scale([row["value"] for row in (*points, *curves)] + ends_of_spans).y("value:Q", unit.name or "number")
    line = alt.Chart(alt.NamedData("curves")).mark_line(strokeWidth=1.5, opacity=0.7)
    marks = alt.Chart(alt.NamedData("points")).mark_point(filled=True, size=55)
    spans = alt.Chart(alt.NamedData("spans")).mark_rule(strokeWidth=1.5)
    tooltip = [
        alt.Tooltip("series:N", title="middleware"),
        alt.Tooltip("place:Q", title=str(over)),
        alt.Tooltip("words:N"),
    ]
    return [
        line.encode(x=x, y=y, color=shown.colour, strokeDash=shown.dash),
        spans.encode(x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), color=shown.colour),
        marks.encode(x=x, y=y, color=shown.colour, tooltip=tooltip),
    ]
