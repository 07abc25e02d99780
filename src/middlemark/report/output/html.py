"""The page: one HTML file that needs nothing but itself, made from a run's findings.

It puts together what the other modules of the report have made, for each setting and for several settings together, and
writes the file; `markup` has the parts that no template writes, and `packing` makes the page small.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from altair.utils.schemapi import debug_mode

from middlemark.analysis.decisions.claims import judge_own_claims
from middlemark.analysis.run import RunFindings, analyse
from middlemark.report.conclusions.claims import READING, claims_shown
from middlemark.report.conclusions.headline import interval_words
from middlemark.report.conclusions.heatmap import heat_maps
from middlemark.report.conclusions.over_settings import CROWDED, standings
from middlemark.report.conclusions.precision import spread_lines, spread_table, stop_table
from middlemark.report.conclusions.ranking import CLOCKS
from middlemark.report.conclusions.recommendation import recommendation
from middlemark.report.conclusions.warnings import uncounted, warned_of
from middlemark.report.elements.chart import Chart
from middlemark.report.elements.formatting import fact
from middlemark.report.elements.labels import Series, Trials, library_words, series_by_experiment
from middlemark.report.internals.chain_charts import chains_overview
from middlemark.report.internals.configuration import topology_table
from middlemark.report.internals.security import lacking_levels, security_costs, security_summary, security_tables
from middlemark.report.internals.wire import overhead_chart, overhead_table
from middlemark.report.output.markup import page_environment
from middlemark.report.output.packing import Folded, packed, packed_json, program, without_repetition
from middlemark.report.output.section import Section, sections_of
from middlemark.report.output.selection import selectable
from middlemark.report.traffic.capacity import capacity_lines, capacity_table
from middlemark.report.traffic.capacity_charts import capacity_charts
from middlemark.report.traffic.growth import growth_charts, growth_summary, growth_tables
from middlemark.report.traffic.interop import pairs_over_settings
from middlemark.report.traffic.scaling import scaling_charts, scaling_lines
from middlemark.results.files import write_text
from middlemark.results.manifest import Library
from middlemark.results.run_folder import RunFolder


def write_report(run: Path | RunFindings) -> Path:
    """Make `report.html` from what is stored, whole or not at all."""
    findings = run if isinstance(run, RunFindings) else analyse(RunFolder(run))
    return write_text(findings.folder.report_path, render(findings))


def render(findings: RunFindings) -> str:
    """The whole page."""
    series_of = series_by_experiment(findings.manifest, (candidate.experiment for candidate in findings.experiments))
    sections = sections_of(findings, series_of)
    run_charts = charts_of_run(findings, series_of)
    charts = {f"{section.id}-{chart.id}": chart for section in sections for chart in section.charts}
    charts |= {f"{part}-{chart.id}": chart for part, part_charts in run_charts.items() for chart in part_charts}
    return (
        page_environment(packed_json=packed_json, library=_library)
        .get_template("report.html.j2")
        .render(
            **_conclusions(findings, sections, series_of),
            **_whole_run(findings, series_of),
            manifest=findings.manifest,
            findings=findings,
            sections=sections,
            run_charts=run_charts,
            settings_of=_settings_of(sections),
            drawn_in=lambda part: _drawn_in(run_charts[part], series_of),
            selection=selectable(findings.comparisons, series_of.values()),
            charts=packed_json(without_repetition(charts)),
            folded=Folded(),
            clocks=CLOCKS,
            first_drawn={s.drawing: s.id for s in reversed(sections) if s.drawing},
            vega=packed(program()),
        )
    )


def _conclusions(
    findings: RunFindings, sections: Sequence[Section], series_of: Mapping[str, Series]
) -> dict[str, object]:
    """The page's first part."""
    return {
        "recommendation": recommendation(findings),
        "crowded": len(sections) > CROWDED,
        "standings": standings(findings.comparisons, [section.answer for section in sections], series_of),
        "first_sections": {section.answer.workload: section.id for section in reversed(sections)},
        "heat_maps": heat_maps(findings.comparisons, [section.id for section in sections], series_of),
        "warned": warned_of(findings, series_of),
        "uncounted": uncounted(findings, series_of),
        "claims": claims_shown(judge_own_claims(findings)),
        "claims_reading": READING,
        "keys": sorted({series.key: series for series in series_of.values()}.values(), key=lambda series: series.key),
        "interval_words": interval_words(findings),
    }


def _whole_run(findings: RunFindings, series_of: Mapping[str, Series]) -> dict[str, object]:
    """Tables and lines that are of several settings, and what the run was made on."""
    costs = security_costs(findings, series_of)
    return {
        "topologies": topology_table(findings),
        "machine": [fact(name, value) for name, value in findings.manifest.machine.items()],
        "overhead": overhead_table(findings.experiments, series_of),
        "enough": stop_table(findings, series_of),
        "spread": spread_table(findings, series_of),
        "spread_lines": spread_lines(findings, series_of),
        "capacity": capacity_table(findings.capacities, series_of),
        "capacity_lines": capacity_lines(findings.capacities, series_of),
        "scalings": scaling_lines(findings),
        "growth": growth_tables(findings, series_of),
        "pairs": pairs_over_settings(findings.comparisons, series_of),
        "growth_summary": growth_summary(findings, series_of),
        "security": security_tables(costs),
        "security_summary": security_summary(costs),
        "lacking_levels": lacking_levels(findings, series_of),
    }


@debug_mode(False)  # as for those of one setting
def charts_of_run(findings: RunFindings, series_of: Mapping[str, Series]) -> dict[str, list[Chart]]:
    """By the part of the page that they are in."""
    overhead = overhead_chart(findings.experiments, series_of)
    return {
        "capacity": capacity_charts(findings.capacities, findings.experiments, series_of),
        "scaling": scaling_charts(findings, series_of),
        "growth": growth_charts(findings, series_of),
        "wire": [overhead] if overhead else [],
        "chains": chains_overview(findings.comparisons, series_of),
    }


def _drawn_in(charts: Sequence[Chart], series_of: Mapping[str, Series]) -> list[Series]:
    """Whose lines some charts have, for their legend."""
    rows = (row for chart in charts for dataset in chart.spec["datasets"].values() for row in dataset)
    labels = {row.get("series") for row in rows}
    return sorted({series for series in series_of.values() if series.label in labels}, key=lambda series: series.label)


def _settings_of(sections: Sequence[Section]) -> Callable[[Trials], str]:
    """The ids of the sections that show some trials."""
    places: dict[str, list[str]] = {}
    for section in sections:
        for _, outcomes in section.trials:
            for outcome in outcomes:
                places.setdefault(outcome.trial, []).append(section.id)

    def settings_of(trials: Trials) -> str:
        ids = (place for _, outcomes in trials for outcome in outcomes for place in places.get(outcome.trial, ()))
        return " ".join(dict.fromkeys(ids))

    return settings_of


def _library(library: Library, began: str) -> str:
    return library_words(library, datetime.fromisoformat(began).date())
