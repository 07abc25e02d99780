"""The history of a figure, drawn: a chart a setting, a line a middleware, a mark where its level changed.

It draws what two runs or more measured and estimates nothing: `analysis.history` found the changes, `past` has all
values in tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import altair as alt

from middlemark.analysis.figure import Figure
from middlemark.analysis.history import History
from middlemark.report.canvas import INK, Chart, finished
from middlemark.report.compared import unit_of
from middlemark.report.contender import COLOURS, DASHES
from middlemark.report.counts import span
from middlemark.report.display import factor
from middlemark.report.past import FACTOR, in_common, setting_words
from middlemark.suite import Dimension

SCALES = {
    Dimension.TIME: 1e3,
    Dimension.SHARE: 0.01,
    Dimension.BYTES: 2.0**20,
    Dimension.BYTES_PER_S: 1e6,
    Dimension.PERCENT_OF_CORE: 1.0,
}
"""What a stored value is divided by to be in the unit that is shown."""
CLOCK = {"hours": "%H:%M", "minutes": "%H:%M"}
"""Of 24 hours; days, months and years as the scale has them."""
LONGEST_IN_A_TITLE = 40
"""Characters: a stream that is written out as a factor stands in the caption instead."""


def history_charts(series: Sequence[History], figure: Figure, middlewares: Sequence[str]) -> list[Chart]:
    """A chart for each setting, stream and machine that two runs measured; a colour for each of all middlewares."""
    common = in_common(series)
    named = sorted(
        ((setting_words(each, common), each) for each in series if len(each.points) > 1), key=lambda each: each[0]
    )
    groups = [[each for _, each in own] for _, own in groupby(named, key=lambda each: each[0])]
    return [_chart(number, own, common, figure, middlewares) for number, own in enumerate(groups)]


def _chart(
    number: int, series: Sequence[History], common: Sequence[str], figure: Figure, order: Sequence[str]
) -> Chart:
    long = [factor for factor in FACTOR.split(series[0].setting) if len(factor) > LONGEST_IN_A_TITLE]
    beside = " ".join(factor for factor in long if factor not in common)
    title, unit = setting_words(series[0], [*common, *long]), unit_of(figure).name
    rows, changes = _rows(series, figure), _changes(series)
    layers = [*_lines(rows, unit, [each.middleware for each in series], order), *(_marks() if changes else [])]
    n = span([point.n_trials for each in series for point in each.points], "trial")
    return Chart(
        id=f"history-{number}",
        title=title,
        caption=f"{figure.name}, {unit}: each run's estimate with its interval, n = {n} of each. A dashed rule: from "
        "here on the level is another, by more than 5 % (PELT; from six runs on)."
        f"{f' With {beside}.' if beside else ''}",
        description=f"A line for each middleware over the dates of runs; the table below has all values. {title}.",
        spec=finished(alt.layer(*layers, width="container", height=240), rows=rows, changes=changes),
    )


def _rows(series: Sequence[History], figure: Figure) -> list[dict[str, Any]]:
    scale = SCALES[figure.dimension] * (1e3 if figure.name == "first_message" else 1)
    return [
        {
            "who": each.middleware,
            "when": point.started_at,
            "value": point.value / scale,
            "low": None if point.low is None else point.low / scale,
            "high": None if point.high is None else point.high / scale,
            "run": point.run,
            "version": point.library_version,
        }
        for each in series
        for point in each.points
    ]


def _changes(series: Sequence[History]) -> list[dict[str, Any]]:
    """One for each instant, with the words of all that changed then."""
    words_at: dict[str, list[str]] = {}
    for each in series:
        for change in each.changes:
            words_at.setdefault(change.started_at, []).append(f"{each.middleware} × {factor(change.times)}")
    return [{"when": when, "words": ", ".join(words)} for when, words in words_at.items()]


def _lines(rows: Sequence[dict[str, Any]], unit: str, names: Sequence[str], order: Sequence[str]) -> list[alt.Chart]:
    """A line, a point a run, and its interval where it has one."""
    places = [order.index(name) for name in names]
    colours = [f"var(--series-{place % COLOURS})" for place in places]
    dashes = [list(DASHES[place // COLOURS % len(DASHES)]) for place in places]
    base = alt.Chart(alt.NamedData("rows")).encode(
        x=alt.X("when:T", title="run began", axis=alt.Axis(format=CLOCK)),
        color=alt.Color("who:N", scale=alt.Scale(domain=names, range=colours), legend=alt.Legend(title=None)),
    )
    line = base.mark_line(strokeWidth=1.5).encode(
        y=alt.Y("value:Q", title=unit, scale=alt.Scale(zero=False)),
        strokeDash=alt.StrokeDash("who:N", scale=alt.Scale(domain=names, range=dashes)),
    )
    tooltip = [
        alt.Tooltip("who:N", title="middleware"),
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
