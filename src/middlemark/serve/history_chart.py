"""The chart of a setting's history: a line for each middleware over the dates of runs, marked where a level changed.

What it shows comes from `history`, which has the same in tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from middlemark.analysis.compare.history import History
from middlemark.report.conclusions.comparison import unit_of
from middlemark.report.conclusions.history import SettingHistory, history_words
from middlemark.report.elements.chart import INK, Chart, finished
from middlemark.report.elements.formatting import count_range, factor
from middlemark.report.elements.labels import COLOURS, DASHES, FACTOR_BOUNDARY, setting_words
from middlemark.suite.metrics import Metric

CLOCK = {"hours": "%H:%M", "minutes": "%H:%M"}
"""Of 24 hours; days, months and years as the scale has them."""
LONGEST_IN_A_TITLE = 40
"""In characters; a longer factor is shown in the caption instead."""


def history_chart(setting: SettingHistory, metric: Metric, middlewares: Sequence[str]) -> Chart | None:
    """The chart of a setting, none of one run alone; a colour for each of all middlewares."""
    series, common = setting.series, setting.common
    if setting.n_runs < 2:
        return None
    long = [factor for factor in FACTOR_BOUNDARY.split(series[0].setting) if len(factor) > LONGEST_IN_A_TITLE]
    beside = setting_words(" ".join(factor for factor in long if factor not in common))
    title, unit = history_words(series[0], [*common, *long]), unit_of(metric).name
    rows, changes = _rows(series, metric), _changes(series)
    layers = [
        *_lines(rows, unit, [history.middleware for history in series], middlewares),
        *(_marks() if changes else []),
    ]
    n = count_range([point.n_trials for history in series for point in history.points], "trial")
    return Chart(
        id="history",
        title=title,
        caption=f"{metric.name}, {unit}: each run's estimate with its interval, n = {n} of each. Dashed line: from "
        "here on the level differs by more than 5 % (PELT; from six runs on)."
        f"{f' With {beside}.' if beside else ''}",
        description=f"A line for each middleware over the dates of runs; the table below has all values. {title}.",
        spec=finished(*layers, height=240, rows=rows, changes=changes),
    )


def _rows(series: Sequence[History], metric: Metric) -> list[dict[str, Any]]:
    unit = unit_of(metric)
    return [
        {
            "series": history.middleware,
            "when": point.started_at,
            "value": unit.of(point.value),
            "low": None if point.low is None else unit.of(point.low),
            "high": None if point.high is None else unit.of(point.high),
            "run": point.run,
            "version": point.library_version,
        }
        for history in series
        for point in history.points
    ]


def _changes(series: Sequence[History]) -> list[dict[str, Any]]:
    """One for each instant, with the words of all that changed then."""
    words_at: dict[str, list[str]] = {}
    for history in series:
        for change in history.changes:
            words_at.setdefault(change.first.started_at, []).append(f"{history.middleware} × {factor(change.times)}")
    return [{"when": when, "words": ", ".join(words)} for when, words in words_at.items()]


def _lines(rows: Sequence[dict[str, Any]], unit: str, names: Sequence[str], order: Sequence[str]) -> list[alt.Chart]:
    """A line, a point a run, and its interval where it has one."""
    places = [order.index(name) for name in names]
    colours = [f"var(--series-{place % COLOURS})" for place in places]
    dashes = [list(DASHES[place // COLOURS % len(DASHES)]) for place in places]
    base = alt.Chart(alt.NamedData("rows")).encode(
        x=alt.X("when:T", title="run began", axis=alt.Axis(format=CLOCK)),
        color=alt.Color("series:N", scale=alt.Scale(domain=names, range=colours), legend=alt.Legend(title=None)),
    )
    line = base.mark_line(strokeWidth=1.5).encode(
        y=alt.Y("value:Q", title=unit, scale=alt.Scale(zero=False)),
        strokeDash=alt.StrokeDash("series:N", scale=alt.Scale(domain=names, range=dashes)),
    )
    tooltip = [
        alt.Tooltip("series:N", title="middleware"),
        alt.Tooltip("run:N"),
        alt.Tooltip("version:N"),
        alt.Tooltip("value:Q", title=unit),
    ]
    points = base.mark_point(filled=True, size=60).encode(y="value:Q", tooltip=tooltip)
    spans = base.transform_filter("datum.low !== null").mark_rule(opacity=0.6).encode(y="low:Q", y2="high:Q")
    # Vega warns of a layer without a single row, as that of spans is where every run had one trial.
    has_spans = any(row["low"] is not None for row in rows)
    return [line, *([spans] if has_spans else []), points]


def _marks() -> list[alt.Chart]:
    """An upright rule with its words, where a level changed."""
    marks = alt.Chart(alt.NamedData("changes")).encode(x="when:T")
    rules = marks.mark_rule(strokeDash=[4, 3], color=INK, opacity=0.6)
    words = marks.mark_text(align="left", dx=4, baseline="top", color=INK, fontSize=11).encode(
        y=alt.value(2), text="words:N"
    )
    return [rules, words]
