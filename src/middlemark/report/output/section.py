"""A section of the page: what it shows of one setting, from what the modules of each subject make of it.

It computes nothing; `html` puts sections and what is of several settings onto the page, `figures` into files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from altair.utils.schemapi import debug_mode

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.run import RunFindings
from middlemark.plan import Caution
from middlemark.report.conclusions.headline import Answer, answer
from middlemark.report.conclusions.ranking import Ranking, ranking_as_table, ranking_table
from middlemark.report.conclusions.warnings import outcome_table
from middlemark.report.elements.chart import Chart
from middlemark.report.elements.labels import Series, Trials, distinguishing, trials_of
from middlemark.report.elements.tables import Table
from middlemark.report.elements.topology_drawing import drawing
from middlemark.report.internals.chains import BEGAN, ChainShown, chain_shown
from middlemark.report.internals.configuration import Configuration, configurations, path_table
from middlemark.report.internals.machines import machine_table
from middlemark.report.internals.observers import Observed, observed
from middlemark.report.traffic.bars import bar_charts
from middlemark.report.traffic.distributions import boxes, ecdf, percentile_curve
from middlemark.report.traffic.faults import fault_table, timeline_words
from middlemark.report.traffic.interop import pair_cost_table, pair_table
from middlemark.report.traffic.links import link_table, route_table
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


@debug_mode(False)  # the check of every part takes longer than all else; a browser draws each chart in the tests
def sections_of(findings: RunFindings, series_of: Mapping[str, Series]) -> list[Section]:
    """What the page shows of each comparison."""
    varying = distinguishing(findings.comparisons)
    return [
        _section(number, comparison, answer(comparison, series_of, varying), series_of)
        for number, comparison in enumerate(findings.comparisons, start=1)
    ]


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
