"""Where the time of a setting's chain goes, in tables: the path split into parts, the fates of paths, and node by node.

The page and the terminal show the same. `analysis.chains` has the values, and `chain_charts` draws them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.metrics.chain_trace import ChainPart, positions
from middlemark.report.elements.candidate_tables import CandidateRow, candidate_table
from middlemark.report.elements.chart import Chart
from middlemark.report.elements.formatting import (
    MICROSECONDS,
    MILLISECONDS,
    PER_SECOND,
    PERCENT,
)
from middlemark.report.elements.labels import Series
from middlemark.report.elements.tables import (
    MIDDLEWARE,
    NOTHING,
    Cell,
    Column,
    MetricColumn,
    Row,
    Table,
    estimate_cell,
    metric_cells,
    metric_columns,
    named,
    table,
)
from middlemark.report.internals.chain_charts import (
    MEANING,
    PARTS,
    MeasuredChain,
    chain_charts,
    chain_of,
    value_of,
    words,
)
from middlemark.suite.metrics import TRIAL, chain_position_subject, chain_subject, node_subject

WAYS = ("typical", "slow")
NODES = "Medians of trials. Start-up: from the common start of all applications to the node's first execution."
OF_NODES = (
    MetricColumn("start-up", "start_up_ns", MILLISECONDS),
    MetricColumn("executions", "executions_hz", PER_SECOND),
    MetricColumn("computation", "computation_p50_ns", MICROSECONDS),
    MetricColumn("busy", "busy_share", PERCENT),
    MetricColumn("timer skipped", "skipped_share", PERCENT),
    MetricColumn("passed over", "passed_over_share", PERCENT),
    MetricColumn("overflowed", "overflowed_share", PERCENT),
)


def split_table(comparison: Comparison, series_of: Mapping[str, Series]) -> Table:
    """The parts of typical and slow paths, deadline misses, and the start-up: a row for each."""
    subject = comparison.setting.subject
    rows: list[CandidateRow] = []
    for candidate in comparison.experiments:
        for kind in WAYS:
            whole = candidate.estimate(subject, f"{kind}_whole_ns")
            if whole is not None and whole.value != 0:
                estimates = (candidate.estimate(subject, f"{kind}_{part}_ns") for part in PARTS)
                parts = (estimate_cell(estimate, MILLISECONDS, whole.value) for estimate in estimates)
                rows.append((candidate, (kind, estimate_cell(whole, MILLISECONDS), *parts)))
    caption = (
        f"{MEANING} Medians of trials, so that the sum of the parts may differ slightly from the whole. Slow: the mean "
        "of the slowest hundredth, where a trial has two hundred paths or more."
    )
    parts_in_ms = (Column(part, "ms") for part in PARTS)
    columns = (*named("path"), Column("end to end", "ms"), *parts_in_ms)
    return candidate_table("The path split", columns, rows, series_of, caption)


BEGAN = (
    Column("lost", "%"),
    Column("passed over", "%"),
    Column("set aside", "%"),
    Column("deadline", "ms"),
    Column("missed"),
    Column("missed", "%", metric="deadline_missed_share"),
    Column("start-up", "ms", metric="start_up_ns"),
)
BRIEF = (MIDDLEWARE, Column("lost", "%"), Column("missed"), Column("missed", "%"), Column("start-up", "ms"))
"""What a terminal of 80 columns has room for."""


def fate_table(comparison: Comparison, series_of: Mapping[str, Series]) -> Table:
    """The fates of all paths, deadline misses, and the start-up."""
    subject = comparison.setting.subject
    rows: list[CandidateRow] = []
    for candidate in comparison.experiments:
        began = candidate.estimate(subject, "set_aside_share")
        if began is not None:
            shares = (f"{name}_share" for name in ("loss", "passed_over", "set_aside"))
            cells = (
                Cell(began.n_messages),
                *(estimate_cell(candidate.estimate(subject, metric), PERCENT) for metric in shares),
                *_deadline_cells(comparison, candidate),
                estimate_cell(candidate.estimate(TRIAL, "start_up_ns"), MILLISECONDS),
            )
            rows.append((candidate, cells))
    caption = (
        "Began: executions of the first node within the windows of all valid trials. Lost: a message on the path "
        "never arrived or was refused, or the path had not ended long after it began. Passed over: a node took a "
        "later message instead, as a slow timer does by design. Set aside: began so near the window's end that the "
        "path might have been cut. Missed: the paths that took longer than the deadline or were lost; the confidence "
        "interval is over trials. Start-up: until every node has run once."
    )
    return candidate_table("Fates of paths", (Column("began"), *BEGAN), rows, series_of, caption)


def _deadline_cells(comparison: Comparison, candidate: ExperimentFindings) -> tuple[Cell, Cell, Cell]:
    """The deadline, how many missed it, and their share."""
    missed = candidate.estimate(comparison.setting.subject, "deadline_missed_share")
    deadline_ns = chain_of(comparison, candidate).deadline_ns
    if deadline_ns is None or missed is None:
        return NOTHING, NOTHING, NOTHING
    deadline, share = Cell(deadline_ns, MILLISECONDS), estimate_cell(missed, PERCENT)
    if missed.value is None:
        return deadline, NOTHING, share
    return deadline, Cell(f"{missed.value * missed.n_messages:.0f} of {missed.n_messages}"), share


def place_table(bars: Sequence[MeasuredChain], kind: str) -> Table:
    """Node by node: what each takes, and what does not pass it."""
    shares = ("loss_share", "passed_over_share", "stale_share")
    rows: list[Row] = []
    for bar in bars:
        whole_ns = value_of(bar.findings, chain_subject(bar.chain.name), f"{kind}_whole_ns")
        for position, node in enumerate(bar.chain.nodes if whole_ns else ()):
            subject = chain_position_subject(bar.chain.name, position)
            parts = [_at(bar, subject, kind, part, position) for part in PARTS]
            let_go = [estimate_cell(bar.findings.estimate(subject, metric), PERCENT) for metric in shares]
            rows.append((bar.label, words(node), *parts, *let_go))
    let_go_names = (Column(name, "%") for name in ("lost", "passed over", "without new"))
    columns = (MIDDLEWARE, *named("node"), *(Column(part, "µs") for part in PARTS), *let_go_names)
    caption = (
        "Communication: of the message to the node. Lost and passed over: of the paths that had reached the node "
        "before. Without new: how often its timer fired without a new message of this chain. Medians of trials."
    )
    return table(f"A {kind} path", columns, rows, caption, detail="node by node")


def _at(bar: MeasuredChain, subject: str, kind: str, part: ChainPart, position: int) -> Cell:
    if position not in positions(part, len(bar.chain.nodes)):
        return NOTHING
    return estimate_cell(bar.findings.estimate(subject, f"{kind}_{part}_ns"), MICROSECONDS)


def node_table(bars: Iterable[MeasuredChain]) -> Table:
    """All nodes of the graph, whether or not they are of this chain."""
    rows: list[Row] = []
    for bar in bars:
        for node in bar.findings.experiment.nodes:
            cells = metric_cells(OF_NODES, bar.findings, node_subject(node.name))
            rows.append((bar.label, words(node.name), node.application, *cells))
    columns = (MIDDLEWARE, *named("node", "application"), *metric_columns(OF_NODES))
    caption = (
        f"{NODES} Busy: the share of the window spent computing. Timer skipped: instants that passed while the node "
        "still computed. Passed over and overflowed: of all messages that reached it, on any input."
    )
    return table("All nodes", columns, rows, caption)


@dataclass(frozen=True)
class ChainShown:
    """What the page shows of a setting's chain."""

    title: str
    charts: tuple[Chart, ...]
    split: Table
    fates: Table
    tables: tuple[Table, ...]


def chain_shown(comparison: Comparison, series_of: Mapping[str, Series]) -> ChainShown | None:
    """All of it; None where the setting is of no chain, or nothing was measured."""
    measured = [candidate for candidate in comparison.experiments if candidate.n_valid]
    if not comparison.setting.of_chain or not measured:
        return None
    chain = chain_of(comparison, measured[0])
    bars = [MeasuredChain(series_of[candidate.experiment.id].label, candidate, chain) for candidate in measured]
    return ChainShown(
        title=" → ".join(words(node) for node in chain.nodes),
        charts=tuple(chain_charts(bars)),
        split=split_table(comparison, series_of),
        fates=fate_table(comparison, series_of),
        tables=(*(place_table(bars, kind) for kind in WAYS), node_table(bars)),
    )


def lines_of_chain(comparison: Comparison, series_of: Mapping[str, Series]) -> tuple[Table, ...]:
    """What a terminal of 80 columns has room for: the split, and what was missed; none where the setting is of none."""
    shown = chain_shown(comparison, series_of)
    if shown is None:
        return ()
    return shown.split, shown.fates.only(BRIEF)
