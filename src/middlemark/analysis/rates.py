"""How much of a stream went out and came in: rates, goodput, the shares that did not arrive, and overload.

Rates are of the window: what arrives after it is told apart, so that one straggler makes no rate slower (goodput: RFC
2647, §3.17). `accounting` has counted the messages; latency is `metrics`' business.
"""

from __future__ import annotations

import polars as pl

from middlemark.analysis.accounting import away_meanwhile
from middlemark.analysis.quantile import Measured, Partial, Value
from middlemark.analysis.stream_rows import StreamRows
from middlemark.results.record import PublisherCounts, TrialRecord
from middlemark.results.streaming import count

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
