"""Where the time of a setting's messages goes: the parts of their path as stacked bars and tables.

`analysis.kernel` has the values; `observers` says which trials were observed, and `message_path` draws single messages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import altair as alt

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.kernel.breakdown import CUTS, call_of_metric
from middlemark.analysis.kernel.segments import PathPart, PathSide, SetAside
from middlemark.analysis.stats.estimate import Estimate
from middlemark.report.elements.candidate_tables import CandidateRow, candidate_table, metric_table
from middlemark.report.elements.chart import Chart
from middlemark.report.elements.formatting import (
    ABSENT,
    COUNT,
    MICROSECONDS,
    PERCENT,
    Unit,
    interval,
    size,
)
from middlemark.report.elements.labels import Series, n_words
from middlemark.report.elements.tables import Column, MetricColumn, Table, estimate_cell, named, values
from middlemark.report.traffic.bars import StackedBars

PARTS: dict[PathPart, tuple[str, str]] = {
    PathPart.MIDDLEWARE_SENDER: ("middleware, sender", "#1f5f99"),
    PathPart.KERNEL_SENDER: ("kernel, sender", "#c65a11"),
    PathPart.QUEUE: ("queue", "#efe06a"),
    PathPart.WIRE: ("wire", "#1f7a6d"),
    PathPart.KERNEL_DELIVERY: ("kernel, delivery", "#dd8433"),
    PathPart.SCHEDULER: ("scheduler", "#8c8c8c"),
    PathPart.KERNEL_RECEIVER: ("kernel, receiver", "#f0b27a"),
    PathPart.SERVICE: ("service", "#8e6fb5"),
    PathPart.MIDDLEWARE_RECEIVER: ("middleware, receiver", "#6fa8dc"),
}
"""In the order of a message's path: the name of each part on the page, and its colour, similar for related parts."""
REASONS = {
    SetAside.NO_WAY_FOUND: "no path found",
    SetAside.AMBIGUOUS: "ambiguous",
    SetAside.NOT_IN_ORDER: "not in order",
}
COUNTS = (
    MetricColumn("system calls", "path_calls_per_message", COUNT),
    MetricColumn("packets", "path_packets_per_message", COUNT),
    MetricColumn("wake-ups", "path_wake_ups_per_message", COUNT),
    MetricColumn("context switches", "path_switches_per_message", COUNT),
    MetricColumn("copied by sockets", "path_copied_bytes_per_message", Unit("", written=size)),
    MetricColumn("analysed", "path_sampled_messages", COUNT),
    *(MetricColumn(f"set aside: {words}", f"path_{reason}_messages", COUNT) for reason, words in REASONS.items()),
    MetricColumn("set aside", "path_set_aside_share", Unit("%", PERCENT.size)),
)
PACKETS = (
    MetricColumn("packets", "path_packets_per_message", COUNT),
    *(
        MetricColumn(f"{end} {cut}", f"path_typical_{end}_{cut}_ns", MICROSECONDS)
        for cut in CUTS
        for end in ("first", "last")
    ),
)
MOST_SET_ASIDE = 0.2
"""Where more of a middleware's messages are set aside, the others may not represent all of them."""
RARE = 0.05
TYPICAL = (
    "The one-way time of a typical message (the mean of the middle fifth), divided where it passes from the "
    "middleware to the kernel, to the wire, and back. The line is the confidence interval of the whole; that of a "
    "part is shown when the pointer is on it, and in the table below. Service: a broker or router between sender and "
    "receiver. Medians of trials whose kernel path was observed; observing makes these slower than others."
)
SHARES = "The same parts, each as a share of the middleware's one-way time."
WHOLES = {"typical": "a typical message", "slow": "a slow message, the mean of the slowest hundredth"}


def path_charts(comparison: Comparison, series_of: Mapping[str, Series]) -> list[Chart]:
    """The parts of a typical message's path, stacked for each middleware: in µs, and as shares; none without a path."""
    rows, wholes = _rows(comparison, series_of)
    if not rows:
        return []
    drawn = StackedBars(
        parts=rows,
        wholes=wholes,
        colours=dict(PARTS.values()),
        value="us",
        tooltips=[
            alt.Tooltip("part:N"),
            alt.Tooltip("us:Q", title="µs", format=",.4~g"),
            alt.Tooltip("interval:N", title="interval, µs"),
        ],
        label_limit=180,
    )
    description = "A stacked bar for each middleware; the tables below have the values."
    estimates = [
        candidate.estimate(comparison.setting.subject, "path_typical_whole_ns") for candidate in comparison.experiments
    ]
    doubts = (f"{words}." for words in path_doubts(comparison, series_of))
    words = " ".join(filter(None, [n_words(estimates), *doubts]))
    times, shares = drawn.lengths("µs of one-way time"), drawn.shares("share of one-way time")
    return [
        Chart("kernelpath", "Where the time goes", f"{TYPICAL} {words}", description, times),
        Chart("kernelshares", "Where the time goes, as shares", f"{SHARES} {words}", description, shares),
    ]


def _rows(comparison: Comparison, series_of: Mapping[str, Series]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A row a part, and one a whole that has an interval."""
    stream = comparison.setting.subject
    rows, wholes = [], []
    for candidate in comparison.experiments:
        whole = candidate.estimate(stream, "path_typical_whole_ns")
        if whole is None or not whole.value:
            continue
        label = series_of[candidate.experiment.id].label
        for number, (part, (name, _)) in enumerate(PARTS.items()):
            estimate = candidate.estimate(stream, f"path_typical_{part}_ns")
            if estimate is not None and estimate.value:
                length = {"us": estimate.value / 1e3, "share": estimate.value / whole.value}
                span = interval(estimate, MICROSECONDS) or ABSENT
                rows.append({"series": label, "part": name, "order": number, **length, "interval": span})
        if whole.low is not None and whole.high is not None:
            wholes.append({"series": label, "low": whole.low / 1e3, "high": whole.high / 1e3})
    return rows, wholes


def path_doubts(comparison: Comparison, series_of: Mapping[str, Series]) -> list[str]:
    """The middlewares for which too few paths were found to represent all messages."""
    shares = {
        series_of[candidate.experiment.id].label: _value(candidate, comparison.setting.subject, "path_set_aside_share")
        for candidate in comparison.experiments
    }
    return [
        f"Caution: {100 * share:.0f} % of the messages of {label} were set aside; the others may not represent them"
        for label, share in shares.items()
        if share is not None and share > MOST_SET_ASIDE
    ]


def path_tables(comparison: Comparison, series_of: Mapping[str, Series]) -> list[Table]:
    """The parts in µs and as shares, and what a message takes of the kernel."""
    return [
        *(_parts_table(comparison, series_of, kind) for kind in WHOLES),
        _packets_table(comparison, series_of),
        _counts_table(comparison, series_of),
        _calls_table(comparison, series_of),
    ]


def _parts_table(comparison: Comparison, series_of: Mapping[str, Series], kind: str) -> Table:
    stream = comparison.setting.subject
    rows: list[CandidateRow] = []
    for candidate in comparison.experiments:
        whole = candidate.estimate(stream, f"path_{kind}_whole_ns")
        if whole is not None and whole.value:
            estimates = (candidate.estimate(stream, f"path_{kind}_{part}_ns") for part in PARTS)
            cells = (estimate_cell(estimate, MICROSECONDS, whole.value) for estimate in estimates)
            rows.append((candidate, (estimate_cell(whole, MICROSECONDS), *cells)))
    columns = (Column("whole", "µs"), *values(*(name for name, _ in PARTS.values())))
    caption = (
        "µs and share of the whole. Medians of trials, so that the sum of the parts may differ slightly from the whole."
    )
    return candidate_table(f"The path of {WHOLES[kind]}", columns, rows, series_of, caption)


def _packets_table(comparison: Comparison, series_of: Mapping[str, Series]) -> Table:
    stream = comparison.setting.subject
    shown = [
        (candidate, stream)
        for candidate in comparison.experiments
        if candidate.estimate(stream, "path_typical_first_queued_ns") is not None
    ]
    caption = (
        "When the first and the last packet of a typical message were queued, transmitted and received, from the "
        "hand-over on. With a broker between sender and receiver: the first packet to it, the last packet from it. "
        "Medians of trials."
    )
    return metric_table("The packets of a message", PACKETS, shown, series_of, caption)


def _counts_table(comparison: Comparison, series_of: Mapping[str, Series]) -> Table:
    stream = comparison.setting.subject
    shown = [
        (candidate, stream)
        for candidate in comparison.experiments
        if candidate.estimate(stream, "path_set_aside_share") is not None
    ]
    caption = (
        "Of all processes on a message's path, from its hand-over to its arrival; means over messages, medians of "
        "trials. Analysed: this many messages, evenly chosen. Set aside: no path found (no receive call or wake-up "
        "leads back to the sender), ambiguous (not distinguishable from another message), not in order (a part would "
        "be negative)."
    )
    return metric_table("Kernel operations of a message", COUNTS, shown, series_of, caption)


def _calls_table(comparison: Comparison, series_of: Mapping[str, Series]) -> Table:
    """A row a call, those first that are made most."""
    stream = comparison.setting.subject
    rows: list[CandidateRow] = []
    for candidate in comparison.experiments:
        by_call: defaultdict[str, dict[PathSide, Estimate]] = defaultdict(dict)
        for key, estimate in candidate.estimates.items():
            if key.subject == stream and (by_side := call_of_metric(key.metric)):
                by_call[by_side[1]][by_side[0]] = estimate
        totals = {call: sum(estimate.value or 0 for estimate in sides.values()) for call, sides in by_call.items()}
        for call in sorted(totals, key=lambda call: (-totals[call], call)):
            if totals[call] >= RARE:
                cells = (estimate_cell(by_call[call].get(side), COUNT) for side in PathSide)
                rows.append((candidate, (call, *cells)))
    caption = (
        "Calls that were entered or left between a message's hand-over and its arrival, by any thread of the process: "
        "the publisher's sleep until its next message is one of them. Means over messages, medians of trials. Calls "
        "that are made less than once in twenty messages are left out."
    )
    return candidate_table("System calls of a message", (*named("call"), *values(*PathSide)), rows, series_of, caption)


def _value(candidate: ExperimentFindings, stream: str, metric: str) -> float | None:
    estimate = candidate.estimate(stream, metric)
    return None if estimate is None else estimate.value
