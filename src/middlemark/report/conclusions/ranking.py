"""The ranking of one setting: the candidates in order, and one list of columns that every writer shows.

It decides what is shown; the page, the terminal and the files only set it. The other tables of a setting are
`traffic.setting_tables`'.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.stats.estimate import Estimate, Method
from middlemark.analysis.stats.quantiles import needed
from middlemark.report.elements.formatting import (
    MEBIBYTES,
    MILLISECONDS,
    PERCENT,
    PERCENT_OF_CORE,
    RATIO,
    tail_unit_of,
    thousands,
    unit_of,
)
from middlemark.report.elements.labels import DELIVERY, Series, delivery_cell
from middlemark.report.elements.tables import (
    MIDDLEWARE,
    NOTHING,
    Cell,
    Column,
    Row,
    Table,
    estimate_cell,
    named,
    table,
)
from middlemark.suite.metrics import LEVELS, TRIAL, Distribution, quantile_metric

CLOCKS = "± after a one-way time: how wrong it may be because of the clocks of different machines."


@dataclass(frozen=True)
class Line:
    """One candidate's line of a ranking."""

    series: Series
    rank: str
    """`1`, or `2–5` where several come into question; empty where it is not ranked."""
    tied_with: tuple[str, ...]
    main: Cell
    tail: Cell
    tail_from_intended: Cell
    """Of latencies the same from the intended send, which a publisher that is held up can't hide."""
    to_best: Cell
    loss: Cell
    first_message: Cell
    cpu: Cell
    memory: Cell
    n: Cell
    delivery: Cell
    unranked: str
    strip: tuple[float, float, float] | None
    """Where low end, value and high end lie between the table's extremes, on a logarithmic scale from 0 to 1."""


class Terminal(Enum):
    """Where a terminal shows a column."""

    ALWAYS = "always"
    WITHOUT_INTERVAL = "without its interval"
    WHERE_WIDE = "where there is room"
    NEVER = "never"


@dataclass(frozen=True)
class RankingColumn:
    """A column of a ranking."""

    column: Column
    cell: Callable[[Line], Cell]
    in_terminal: Terminal
    brief: Column
    """The same with the shorter heading that a terminal has room for."""


@dataclass(frozen=True)
class Ranking:
    """The table that answers."""

    columns: tuple[RankingColumn, ...]
    """Beside the rank and the middleware; the first is what is ranked by."""
    lines: tuple[Line, ...]

    @property
    def ranked_by(self) -> str:
        """What the ranks are of."""
        return self.columns[0].column.name

    @property
    def between_clocks(self) -> bool:
        """Whether any value is of times between machines that have clocks of their own."""
        return any(line.main.clocks or line.tail.clocks or line.tail_from_intended.clocks for line in self.lines)


NAMES = {
    Distribution.ROUND_TRIP: "median round trip",
    Distribution.LATENCY_FROM_SEND: "median latency",
    Distribution.END_TO_END: "median end to end",
}


def ranking_table(comparison: Comparison, series_of: Mapping[str, Series]) -> Ranking:
    """Every experiment of a comparison, the ranked ones first."""
    extremes = _extremes([_span(comparison, candidate) for candidate in comparison.experiments])
    lines = tuple(_line(comparison, candidate, series_of, extremes) for candidate in comparison.experiments)
    return Ranking(_columns(comparison), lines)


def _columns(comparison: Comparison) -> tuple[RankingColumn, ...]:
    kind = comparison.criterion.distribution
    tail = tail_unit_of(kind).name
    main = Column(NAMES[kind] if kind else "goodput", unit_of(kind).name)
    intended = Column("99 %", f"intended, {tail}")
    lost = Column("missing" if comparison.faulty else "loss", "%")
    # The table of faults has what is missing, which a terminal prints below.
    loss_in_terminal = Terminal.NEVER if comparison.faulty else Terminal.WITHOUT_INTERVAL
    columns = (
        _column(main, lambda line: _once(line.main, line)),
        _column(Column("99 %", tail), lambda line: _once(line.tail, line)),
        _column(intended, lambda line: _once(line.tail_from_intended, line), Terminal.WHERE_WIDE),
        _column(Column("ratio to the first", RATIO.name), lambda line: line.to_best, Terminal.NEVER),
        _column(lost, lambda line: line.loss, loss_in_terminal),
        _column(Column("first message", "ms"), lambda line: line.first_message, Terminal.WITHOUT_INTERVAL, "first"),
        _column(Column("CPU", "% of one core"), lambda line: line.cpu, Terminal.WITHOUT_INTERVAL, "CPU", "% core"),
        _column(Column("peak memory", "MiB"), lambda line: line.memory, Terminal.WITHOUT_INTERVAL, "memory"),
        _column(Column("n", "trials × messages"), lambda line: line.n, Terminal.NEVER),
        _column(DELIVERY, lambda line: line.delivery, Terminal.WHERE_WIDE),
    )
    return tuple(
        column for column in columns if column.column is not intended or kind is Distribution.LATENCY_FROM_SEND
    )


def _column(
    column: Column,
    cell: Callable[[Line], Cell],
    in_terminal: Terminal = Terminal.ALWAYS,
    brief_name: str = "",
    brief_unit: str = "",
) -> RankingColumn:
    brief = replace(column, name=brief_name or column.name, unit=brief_unit or column.unit)
    return RankingColumn(column, cell, in_terminal, brief)


def ranking_as_table(ranking: Ranking, detail: str) -> Table:
    """The ranking with every column, for a file of its own."""
    rows: list[Row] = [
        (line.series.label, line.rank, *(column.cell(line) for column in ranking.columns)) for line in ranking.lines
    ]
    unranked = [f"{line.series.label} is not ranked: {line.unranked}." for line in ranking.lines if line.unranked]
    caption = "In brackets: confidence intervals over trials. Ranks are intervals that hold together with 95 %."
    columns = (MIDDLEWARE, *named("rank"), *(column.column for column in ranking.columns))
    return table(
        "Ranking",
        columns,
        rows,
        " ".join([caption, *unranked]),
        detail,
    )


Extremes = tuple[float, float, float]
"""Low end, value, high end."""


def _span(comparison: Comparison, candidate: ExperimentFindings) -> Extremes | None:
    estimate = candidate.estimate(comparison.setting.subject, comparison.criterion.metric)
    if estimate is None or estimate.value is None or estimate.value <= 0:
        return None
    low, high = estimate.low or estimate.value, estimate.high or estimate.value
    high = estimate.value if high == math.inf else high
    return (low, estimate.value, high) if low > 0 else None


def _extremes(spans: Sequence[Extremes | None]) -> tuple[float, float] | None:
    intervals = [span for span in spans if span is not None]
    return (min(low for low, _, _ in intervals), max(high for _, _, high in intervals)) if intervals else None


def _strip(span: Extremes | None, extremes: tuple[float, float] | None) -> Extremes | None:
    if span is None or extremes is None or extremes[0] == extremes[1]:
        return None
    width = math.log(extremes[1] / extremes[0])
    low, value, high = (math.log(number / extremes[0]) / width for number in span)
    return low, value, high


def _line(
    comparison: Comparison,
    candidate: ExperimentFindings,
    series_of: Mapping[str, Series],
    extremes: tuple[float, float] | None,
) -> Line:
    stream, name = comparison.setting.subject, candidate.experiment.id
    main = candidate.estimate(stream, comparison.criterion.metric)
    place = comparison.places.get(name)
    ratio = comparison.to_best.get(name)
    return Line(
        series=series_of[name],
        rank=place.text if place else "",
        tied_with=tuple(series_of[other].label for other in place.tied_with) if place else (),
        main=estimate_cell(main, unit_of(comparison.criterion.distribution)),
        tail=_tail(comparison, candidate, comparison.criterion.distribution or Distribution.LATENCY_FROM_SEND),
        tail_from_intended=_tail(comparison, candidate, Distribution.LATENCY_FROM_INTENDED),
        to_best=Cell(ratio.value, RATIO, ratio.low, ratio.high) if ratio else NOTHING,
        loss=estimate_cell(candidate.estimate(stream, loss_metric(comparison)), PERCENT),
        first_message=estimate_cell(candidate.estimate(TRIAL, "first_message_ns"), MILLISECONDS),
        cpu=estimate_cell(candidate.estimate(TRIAL, "cpu_percent_of_core"), PERCENT_OF_CORE),
        memory=estimate_cell(candidate.estimate(TRIAL, "peak_memory_bytes"), MEBIBYTES),
        n=_n(main),
        delivery=delivery_cell(candidate),
        unranked=comparison.unranked.get(name, ""),
        strip=_strip(_span(comparison, candidate), extremes),
    )


def _n(main: Estimate | None) -> Cell:
    if main is None or not main.n_trials:
        return NOTHING
    return Cell(f"{main.n_trials} × {thousands(main.n_messages // main.n_trials)}")


def _once(cell: Cell, line: Line) -> Cell:
    """Without the reason of a missing value where the line says already why it has no rank."""
    return NOTHING if cell.is_missing and line.unranked else cell


def loss_metric(comparison: Comparison) -> str:
    """The column for lost messages: under faults the missing ones, as counts of ended processes are unknown."""
    return "missing_share" if comparison.faulty else comparison.criterion.loss_metric


def lacks_samples(estimate: Estimate | None, level: float) -> bool:
    """Whether a quantile has no value because there are too few messages for it, not because they are lost."""
    if estimate is None or estimate.value is not None or estimate.method is not Method.NONE:
        return False
    return 0 < estimate.n_messages < needed(level)


def _tail(comparison: Comparison, candidate: ExperimentFindings, kind: Distribution) -> Cell:
    """The 99 % quantile; where no number of trials supports it, the highest that is supported, named."""
    stream = comparison.setting.subject
    p99, p90 = (candidate.estimate(stream, quantile_metric(kind, name)) for name in ("p99", "p90"))
    unit = tail_unit_of(comparison.criterion.distribution)
    lower = estimate_cell(p90, unit)
    if lacks_samples(p99, LEVELS["p99"]) and not lower.is_missing:
        return replace(lower, quantile="90 %")
    return estimate_cell(p99, unit)
