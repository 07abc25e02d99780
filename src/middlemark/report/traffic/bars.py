"""Bars: one metric of every middleware with its interval, and stacked bars of where the time goes.

What the metrics of a setting mean is said here; the parts of stacked bars are `internals.chain_charts`' and
`internals.kernel_path`'s.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import altair as alt

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.stats.estimate import Estimate
from middlemark.report.elements.chart import (
    DRAWINGS,
    IN_INK,
    INK,
    LEGEND_BELOW,
    ROW_HEIGHT,
    Chart,
    Identity,
    Spec,
    finished,
    identity,
    log_scale,
    logarithmic_x,
    short,
    with_rows,
)
from middlemark.report.elements.formatting import COUNT, MEBIBYTES, MILLISECONDS, PERCENT, PERCENT_OF_CORE, Unit
from middlemark.report.elements.labels import Series, n_trials
from middlemark.suite.metrics import TRIAL

ChartRow = Mapping[str, Any]


@dataclass(frozen=True)
class StackedBars:
    """What is drawn, a bar for each `who`."""

    parts: Sequence[ChartRow]
    """`who`, `part`, its place in the `order`, its `share` of the whole, and what `value` and `tooltips` name."""
    wholes: Sequence[ChartRow]
    """`who`, `low` and `high` of each whole that has an interval."""
    colours: Mapping[str, str]
    """Of each part, in the order of the legend."""
    value: str
    """The column of a part's length."""
    tooltips: Sequence[alt.Tooltip]
    """What a pointer shows of a part besides its middleware and its share."""
    label_limit: int
    """As many pixels as the name of a bar may take."""

    def lengths(self, axis: str) -> Spec:
        """Every bar as long as its whole, with the whole's interval."""
        layers = [self._stacked(alt.X(f"{self.value}:Q", stack="zero", title=axis))]
        if self.wholes:
            rule = alt.Chart(alt.NamedData("wholes")).mark_rule(strokeWidth=1.5)
            layers.append(rule.encode(y=self._y(), x="low:Q", x2="high:Q", color=alt.value(INK)))
        return self._spec(layers, **({"wholes": self.wholes} if self.wholes else {}))

    def shares(self, axis: str) -> Spec:
        """All bars of one length."""
        return self._spec([self._stacked(alt.X(f"{self.value}:Q", stack="normalize", title=axis))])

    def _names(self) -> list[str]:
        return list(dict.fromkeys(row["series"] for row in self.parts))

    def _y(self) -> alt.Y:
        return alt.Y("series:N", sort=self._names(), title=None, axis=alt.Axis(labelLimit=self.label_limit))

    def _spec(self, layers: Sequence[alt.Chart], **wholes: Sequence[ChartRow]) -> Spec:
        return finished(*layers, height=ROW_HEIGHT * len(self._names()), parts=self.parts, **wholes)

    def _stacked(self, x: alt.X) -> alt.Chart:
        scale = alt.Scale(domain=list(self.colours), range=list(self.colours.values()))
        drawn: alt.Chart = (
            alt.Chart(alt.NamedData("parts"))
            .mark_bar(height=14)
            .encode(
                y=self._y(),
                x=x,
                color=alt.Color("part:N", scale=scale, title=None, legend=LEGEND_BELOW),
                order=alt.Order("order:Q"),
                tooltip=[
                    alt.Tooltip("series:N", title="middleware"),
                    *self.tooltips,
                    alt.Tooltip("share:Q", format=".1%"),
                ],
            )
        )
        return drawn


@dataclass(frozen=True)
class Bars:
    """A chart with one metric and its interval for each series."""

    id: str
    title: str
    subject: str
    metric: str
    axis: str
    unit: Unit
    """Of the axis, which may say more in its own words."""
    caption: str
    logarithmic: bool = False


def bar_charts(comparison: Comparison, series_of: Mapping[str, Series]) -> list[Chart]:
    """First message, loss, CPU and memory, each in the order of the ranking."""
    stream = comparison.setting.subject
    made = [
        bar_chart(comparison, series_of, bars)
        for bars in (
            Bars(
                "first",
                "Time to first message",
                TRIAL,
                "first_message_ns",
                "ms (logarithmic)",
                MILLISECONDS,
                FIRST,
                True,
            ),
            *_loss_bars(comparison, stream),
            *_chain_bars(comparison, stream),
            Bars("cpu", "CPU", TRIAL, "cpu_percent_of_core", "% of one core", PERCENT_OF_CORE, CPU),
            Bars("memory", "Peak memory", TRIAL, "peak_memory_bytes", "MiB", MEBIBYTES, MEMORY),
        )
    ]
    return [chart for chart in made if chart is not None]


FIRST = (
    "From the common start of all applications, before the middleware is initialised, to the last first message: "
    "initialisation, discovery and connection. Median of trials with confidence interval."
)
LOSS = (
    "Messages of the window that did not arrive in time (RFC 7680), as a share of those that the middleware accepted; "
    "for a ping-pong, questions without an answer. All valid trials together; the confidence interval is over trials."
)
RUNS = (
    "The most messages lost in succession in any flow of a trial (RFC 3357). Median of trials with confidence "
    "interval; the table of loss has the mean run."
)
CPU = (
    "User and system time over the window, all applications and the middleware's own services together. Median of "
    "trials with confidence interval; 100 % is one core."
)
LOST = (
    "Executions of the first node whose path ended because a message never arrived or was refused. All valid trials "
    "together; the confidence interval is over trials."
)
MISSED = (
    "The share of paths that took longer than the deadline or never ended. All valid trials together; the confidence "
    "interval is over trials."
)
START_UP = (
    "From the common start of all applications until every node has run once. Median of trials with confidence "
    "interval."
)
MISSING = (
    "Messages that were scheduled while their subscriber's process existed and that never arrived. All valid trials "
    "together; the confidence interval is over trials."
)
AGAIN = (
    "From the start of a restart, start, resume, link_up or heal to the next message of the flow that took longest; "
    "to the window's end where that flow was still cut off. Median of trials with confidence interval."
)
MEMORY = (
    "Peak resident memory, summed over all applications and services; shared memory counts in each. Median of trials "
    "with confidence interval."
)


def _loss_bars(comparison: Comparison, stream: str) -> tuple[Bars, ...]:
    if comparison.setting.of_chain:
        return (Bars("loss", "Lost on the path", stream, "loss_share", "% of what began", PERCENT, LOST),)
    if not comparison.faulty:
        return (
            Bars("loss", "Loss", stream, comparison.criterion.loss_metric, "% of messages sent", PERCENT, LOSS),
            Bars("runs", "Longest run of lost messages", stream, "longest_loss_run_messages", "messages", COUNT, RUNS),
        )
    return (
        Bars("missing", "Missing messages", stream, "missing_share", "% of messages", PERCENT, MISSING),
        Bars(
            "recovery",
            "Time until messages flow again",
            stream,
            "recovery_ns",
            "ms (logarithmic)",
            MILLISECONDS,
            AGAIN,
            True,
        ),
    )


def _chain_bars(comparison: Comparison, subject: str) -> tuple[Bars, ...]:
    if not comparison.setting.of_chain:
        return ()
    return (
        Bars("missed", "Deadline misses", subject, "deadline_missed_share", "% of paths", PERCENT, MISSED),
        Bars(
            "startup", "Start-up of all nodes", TRIAL, "start_up_ns", "ms (logarithmic)", MILLISECONDS, START_UP, True
        ),
    )


def bar_chart(comparison: Comparison, series_of: Mapping[str, Series], bars: Bars) -> Chart | None:
    """One metric of every middleware that has it; None where all are 0."""
    rows: list[dict[str, Any]] = []
    drawn = []
    for candidate in comparison.experiments:
        estimate = candidate.estimate(bars.subject, bars.metric)
        if estimate is not None and estimate.value is not None:
            rows.append({"series": series_of[candidate.experiment.id].label, **_bar_row(estimate, bars)})
            drawn.append(candidate)
    if not any(row["value"] for row in rows):
        return None  # all are 0: the table says so, a chart would be empty
    drawn_by = identity(series_of[measured.experiment.id] for measured in drawn)
    shown = [value for row in rows for value in (row["value"], row["low"], row["high"]) if value]
    scale = log_scale(shown) if bars.logarithmic else None
    spanned = any(row["low"] is not None for row in rows)  # of a single trial there are no intervals
    drawing = _bars(drawn_by, bars.axis, logarithmic=bars.logarithmic, spanned=spanned)
    n = n_trials(measured.estimate(bars.subject, bars.metric) for measured in drawn)
    caption = f"{bars.caption} {n}".rstrip()
    description = f"{bars.title} of each middleware, {bars.axis}."
    return Chart(bars.id, bars.title, caption, description, with_rows(drawing, scale, rows=rows))


@lru_cache(DRAWINGS)
def _bars(drawn_by: Identity, axis: str, *, logarithmic: bool, spanned: bool) -> Spec:
    """Points on a logarithmic scale, otherwise bars from 0."""
    base = alt.Chart(alt.NamedData("rows")).encode(
        y=alt.Y("series:N", sort=drawn_by.names, title=None, axis=alt.Axis(labelLimit=180)),
        color=drawn_by.colour,
        tooltip=[
            alt.Tooltip("series:N", title="middleware"),
            *(alt.Tooltip(f"{name}:Q", title=f"{name}, {axis}", format=",.4~g") for name in ("value", "low", "high")),
        ],
    )
    x = logarithmic_x("value:Q", axis) if logarithmic else alt.X("value:Q", title=axis, axis=alt.Axis(tickCount=5))
    marked = base.mark_point(filled=True, size=90) if logarithmic else base.mark_bar(height=12, opacity=0.8)
    span = (
        base.transform_filter("datum.low !== null")
        .mark_rule(strokeWidth=1.5)
        .encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), color=IN_INK)
    )
    spans = [span] if spanned else []
    height = (ROW_HEIGHT - 4) * len(drawn_by.names)
    return finished(marked.encode(x=x), *spans, height=height)


def _bar_row(estimate: Estimate, bars: Bars) -> dict[str, float | None]:
    low, high = (None, None) if estimate.high == math.inf else (estimate.low, estimate.high)  # no chart is so wide
    values = {"value": estimate.value, "low": low, "high": high}
    return {name: None if value is None else short(bars.unit.of(value)) for name, value in values.items()}
