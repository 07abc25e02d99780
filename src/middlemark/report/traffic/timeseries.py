"""Charts over the window's time: latency, and where something changes within it, arrivals and the links.

Of each middleware one trial is drawn, the one in the middle; values over trials are in the tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from statistics import median
from typing import Any

import altair as alt

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.metrics.timeseries import LOOKED_AT, TimeSeries
from middlemark.analysis.stats.quantiles import bound_words, needed
from middlemark.plan import PlannedFault
from middlemark.report.elements.chart import (
    DRAWINGS,
    IN_INK,
    NAMED_AXIS,
    NAMED_SCALE,
    Chart,
    Identity,
    Spec,
    finished,
    identity,
    log_scale,
    short,
    with_rows,
)
from middlemark.report.elements.labels import Series
from middlemark.report.traffic.link_charts import EXTENT, link_charts
from middlemark.suite.metrics import Distribution

ROW_HEIGHT = 44
Rows = list[dict[str, Any]]


def time_charts(comparison: Comparison, series_of: Mapping[str, Series]) -> list[Chart]:
    """All of a setting, from top to bottom."""
    drawn = [
        candidate for candidate in comparison.experiments if comparison.setting.stream in candidate.examples.time_series
    ]
    if not drawn:
        return []
    arrivals = [_arrivals(drawn, comparison, series_of)] if comparison.faulty else []
    latency = _latency(drawn, comparison, series_of)
    return [*arrivals, *([latency] if latency else []), *link_charts(drawn[0])]


def _time_series(candidate: ExperimentFindings, comparison: Comparison) -> TimeSeries:
    return candidate.examples.time_series[comparison.setting.stream]


def _window_s(candidate: ExperimentFindings) -> float:
    return candidate.experiment.windows.window_ns / 1e9


def _time(window_s: float) -> alt.X:
    return alt.X(
        "s:Q",
        title="s from the window's start",
        scale=alt.Scale(domain=[0, window_s], nice=False),
        axis=alt.Axis(tickCount=8),
    )


def _arrivals(drawn: Sequence[ExperimentFindings], comparison: Comparison, series_of: Mapping[str, Series]) -> Chart:
    """A row a middleware: Vega-Lite's own rows could not be as wide as the page lets them."""
    shown = identity(series_of[candidate.experiment.id] for candidate in drawn)
    over_time = [_time_series(candidate, comparison) for candidate in drawn]
    full = 2 * _usual(over_time)
    areas, rules = Rows(), Rows()
    for floor, series, name in zip(reversed(range(len(drawn))), over_time, shown.names, strict=True):
        areas += _area_rows(series, name, floor, full)
        for fault in series.faults:
            rules.append({"s": short(fault.at_ns / 1e9), "low": floor, "high": floor + 0.95, "fault": fault.words})
    y = alt.Y(
        "low:Q",
        title=None,
        scale=alt.Scale(domain=[0, len(drawn)], nice=False),
        axis=alt.Axis(
            values=[place + 0.4 for place in range(len(drawn))], labelExpr=_names(shown.names), labelLimit=150
        ),
    )
    area = _area(_time(max(map(_window_s, drawn))), y, shown.colour)
    return Chart(
        id="arrivals",
        title="Received messages over the window",
        caption=(
            f"Messages received at all subscribers in each {_ms(over_time[0].part_ns)} ms, from the trial with the "
            f"median recovery of each middleware, n = 1 trial each. The full height is {full:g}, twice the usual "
            "number; higher values are cut off. Vertical lines: the faults, when they happened in that trial."
        ),
        description="A row for each middleware, with the faults as vertical rules; the table Faults has the values.",
        spec=finished(
            area,
            _rules(y),
            _labels(),
            height=ROW_HEIGHT * len(drawn),
            areas=areas,
            rules=rules,
            labels=_label_rows(drawn[0].experiment.timeline),
        ),
    )


def _area_rows(series: TimeSeries, name: str, floor: int, full: float) -> Rows:
    """The heights of one row's area; the last is said again, as each holds until the next."""
    return [
        {
            "series": name,
            "s": short(part * series.part_ns / 1e9),
            "low": floor,
            "high": round(floor + 0.9 * min(n / full, 1), 4),
        }
        for part, n in enumerate([*series.received, series.received[-1]])
    ]


def _area(x: alt.X, y: alt.Y, colour: alt.Color) -> alt.Chart:
    area: alt.Chart = (
        alt.Chart(alt.NamedData("areas"))
        .mark_area(interpolate="step-after", opacity=0.65)
        .encode(
            x=x,
            y=y,
            y2=alt.Y2("high:Q"),
            color=colour,
            detail=alt.Detail("series:N"),
            tooltip=[alt.Tooltip("series:N", title="middleware")],
        )
    )
    return area


def _usual(over_time: Sequence[TimeSeries]) -> float:
    """The usual number of messages in a part, bursts after a recovery and silence left aside."""
    counts = [n for series in over_time for n in series.received if n]
    return median(counts) if counts else 1


def _names(names: Sequence[str]) -> str:
    """Vega's expression for the row's name at each mark of the axis, from the lowest row up."""
    quoted = ",".join("'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'" for name in reversed(names))
    return f"[{quoted}][floor(datum.value)]"


def _rules(y: alt.Y) -> alt.Chart:
    rules: alt.Chart = (
        alt.Chart(alt.NamedData("rules"))
        .mark_rule(strokeDash=[4, 3], strokeWidth=1.2)
        .encode(x=alt.X("s:Q"), y=y, y2=alt.Y2("high:Q"), color=IN_INK, tooltip=[alt.Tooltip("fault:N", title="fault")])
    )
    return rules


def _label_rows(timeline: Sequence[PlannedFault]) -> Rows:
    """What happens, above the requested instants; simultaneous faults together, neighbours at two heights."""
    targets_at: dict[tuple[int, str], list[str]] = {}
    for event in timeline:
        targets_at.setdefault((event.at_ns, event.action.replace("_", " ")), []).append(event.target)
    return [
        {"s": at_ns / 1e9, "words": f"{action} {', '.join(targets)}", "line": -20 + 13 * (place % 2)}
        for place, ((at_ns, action), targets) in enumerate(targets_at.items())
    ]


def _labels() -> alt.Chart:
    labels: alt.Chart = (
        alt.Chart(alt.NamedData("labels"))
        .mark_text(
            align=alt.ExprRef("datum.s > domain('x')[1] / 2 ? 'right' : 'left'"),
            dx=alt.ExprRef("datum.s > domain('x')[1] / 2 ? -3 : 3"),
            fontSize=11,
        )
        .encode(x=alt.X("s:Q"), y=alt.Y("line:Q", scale=None, axis=None), text=alt.Text("words:N"), color=IN_INK)
    )
    return labels


def _latency(
    drawn: Sequence[ExperimentFindings], comparison: Comparison, series_of: Mapping[str, Series]
) -> Chart | None:
    lines = identity(series_of[candidate.experiment.id] for candidate in drawn)
    rows: Rows = []
    for name, measured in zip(lines.names, drawn, strict=True):
        series = _time_series(measured, comparison)
        rows += [
            {
                "series": name,
                "s": short((part + 0.5) * series.latency_part_ns / 1e9),
                "us": None if us is None else short(us / 1e3),
            }
            for part, us in enumerate(series.latency_p50_ns)
        ]
    rows = [row if (row["us"] or 0) > 0 else {**row, "us": None} for row in rows]
    if not any(
        before["series"] == after["series"] and before["us"] and after["us"] for before, after in pairwise(rows)
    ):
        return None  # single parts are no time series
    values_us = [row["us"] for row in rows if row["us"]]
    title = "Round trip" if comparison.criterion.distribution is Distribution.ROUND_TRIP else "Latency"
    drawing = _lines(lines, max(map(_window_s, drawn)))
    over_time = [_time_series(candidate, comparison) for candidate in drawn]
    parts_ms = dict.fromkeys(_ms(time_series.latency_part_ns) for time_series in over_time)
    return Chart(
        id="overtime",
        title=f"{title} over the window",
        caption=(
            f"Median of what arrived in each {' or '.join(parts_ms)} ms, by the instant of arrival, µs"
            f"{_looked_at(over_time)}; n = 1 trial of each middleware: the one with the middle recovery or, without "
            f"faults, the middle median. A line has a gap where fewer than {needed(0.5)} messages arrived, too few for "
            "a median"
            f"{_clocks(over_time)}."
        ),
        description="A line for each middleware over the window's time.",
        spec=with_rows(drawing, log_scale(values_us), rows=rows),
    )


@lru_cache(DRAWINGS)
def _lines(lines: Identity, window_s: float) -> Spec:
    axis = alt.Axis(**NAMED_AXIS, minExtent=EXTENT, maxExtent=EXTENT)
    line = (
        alt.Chart(alt.NamedData("rows"))
        .mark_line(strokeWidth=1.6, invalid="break-paths-show-path-domains", clip=True)
        .encode(
            x=_time(window_s),
            y=alt.Y("us:Q", title="µs (logarithmic)", scale=alt.Scale(**NAMED_SCALE), axis=axis),
            color=lines.colour,
            strokeDash=lines.dash,
            tooltip=[alt.Tooltip("series:N", title="middleware")],
        )
    )
    return finished(line, height=220)


def _ms(part_ns: int) -> str:
    return f"{part_ns / 1e6:.3g}" if part_ns < 10**9 else f"{part_ns / 1e6:.0f}"


def _looked_at(over_time: Sequence[TimeSeries]) -> str:
    most = max(sum(series.received) for series in over_time)
    return f", of {LOOKED_AT / 1e6:g} million messages drawn at random" if most > LOOKED_AT else ""


def _clocks(over_time: Sequence[TimeSeries]) -> str:
    bound_ns = max(series.bound_ns for series in over_time)
    return f", or where latency is within the clocks' {bound_words(bound_ns)}" if bound_ns else ""
