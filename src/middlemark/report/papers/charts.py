"""Published values against ours: one chart a metric, a point for each cell that has both.

On the line both are the same; points along a parallel of it have the same ratios on both machines.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt

from middlemark.analysis.compare.published import Correlation, Pair, PaperComparison
from middlemark.report.elements.chart import Chart, finished, identity, log_scale, short
from middlemark.report.elements.labels import Series
from middlemark.report.papers.tables import paper_deliveries, shown_unit
from middlemark.suite.metrics import Metric
from middlemark.suite.yaml.quantity import plural

_HEIGHT = 380


def comparison_charts(compared: PaperComparison, series_of: Mapping[str, Series]) -> tuple[Chart, ...]:
    """One for each metric that has cells with both values."""
    charts = (_chart(correlation, compared, series_of) for correlation in compared.correlations)
    return tuple(chart for chart in charts if chart is not None)


def _chart(correlation: Correlation, compared: PaperComparison, series_of: Mapping[str, Series]) -> Chart | None:
    metric = correlation.metric
    pairs = [pair for pair in compared.pairs if pair.metric.name == metric.name and pair.experiment and pair.values]
    points = [_point(pair, metric, series_of) for pair in pairs]
    values = [point[side] for point in points for side in ("paper", "here")]
    if not values or min(values) <= 0:
        return None
    unit, scale = shown_unit(metric).name, log_scale(values)
    series = identity(series_of[pair.experiment.experiment.id] for pair in pairs if pair.experiment)
    tooltip = [alt.Tooltip("series:N", title="middleware"), alt.Tooltip("cell:N")]
    tooltip += [alt.Tooltip(f"{side}:Q", title=f"{side}, {unit}", format=",.4~g") for side in ("paper", "here")]
    x, y = scale.x("paper:Q", f"in the paper, {unit}"), scale.y("here:Q", f"here, {unit}")
    line = alt.Chart(alt.NamedData("equal")).mark_line(strokeWidth=1, opacity=0.5).encode(x=x, y=y)
    marks = alt.Chart(alt.NamedData("points")).mark_point(size=50, strokeWidth=2, opacity=0.85)
    ends = [{"paper": end, "here": end} for end in scale.domain]
    cells = plural(correlation.n_cells, "cell")
    return Chart(
        f"published-{metric.stored_name.replace('_', '-')}",
        f"{metric.name}: the paper's values against ours",
        f"{cells} with both values; on the line they are the same. {paper_deliveries(pairs)}".rstrip(),
        f"A point for each cell: {metric.name} in the paper and here.",
        finished(
            line,
            marks.encode(x=x, y=y, color=series.colour, tooltip=tooltip),
            height=_HEIGHT,
            equal=ends,
            points=points,
        ),
    )


def _point(pair: Pair, metric: Metric, series_of: Mapping[str, Series]) -> dict[str, Any]:
    published, ours = pair.values or (0.0, 0.0)
    size = shown_unit(metric).size
    label = series_of[pair.experiment.experiment.id].label if pair.experiment else pair.series_label
    cell = " ".join(value for name, value in pair.group if name != "metric")
    return {"series": label, "cell": cell, "paper": short(published / size), "here": short(ours / size)}
