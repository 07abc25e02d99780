"""The page: one HTML file that needs nothing but itself, made from a run's findings.

It puts together what the other modules of the report have made, for each setting and for several settings together, and
writes the file; `packing` makes it small.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from altair.utils.schemapi import debug_mode

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.decisions.claims import judge_own_claims
from middlemark.analysis.run import RunFindings, analyse
from middlemark.plan import Caution
from middlemark.report.conclusions.claims import READING, claims_shown
from middlemark.report.conclusions.digest import CROWDED, digest
from middlemark.report.conclusions.headline import Answer, answer, interval_words
from middlemark.report.conclusions.heatmap import heat_maps
from middlemark.report.conclusions.precision import spread_lines, spread_table, stop_table
from middlemark.report.conclusions.ranking import CLOCKS, Ranking, ranking_as_table, ranking_table
from middlemark.report.conclusions.recommendation import recommendation
from middlemark.report.conclusions.warnings import outcome_table, uncounted, warned_of
from middlemark.report.elements.chart import Chart
from middlemark.report.elements.formatting import fact
from middlemark.report.elements.labels import Series, Trials, library_words, series_by_experiment, trials_of
from middlemark.report.elements.setting_words import distinguishing
from middlemark.report.elements.tables import Table
from middlemark.report.elements.topology_drawing import drawing
from middlemark.report.internals.chain_charts import chains_overview
from middlemark.report.internals.chains import BEGAN, ChainShown, chain_shown
from middlemark.report.internals.configuration import Configuration, configurations, path_table, topology_table
from middlemark.report.internals.machines import machine_table
from middlemark.report.internals.observers import Observed, observed
from middlemark.report.internals.wire import overhead_chart, overhead_table
from middlemark.report.output.markup import page_environment
from middlemark.report.output.packing import Folded, packed, packed_json, program, selectable, without_repetition
from middlemark.report.traffic.bars import bar_charts
from middlemark.report.traffic.capacity import capacity_lines, capacity_table
from middlemark.report.traffic.capacity_charts import capacity_charts
from middlemark.report.traffic.distributions import boxes, ecdf, percentile_curve
from middlemark.report.traffic.faults import fault_table, timeline_words
from middlemark.report.traffic.growth import growth_charts, growth_tables
from middlemark.report.traffic.interop import pair_cost_table, pair_table
from middlemark.report.traffic.links import link_table, route_table
from middlemark.report.traffic.scaling import scaling_charts, scaling_lines
from middlemark.report.traffic.setting_tables import (
    accounting_table,
    first_message_table,
    further_table,
    loss_table,
    outlier_table,
    process_table,
    quantile_table,
    rate_table,
)
from middlemark.report.traffic.timeseries import time_charts
from middlemark.results.files import write_text
from middlemark.results.manifest import Library
from middlemark.results.run_folder import RunFolder
from middlemark.suite.metrics import OF_CHAINS, Distribution


@dataclass(frozen=True)
class Section:
    """One comparison on the page."""

    id: str
    factors: Mapping[str, str]
    answer: Answer
    ranking: Ranking
    machines: Table | None
    series: tuple[Series, ...]
    distributions: tuple[Chart, ...]
    over_time: tuple[Chart, ...]
    """Of settings in which something changes within the window."""
    topology: str
    drawing: str | None
    """The topology's; an address with the drawing in it."""
    chain: ChainShown | None
    faults: Table | None
    timeline: tuple[str, ...]
    links: Table | None
    routes: Table | None
    path: Table | None
    bars: tuple[Chart, ...]
    quantiles: tuple[Table, ...]
    tables: tuple[Table, ...]
    trials: Trials
    outcomes: Table
    observed: Observed | None
    cautions: tuple[tuple[str, Caution, int], ...]
    """Series, warning, number of trials."""
    configurations: tuple[Configuration, ...]

    @property
    def charts(self) -> tuple[Chart, ...]:
        """All of them."""
        of_observers = (*self.observed.charts, *self.observed.messages) if self.observed else ()
        path = self.chain.charts if self.chain else ()
        return (*path, *self.over_time, *self.distributions, *self.bars, *of_observers)

    @property
    def every_table(self) -> tuple[Table, ...]:
        """All of them, those of the chain and of observers too."""
        ranking = ranking_as_table(self.ranking, f"{self.answer.workload.replace('_', ' ')}, {self.answer.load}")
        nodes = tuple(table for table in self.chain.tables if table.rows) if self.chain else ()
        chain = (self.chain.split, self.chain.fates, *nodes) if self.chain else ()
        single = tuple(table for table in (self.machines, self.faults, self.links, self.routes, self.path) if table)
        of_observers = (self.observed.cost, *self.observed.tables) if self.observed else ()
        return (ranking, *chain, *single, *self.quantiles, *self.tables, self.outcomes, *of_observers)


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
        "digest": digest(findings.comparisons, [section.answer for section in sections], series_of),
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
    }


@debug_mode(False)  # the check of every part takes longer than all else; a browser draws each chart in the tests
def sections_of(findings: RunFindings, series_of: Mapping[str, Series]) -> list[Section]:
    """What the page shows of each comparison."""
    varying = distinguishing(findings.comparisons)
    return [
        _section(number, comparison, answer(comparison, series_of, varying), series_of)
        for number, comparison in enumerate(findings.comparisons, start=1)
    ]


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


def _section(number: int, comparison: Comparison, conclusion: Answer, series_of: Mapping[str, Series]) -> Section:
    kind = comparison.criterion.distribution or Distribution.LATENCY_FROM_SEND
    return Section(
        id=f"s{number}-{comparison.setting.workload}",
        factors=dict(comparison.setting.factors),
        answer=conclusion,
        ranking=ranking_table(comparison, series_of),
        machines=machine_table(comparison, series_of),
        series=tuple(
            series_of[candidate.experiment.id] for candidate in comparison.experiments if candidate.shapes.boxes
        ),
        distributions=_distributions(comparison, series_of, kind),
        over_time=tuple(time_charts(comparison, series_of)),
        topology=comparison.experiments[0].experiment.topology,
        drawing=drawing(comparison.experiments[0].experiment),
        chain=chain_shown(comparison, series_of),
        faults=fault_table(comparison, series_of, by_flow=True),
        timeline=timeline_words(comparison),
        links=link_table(comparison),
        routes=route_table(comparison),
        path=path_table(comparison, series_of),
        bars=tuple(bar_charts(comparison, series_of)),
        quantiles=_quantiles(comparison, series_of, kind),
        tables=_tables(comparison, series_of),
        trials=trials_of(comparison, series_of),
        outcomes=outcome_table(comparison, series_of),
        observed=observed(comparison, series_of),
        cautions=tuple(
            (series_of[candidate.experiment.id].label, caution, count)
            for candidate in comparison.experiments
            for caution, count in candidate.cautions
        ),
        configurations=configurations(comparison, series_of),
    )


def _distributions(comparison: Comparison, series_of: Mapping[str, Series], kind: Distribution) -> tuple[Chart, ...]:
    charts = (
        ecdf(comparison, series_of, kind),
        percentile_curve(comparison, series_of, kind),
        boxes(comparison, series_of, kind),
    )
    return tuple(chart for chart in charts if chart)


def _quantiles(comparison: Comparison, series_of: Mapping[str, Series], first: Distribution) -> tuple[Table, ...]:
    """A table for each distribution of a stream or of a chain."""
    others = [
        distribution
        for distribution in Distribution
        if (distribution in OF_CHAINS) is comparison.setting.of_chain and distribution is not first
    ]
    tables = (quantile_table(comparison, series_of, kind) for kind in (first, *others))
    return tuple(table for table in tables if table)


def _tables(comparison: Comparison, series_of: Mapping[str, Series]) -> tuple[Table, ...]:
    """A chain has no rate or accounting of its own: `chain` has its fates."""
    of_all = (first_message_table, process_table, outlier_table)
    of_stream = (pair_table, pair_cost_table, rate_table, accounting_table, loss_table)
    makers = of_all if comparison.setting.of_chain else (*of_stream, *of_all)
    tables = [made for make in makers if (made := make(comparison, series_of))]
    further = further_table(comparison, series_of, [*BEGAN, *(column for made in tables for column in made.columns)])
    return (*tables, further) if further else tuple(tables)


def _library(library: Library, began: str) -> str:
    return library_words(library, datetime.fromisoformat(began).date())
