"""What security costs: each level of a middleware beside the same load without security, as ratios paired by block.

The pairs and their tests are those of `middlemark compare --by security --base none`; nothing is ranked here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from middlemark.analysis.compare.metrics import MetricComparison, compare_metrics
from middlemark.analysis.compare.pairing import Pair, pair_within_run
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.run import RunFindings
from middlemark.analysis.verdicts.difference import Difference
from middlemark.analysis.verdicts.judge import MARGIN
from middlemark.errors import UsageError
from middlemark.plan.factors import setting_factors
from middlemark.report.elements.candidate_tables import LabelledRow, labelled_table
from middlemark.report.elements.formatting import MILLISECONDS, RATIO, factor
from middlemark.report.elements.labels import Series, deliveries_cell
from middlemark.report.elements.tables import MIDDLEWARE, NOTHING, Cell, Column, Table, named, table, values
from middlemark.suite import magnitude
from middlemark.suite.metrics import TRIAL, metric_named

FACTOR, OPEN = "security", "none"
READING = (
    "How many times the value of the same middleware and load without security. Ratios are paired by block, with 95 % "
    "confidence intervals. A dash: fewer than three blocks have values of both."
)
SUMMARY_READING = (
    "How many times the value without security: from the load with the smallest ratio to that with the largest, or one "
    "ratio. The tables of each cost have all loads, with confidence intervals."
)
Load = tuple[tuple[str, str], ...]
"""What an experiment has beside its middleware, its configuration and its security."""
MiddlewareLevel = tuple[str, str]
"""The label of a series, and the level."""


@dataclass(frozen=True)
class _Cost:
    """A metric that security may change."""

    title: str
    metric: str
    is_paced: bool | None = None
    """Whether it is shown of loads that a schedule paces, or of all others; None: of both."""

    def is_of(self, pair: Pair) -> bool:
        """Whether it says something of such a load."""
        streams = pair.sides[0].experiment.streams
        return self.is_paced in {None, all(stream.pattern.is_scheduled for stream in streams)}


COSTS = (
    _Cost("Time to first message", "first_message"),
    _Cost("Median latency", "median(latency)", is_paced=True),
    _Cost("99 % latency", "p99(latency)", is_paced=True),
    _Cost("Median round trip", "median(round_trip)"),
    _Cost("Goodput", "goodput", is_paced=False),
    _Cost("CPU time", "cpu", is_paced=True),
    _Cost("CPU time a message", "cpu_per_message"),
    _Cost("Bytes on the wire", "wire_to_payload"),
)
"""Where a schedule paces a load, as many messages are sent at each level, and the CPU time of all is that of one."""
Ratios = dict[_Cost, dict[MiddlewareLevel, dict[Load, MetricComparison]]]


@dataclass(frozen=True)
class SecurityCosts:
    """What the levels of a run cost; empty of one in which no level differs."""

    ratios: Ratios
    handshakes_ns: Mapping[MiddlewareLevel, list[float]]
    """How long handshakes took, where the library lets them be seen."""


def security_costs(findings: RunFindings, series_of: Mapping[str, Series]) -> SecurityCosts:
    """Each level of each middleware beside none, for all tables."""
    return SecurityCosts(ratios=_ratios(findings, series_of), handshakes_ns=_handshakes_ns(findings, series_of))


def security_tables(costs: SecurityCosts) -> list[Table]:
    """A table for each cost, a row for each middleware and level, a column for each load."""
    return [_table(cost, rows) for cost, rows in costs.ratios.items()]


def security_summary(costs: SecurityCosts) -> list[Table]:
    """All costs in one table, a row for each middleware and level; none where no level differs."""
    ratios = costs.ratios
    levels = sorted({level for rows in ratios.values() for level in rows}, key=_by_name)
    handshakes = {level: times_ns for level, times_ns in costs.handshakes_ns.items() if level in levels}
    columns = [*values(*(cost.title.lower().replace("cpu", "CPU") for cost in ratios))]
    if handshakes:
        columns.append(Column("handshake", MILLISECONDS.name))
    rows = [
        (
            *map(Cell, level),
            *(_range(rows.get(level)) for rows in ratios.values()),
            *([_times(handshakes.get(level))] if handshakes else []),
        )
        for level in levels
    ]
    return [table("All costs", (MIDDLEWARE, *named(FACTOR), *columns), rows, SUMMARY_READING)] if rows else []


def lacking_levels(findings: RunFindings, series_of: Mapping[str, Series]) -> list[str]:
    """The levels that a middleware lacks, each once with its reason."""
    lacking = {
        (series_of[candidate.experiment.id].label, level, str(candidate.not_applicable)): None
        for candidate in findings.experiments
        if candidate.not_applicable and (level := candidate.experiment.factors.get(FACTOR, OPEN)) != OPEN
    }
    return [f"{label}, {level}: not applicable: {reason}" for label, level, reason in sorted(lacking, key=_by_name)]


def _by_name(row: tuple[str, ...]) -> tuple[str, ...]:
    """As a reader looks names up, in whatever case they begin."""
    return (row[0].casefold(), *row)


def _ratios(findings: RunFindings, series_of: Mapping[str, Series]) -> Ratios:
    """Of all costs, what could be compared."""
    pairs, ratios = _pairs(findings), Ratios()
    for cost in COSTS:
        compared = compare_metrics([pair for pair in pairs if cost.is_of(pair)], [metric_named(cost.metric)], MARGIN)
        for comparison in compared:
            if isinstance(comparison.difference, Difference):
                secured = comparison.pair.sides[1]
                of_row = ratios.setdefault(cost, {}).setdefault(_row(secured, series_of), {})
                of_row[_load(secured, comparison.stream)] = comparison
    return ratios


def _pairs(findings: RunFindings) -> tuple[Pair, ...]:
    """Each level of each load beside none; empty of a run in which nothing differs in its security alone."""
    try:
        return pair_within_run(findings.experiments, FACTOR, OPEN).pairs
    except UsageError:
        return ()


def _handshakes_ns(findings: RunFindings, series_of: Mapping[str, Series]) -> dict[MiddlewareLevel, list[float]]:
    """The times of a row's loads."""
    times_ns: dict[MiddlewareLevel, list[float]] = {}
    for candidate in findings.experiments:
        estimate = candidate.estimate(TRIAL, metric_named("handshake").stored_name)
        if estimate is not None and estimate.value is not None:
            times_ns.setdefault(_row(candidate, series_of), []).append(estimate.value)
    return times_ns


def _row(candidate: ExperimentFindings, series_of: Mapping[str, Series]) -> MiddlewareLevel:
    return series_of[candidate.experiment.id].label, candidate.experiment.factors.get(FACTOR, OPEN)


def _load(candidate: ExperimentFindings, stream: str | None) -> Load:
    factors = {name: value for name, value in setting_factors(candidate.experiment) if name != FACTOR}
    if stream is not None and len(candidate.experiment.streams) > 1:
        factors["stream"] = stream
    return tuple(factors.items())


def _table(cost: _Cost, rows: Mapping[MiddlewareLevel, Mapping[Load, MetricComparison]]) -> Table:
    loads = sorted({load for of_row in rows.values() for load in of_row}, key=_order)
    shown: Iterable[LabelledRow] = (
        (label, _deliveries(of_row), (level, *(_cell(of_row.get(load)) for load in loads)))
        for (label, level), of_row in sorted(rows.items(), key=lambda row: _by_name(row[0]))
    )
    columns = (*named(FACTOR), *values(*_headings(loads)))
    return labelled_table(f"{cost.title} with security", columns, shown, READING, detail="to none")


def _order(load: Load) -> tuple[str, float, Load]:
    factors = dict(load)
    return factors["workload"], magnitude("size", factors.get("size", "")) or 0, load


def _headings(loads: list[Load]) -> list[str]:
    """`small, 64 B`: each load's workload, and what tells it from others of that workload."""
    by_name = [dict(load) for load in loads]
    return [
        _heading(factors, [other for other in by_name if other["workload"] == factors["workload"]])
        for factors in by_name
    ]


def _heading(factors: Mapping[str, str], alike: list[dict[str, str]]) -> str:
    telling = [value for name, value in factors.items() if len({other.get(name) for other in alike}) > 1]
    return ", ".join(word.replace("_", " ") for word in (factors["workload"], *telling))


def _cell(comparison: MetricComparison | None) -> Cell:
    if comparison is None or not isinstance(comparison.difference, Difference):
        return NOTHING
    ratio = comparison.difference
    return Cell(ratio.value, RATIO, ratio.low, ratio.high)


def _deliveries(of_row: Mapping[Load, MetricComparison]) -> Cell:
    return deliveries_cell(comparison.pair.sides[1] for comparison in of_row.values())


def _range(loads: Mapping[Load, MetricComparison] | None) -> Cell:
    """`1.1 to 3.2`; one value where it is of one load."""
    compared = loads.values() if loads else ()
    ratios = [c.difference.value for c in compared if isinstance(c.difference, Difference)]
    return Cell(" to ".join(dict.fromkeys(map(factor, (min(ratios), max(ratios)))))) if ratios else NOTHING


def _times(times_ns: list[float] | None) -> Cell:
    """The same of times, in milliseconds."""
    ends_ns = (min(times_ns), max(times_ns)) if times_ns else ()
    return Cell(" to ".join(dict.fromkeys(map(MILLISECONDS.write, ends_ns)))) if ends_ns else NOTHING
