"""Where the time of a setting's chain goes, in tables: the way split, what became of it, node by node.

The figures are `analysis.chain_metrics`'.

What the page and the terminal show of a setting's chain of nodes: where its time goes, and what became of it.

`chain_charts` draws it, `chain_tables` writes it out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from middlemark.analysis.chains.trace import ChainPart, positions
from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.report.elements.chart import Chart
from middlemark.report.elements.formatting import (
    ABSENT,
    MICROSECONDS,
    MILLISECONDS,
    PER_SECOND,
    PERCENT,
    Unit,
    cell,
    digits,
    part_cell,
    show,
)
from middlemark.report.elements.labels import Contender
from middlemark.report.elements.tables import Table
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
OF_NODES: tuple[tuple[str, str, Unit], ...] = (
    ("start-up, ms", "start_up_ns", MILLISECONDS),
    ("executions/s", "executions_hz", PER_SECOND),
    ("computation, µs", "computation_p50_ns", MICROSECONDS),
    ("busy, %", "busy_share", PERCENT),
    ("timer skipped, %", "skipped_share", PERCENT),
    ("passed over, %", "passed_over_share", PERCENT),
    ("overflowed, %", "overflowed_share", PERCENT),
)


def split_table(comparison: Comparison, who: Mapping[str, Contender]) -> Table:
    """The parts of typical and slow ways, deadline misses, and the start-up: a row for each way."""
    subject = comparison.setting.subject
    rows = []
    for each in comparison.experiments:
        for kind in WAYS:
            whole = each.estimate(subject, f"{kind}_whole_ns")
            if whole is not None and whole.value != 0:
                found = (each.estimate(subject, f"{kind}_{part}_ns") for part in PARTS)
                parts = (part_cell(estimate, MILLISECONDS, whole.value) for estimate in found)
                rows.append((who[each.experiment.id].label, kind, cell(show(whole, MILLISECONDS)), *parts))
    caption = (
        f"{MEANING} Medians of trials, so that parts may miss the whole by a little. Slow: the mean of the slowest "
        "hundredth, where a trial has two hundred ways."
    )
    headings = ("", "way", "end to end, ms", *(f"{part}, ms" for part in PARTS))
    return Table("The way split", headings, tuple(rows), caption)


def fate_table(comparison: Comparison, who: Mapping[str, Contender]) -> Table:
    """What became of all that began, deadline misses, and the start-up."""
    subject, rows = comparison.setting.subject, []
    for each in comparison.experiments:
        began = each.estimate(subject, "set_aside_share")
        if began is not None:
            shares = (f"{name}_share" for name in ("loss", "passed_over", "set_aside"))
            rows.append(
                (
                    who[each.experiment.id].label,
                    digits(began.n_messages),
                    *(cell(show(each.estimate(subject, metric), PERCENT)) for metric in shares),
                    *_deadline_cells(comparison, each),
                    cell(show(each.estimate(TRIAL, "start_up_ns"), MILLISECONDS)),
                )
            )
    headings = (
        "",
        "began",
        "lost, %",
        "passed over, %",
        "set aside, %",
        "deadline, ms",
        "missed",
        "missed, %",
        "start-up, ms",
    )
    caption = (
        "Began: executions of the first node within the windows of all valid trials. Lost: a message on the way never "
        "came or was refused, or the way had not ended long after it began. Passed over: a node took a later message "
        "in its place, as a slow timer is meant to. Set aside: so near the window's end that the way might have been "
        "cut. Missed: how many took longer than the deadline or were lost; the interval counts by trials. Start-up: "
        "until every node has run once."
    )
    return Table("What became of it", headings, tuple(rows), caption)


def _deadline_cells(comparison: Comparison, each: ExperimentFindings) -> tuple[str, str, str]:
    """The deadline, how many missed it, and their share."""
    missed = each.estimate(comparison.setting.subject, "deadline_missed_share")
    deadline_ns = chain_of(comparison, each).deadline_ns
    if deadline_ns is None or missed is None:
        return ABSENT, ABSENT, ABSENT
    if missed.value is None:
        return MILLISECONDS.write(deadline_ns), ABSENT, missed.reason
    count = f"{missed.value * missed.n_messages:.0f} of {missed.n_messages}"
    return MILLISECONDS.write(deadline_ns), count, cell(show(missed, PERCENT))


def place_table(bars: Sequence[MeasuredChain], kind: str) -> Table:
    """Node by node: what each takes, and what does not pass it."""
    shares = ("loss_share", "passed_over_share", "stale_share")
    rows = []
    for bar in bars:
        whole_ns = value_of(bar.each, chain_subject(bar.chain.name), f"{kind}_whole_ns")
        for position, node in enumerate(bar.chain.nodes if whole_ns else ()):
            subject = chain_position_subject(bar.chain.name, position)
            parts = [_at(bar, subject, kind, part, position) for part in PARTS]
            let_go = [cell(show(bar.each.estimate(subject, metric), PERCENT)) for metric in shares]
            rows.append((bar.label, words(node), *parts, *let_go))
    headings = ("", "node", *(f"{part}, µs" for part in PARTS), "lost, %", "passed over, %", "without new, %")
    caption = (
        "Communication is that of the message to the node. Lost and passed over: of what had come to the node before. "
        "Without new: how often its timer fired without a new message of this chain. Medians of trials."
    )
    return Table(f"A {kind} way, node by node", headings, tuple(rows), caption)


def _at(bar: MeasuredChain, subject: str, kind: str, part: ChainPart, position: int) -> str:
    if position not in positions(part, len(bar.chain.nodes)):
        return ABSENT
    return cell(show(bar.each.estimate(subject, f"{kind}_{part}_ns"), MICROSECONDS))


def node_table(bars: Iterable[MeasuredChain]) -> Table:
    """All nodes of the graph, whether or not they are of this chain."""
    rows = []
    for bar in bars:
        for node in bar.each.experiment.nodes:
            cells = (
                cell(show(bar.each.estimate(node_subject(node.name), metric), unit)) for _, metric, unit in OF_NODES
            )
            rows.append((bar.label, words(node.name), node.application, *cells))
    headings = ("", "node", "application", *(heading for heading, _, _ in OF_NODES))
    caption = (
        f"{NODES} Busy: the share of the window spent computing. Timer skipped: instants that passed while the node "
        "still computed. Passed over and overflowed: of all messages that came to it, on whatever input."
    )
    return Table("All nodes", headings, tuple(rows), caption)


IN_TERMINAL = ("", "lost, %", "missed", "missed, %", "start-up, ms")


@dataclass(frozen=True)
class ChainShown:
    """What the page shows of a setting's chain."""

    title: str
    charts: tuple[Chart, ...]
    split: Table
    fates: Table
    tables: tuple[Table, ...]


def chain_shown(comparison: Comparison, who: Mapping[str, Contender]) -> ChainShown | None:
    """All of it; None where the setting is of no chain, or nothing was measured."""
    known = [each for each in comparison.experiments if each.n_valid]
    if not comparison.setting.of_chain or not known:
        return None
    chain = chain_of(comparison, known[0])
    bars = [MeasuredChain(who[each.experiment.id].label, each, chain) for each in known]
    return ChainShown(
        title=" → ".join(words(node) for node in chain.nodes),
        charts=tuple(chain_charts(bars)),
        split=split_table(comparison, who),
        fates=fate_table(comparison, who),
        tables=(*(place_table(bars, kind) for kind in WAYS), node_table(bars)),
    )


def lines_of_chain(comparison: Comparison, who: Mapping[str, Contender]) -> tuple[Table, ...]:
    """What a terminal of 80 columns has room for: the split, and what was missed; none where the setting is of none."""
    shown = chain_shown(comparison, who)
    if shown is None:
        return ()
    kept = [shown.fates.headings.index(heading) for heading in IN_TERMINAL]
    rows = tuple(tuple(row[place] for place in kept) for row in shown.fates.rows)
    return shown.split, Table(shown.fates.title, IN_TERMINAL, rows)
