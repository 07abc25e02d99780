"""How much of a stream was sent and received, and what that put on the wire: rates, goodput, loss, overload, bytes.

Rates are of the window: what arrives after it is counted apart, so that one straggler makes no rate slower (goodput:
RFC 2647, §3.17). On the wire a frame counts once for each link that a host sent it into. `accounting` has counted the
messages; latency is `latency`'s.
"""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

from middlemark.analysis.metrics.accounting import StreamRows, away_meanwhile
from middlemark.analysis.metrics.latency import with_fill
from middlemark.analysis.stats.quantiles import Measured, Partial, Value
from middlemark.plan import Experiment
from middlemark.results.counts import PublisherCounts
from middlemark.results.record import TrialRecord
from middlemark.results.streaming import row_chunks, row_count
from middlemark.suite.metrics import TRIAL, Key

OVERLOAD_BELOW = 0.95
"""A publisher that hands over less than this share of its scheduled messages within the window is overloaded.

This is less strict than load generators that require all messages (Aeron's LoadTestRig), so that one late wake-up of
the timer in the last twentieth of a short window is no overload.
"""
LEAST_ACHIEVED = "least_achieved_share"
"""The metric that shows an overload: of the publisher that fell farthest behind its own schedule."""

Named = list[tuple[str, Value]]


def rates(record: TrialRecord, rows: StreamRows) -> Named:
    """Sent and arrived; none where an application was away meanwhile: those that stayed are not the stream."""
    planned = next(stream for stream in record.trial.experiment.streams if stream.name == rows.stream.name)
    away = away_meanwhile(record)
    if away & {*planned.publishers}:
        return []
    arrived = [] if away & {*planned.subscribers} else _arrival_rates(rows)
    return [*_publish_rates(rows), *_filling(rows), *arrived]


def _publish_rates(rows: StreamRows) -> Named:
    """What was sent a second and, by a schedule, what was to be."""
    window_s = rows.window_ns / 1e9
    intended, sent = (
        sum(publisher.intended for publisher in rows.publishers),
        sum(publisher.sent for publisher in rows.publishers),
    )
    achieved_hz = [_achieved_hz(publisher, rows) for publisher in rows.publishers]
    metrics: Named = [("achieved_rate_hz", Measured(sum(achieved_hz), sent))]
    if rows.stream.pattern.is_scheduled and intended:
        achieved_shares = [
            Measured(hz * window_s / counts.intended, counts.intended)
            for hz, counts in zip(achieved_hz, rows.publishers, strict=True)
            if counts.intended
        ]
        metrics.append(("intended_rate_hz", Measured(intended / window_s, intended)))
        metrics.append(("achieved_share", Measured(sum(achieved_hz) * window_s / intended, intended)))
        metrics.append((LEAST_ACHIEVED, min(achieved_shares, key=lambda measured: measured.value)))
    return metrics


def _filling(rows: StreamRows) -> Named:
    """The share of the time that publishers spent on filling where nothing else but calls keeps them from sending.

    It is not taken off their rates: how much of it a middleware used to go on by itself can't be seen from outside.
    """
    fill_times_ns = [chunk.item(0, 0) for chunk in row_chunks(with_fill(rows.published), pl.col("fill_ns").sum())]
    n, sent = (
        row_count(with_fill(rows.published)),
        sum(publisher.sent + publisher.refused for publisher in rows.publishers),
    )
    if not n or not rows.stream.pattern.is_slowed_by_refusals:
        return []
    if n < sent:
        return [("fill_share", Partial(n, sent))]
    time_ns = sum(publisher.last_returned_ns - rows.window.begin_ns for publisher in rows.publishers)
    return [("fill_share", Measured(sum(fill_times_ns) / max(time_ns, 1), n))]


def _achieved_hz(publisher: PublisherCounts, rows: StreamRows) -> float:
    """Messages a second sent: by a schedule those within the window, else all until the last call came back."""
    begin_ns, end_ns = rows.window.begin_ns, rows.window.end_ns
    published = rows.published.filter(pl.col("publisher") == publisher.publisher)
    if rows.stream.pattern.is_scheduled and row_count(published) == publisher.sent + publisher.refused:
        in_window = published.filter((pl.col("accepted") == 1) & (pl.col("sent_ns") < end_ns))
        return row_count(in_window) / ((end_ns - begin_ns) / 1e9)
    least_ns = end_ns if rows.stream.pattern.is_scheduled else begin_ns + 1
    return publisher.sent / ((max(publisher.last_returned_ns, least_ns) - begin_ns) / 1e9)


def _arrival_rates(rows: StreamRows) -> Named:
    """What arrived within the window, and goodput, its payload; summed over all subscribers."""
    names = ("received_rate_hz", "goodput_bytes_per_s", "after_window_share")
    flows = rows.flows_of(answers=False)
    received, unsampled = sum(flow.received for flow in flows), sum(flow.beyond_samples for flow in flows)
    last_sent_ns = max((publisher.last_returned_ns for publisher in rows.publishers), default=0)
    if unsampled and rows.stream.pattern.is_scheduled and last_sent_ns > rows.window.end_ns:
        return [(name, Partial(received - unsampled, received)) for name in names]  # who knows when those came
    end_ns = rows.window.end_ns
    if rows.stream.pattern.is_self_paced:
        end_ns = max(min(end_ns, last_sent_ns), rows.window.begin_ns + 1)
    after = row_count(rows.received.filter(_in_time(rows) & (pl.col("received_ns") >= end_ns)))
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
    metrics: Named = []
    for answers, name in ((False, "loss_share"), (True, "unanswered_share")):
        flows = rows.flows_of(answers=answers)
        sent = sum(flow.sent for flow in flows)
        if sent:
            missing = sum(flow.lost + flow.late for flow in flows)  # RFC 7680: what comes after Tmax is lost
            metrics.append((name, Measured(missing / sent, sent)))
    undelivered, intended = rows.undelivered(answers=rows.stream.pattern.has_answers)
    if intended:
        metrics.append(("undelivered_share", Measured(undelivered / intended, intended)))
    return metrics


def is_overloaded(named: Named) -> bool:
    """Whether any publisher could not keep its rate, by the rates of its stream."""
    return any(
        name == LEAST_ACHIEVED and isinstance(value, Measured) and value.value < OVERLOAD_BELOW for name, value in named
    )


def wire_values(record: TrialRecord) -> dict[Key, Value]:
    """By phase all that left the hosts, and of the window its share by message and by byte of payload delivered."""
    values: dict[Key, Value] = {}
    for phase in dict.fromkeys(traffic.phase for traffic in record.wire):
        links = [traffic for traffic in record.wire if traffic.phase == phase]
        sent_bytes, packets = sum(link.sent_bytes for link in links), sum(link.sent_packets for link in links)
        values[Key(TRIAL, f"wire_{phase}_bytes")] = Measured(float(sent_bytes), packets)
        values[Key(TRIAL, f"wire_{phase}_packets")] = Measured(float(packets), packets)
    sent_bytes, packets = _sent_in_window(record)
    control = _sent_by_receivers(record)
    if control is not None:
        control_bytes, control_packets = control
        split = {"control": control, "data": (sent_bytes - control_bytes, packets - control_packets)}
        for name, (its_bytes, its_packets) in split.items():
            values[Key(TRIAL, f"wire_{name}_bytes")] = Measured(float(its_bytes), its_packets)
            values[Key(TRIAL, f"wire_{name}_packets")] = Measured(float(its_packets), its_packets)
    payload_bytes, messages = _delivered(record)
    is_known = not record.interrupted  # who ended took along the count of what it had received
    if sent_bytes and payload_bytes and is_known:
        values[Key(TRIAL, "wire_overhead_ratio")] = Measured(sent_bytes / payload_bytes, messages)
        values[Key(TRIAL, "wire_bytes_per_message")] = Measured(sent_bytes / messages, messages)
        values[Key(TRIAL, "wire_packets_per_message")] = Measured(packets / messages, messages)
    return values


def _sent_in_window(record: TrialRecord) -> tuple[int, int]:
    links = [traffic for traffic in record.wire if traffic.phase == "window"]
    return sum(link.sent_bytes for link in links), sum(link.sent_packets for link in links)


def payload_hosts(experiment: Experiment) -> set[str]:
    """The hosts that send payload: those of publishers, of answering subscribers, and of services."""
    senders = set(experiment.services or (experiment.applications[0].host,))
    for stream in experiment.streams:
        answering = stream.subscribers if stream.pattern.has_answers else ()
        senders |= _hosts_of(experiment, (*stream.publishers, *answering))
    return senders


def receiving_hosts(experiment: Experiment) -> set[str]:
    """The hosts that payload comes to: those of subscribers, of who is answered, and those that services are given."""
    receivers = set(experiment.services)
    for stream in experiment.streams:
        answered = stream.publishers if stream.pattern.has_answers else ()
        receivers |= _hosts_of(experiment, (*stream.subscribers, *answered))
    return receivers


def _hosts_of(experiment: Experiment, names: Collection[str]) -> set[str]:
    return {application.host for application in experiment.applications if application.name in names}


def _sent_by_receivers(record: TrialRecord) -> tuple[int, int] | None:
    """Bytes and packets that hosts sent within the window that send no payload: acknowledgements and other control.

    None where there is no such host: by counting alone control can't be separated from payload.
    """
    senders = payload_hosts(record.trial.experiment)
    links = [traffic for traffic in record.wire if traffic.phase == "window" and traffic.host not in senders]
    return (sum(link.sent_bytes for link in links), sum(link.sent_packets for link in links)) if links else None


def _delivered(record: TrialRecord) -> tuple[float, int]:
    """Payload bytes and messages that arrived, in time or late, over all subscribers, answers with them."""
    streams = {stream.name: stream for stream in record.trial.experiment.streams}
    payload_bytes, messages = 0.0, 0
    for subscriber in record.counts.subscribers:
        stream = streams[subscriber.stream]
        size_bytes = stream.pattern.bytes_of_answer if subscriber.answers else stream.mean_bytes
        payload_bytes += size_bytes * (subscriber.received + subscriber.late)
        messages += subscriber.received + subscriber.late
    return payload_bytes, messages
