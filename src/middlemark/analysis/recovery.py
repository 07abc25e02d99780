"""What faults did to a stream: messages that never came, gaps, and how soon messages flowed again.

A process that ends takes its counts and samples with it, so a flow is looked at from its subscriber's last start on,
and held against the schedule rather than against what a gone publisher said it sent. `accounting` judges all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import polars as pl

from middlemark.analysis.quantile import Measured
from middlemark.analysis.record import HappenedFault, TrialRecord
from middlemark.plan import Periodic, Stream
from middlemark.suite import Action

MENDING = (Action.RESTART, Action.START, Action.RESUME, Action.LINK_UP)
"""After these, messages should flow again."""


@dataclass(frozen=True)
class AffectedFlow:
    """One publisher's messages at one subscriber, in a trial with faults."""

    intended: int
    """Messages that the schedule held while the subscriber's last process was there."""
    arrived: int
    """Those of them that it received."""
    longest_gap_ns: int
    """The longest time without a message, the window's ends included."""
    resumed_after_ns: tuple[int, ...]
    """By fault after which messages should flow again: from its begin to the next message, or the window's end."""
    is_cut_off: bool
    """Whether no message came any more after the last such fault, so that recovery took longer than it says."""


def fault_figures(record: TrialRecord, number: int, stream: Stream, received: pl.DataFrame) -> dict[str, Measured]:
    """The figures of one stream, `received` being its samples: a share, times in ns, messages; empty without faults."""
    if not record.faults or record.window is None:
        return {}
    pattern = stream.pattern
    rate_hz = pattern.rate_hz if isinstance(pattern, Periodic) else 0.0
    messages = received.filter((pl.col("stream") == number) & (pl.col("answer") == 0))
    flows = []
    for (publisher, _), (subscriber, application) in product(
        enumerate(stream.publishers), enumerate(stream.subscribers)
    ):
        own = messages.filter((pl.col("publisher") == publisher) & (pl.col("subscriber") == subscriber))
        brought_back = [fault.done_ns for fault in record.faults if _brings_back(fault, application)]
        since_ns = max([record.window.begin_ns, *brought_back])
        flows.append(_flow(own, record.faults, since_ns, record.window.end_ns, rate_hz))
    duplicates = sum(each.duplicates for each in record.counts.subscribers if each.stream == stream.name)
    figures = {
        "longest_gap_ns": Measured(float(max(flow.longest_gap_ns for flow in flows)), len(flows)),
        "duplicates_after_faults": Measured(float(duplicates), len(flows)),
    }
    intended = sum(flow.intended for flow in flows)
    if intended:
        figures["missing_share"] = Measured(1 - sum(flow.arrived for flow in flows) / intended, intended)
    resumed = [after_ns for flow in flows for after_ns in flow.resumed_after_ns]
    if resumed:
        figures["recovery_ns"] = Measured(float(max(resumed)), len(resumed))
        figures["cut_off_flows"] = Measured(float(sum(flow.is_cut_off for flow in flows)), len(flows))
    return figures


def _flow(
    own: pl.DataFrame, faults: Sequence[HappenedFault], since_ns: int, end_ns: int, rate_hz: float
) -> AffectedFlow:
    """`own` are the flow's samples, `since_ns` when its subscriber's last process was there."""
    arrivals = own["received_ns"].sort().to_list()
    in_time = [at_ns for at_ns in arrivals if since_ns < at_ns < end_ns]
    mended_ns = [fault.began_ns for fault in faults if fault.action in MENDING and fault.began_ns < end_ns]
    return AffectedFlow(
        intended=round((end_ns - since_ns) / 1e9 * rate_hz),
        arrived=own.filter(pl.col("intended_ns") >= since_ns)["sequence"].n_unique() if rate_hz else 0,
        longest_gap_ns=max(after - before for before, after in pairwise([since_ns, *in_time, max(end_ns, since_ns)])),
        resumed_after_ns=tuple(
            next((at_ns for at_ns in arrivals if at_ns >= since), end_ns) - since for since in mended_ns
        ),
        is_cut_off=bool(mended_ns) and not any(at_ns >= max(mended_ns) for at_ns in arrivals),
    )


def _brings_back(fault: HappenedFault, application: str) -> bool:
    return fault.target == application and fault.action in (Action.RESTART, Action.START)
