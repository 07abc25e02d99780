"""The charts of capacity searches: latency over load, and what is sustained over the size of messages.

It searches nothing; `capacity` has the values in words, and the names of the searched messages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import altair as alt

from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.search.capacity import Capacity, State
from middlemark.plan.experiment import Sought
from middlemark.plan.schedule import search_key
from middlemark.report.elements.chart import Chart, Identity, finished, identity, log_scale
from middlemark.report.elements.formatting import count_range
from middlemark.report.elements.labels import Series, Trials, trials_behind
from middlemark.report.traffic.capacity import distinguishing_factors, settings
from middlemark.suite.yaml.quantity import plural

AXES = {Sought.RATE: "messages a second", Sought.SIZE: "message size, B"}
FRONT = (
    ("rate", "messages a second", "hz", "Messages a second over size"),
    ("payload", "payload, Mbit/s", "mbit", "Payload over size"),
)


def capacity_charts(
    capacities: Sequence[Capacity], experiments: Sequence[ExperimentFindings], series_of: Mapping[str, Series]
) -> list[Chart]:
    """Capacity over size, then latency over load, a chart for each message that was searched for."""
    named = settings(capacities)
    groups: dict[tuple[Sought, str], list[Capacity]] = {}
    for capacity in capacities:
        groups.setdefault((capacity.sought, named[capacity.experiment.id]), []).append(capacity)
    ordered = sorted(groups.items(), key=lambda group: (group[0][0], group[1][0].given, group[0][1]))
    loads = (
        (_chart(f"load{number}", title, group, series_of), group) for number, ((_, title), group) in enumerate(ordered)
    )
    drawn = (*_fronts(capacities, series_of), *loads)
    return [
        replace(chart, trials=_trials(group, experiments, series_of)) for chart, group in drawn if chart is not None
    ]


def _trials(
    group: Sequence[Capacity], experiments: Sequence[ExperimentFindings], series_of: Mapping[str, Series]
) -> Trials:
    """At all loads of the searches."""
    searched = {
        search_key(capacity.experiment, capacity.search): series_of[capacity.experiment.id].label for capacity in group
    }
    candidates = [
        (search_key(candidate.experiment, search), candidate)
        for candidate in experiments
        if (search := candidate.experiment.search)
    ]
    return trials_behind((searched[key], candidate) for key, candidate in candidates if key in searched)


def _chart(name: str, title: str, group: Sequence[Capacity], series_of: Mapping[str, Series]) -> Chart | None:
    sought = group[0].sought
    rows: list[dict[str, Any]] = [
        {
            "series": series_of[capacity.experiment.id].label,
            "load": point.load.of(sought),
            "us": value / 1e3,
            "quantile": quantile,
        }
        for capacity in group
        for point in capacity.points
        for quantile, value in (("median", point.median_ns), ("99 %", point.p99_ns))
        if value is not None and value > 0
    ]
    if not rows:
        return None
    shown = _identity(group, series_of)
    x = log_scale([row["load"] for row in rows]).x("load:Q", AXES[sought])
    y = log_scale([row["us"] for row in rows]).y("us:Q", "µs")
    ends, knees = _end_rows(group, series_of), _knee_rows(group, series_of)
    layers = [*_curves(x, y, shown, AXES[sought]), _ends(x, shown), *([_knees(x, y, shown)] if knees else [])]
    bent = " Diamond: the knee, where latency begins to climb." if knees else ""
    n = count_range([point.trials for capacity in group for point in capacity.points], "trial")
    return Chart(
        id=name,
        title=f"Latency over load: {title}",
        caption=(
            "One-way, from the instant at which a message was due. Broad line: median; thin line: 99 %; each the "
            "median of the trials at that load. A load that could not be sent has no point. Vertical line: the "
            f"capacity.{bent} "
            f"n = {n} at each load."
        ),
        description=f"Two lines for each of {plural(len(shown.names), 'middleware')}; the table has the capacities.",
        spec=finished(
            *layers,
            height=300,
            rows=rows,
            ends=ends,
            **({"knees": knees} if knees else {}),
        ),
    )


def _identity(group: Sequence[Capacity], series_of: Mapping[str, Series]) -> Identity:
    return identity(series_of[capacity.experiment.id] for capacity in group)


def _curves(x: alt.X, y: alt.Y, shown: Identity, axis: str) -> list[alt.Chart]:
    base = alt.Chart(alt.NamedData("rows")).encode(
        x=x,
        y=y,
        color=shown.colour,
        tooltip=[
            alt.Tooltip("series:N", title="middleware"),
            alt.Tooltip("quantile:N"),
            alt.Tooltip("load:Q", title=axis, format=",.4~g"),
            alt.Tooltip("us:Q", title="µs", format=",.4~g"),
        ],
    )
    median = base.transform_filter("datum.quantile == 'median'")
    tail = base.transform_filter("datum.quantile != 'median'")
    return [
        median.mark_line(strokeWidth=2.4).encode(strokeDash=shown.dash),
        tail.mark_line(strokeWidth=1, opacity=0.75).encode(strokeDash=shown.dash),
        median.mark_point(filled=True, size=35),
        tail.mark_point(filled=True, size=14),
    ]


def _ends(x: alt.X, shown: Identity) -> alt.Chart:
    ends: alt.Chart = (
        alt.Chart(alt.NamedData("ends"))
        .mark_rule(strokeWidth=1.5, opacity=0.6)
        .encode(x=x, color=shown.colour, strokeDash=shown.dash)
    )
    return ends


def _end_rows(group: Sequence[Capacity], series_of: Mapping[str, Series]) -> list[dict[str, Any]]:
    return [
        {"series": series_of[capacity.experiment.id].label, "load": capacity.sustained.of(capacity.sought)}
        for capacity in group
        if capacity.sustained is not None
    ]


def _knees(x: alt.X, y: alt.Y, shown: Identity) -> alt.Chart:
    knees: alt.Chart = (
        alt.Chart(alt.NamedData("knees"))
        .mark_point(shape="diamond", size=170, strokeWidth=2)
        .encode(x=x, y=y, color=shown.colour, tooltip=[alt.Tooltip("series:N", title="knee of")])
    )
    return knees


def _knee_rows(group: Sequence[Capacity], series_of: Mapping[str, Series]) -> list[dict[str, Any]]:
    """On the median's line."""
    return [
        {
            "series": series_of[capacity.experiment.id].label,
            "load": point.load.of(capacity.sought),
            "us": point.median_ns / 1e3,
        }
        for capacity in group
        for point in capacity.points
        if point.load == capacity.knee and point.median_ns
    ]


def _fronts(capacities: Sequence[Capacity], series_of: Mapping[str, Series]) -> list[tuple[Chart, Sequence[Capacity]]]:
    """What is sustained over the size of messages, of each workload searched at several, with the searches."""
    varying = distinguishing_factors(capacities)
    groups: dict[str, list[Capacity]] = {}
    for capacity in capacities:
        factors = capacity.experiment.factors
        words = [f"{name} {factors[name]}" for name in varying if name in factors]
        title = ", ".join([capacity.experiment.workload.replace("_", " "), *words])
        groups.setdefault(title, []).append(capacity)
    return [
        (_front(f"front{number}-{name}", f"{words}: {title}", field, axis, group, series_of), group)
        for number, (title, group) in enumerate(sorted(groups.items()))
        if len({capacity.sustained.size_bytes for capacity in group if capacity.sustained}) > 1
        for name, axis, field, words in FRONT
    ]


def _front_rows(
    group: Sequence[Capacity], series_of: Mapping[str, Series]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What each search found; and where not even the lowest load is sustained, a gap."""
    rows: list[dict[str, Any]] = [
        {
            "series": series_of[capacity.experiment.id].label,
            "bytes": capacity.sustained.size_bytes,
            "hz": capacity.sustained.rate_hz,
            "mbit": 8 * capacity.sustained.payload_bytes_per_s / 1e6,
            "found": {State.FOUND: "found", State.AT_LEAST: "at least"}.get(capacity.state, "open"),
        }
        for capacity in group
        if capacity.sustained is not None
    ]
    gaps = [
        {
            "series": series_of[capacity.experiment.id].label,
            "bytes": capacity.not_sustained.size_bytes,
            "hz": None,
            "mbit": None,
        }
        for capacity in group
        if capacity.sustained is None and capacity.not_sustained is not None
    ]
    return rows, gaps


def _front(  # noqa: PLR0913, PLR0917 - one chart has so many words
    name: str, title: str, field: str, axis: str, group: Sequence[Capacity], series_of: Mapping[str, Series]
) -> Chart:
    rows, gaps = _front_rows(group, series_of)
    shown = _identity(group, series_of)
    base = alt.Chart(alt.NamedData("rows")).encode(
        x=log_scale([row["bytes"] for row in rows]).x("bytes:Q", "message size, B"),
        y=log_scale([row[field] for row in rows]).y(f"{field}:Q", axis),
        color=shown.colour,
        tooltip=[
            alt.Tooltip("series:N", title="middleware"),
            alt.Tooltip("bytes:Q", title="message size, B", format=",.4~g"),
            alt.Tooltip("hz:Q", title="messages a second", format=",.4~g"),
            alt.Tooltip("mbit:Q", title="payload, Mbit/s", format=",.4~g"),
            alt.Tooltip("found:N", title="search"),
        ],
    )
    trials = count_range([capacity.n_trials for capacity in group if capacity.sustained], "trial")
    shapes = alt.Scale(domain=["found", "at least", "open"], range=["circle", "triangle-up", "cross"])
    shape = alt.Shape("found:N", scale=shapes, legend=None)
    line = base.mark_line(strokeWidth=1.8, invalid="break-paths-filter-domains").encode(strokeDash=shown.dash)
    marks = base.transform_filter("datum.hz !== null").mark_point(filled=True, size=55).encode(shape=shape)
    return Chart(
        id=name,
        title=title,
        caption=(
            "The highest load of each publisher that is sustained, a point for each search. Dot: confirmed; triangle: "
            "the end of the search is sustained too; cross: the search is open"
            f"{'; gap in a line: not even the lowest is sustained' if gaps else ''}. "
            f"n = {trials} of each search."
        ),
        description=f"A line for each of {plural(len(shown.names), 'middleware')}; the table has the same values.",
        spec=finished(line, marks, height=300, rows=[*rows, *gaps]),
    )
