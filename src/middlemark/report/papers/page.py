"""The page of a reproduced paper: one HTML file that needs nothing but itself, and links to the report of each suite.

`tables` makes its tables; they and its charts are set by what sets those of every report.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import altair as alt
from markupsafe import Markup

from middlemark.analysis.compare.published import Correlation, Pair, PaperComparison
from middlemark.analysis.decisions.paper_findings import (
    JudgedExplanation,
    JudgedOtherwise,
    ReproducedPaper,
    analyse_paper,
)
from middlemark.installation import VERSION
from middlemark.report.conclusions.claims import READING, ClaimShown, claims_shown
from middlemark.report.elements.chart import Chart, finished, identity, log_scale, short
from middlemark.report.elements.labels import Series, series_by_experiment
from middlemark.report.elements.tables import Table
from middlemark.report.output.figures import DRAWN, standing_alone
from middlemark.report.output.formats import ReportFormat
from middlemark.report.output.html import write_report
from middlemark.report.output.markup import page_environment
from middlemark.report.papers.tables import (
    agreement_table,
    agreement_words,
    equipment_table,
    features_table,
    findings_table,
    headline,
    paper_deliveries,
    ratio_table,
    shown_unit,
    suites_table,
    value_tables,
    what_decides,
)
from middlemark.results.files import write_text
from middlemark.results.run_folder import ReproductionFolder
from middlemark.suite.metrics import Metric
from middlemark.suite.yaml.quantity import plural


@dataclass(frozen=True)
class ExplanationShown:
    """The setting that a finding comes from, on the page."""

    setting: str
    says: str
    judgement: str
    claims: tuple[ClaimShown, ...]


@dataclass(frozen=True)
class OtherwiseShown:
    """What a finding came to in experiments that the paper did not make, on the page."""

    how: str
    says: str
    judgement: str
    claims: tuple[ClaimShown, ...]


@dataclass(frozen=True)
class FindingShown:
    """A finding on the page."""

    number: int
    says: str
    source: str
    judgement: str
    claims: tuple[ClaimShown, ...]
    open: str
    explained: ExplanationShown | None
    otherwise: tuple[OtherwiseShown, ...]


@dataclass(frozen=True)
class ComparisonShown:
    """One table of the paper beside ours."""

    id: str
    summary: str
    source: str
    agreement: Table
    words: str
    charts: tuple[tuple[Chart, str], ...]
    """Each with its drawing, as the address of an image."""
    ratios: Table | None
    values: tuple[Table, ...]


def write_pages(folder: ReproductionFolder) -> tuple[ReproducedPaper, Path]:
    """Makes the report of every suite's run, and `report.html` of the paper."""
    reproduced = analyse_paper(folder)
    for run in reproduced.runs.values():
        write_report(run)
    return reproduced, write_text(folder.report_path, render(reproduced))


def render(reproduced: ReproducedPaper) -> str:
    """The whole page."""
    return (
        page_environment()
        .get_template("paper.html.j2")
        .render(
            paper=reproduced.paper,
            reproduction=reproduced.reproduction,
            reproduced=reproduced,
            headline=headline([finding.judgement for finding in reproduced.findings]),
            findings_table=findings_table(reproduced.findings),
            findings=findings_shown(reproduced),
            reading=READING,
            comparisons=comparisons_shown(reproduced),
            equipment=equipment_table(reproduced.paper),
            features=features_table(reproduced.paper),
            suites=suites_table(reproduced),
            version=VERSION,
        )
    )


def findings_shown(reproduced: ReproducedPaper) -> tuple[FindingShown, ...]:
    """Every finding with its claims."""
    return tuple(
        FindingShown(
            finding.finding.finding,
            finding.finding.says,
            finding.finding.source,
            finding.judgement.value,
            tuple(claims_shown(finding.claims)),
            what_decides(finding),
            _explanation_shown(finding.explained) if finding.explained else None,
            tuple(map(_otherwise_shown, finding.otherwise)),
        )
        for finding in reproduced.findings
    )


def _explanation_shown(judged: JudgedExplanation) -> ExplanationShown:
    explanation = judged.explanation
    claims = tuple(claims_shown(judged.claims))
    return ExplanationShown(explanation.setting, explanation.says, judged.judgement.value, claims)


def _otherwise_shown(judged: JudgedOtherwise) -> OtherwiseShown:
    otherwise = judged.otherwise
    return OtherwiseShown(otherwise.how, otherwise.says, judged.judgement.value, tuple(claims_shown(judged.claims)))


def comparisons_shown(reproduced: ReproducedPaper) -> tuple[ComparisonShown, ...]:
    """Every table of the paper whose suite was run."""
    series_of: dict[str, Series] = {}
    for run in reproduced.runs.values():
        series_of |= series_by_experiment(run.manifest, (candidate.experiment for candidate in run.experiments))
    shown = []
    for table in reproduced.paper.tables:
        compared = reproduced.comparisons.get(table.table)
        if compared is None:
            continue
        title = table.table.replace("_", " ").capitalize()
        charts = tuple((chart, _drawing(chart)) for chart in comparison_charts(compared, series_of))
        shown.append(
            ComparisonShown(
                table.table,
                table.summary,
                table.source,
                agreement_table(title, compared),
                agreement_words(compared),
                charts,
                ratio_table(title, compared),
                value_tables(title, compared),
            )
        )
    return tuple(shown)


def _drawing(chart: Chart) -> str:
    encoded = base64.b64encode(DRAWN[ReportFormat.SVG](standing_alone(chart))).decode()
    return Markup("data:image/svg+xml;base64,") + encoded


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
