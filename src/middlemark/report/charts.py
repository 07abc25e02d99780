"""The charts of a comparison as Vega-Lite, in the page's own colours.

All figures come computed: no sample is shipped, no statistic is left to the browser. `tables` says the same in words,
and the style sheet's variables make the charts follow light, dark and print.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import altair as alt

from middlemark.analysis.comparison import Comparison
from middlemark.analysis.estimate import Estimate
from middlemark.analysis.experiment import ExperimentFindings
from middlemark.analysis.metrics import TRIAL
from middlemark.analysis.samples import OF_CHAINS, Distribution
from middlemark.report.contender import Contender
from middlemark.report.display import plural
from middlemark.report.trials import Trials

Spec = dict[str, Any]
ROW_HEIGHT = 26
INK = "currentColor"
IN_INK = alt.ColorValue(INK)
FONT = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif"
"""The page's own, by name: Vega measures its labels with it."""


@dataclass(frozen=True)
class Chart:
    """A chart with what must be said beside it."""

    id: str
    title: str
    caption: str
    """Units, n, and how it was obtained."""
    description: str
    """For those who can't see it."""
    spec: Spec
    trials: Trials = ()
    """What it stands on, where that is more than the setting that it is shown with."""


def ecdf(comparison: Comparison, who: Mapping[str, Contender], kind: Distribution) -> Chart | None:
    """The distributions over each other, on a logarithmic axis."""
    drawn = drawn_of(comparison, kind)
    unit, scale_ns = time_scale(kind)
    rows: list[dict[str, Any]] = [
        {"who": who[each.experiment.id].label, "time": short(value / scale_ns), "share": round(share, 4)}
        for each in drawn
        for value, share in zip(*_points(each, comparison, kind), strict=True)
    ]
    if not rows:
        return None
    names, scale, dashes = identity(drawn, who)
    hovered = alt.selection_point(fields=["who"], on="pointerover", clear="pointerout")
    base = alt.Chart(alt.NamedData("rows")).encode(
        x=_logarithmic("time:Q", f"{unit} (logarithmic)", [row["time"] for row in rows]),
        y=alt.Y("share:Q", title=f"share of {_shared(kind)}", axis=alt.Axis(format="%", tickCount=5)),
        color=alt.Color("who:N", scale=scale, legend=None),
    )
    line = base.mark_line(interpolate="step-after", strokeWidth=2, clip=True).encode(
        strokeDash=alt.StrokeDash("who:N", scale=alt.Scale(domain=names, range=dashes), legend=None),
        opacity=alt.OpacityValue(0.2, condition={"param": hovered.name, "value": 1, "empty": True}),
    )
    # A thin line is hard to hit: the pointer meets a broad one that can't be seen.
    target = base.mark_line(interpolate="step-after", strokeWidth=14, opacity=0, clip=True).encode(
        detail=alt.Detail("who:N"), tooltip=[alt.Tooltip("who:N", title="middleware")]
    )
    layers = alt.layer(line, target.add_params(hovered), width="container", height=300)
    return Chart(
        id="ecdf",
        title=f"{kind_title(kind)}: how many {_counted(kind)} took no longer than …",
        caption=(
            f"Empirical distribution of the {_noun(kind)} ({kind.summary}), all valid trials together, over all "
            f"{_whole(comparison)}. Left is fast, far right is a tail. {counted(drawn, comparison)}"
        ),
        description=f"Step lines, one for each middleware; the quantiles are in the table below. {len(drawn)} lines.",
        spec=finished(layers, rows=rows),
    )


def time_scale(kind: Distribution) -> tuple[str, float]:
    """The unit of a chart's axis, and its nanoseconds."""
    return ("ms", 1e6) if kind in OF_CHAINS else ("µs", 1e3)


def kind_title(kind: Distribution) -> str:
    """What a chart of it is called."""
    return {Distribution.ROUND_TRIP: "Round trip", Distribution.END_TO_END: "End to end"}.get(kind, "Latency")


def _counted(kind: Distribution) -> str:
    return "ways" if kind in OF_CHAINS else "messages"


def _shared(kind: Distribution) -> str:
    return "what ended" if kind in OF_CHAINS else "messages sent"


def _whole(comparison: Comparison) -> str:
    if comparison.setting.of_chain:
        return "that came to their end"
    return f"messages sent: where a line ends below 100 %, the rest {_gone(comparison)}"


def _gone(comparison: Comparison) -> str:
    return "did not come in time, or its sender ended" if comparison.faulty else "was lost"


def boxes(comparison: Comparison, who: Mapping[str, Contender], kind: Distribution) -> Chart | None:
    """Quantiles side by side, best first."""
    drawn = drawn_of(comparison, kind)
    rows: list[dict[str, Any]] = [
        {"who": who[each.experiment.id].label, **_box_row(each, comparison, kind)} for each in drawn
    ]
    if not rows:
        return None
    names, scale, _ = identity(drawn, who)
    unit, _ = time_scale(kind)
    base = alt.Chart(alt.NamedData("rows")).encode(
        y=alt.Y("who:N", sort=names, title=None, axis=alt.Axis(labelLimit=180)),
        color=alt.Color("who:N", scale=scale, legend=None),
        tooltip=[alt.Tooltip("who:N", title="middleware")]
        + [alt.Tooltip(f"{name}:Q", title=f"{name} {unit}", format=",.4~g") for name in BOX_FIELDS],
    )
    inner = [row[name] for row in rows for name in BOX_FIELDS[1:] if row[name] is not None]
    axis = _logarithmic("p10:Q", f"{unit} (logarithmic)", inner)
    layers = alt.layer(
        base.transform_filter("datum.p10 && datum.p90").mark_rule(strokeWidth=1.5).encode(x=axis, x2=alt.X2("p90:Q")),
        base.transform_filter("datum.p25 && datum.p75")
        .mark_bar(height=12, opacity=0.55)
        .encode(x=alt.X("p25:Q"), x2=alt.X2("p75:Q")),
        base.transform_filter("datum.p50").mark_tick(thickness=3, height=18).encode(x=alt.X("p50:Q"), color=IN_INK),
        base.transform_filter("datum.p99").mark_point(shape="diamond", filled=True, size=60).encode(x=alt.X("p99:Q")),
        base.transform_filter("datum.max > 0").mark_point(shape="cross", size=40, filled=True).encode(x=alt.X("max:Q")),
        width="container",
        height=ROW_HEIGHT * len(names),
    )
    return Chart(
        id="box",
        title=f"{kind_title(kind)}: the middle and the tail",
        caption=(
            "Box: 25 to 75 %, upright mark: median, line: 10 to 90 %, diamond: 99 %, cross: the slowest message. "
            f"A quantile with fewer than ten messages beyond it is left out. All valid trials together, µs. "
            f"{counted(drawn, comparison)}"
        ),
        description="A box plot for each middleware, in the order of the ranking.",
        spec=finished(layers, rows=rows),
    )


BOX_FIELDS = ("min", "p10", "p25", "p50", "p75", "p90", "p99", "max")


def _box_row(each: ExperimentFindings, comparison: Comparison, kind: Distribution) -> dict[str, float | None]:
    box = each.boxes[comparison.setting.stream, kind]
    values = (box.minimum, box.p10, box.p25, box.p50, box.p75, box.p90, box.p99, box.maximum)
    _, scale_ns = time_scale(kind)
    return {
        name: None if v is None or v <= 0 else short(v / scale_ns) for name, v in zip(BOX_FIELDS, values, strict=True)
    }


def _points(
    each: ExperimentFindings, comparison: Comparison, kind: Distribution
) -> tuple[Sequence[float], Sequence[float]]:
    """The curve's points that a logarithmic axis can show."""
    curve = each.curves[comparison.setting.stream, kind]
    shown = [(value, share) for value, share in zip(curve.value_ns, curve.share, strict=True) if value > 0]
    return [value for value, _ in shown], [share for _, share in shown]


@dataclass(frozen=True)
class Bars:
    """A chart with one figure and its interval for each contender."""

    id: str
    title: str
    subject: str
    metric: str
    axis: str
    scale: float
    """What a stored value is divided by."""
    caption: str
    logarithmic: bool = False


def bar_charts(comparison: Comparison, who: Mapping[str, Contender]) -> list[Chart]:
    """First message, loss, CPU and memory, each in the order of the ranking."""
    stream = comparison.setting.subject
    made = [
        bar_chart(comparison, who, bars)
        for bars in (
            Bars("first", "Time to first message", TRIAL, "first_message_ns", "ms (logarithmic)", 1e6, FIRST, True),
            *_loss_bars(comparison, stream),
            *_chain_bars(comparison, stream),
            Bars("cpu", "CPU", TRIAL, "cpu_percent_of_core", "% of one core", 1.0, CPU),
            Bars("memory", "Peak memory", TRIAL, "peak_memory_bytes", "MiB", 2.0**20, MEMORY),
        )
    ]
    return [chart for chart in made if chart is not None]


FIRST = (
    "From the common start of all applications, middleware not yet initialised, to the last first message: "
    "initialisation, discovery and connection. Median of trials with interval."
)
LOSS = (
    "Messages of the window that did not arrive in time (RFC 7680), of those the middleware accepted; for a ping-pong, "
    "questions without an answer. Of all valid trials together, the interval resamples trials."
)
RUNS = (
    "Most messages lost one after the other in any flow of a trial (RFC 3357). Median of trials with interval; the "
    "table of loss has the mean run."
)
CPU = (
    "User and system time over the window, all applications and the middleware's own services together. "
    "Median of trials with interval; 100 % is one core."
)
LOST = (
    "Executions of the first node of which a message on the way never came, or was refused. Of all valid trials "
    "together, the interval resamples trials."
)
MISSED = (
    "Of what came to its end, the share that took longer than the deadline. Of all valid trials together; the interval "
    "is the wider of Wilson's and that of resampled trials."
)
START_UP = "From the common start of all applications until every node has run once. Median of trials with interval."
MISSING = (
    "Messages that the schedule held while their subscriber's process was there and that never came. Of all valid "
    "trials together, the interval resamples trials."
)
AGAIN = (
    "From the begin of a restart, start, resume or link up to the next message, of the flow that took longest; "
    "to the window's end, where it was still cut off. Median of trials with interval."
)
MEMORY = (
    "Resident memory at its peak, summed over all applications and services; memory that they share counts in each. "
    "Median of trials with interval."
)


def _loss_bars(comparison: Comparison, stream: str) -> tuple[Bars, ...]:
    if comparison.setting.of_chain:
        return (Bars("loss", "Lost on the way", stream, "loss_share", "% of what began", 0.01, LOST),)
    if not comparison.faulty:
        return (
            Bars("loss", "Loss", stream, comparison.criterion.loss_metric, "% of messages sent", 0.01, LOSS),
            Bars("runs", "Longest run of lost messages", stream, "longest_loss_run_messages", "messages", 1.0, RUNS),
        )
    return (
        Bars("missing", "Missing messages", stream, "missing_share", "% of messages", 0.01, MISSING),
        Bars("recovery", "Time until messages flow again", stream, "recovery_ns", "ms (logarithmic)", 1e6, AGAIN, True),
    )


def _chain_bars(comparison: Comparison, subject: str) -> tuple[Bars, ...]:
    if not comparison.setting.of_chain:
        return ()
    return (
        Bars("missed", "Deadline misses", subject, "deadline_missed_share", "% of what ended", 0.01, MISSED),
        Bars("startup", "Start-up of all nodes", TRIAL, "start_up_ns", "ms (logarithmic)", 1e6, START_UP, True),
    )


def bar_chart(comparison: Comparison, who: Mapping[str, Contender], bars: Bars) -> Chart | None:
    """One figure of every middleware that has it; None where all are nought."""
    rows: list[dict[str, Any]] = []
    drawn = []
    for each in comparison.experiments:
        estimate = each.estimate(bars.subject, bars.metric)
        if estimate is not None and estimate.value is not None:
            rows.append({"who": who[each.experiment.id].label, "n": estimate.n_trials, **_bar_row(estimate, bars)})
            drawn.append(each)
    if not any(row["value"] for row in rows):
        return None  # all nought: the table says so, a chart would be empty
    names, colours, _ = identity(drawn, who)
    base = alt.Chart(alt.NamedData("rows")).encode(
        y=alt.Y("who:N", sort=names, title=None, axis=alt.Axis(labelLimit=180)),
        color=alt.Color("who:N", scale=colours, legend=None),
        tooltip=[
            alt.Tooltip("who:N", title="middleware"),
            *(
                alt.Tooltip(f"{name}:Q", title=f"{name}, {bars.axis}", format=",.4~g")
                for name in ("value", "low", "high")
            ),
        ],
    )
    shown = [value for row in rows for value in (row["value"], row["low"], row["high"]) if value]
    x = (
        _logarithmic("value:Q", bars.axis, shown)
        if bars.logarithmic
        else alt.X("value:Q", title=bars.axis, axis=alt.Axis(tickCount=5))
    )
    value = (
        base.mark_point(filled=True, size=90).encode(x=x)
        if bars.logarithmic
        else base.mark_bar(height=12, opacity=0.8).encode(x=x)
    )
    span = (
        base.transform_filter("datum.low !== null")
        .mark_rule(strokeWidth=1.5)
        .encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), color=IN_INK)
    )
    spans = [span] if any(row["low"] is not None for row in rows) else []  # of a single trial there are none
    layers = alt.layer(value, *spans, width="container", height=(ROW_HEIGHT - 4) * len(names))
    trials = _span([row["n"] for row in rows], "trial")
    caption = f"{bars.caption} n = {trials}."
    description = f"{bars.title} of each middleware, {bars.axis}."
    return Chart(bars.id, bars.title, caption, description, finished(layers, rows=rows))


def _bar_row(estimate: Estimate, bars: Bars) -> dict[str, float | None]:
    values = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
    return {name: None if value is None else short(value / bars.scale) for name, value in values.items()}


def drawn_of(comparison: Comparison, kind: Distribution) -> list[ExperimentFindings]:
    """The experiments that have a distribution to draw."""
    return [each for each in comparison.experiments if (comparison.setting.stream, kind) in each.boxes]


def counted(drawn: Sequence[ExperimentFindings], comparison: Comparison) -> str:
    """`n = 3 trials, 300 messages each`: what a figure of the stream rests on."""
    estimates = [each.estimate(comparison.setting.subject, comparison.criterion.metric) for each in drawn]
    known = [each for each in estimates if each is not None and each.n_trials]
    if not known:
        return ""
    messages = [each.n_messages // each.n_trials for each in known]
    return f"n = {_span([each.n_trials for each in known], 'trial')} of {_span(messages, 'message')} each."


def _span(counts: Sequence[int], noun: str) -> str:
    low, high = min(counts), max(counts)
    return plural(high, noun) if low == high else f"{low} to {plural(high, noun)}"


def identity(
    drawn: Sequence[ExperimentFindings], who: Mapping[str, Contender]
) -> tuple[list[str], alt.Scale, list[list[int]]]:
    """Names in order, with each its middleware's colour and dash."""
    contenders = [who[each.experiment.id] for each in drawn]
    names = [each.label for each in contenders]
    return (
        names,
        alt.Scale(domain=names, range=[each.colour for each in contenders]),
        [list(c.dash) for c in contenders],
    )


def _logarithmic(field: str, title: str, values: Sequence[float]) -> alt.X:
    axis, scale = logarithmic_scale(values)
    return alt.X(field, title=title, scale=alt.Scale(**scale), axis=alt.Axis(**axis))


def logarithmic_scale(values: Sequence[float]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Axis and scale from a round figure to a round figure, with marks at 1, 2, 5 or at powers of ten alone."""
    low, high = min(values), max(values)
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if high / low < 100 else (1,)
    marks = [step * 10.0**exponent for exponent in exponents for step in (1, 2, 5)]
    domain = [max(m for m in marks if m <= low * 1.0001), min(m for m in [*marks, 10.0 * marks[-3]] if m >= high)]
    shown = [step * 10.0**e for e in exponents for step in steps if domain[0] <= step * 10.0**e <= domain[1] * 1.0001]
    return {"values": shown, "format": ",~g"}, {"type": "log", "domain": domain, "nice": False}


def short(value: float) -> float:
    """Four significant digits: a hundredth of what an eye can tell on any chart."""
    return float(f"{value:.4g}")


def _noun(kind: Distribution) -> str:
    return {
        Distribution.ROUND_TRIP: "round trip",
        Distribution.LATENCY_FROM_SEND: "latency from the actual send",
        Distribution.END_TO_END: "end-to-end latency",
    }.get(kind, kind.value.replace("_", " "))


def finished(chart: alt.Chart | alt.LayerChart | alt.FacetChart, **rows: Sequence[Mapping[str, Any]]) -> Spec:
    """The chart in the page's type and ink, with its background left to the page, and the data that it names.

    Altair copies, checks and hashes data that it is given itself, for each layer.
    """
    spec: Spec = chart.to_dict(validate=False)  # a browser draws each in the tests
    spec.pop("$schema", None)
    spec["datasets"] = {**spec.get("datasets", {}), **rows}
    spec["config"] = _config()
    spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    return spec


@cache
def _config() -> Spec:
    """Put in by hand, once: Altair makes the whole chart anew for each thing that is configured."""
    axis = alt.AxisConfig(
        labelColor=INK,
        titleColor=INK,
        tickColor=INK,
        domainColor=INK,
        gridColor=INK,
        gridOpacity=0.12,
        domainOpacity=0.4,
        tickOpacity=0.4,
        labelFontSize=12,
        titleFontSize=12,
        titleFontWeight="normal",
        labelOverlap=True,
    )
    made: Spec = alt.Config(background="transparent", font=FONT, view=alt.ViewConfig(stroke=None), axis=axis).to_dict(
        validate=False
    )
    return made
