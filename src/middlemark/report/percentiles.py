"""The percentile curve: how long the slowest 10 %, 1 %, 0.1 % of the messages took, each decade as wide as the last.

The same points as the distribution's, seen from the tail; it ends where fewer than ten messages are beyond, or where
all that are beyond never arrived.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import altair as alt

from middlemark.analysis.comparison import Comparison
from middlemark.analysis.experiment import ExperimentFindings
from middlemark.analysis.quantile import SAMPLES_BEYOND
from middlemark.analysis.samples import Distribution
from middlemark.report.canvas import (
    DRAWINGS,
    Chart,
    Identity,
    LogScale,
    Spec,
    finished,
    identity,
    log_scale,
    short,
    with_rows,
)
from middlemark.report.charts import drawn_of, kind_title, shared, time_scale
from middlemark.report.contender import Contender
from middlemark.report.counts import counted

CLOSEST = 1.07
"""By how much two points of a curve are apart: thirty or so a decade."""
_LABELS = "datum.value == 1 ? '0 %' : format(100 - 100 / datum.value, '.7~g') + ' %'"


def percentile_curve(comparison: Comparison, who: Mapping[str, Contender], kind: Distribution) -> Chart | None:
    """A line for each middleware; None where no tail is supported."""
    drawn = drawn_of(comparison, kind)
    rows: list[dict[str, Any]] = [
        {"who": who[each.experiment.id].label, **point} for each in drawn for point in _points(each, comparison, kind)
    ]
    if not rows:
        return None
    lines = identity(who[each.experiment.id] for each in drawn)
    unit, _ = time_scale(kind)
    farthest = max(row["one_in"] for row in rows)
    drawing = _lines(lines, log_scale([row["time"] for row in rows]), (unit, shared(kind)), farthest)
    return Chart(
        id="percentiles",
        title=f"{kind_title(kind)} by percentile",
        caption=(
            f"{unit} over the share of {shared(kind)}, all valid trials together; each step is ten times as rare. "
            f"A curve ends where fewer than {SAMPLES_BEYOND} messages are beyond, or all beyond were lost. "
            f"{counted(drawn, comparison, kind)}"
        ),
        description="A line for each middleware; the quantiles are in the table below.",
        spec=with_rows(drawing, rows=rows),
    )


@lru_cache(DRAWINGS)
def _lines(lines: Identity, scale: LogScale, named: tuple[str, str], farthest: float) -> Spec:
    unit, among = named
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
                scale=alt.Scale(**scale.scale),
                axis=alt.Axis(**scale.axis),
            ),
            color=lines.colour,
            strokeDash=lines.dash,
            tooltip=[alt.Tooltip("who:N", title="middleware")],
        )
    )
    return finished(alt.layer(line, width="container", height=300))


def _points(each: ExperimentFindings, comparison: Comparison, kind: Distribution) -> list[dict[str, float]]:
    """The curve over all messages, down to the tail's last tenth message."""
    curve = each.curves[comparison.setting.stream, kind]
    _, scale_ns = time_scale(kind)
    found: list[dict[str, float]] = []
    for value, share in zip(curve.value_ns, curve.share, strict=True):
        beyond = curve.n_messages - round(share * curve.n_messages)
        far_enough = not found or curve.n_messages / max(beyond, 1) >= CLOSEST * found[-1]["one_in"]
        if value > 0 and beyond >= SAMPLES_BEYOND and far_enough:
            found.append({"one_in": short(curve.n_messages / beyond), "time": short(value / scale_ns)})
    return found
