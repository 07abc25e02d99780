"""What faults did, in a table and in words: messages missing, gaps, recovery, and the timeline as it really happened.

The values are `analysis.metrics.recovery`'s; nothing is ranked here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.experiment.conditions import FaultInstant, fault_instants
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.report.elements.candidate_tables import CandidateRow, candidate_table
from middlemark.report.elements.formatting import COUNT, MEBIBYTES, MILLISECONDS, PERCENT, digits
from middlemark.report.elements.labels import Series
from middlemark.report.elements.tables import (
    Cell,
    MetricColumn,
    Table,
    estimate_cell,
    metric_columns,
    named,
)
from middlemark.suite.metrics import TRIAL, flow_subject, stream_subject

RECOVERY = MetricColumn("flow again after", "recovery_ns", MILLISECONDS)
OF_STREAM = (
    MetricColumn("missing", "missing_share", PERCENT),
    RECOVERY,
    MetricColumn("longest gap", "longest_gap_ns", MILLISECONDS),
    MetricColumn("duplicates", "duplicates_after_faults", COUNT),
)
GROWTH = MetricColumn("growth", "memory_growth_bytes", MEBIBYTES)
MOST_FLOWS = 32
"""Of a stream, with a row each: nobody reads more one by one."""
CAPTION = (
    "Missing: messages that were scheduled while their subscriber's process existed, and that never arrived; all "
    "trials together. Flow again: from the start of a restart, start, resume, link_up or heal to the next message of "
    "the flow that took longest; `over` where a flow was still cut off when the window ended. Gap: the longest time "
    "without a message of a flow. Duplicates: received again since the first of these repairs began. A flow is one "
    "publisher's messages at one subscriber; `all` is the sum of all flows, or the worst of them; of more than 32 "
    "flows those that took longest have a row. Memory: the growth over the window of the process that grew most. "
    "Medians of trials."
)


def fault_table(comparison: Comparison, series_of: Mapping[str, Series], *, by_flow: bool = False) -> Table | None:
    """What the faults cost each, on request with a row for each flow; None where nothing was to go wrong."""
    if not comparison.faulty:
        return None
    stream = comparison.setting.subject
    rows: list[CandidateRow] = []
    for candidate in comparison.experiments:
        if not candidate.n_valid:
            continue
        of_all = ("all",) if by_flow else ()
        rows.append((candidate, (*of_all, *_cells(candidate, stream), GROWTH.cell(candidate, TRIAL))))
        if by_flow:
            rows += [(candidate, (name, *_cells(candidate, flow), "")) for flow, name in _slowest(candidate, stream)]
    columns = (*(named("flow") if by_flow else ()), *metric_columns((*OF_STREAM, GROWTH)))
    return candidate_table("Faults", columns, rows, series_of, CAPTION) if rows else None


def _slowest(candidate: ExperimentFindings, stream: str) -> list[tuple[str, str]]:
    """The flows that are shown one by one: all, or of many those that took longest to flow again."""
    flows = [(flow, name) for flow, name, _ in _flows(candidate, stream)]
    if len(flows) <= MOST_FLOWS:
        return flows
    recovery = {flow: candidate.estimate(flow, "recovery_ns") for flow, _ in flows}
    recovery_ns = {flow: (estimate.value if estimate else None) or 0.0 for flow, estimate in recovery.items()}
    return sorted(flows, key=lambda flow: -recovery_ns[flow[0]])[:MOST_FLOWS]


def flow_words(comparison: Comparison, series_of: Mapping[str, Series]) -> tuple[str, ...]:
    """When messages flowed again at each subscriber, a line for each that has several flows."""
    lines = []
    for candidate in comparison.experiments:
        slowest: dict[str, tuple[bool, float, str]] = {}
        for flow, _, subscriber in _flows(candidate, comparison.setting.subject):
            estimate = candidate.estimate(flow, "recovery_ns")
            if estimate is not None and estimate.value is not None:
                recovery = (bool(_cut_off(candidate, flow)), estimate.value, _cell(candidate, flow, RECOVERY).line)
                slowest[subscriber] = max(slowest.get(subscriber, recovery), recovery)
        if slowest:
            listed = ", ".join(f"{name} {text}" for name, (_, _, text) in slowest.items())
            lines.append(f"{series_of[candidate.experiment.id].label} flows again after, ms: {listed}")
    return tuple(lines)


def _flows(candidate: ExperimentFindings, stream: str) -> Iterator[tuple[str, str, str]]:
    """The subject of each flow of a stream, its name and its subscriber's; none where there is only one."""
    planned = next(
        (
            planned_stream
            for planned_stream in candidate.experiment.streams
            if stream_subject(planned_stream.name) == stream
        ),
        None,
    )
    if planned is None or len(planned.publishers) * len(planned.subscribers) == 1:
        return
    for publisher, subscriber in planned.pairs():
        sender, receiver = planned.publishers[publisher], planned.subscribers[subscriber]
        yield flow_subject(planned.name, publisher, subscriber), f"{sender} → {receiver}", receiver


def _cells(candidate: ExperimentFindings, subject: str) -> Iterator[Cell]:
    return (_cell(candidate, subject, column) for column in OF_STREAM)


def _cell(candidate: ExperimentFindings, subject: str, column: MetricColumn) -> Cell:
    cell = column.cell(candidate, subject)
    if column is RECOVERY and not cell.is_missing and _cut_off(candidate, subject):
        return replace(cell, is_at_least=True)
    return cell


def _cut_off(candidate: ExperimentFindings, subject: str) -> float:
    """How many flows no message came of any more, in the median trial: their recovery has no upper end."""
    estimate = candidate.estimate(subject, "cut_off_flows")
    return estimate.value or 0.0 if estimate else 0.0


def timeline_words(comparison: Comparison) -> tuple[str, ...]:
    """The timeline, a line a fault: when it was requested and when it really happened, over all trials."""
    happened = fault_instants([record for candidate in comparison.experiments for record in candidate.records])
    return tuple(_in_words(instant) for instant in happened)


def _in_words(instant: FaultInstant) -> str:
    late, took = instant.late_ns, instant.took_ns
    worst = f", at most {_ms(late.most)}" if late.n_trials > 1 else ""
    return (
        f"{digits(instant.asked_ns / 1e9)} s: {instant.action.replace('_', ' ')} of {instant.target}; "
        f"it began {_ms(late.median)} late{worst}, and took {_ms(took.median)}"
    )


def _ms(value_ns: float) -> str:
    return f"{MILLISECONDS.write(value_ns)} ms"


def fault_sentence(candidate: ExperimentFindings, comparison: Comparison, name: str) -> str:
    """What the faults cost one, for the answer."""
    stream = comparison.setting.subject
    missing = estimate_cell(candidate.estimate(stream, "missing_share"), PERCENT)
    recovery = RECOVERY.cell(candidate, stream)
    if missing.is_missing and recovery.is_missing:
        return ""
    words = [] if missing.is_missing else [f"{missing.text} % of its messages were missing"]
    if _cut_off(candidate, stream):
        words.append(f"some flows were still cut off when the window ended, {recovery.text} ms after the repair")
    elif not recovery.is_missing:
        words.append(f"messages flowed again after {recovery.text} ms")
    of_all = "Latency is of all messages, including those that never arrived."
    return f"{of_all} Under the faults, with {name}, {' and '.join(words)}."
