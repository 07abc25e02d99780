"""The page of a reproduced paper: one HTML file that needs nothing but itself, and links to the report of each suite.

`tables` and `charts` make its parts; they are set by what sets those of every report.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from middlemark.analysis.decisions.paper_findings import JudgedExplanation
from middlemark.analysis.decisions.reproduced import ReproducedPaper, analyse_paper
from middlemark.installation import VERSION
from middlemark.report.conclusions.claims import READING, ClaimShown, claims_shown
from middlemark.report.elements.chart import Chart
from middlemark.report.elements.labels import Series, series_by_experiment
from middlemark.report.elements.tables import Table
from middlemark.report.output.figures import DRAWN, standing_alone
from middlemark.report.output.formats import ReportFormat
from middlemark.report.output.html import write_report
from middlemark.report.output.markup import page_environment
from middlemark.report.papers.charts import comparison_charts
from middlemark.report.papers.tables import (
    agreement_table,
    agreement_words,
    equipment_table,
    features_table,
    findings_table,
    headline,
    ratio_table,
    suites_table,
    value_tables,
    what_decides,
)
from middlemark.results.files import write_text
from middlemark.results.run_folder import ReproductionFolder


@dataclass(frozen=True)
class ExplanationShown:
    """The setting that a finding comes from, on the page."""

    setting: str
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
            headline=headline(reproduced.findings),
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
        )
        for finding in reproduced.findings
    )


def _explanation_shown(judged: JudgedExplanation) -> ExplanationShown:
    explanation = judged.explanation
    claims = tuple(claims_shown(judged.claims))
    return ExplanationShown(explanation.setting, explanation.says, judged.judgement.value, claims)


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
