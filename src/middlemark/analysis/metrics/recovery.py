"""What faults did to a stream: messages that never came, gaps, and how soon messages flowed again.

A process that ends takes its counts and samples with it, so a flow is examined from its subscriber's last start on,
against the schedule, which is rebuilt from the stream's pattern as the workers' runtime computes it (`schedule.rs`).
`accounting` checks all other flows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from middlemark.analysis.metrics.accounting import AccountingError
from middlemark.analysis.stats.quantiles import Measured, NoSchedule, Partial, Samples, Value, with_clock_bound
from middlemark.plan import Burst, OpenRequests, Periodic, Recorded, Stream
from middlemark.plan.patterns import WORD, publisher_seed
from middlemark.results.counts import SubscriberCounts
from middlemark.results.record import HappenedFault, TrialRecord, Window
from middlemark.results.streaming import CHUNK_ROWS, Frame, present_numbers, row_chunks, sorted_values
from middlemark.suite import Action, Arrival

Instants = NDArray[np.int64]
OF_SAMPLES = {"missing_share", "longest_gap_ns", "recovery_ns", "cut_off_flows"}
"""The metrics that rest on samples."""


@dataclass(frozen=True)
class AffectedFlow:
    """One publisher's messages at one subscriber, in a trial with faults."""

    publisher: int
    subscriber: int
    """Both as the stream counts them."""
    intended: int | NoSchedule | None
    """Messages that the schedule held while the subscriber's last process was there; None where it has none."""
    arrived: int
    """Those of them that it received, as far as they left a sample."""
    unsampled: int
    """Messages that it received and that left none."""
    longest_gap_ns: int
    """The longest time without a message, the window's ends included."""
    resumed_after_ns: tuple[int, ...]
    """By fault after which messages should flow again: from its start to the next message, or the window's end."""
    is_cut_off: bool
    """Whether no message came any more after the last such fault, so that recovery took longer than it says."""
    duplicates: int | None
    """Received again since the first such fault began; None where that is not known."""
    bound_ns: int
    """By how much the subscriber's clock may be off that by which the faults were made."""


def affected_flows(record: TrialRecord, number: int, stream: Stream, received: Frame) -> list[AffectedFlow]:
    """All flows of a stream, `received` being its samples; none in a trial without faults."""
    if not record.faults or record.window is None:
        return []
    messages = received.filter((pl.col("stream") == number) & (pl.col("answer") == 0))
    schedules = [
        schedule(stream, publisher, record.trial.seed, record.window) for publisher in range(len(stream.publishers))
    ]
    return [
        _affected_flow(messages, record, record.window, stream, (publisher, subscriber), schedules[publisher])
        for publisher, subscriber in stream.pairs()
    ]


def fault_metrics(flows: Sequence[AffectedFlow]) -> dict[str, Value]:
    """The metrics of flows together, or of a single one: a share, times in ns, messages; empty where there is none."""
    if not flows:
        return {}
    metrics: dict[str, Value] = {
        "longest_gap_ns": Measured(float(max(flow.longest_gap_ns for flow in flows)), len(flows))
    }
    duplicates = [flow.duplicates for flow in flows if flow.duplicates is not None]
    if len(duplicates) == len(flows):
        metrics["duplicates_after_faults"] = Measured(float(sum(duplicates)), len(flows))
    metrics |= _missing(flows)
    resumed = [after_ns for flow in flows for after_ns in flow.resumed_after_ns]
    if resumed:
        bound_ns = max(flow.bound_ns for flow in flows)
        metrics["recovery_ns"] = with_clock_bound(Measured(float(max(resumed)), len(resumed)), bound_ns)
        metrics["cut_off_flows"] = Measured(float(sum(flow.is_cut_off for flow in flows)), len(flows))
    return metrics | _partial(flows, metrics.keys() & OF_SAMPLES)


def _missing(flows: Sequence[AffectedFlow]) -> dict[str, Value]:
    """The share of scheduled messages; none where no flow had a schedule, or no message was scheduled."""
    refused = [flow.intended for flow in flows if isinstance(flow.intended, NoSchedule)]
    if refused:
        return {"missing_share": NoSchedule(sum(no_schedule.n for no_schedule in refused))}
    intended = sum(flow.intended for flow in flows if isinstance(flow.intended, int))
    missing = intended - sum(flow.arrived for flow in flows)
    return {"missing_share": Measured(missing / intended, intended)} if intended else {}


def _partial(flows: Sequence[AffectedFlow], metrics: Iterable[str]) -> dict[str, Value]:
    """What is not known as messages left no sample: who was there when is known of the others alone."""
    unsampled, arrived = sum(flow.unsampled for flow in flows), sum(flow.arrived for flow in flows)
    return dict.fromkeys(metrics, Partial(arrived, arrived + unsampled)) if unsampled else {}


def _affected_flow(  # noqa: PLR0913, PLR0917 - a flow, what it belongs to, and what is known of it
    messages: Frame,
    record: TrialRecord,
    window: Window,
    stream: Stream,
    flow: tuple[int, int],
    scheduled: Instants | None,
) -> AffectedFlow:
    publisher, subscriber = flow
    flow_messages = messages.filter((pl.col("publisher") == publisher) & (pl.col("subscriber") == subscriber))
    since_ns = max([window.begin_ns, *_brought_back_ns(record.faults, stream.subscribers[subscriber])])
    end_ns = window.end_ns
    arrivals = sorted_values(flow_messages, pl.col("received_ns"))
    mended_ns = _mended_ns(record.faults, stream.subscribers[subscriber], end_ns)
    counts = [
        subscriber_counts
        for subscriber_counts in record.counts.subscribers
        if subscriber_counts.stream == stream.name
        and not subscriber_counts.answers
        and (subscriber_counts.publisher, subscriber_counts.subscriber) == flow
    ]
    intended, arrived = (None, 0) if scheduled is None else _held_against(scheduled, flow_messages, since_ns, stream)
    return AffectedFlow(
        publisher=publisher,
        subscriber=subscriber,
        intended=intended,
        arrived=arrived,
        unsampled=sum(count.beyond_samples for count in counts),
        longest_gap_ns=_longest_gap_ns(arrivals, since_ns, max(end_ns, since_ns)),
        resumed_after_ns=tuple(_next_ns(arrivals, at_ns, end_ns) - at_ns for at_ns in mended_ns),
        is_cut_off=bool(mended_ns) and (not len(arrivals) or int(arrivals[-1]) < max(mended_ns)),
        duplicates=_duplicates(counts, mended_ns),
        bound_ns=record.clock_bound_at_ns(stream.subscribers[subscriber]),
    )


def _held_against(scheduled: Instants, messages: Frame, since_ns: int, stream: Stream) -> tuple[int | NoSchedule, int]:
    """How many messages of the schedule were due from an instant on, and how many of those arrived, by their numbers.

    The schedule may not be the one that the publisher had: a worker may draw random gaps in its own way.
    """
    present = present_numbers(messages)
    match stream.pattern:
        case Periodic(rate_hz=rate_hz, arrival=Arrival.POISSON) if stream.recorded is None:
            is_followed = _is_followed(scheduled, messages, 1e9 / rate_hz)
        case _:
            is_followed = True
    if not is_followed:
        return NoSchedule(int(np.count_nonzero(present))), 0
    if len(present) > len(scheduled):
        raise AccountingError(
            f"{stream.name}: message {len(present) - 1} arrived, but the schedule of the window ends before it",
            remedy="run the trial again",
        )
    is_due = scheduled >= since_ns
    return int(np.count_nonzero(is_due)), int(np.count_nonzero(present & is_due[: len(present)]))


def _is_followed(scheduled: Instants, messages: Frame, period_ns: float) -> bool:
    """Whether messages were intended at the instants of the schedule, or as much later as filling can have taken.

    Another schedule of the same rate is ahead of this one now and then, or soon behind it by several periods.
    """
    n, punctual = 0, 0
    for piece in row_chunks(messages, "sequence", "intended_ns"):
        numbers = piece["sequence"].to_numpy()
        if len(numbers) and numbers.max() >= len(scheduled):
            return False
        behind_ns = piece["intended_ns"].to_numpy() - scheduled[numbers]
        if (behind_ns < 0).any():
            return False
        n, punctual = n + len(numbers), punctual + int(np.count_nonzero(behind_ns < period_ns))
    return 2 * punctual >= n


def _longest_gap_ns(arrivals: Samples, begin_ns: int, end_ns: int) -> int:
    """Between two arrivals, or one and an end of the time."""
    first, beyond = np.searchsorted(arrivals, begin_ns, side="right"), np.searchsorted(arrivals, end_ns)
    within = arrivals[first:beyond]
    if not len(within):
        return end_ns - begin_ns
    parts = (within[place : place + CHUNK_ROWS + 1] for place in range(0, len(within) - 1, CHUNK_ROWS))
    gaps_ns = [int(np.diff(part).max()) for part in parts]
    return max(int(within[0]) - begin_ns, end_ns - int(within[-1]), *gaps_ns)


def _next_ns(arrivals: Samples, at_ns: int, end_ns: int) -> int:
    """The first arrival from an instant on, or the window's end."""
    place = int(np.searchsorted(arrivals, at_ns))
    return int(arrivals[place]) if place < len(arrivals) else end_ns


def _duplicates(counts: Sequence[SubscriberCounts], mended_ns: Sequence[int]) -> int | None:
    """How many came since the first repair; a worker keeps when the first of them came, and the number of all.

    A subscriber that is gone has reported none.
    """
    total = sum(count.duplicates for count in counts)
    if not mended_ns:
        return None
    received_ns = [at_ns for count in counts for at_ns in count.duplicates_received_ns or ()]
    earlier = sum(at_ns < min(mended_ns) for at_ns in received_ns)
    # Those of which no instant is kept came after the others: after the repair too, where one of the others did.
    return None if earlier == len(received_ns) < total else total - earlier


def _mended_ns(faults: Sequence[HappenedFault], subscriber: str, end_ns: int) -> list[int]:
    """The begins of repairs that its last process may have noticed: what an earlier one received is not known."""
    began_ns = [fault.began_ns for fault in faults if fault.action.mends and fault.began_ns < end_ns]
    since_ns = max((fault.began_ns for fault in faults if _brings_back(fault, subscriber)), default=0)
    return [at_ns for at_ns in began_ns if at_ns >= since_ns]


def _brought_back_ns(faults: Sequence[HappenedFault], application: str) -> list[int]:
    """When new processes of an application were there."""
    return [fault.done_ns for fault in faults if _brings_back(fault, application)]


def _brings_back(fault: HappenedFault, application: str) -> bool:
    return fault.target == application and fault.action in (Action.RESTART, Action.START)


def schedule(stream: Stream, publisher: int, seed: int, window: Window) -> Instants | None:
    """When each message of the window was to be sent, by its number; None where the pattern has no schedule."""
    span_ns = window.end_ns - window.begin_ns
    pattern = stream.pattern
    if stream.recorded is not None:
        elapsed_ns = _recorded_gaps(stream.recorded, span_ns)
    elif isinstance(pattern, Burst):
        elapsed_ns = np.repeat(_equal_gaps(pattern.rate_hz, span_ns), pattern.messages)
    elif isinstance(pattern, Periodic | OpenRequests) and pattern.arrival is Arrival.POISSON:
        elapsed_ns = _poisson_gaps(pattern.rate_hz, publisher_seed(seed, publisher), span_ns)
    elif isinstance(pattern, Periodic | OpenRequests):
        elapsed_ns = _equal_gaps(pattern.rate_hz, span_ns)
    else:
        return None
    return window.begin_ns + elapsed_ns


def _equal_gaps(rate_hz: float, span_ns: int) -> Instants:
    numbers = np.arange(math.ceil(span_ns * rate_hz / 1e9) + 1, dtype=np.float64)
    return _within_window(_rounded(numbers * (1e9 / rate_hz)), span_ns)


def _recorded_gaps(recorded: Recorded, span_ns: int) -> Instants:
    rounds = np.arange(-(-span_ns // recorded.period_ns), dtype=np.int64)
    return _within_window(np.add.outer(rounds * recorded.period_ns, np.array(recorded.offsets_ns)).ravel(), span_ns)


def _poisson_gaps(rate_hz: float, state: int, span_ns: int) -> Instants:
    """Exponential intervals by the inverse of the distribution, from SplitMix64 (Steele, Lea & Flood, OOPSLA 2014)."""
    period_ns, elapsed_ns, instants_ns = 1e9 / rate_hz, 0.0, []
    while elapsed_ns < span_ns:
        instants_ns.append(elapsed_ns)
        state = (state + 0x9E37_79B9_7F4A_7C15) & WORD
        mixed = ((state ^ (state >> 30)) * 0xBF58_476D_1CE4_E5B9) & WORD
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D0_49BB_1331_11EB) & WORD
        uniform = (((mixed ^ (mixed >> 31)) >> 11) + 1) / 2**53
        elapsed_ns -= math.log(uniform) * period_ns  # of the same C library as the worker's; NumPy's is another
    return _within_window(_rounded(np.array(instants_ns)), span_ns)


def _rounded(elapsed_ns: NDArray[np.float64]) -> Instants:
    """Halves upwards, as Rust does."""
    whole = np.floor(elapsed_ns)
    return (whole + (elapsed_ns - whole >= 0.5)).astype(np.int64)


def _within_window(elapsed_ns: Instants, span_ns: int) -> Instants:
    return elapsed_ns[: np.searchsorted(elapsed_ns, span_ns)]
