"""The instants at which a publisher was to send within the window, rebuilt from its stream's pattern.

It is the arithmetic of the workers' runtime (`schedule.rs`): absolute, from the window's begin, message k at its own
instant whether or not its publisher was there. Who was there, and what arrived, `recovery` knows.

How much of a stream went out and came in: rates, goodput, the shares that did not arrive, and overload.

Rates are of the window: what arrives after it is told apart, so that one straggler makes no rate slower (goodput: RFC
2647, §3.17). `accounting` has counted the messages; latency is `metrics`' business.
"""

from __future__ import annotations

import math

import numpy as np
import polars as pl
from numpy.typing import NDArray

from middlemark.analysis.metrics.accounting import away_meanwhile
from middlemark.analysis.metrics.latency import StreamRows
from middlemark.analysis.stats.quantiles import Measured, Partial, Value
from middlemark.plan import Burst, Periodic, Recorded, Stream
from middlemark.results.counts import PublisherCounts
from middlemark.results.record import TrialRecord, Window
from middlemark.results.streaming import count
from middlemark.suite import Arrival

Instants = NDArray[np.int64]
_MASK = 2**64 - 1
_OF_PUBLISHER = 0xA076_1D64_78BD_642F
"""What a publisher's generator is apart from that of the one before."""


def schedule(stream: Stream, publisher: int, seed: int, window: Window) -> Instants | None:
    """When each message of the window was to be sent, by its number; None where the pattern has no schedule."""
    span_ns = window.end_ns - window.begin_ns
    pattern = stream.pattern
    if stream.recorded is not None:
        elapsed_ns = _recorded(stream.recorded, span_ns)
    elif isinstance(pattern, Burst):
        elapsed_ns = np.repeat(_equal(pattern.rate_hz, span_ns), pattern.messages)
    elif isinstance(pattern, Periodic) and pattern.arrival is Arrival.POISSON:
        elapsed_ns = _poisson(pattern.rate_hz, (seed + publisher * _OF_PUBLISHER) & _MASK, span_ns)
    elif isinstance(pattern, Periodic):
        elapsed_ns = _equal(pattern.rate_hz, span_ns)
    else:
        return None
    return window.begin_ns + elapsed_ns


def _equal(rate_hz: float, span_ns: int) -> Instants:
    numbers = np.arange(math.ceil(span_ns * rate_hz / 1e9) + 1, dtype=np.float64)
    return _within(_rounded(numbers * (1e9 / rate_hz)), span_ns)


def _recorded(recorded: Recorded, span_ns: int) -> Instants:
    rounds = np.arange(-(-span_ns // recorded.period_ns), dtype=np.int64)
    return _within(np.add.outer(rounds * recorded.period_ns, np.array(recorded.offsets_ns)).ravel(), span_ns)


def _poisson(rate_hz: float, state: int, span_ns: int) -> Instants:
    """Exponential intervals by the inverse of the distribution, from SplitMix64 (Steele, Lea & Flood, OOPSLA 2014)."""
    period_ns, elapsed_ns, found = 1e9 / rate_hz, 0.0, []
    while elapsed_ns < span_ns:
        found.append(elapsed_ns)
        state = (state + 0x9E37_79B9_7F4A_7C15) & _MASK
        mixed = ((state ^ (state >> 30)) * 0xBF58_476D_1CE4_E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D0_49BB_1331_11EB) & _MASK
        uniform = (((mixed ^ (mixed >> 31)) >> 11) + 1) / 2**53
        elapsed_ns -= math.log(uniform) * period_ns  # of the same C library as the worker's; NumPy's is another
    return _within(_rounded(np.array(found)), span_ns)


def _rounded(elapsed_ns: NDArray[np.float64]) -> Instants:
    """Halves upwards, as Rust does."""
    whole = np.floor(elapsed_ns)
    return (whole + (elapsed_ns - whole >= 0.5)).astype(np.int64)


def _within(elapsed_ns: Instants, span_ns: int) -> Instants:
    return elapsed_ns[: np.searchsorted(elapsed_ns, span_ns)]


OVERLOAD_BELOW = 0.95
"""A publisher that hands over less than this share of its scheduled messages within the window is overloaded.

Less strict than the load generators that ask for all (Aeron's LoadTestRig), so that one late wake-up of the timer at
the end of a short window is no overload: it takes a window's last twentieth.
"""
LEAST_ACHIEVED = "least_achieved_share"
"""The metric that tells an overload: of the publisher that fell farthest behind its own schedule."""

Named = list[tuple[str, Value]]


def rates(record: TrialRecord, rows: StreamRows) -> Named:
    """Sent and arrived; none where an application was away meanwhile: those that stayed are not the stream."""
    planned = next(each for each in record.trial.experiment.streams if each.name == rows.stream.name)
    away = away_meanwhile(record)
    if away & {*planned.publishers}:
        return []
    arrived = [] if away & {*planned.subscribers} else _arrival_rates(rows)
    return [*_publish_rates(rows), *arrived]


def _publish_rates(rows: StreamRows) -> Named:
    """What was sent a second and, by a schedule, what was to be."""
    window_s = rows.window_ns / 1e9
    intended, sent = sum(each.intended for each in rows.publishers), sum(each.sent for each in rows.publishers)
    achieved_hz = [_achieved_hz(each, rows) for each in rows.publishers]
    found: Named = [("achieved_rate_hz", Measured(sum(achieved_hz), sent))]
    if rows.stream.scheduled and intended:
        own = [
            Measured(hz * window_s / each.intended, each.intended)
            for hz, each in zip(achieved_hz, rows.publishers, strict=True)
            if each.intended
        ]
        found.append(("intended_rate_hz", Measured(intended / window_s, intended)))
        found.append(("achieved_share", Measured(sum(achieved_hz) * window_s / intended, intended)))
        found.append((LEAST_ACHIEVED, min(own, key=lambda each: each.value)))
    return found


def _achieved_hz(publisher: PublisherCounts, rows: StreamRows) -> float:
    """Messages a second sent: by a schedule those within the window, else all until the last call came back."""
    begin_ns, end_ns = rows.window.begin_ns, rows.window.end_ns
    own = rows.published.filter(pl.col("publisher") == publisher.publisher)
    if rows.stream.scheduled and count(own) == publisher.sent + publisher.refused:
        in_window = own.filter((pl.col("accepted") == 1) & (pl.col("sent_ns") < end_ns))
        return count(in_window) / ((end_ns - begin_ns) / 1e9)
    until_ns = max(publisher.last_returned_ns, end_ns) if rows.stream.scheduled else publisher.last_returned_ns
    return publisher.sent / (max(until_ns - begin_ns, 1) / 1e9)


def _arrival_rates(rows: StreamRows) -> Named:
    """What arrived within the window, and goodput, its payload; summed over all subscribers."""
    names = ("received_rate_hz", "goodput_bytes_per_s", "after_window_share")
    flows = rows.flows_of(answers=False)
    received, unsampled = sum(flow.received for flow in flows), sum(flow.beyond_samples for flow in flows)
    last_sent_ns = max((each.last_returned_ns for each in rows.publishers), default=0)
    if unsampled and rows.stream.scheduled and last_sent_ns > rows.window.end_ns:
        return [(name, Partial(received - unsampled, received)) for name in names]  # who knows when those came
    end_ns = rows.window.end_ns
    if rows.stream.at_own_pace:
        end_ns = max(min(end_ns, last_sent_ns), rows.window.begin_ns + 1)
    after = count(rows.received.filter(_in_time(rows) & (pl.col("received_ns") >= end_ns)))
    within, span_s = received - after, (end_ns - rows.window.begin_ns) / 1e9
    values = [Measured(within / span_s, within), Measured(within * rows.stream.size_bytes / span_s, within)]
    if received:
        values.append(Measured(after / received, received))
    return list(zip(names, values, strict=False))


def _in_time(rows: StreamRows) -> pl.Expr:
    in_time = pl.col("received_ns") - pl.col("sent_ns") <= rows.stream.late_after_ns
    return (pl.col("answer") == 0) & in_time


def shares(rows: StreamRows) -> Named:
    """Of what was sent, and of what was to be sent, the share that did not arrive in time."""
    found: Named = []
    for answers, name in ((False, "loss_share"), (True, "unanswered_share")):
        asked = rows.flows_of(answers=answers)
        sent = sum(flow.sent for flow in asked)
        if sent:
            missing = sum(flow.lost + flow.late for flow in asked)  # RFC 7680: what comes after Tmax is lost
            found.append((name, Measured(missing / sent, sent)))
    undelivered, intended = rows.undelivered(answers=rows.stream.asks)
    if intended:
        found.append(("undelivered_share", Measured(undelivered / intended, intended)))
    return found


def is_overloaded(named: Named) -> bool:
    """Whether any publisher could not keep its rate, by the rates of its stream."""
    return any(
        name == LEAST_ACHIEVED and isinstance(value, Measured) and value.value < OVERLOAD_BELOW for name, value in named
    )
