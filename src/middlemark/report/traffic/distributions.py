"""The distributions of a setting, drawn: cumulative shares of messages, boxes, and percentile curves.

All values come computed: no sample is shipped, no statistic is left to the browser. A percentile curve ends where fewer
than ten messages are beyond; `setting_tables` has the same in a table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import altair as alt

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.stats.quantiles import SAMPLES_BEYOND
from middlemark.report.elements.chart import (
    DRAWINGS,
    IN_INK,
    NAMED_AXIS,
    NAMED_SCALE,
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
from middlemark.report.elements.formatting import unit_of
from middlemark.report.elements.labels import Series, n_of_distribution
from middlemark.suite.metrics import OF_CHAINS, Distribution


def ecdf(comparison: Comparison, series_of: Mapping[str, Series], kind: Distribution) -> Chart | None:
    """The distributions over each other, on a logarithmic axis."""
    drawn = drawn_of(comparison, kind)
    unit = unit_of(kind)
    rows: list[dict[str, Any]] = [
        {"series": series_of[candidate.experiment.id].label, "time": short(unit.of(value)), "share": round(share, 4)}
        for candidate in drawn
        for value, share in zip(*_points(candidate, comparison, kind), strict=True)
    ]
    if not rows:
        return None
    lines = identity(series_of[candidate.experiment.id] for candidate in drawn)
    scale = log_scale([row["time"] for row in rows])
    return Chart(
        id="ecdf",
        title=f"{kind_title(kind)}: cumulative distribution",
        caption=(
            f"Empirical distribution of the {_noun(kind)} ({kind.summary}), all valid trials together, over all "
            f"{_whole(comparison)}. Fast messages are on the left, the tail is on the right. "
            f"{n_of_distribution(drawn, comparison, kind)}"
        ),
        description=f"Step lines, one for each middleware; the quantiles are in the table below. {len(drawn)} lines.",
        spec=with_rows(_ecdf(lines, unit.name, shared(kind)), scale, rows=rows),
    )


@lru_cache(DRAWINGS)
def _ecdf(lines: Identity, unit: str, among: str) -> Spec:
    hovered = alt.selection_point(fields=["series"], on="pointerover", clear="pointerout")
    base = alt.Chart(alt.NamedData("rows")).encode(
        x=logarithmic_x("time:Q", f"{unit} (logarithmic)"),
        y=alt.Y("share:Q", title=f"share of {among}", axis=alt.Axis(format="%", tickCount=5)),
        color=lines.colour,
    )
    line = base.mark_line(interpolate="step-after", strokeWidth=2, clip=True).encode(
        strokeDash=lines.dash,
        opacity=alt.OpacityValue(0.2, condition={"param": hovered.name, "value": 1, "empty": True}),
    )
    # A thin line is hard to hit: the pointer meets a broad one that can't be seen.
    target = base.mark_line(interpolate="step-after", strokeWidth=14, opacity=0, clip=True).encode(
        detail=alt.Detail("series:N"), tooltip=[alt.Tooltip("series:N", title="middleware")]
    )
    return finished(line, target.add_params(hovered), height=300)


def kind_title(kind: Distribution) -> str:
    """What a chart of it is called."""
    return {Distribution.ROUND_TRIP: "Round trip", Distribution.END_TO_END: "End to end"}.get(kind, "Latency")


def shared(kind: Distribution) -> str:
    """What the shares of a distribution are of."""
    if kind is Distribution.END_TO_END:
        return "paths"
    return "what ended" if kind in OF_CHAINS else "messages sent"


def _whole(comparison: Comparison) -> str:
    if comparison.setting.of_chain:
        return "paths: where a line ends below 100 %, the rest never ended"
    return f"messages sent: where a line ends below 100 %, the rest {_gone(comparison)}"


def _gone(comparison: Comparison) -> str:
    return "did not come in time, or its sender ended" if comparison.faulty else "was lost"


def boxes(comparison: Comparison, series_of: Mapping[str, Series], kind: Distribution) -> Chart | None:
    """Quantiles side by side, best first."""
    drawn = drawn_of(comparison, kind)
    rows: list[dict[str, Any]] = [
        {"series": series_of[candidate.experiment.id].label, **_box_row(candidate, comparison, kind)}
        for candidate in drawn
    ]
    if not rows:
        return None
    drawn_by = identity(series_of[candidate.experiment.id] for candidate in drawn)
    unit = unit_of(kind)
    inner = [row[name] for row in rows for name in BOX_FIELDS[1:] if row[name] is not None]
    return Chart(
        id="box",
        title=f"{kind_title(kind)}: box plot",
        caption=(
            "Box: 25 to 75 %; vertical mark: median; line: 10 to 90 %; diamond: 99 %; cross: the slowest message. "
            f"A quantile with fewer than ten messages beyond it is left out. All valid trials together, {unit.name}. "
            f"{n_of_distribution(drawn, comparison, kind)}"
        ),
        description="A box plot for each middleware, in the order of the ranking.",
        spec=with_rows(_boxes(drawn_by, unit.name), log_scale(inner), rows=rows),
    )


@lru_cache(DRAWINGS)
def _boxes(drawn_by: Identity, unit: str) -> Spec:
    base = alt.Chart(alt.NamedData("rows")).encode(
        y=alt.Y("series:N", sort=drawn_by.names, title=None, axis=alt.Axis(labelLimit=180)),
        color=drawn_by.colour,
        tooltip=[alt.Tooltip("series:N", title="middleware")]
        + [alt.Tooltip(f"{name}:Q", title=f"{name} {unit}", format=",.4~g") for name in BOX_FIELDS],
    )
    axis = logarithmic_x("p10:Q", f"{unit} (logarithmic)")
    return finished(
        base.transform_filter("datum.p10 && datum.p90").mark_rule(strokeWidth=1.5).encode(x=axis, x2=alt.X2("p90:Q")),
        base.transform_filter("datum.p25 && datum.p75")
        .mark_bar(height=12, opacity=0.55)
        .encode(x=alt.X("p25:Q"), x2=alt.X2("p75:Q")),
        base.transform_filter("datum.p50").mark_tick(thickness=3, height=18).encode(x=alt.X("p50:Q"), color=IN_INK),
        base.transform_filter("datum.p99").mark_point(shape="diamond", filled=True, size=60).encode(x=alt.X("p99:Q")),
        base.transform_filter("datum.max > 0").mark_point(shape="cross", size=40, filled=True).encode(x=alt.X("max:Q")),
        height=ROW_HEIGHT * len(drawn_by.names),
    )


BOX_FIELDS = ("min", "p10", "p25", "p50", "p75", "p90", "p99", "max")


def _box_row(candidate: ExperimentFindings, comparison: Comparison, kind: Distribution) -> dict[str, float | None]:
    box = candidate.shapes.boxes[comparison.setting.stream, kind]
    values = (box.minimum, box.p10, box.p25, box.p50, box.p75, box.p90, box.p99, box.maximum)
    unit = unit_of(kind)
    return {
        name: None if v is None or v <= 0 else short(unit.of(v)) for name, v in zip(BOX_FIELDS, values, strict=True)
    }


def _points(
    candidate: ExperimentFindings, comparison: Comparison, kind: Distribution
) -> tuple[Sequence[float], Sequence[float]]:
    """The curve's points that a logarithmic axis can show."""
    curve = candidate.shapes.curves[comparison.setting.stream, kind]
    shown = [(value, share) for value, share in zip(curve.value_ns, curve.share, strict=True) if value > 0]
    return [value for value, _ in shown], [share for _, share in shown]


def drawn_of(comparison: Comparison, kind: Distribution) -> list[ExperimentFindings]:
    """The experiments that have a distribution to draw."""
    return [
        candidate for candidate in comparison.experiments if (comparison.setting.stream, kind) in candidate.shapes.boxes
    ]


def _noun(kind: Distribution) -> str:
    return {
        Distribution.ROUND_TRIP: "round trip",
        Distribution.LATENCY_FROM_SEND: "latency from the actual send",
        Distribution.END_TO_END: "end-to-end latency",
    }.get(kind, kind.value.replace("_", " "))


CLOSEST = 1.07
"""By how much two points of a curve are apart: thirty or so a decade."""
_LABELS = "datum.value == 1 ? '0 %' : format(100 - 100 / datum.value, '.7~g') + ' %'"


def percentile_curve(comparison: Comparison, series_of: Mapping[str, Series], kind: Distribution) -> Chart | None:
    """A line for each middleware; None where no tail is supported."""
    drawn = drawn_of(comparison, kind)
    rows: list[dict[str, Any]] = [
        {"series": series_of[candidate.experiment.id].label, **point}
        for candidate in drawn
        for point in _curve_points(candidate, comparison, kind)
    ]
    if not rows:
        return None
    lines = identity(series_of[candidate.experiment.id] for candidate in drawn)
    unit = unit_of(kind)
    farthest = max(row["one_in"] for row in rows)
    scale = log_scale([row["time"] for row in rows])
    return Chart(
        id="percentiles",
        title=f"{kind_title(kind)} by percentile",
        caption=(
            f"{unit.name} over the share of {shared(kind)}, all valid trials together; each step to the right is ten "
            f"times as rare. A curve ends where fewer than {SAMPLES_BEYOND} messages are beyond it, or where all "
            f"messages beyond it were lost. {n_of_distribution(drawn, comparison, kind)}"
        ),
        description="A line for each middleware; the quantiles are in the table below.",
        spec=with_rows(_lines(lines, unit.name, shared(kind), farthest), scale, rows=rows),
    )


@lru_cache(DRAWINGS)
def _lines(lines: Identity, unit: str, among: str, farthest: float) -> Spec:
    marks = [one_in for one_in in (1, 2, 10, 100, 1000, 10_000, 100_000, 1_000_000) if one_in <= farthest]
    line = (
        alt.Chart(alt.NamedData("rows"))
        .mark_line(strokeWidth=2, clip=True)
        .encode(
            x=alt.X(
                "one_in:Q",
                title=f"share of {among} that took no longer",
                scale=alt.Scale(type="log", domain=[1, farthest], nice=False),
                axis=alt.Axis(values=marks, labelExpr=_LABELS),
            ),
            y=alt.Y(
                "time:Q",
                title=f"{unit} (logarithmic)",
                scale=alt.Scale(**NAMED_SCALE),
                axis=alt.Axis(**NAMED_AXIS),
            ),
            color=lines.colour,
            strokeDash=lines.dash,
            tooltip=[alt.Tooltip("series:N", title="middleware")],
        )
    )
    return finished(line, height=300)


def _curve_points(candidate: ExperimentFindings, comparison: Comparison, kind: Distribution) -> list[dict[str, float]]:
    """The curve over all messages, down to the tail's last tenth message."""
    curve = candidate.shapes.curves[comparison.setting.stream, kind]
    unit = unit_of(kind)
    points: list[dict[str, float]] = []
    for value, share in zip(curve.value_ns, curve.share, strict=True):
        beyond = curve.n_messages - round(share * curve.n_messages)
        far_enough = not points or curve.n_messages / max(beyond, 1) >= CLOSEST * points[-1]["one_in"]
        if value > 0 and beyond >= SAMPLES_BEYOND and far_enough:
            points.append({"one_in": short(curve.n_messages / beyond), "time": short(unit.of(value))})
    return points
