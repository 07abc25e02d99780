"""From a stream's samples in one trial to its distributions: latency, round trip, jitter, call, pacing, filling.

Each is an ascending array of nanoseconds over all flows of the stream, made when it is needed, as memory has room for
one of them; late messages are lost by definition (RFC 7680's Tmax). It also says by how much clocks of different
machines may put each distribution off, and when a trial's first messages came; the quantiles are `trial`'s.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import polars as pl

from middlemark.analysis.metrics.accounting import StreamShape
from middlemark.analysis.stats.quantiles import Measured, Samples, Value, with_clock_bound
from middlemark.plan import Requests
from middlemark.results.record import TrialRecord
from middlemark.results.streaming import Frame, by_sequence_number, lazy_rows, neighbour_differences, sorted_values
from middlemark.suite.metrics import TRIAL, Distribution, Key

CLOCK_BOUND = "clock_bound_ns"
"""The metric that says by how much one-way times of a stream or chain may be off; of streams between clocks only."""


def distributions(received: Frame, published: Frame, stream: StreamShape) -> dict[Distribution, Callable[[], Samples]]:
    """What makes each distribution of one stream; those that its samples don't hold are empty."""
    in_time = pl.col("received_ns") - pl.col("sent_ns") <= stream.late_after_ns
    messages = received.filter((pl.col("answer") == 0) & in_time)
    answers = received.filter((pl.col("answer") == 1) & stream.answers_in_time)
    further = _of_requests(received, answers) if isinstance(stream.pattern, Requests) else {}
    if stream.is_typed:
        further |= _of_typed(messages, published)
    return further | {
        Distribution.LATENCY_FROM_SEND: partial(_difference, messages, "received_ns", "sent_ns"),
        Distribution.LATENCY_FROM_INTENDED: partial(_difference, messages, "received_ns", "intended_ns"),
        Distribution.ROUND_TRIP: partial(_difference, answers, "received_ns", "intended_ns"),
        Distribution.JITTER: partial(_jitter, messages),
        Distribution.PUBLISH_CALL: partial(_difference, published, "returned_ns", "sent_ns"),
        Distribution.PACING_ERROR: partial(_pacing_error, published),
        Distribution.FILL: partial(sorted_values, with_fill(published), pl.col("fill_ns")),
    }


def _of_requests(received: Frame, responses: Frame) -> dict[Distribution, Callable[[], Samples]]:
    """What a response says together with its request: the sum of both ways, and what the server took between them.

    Filling the response is taken off the server's time, as it is off the round trip, so that both add up to that.
    """
    sent = pl.col("request_sent_ns")
    fill = pl.col("intended_ns") - sent
    there, back = pl.col("request_received_ns") - sent, pl.col("received_ns") - pl.col("sent_ns")
    wanted = {
        Distribution.SERVER_TIME: pl.col("sent_ns") - fill - pl.col("request_received_ns"),
        Distribution.ROUND_TRIP_WITHOUT_SERVER: there + back,
        Distribution.ROUND_TRIP_FROM_INTENDED: pl.col("received_ns") - fill - pl.col("request_intended_ns"),
    }
    return {kind: partial(_with_requests, received, responses, value) for kind, value in wanted.items()}


def _of_typed(messages: Frame, published: Frame) -> dict[Distribution, Callable[[], Samples]]:
    """What turning messages into bytes and back took, by itself and with the latency, of which it is no part."""
    serialised = published.filter(pl.col("serialise_ns").is_not_null())
    deserialised = messages.filter(pl.col("deserialise_ns").is_not_null())
    return {
        Distribution.SERIALISE: partial(sorted_values, serialised, pl.col("serialise_ns").cast(pl.Int64)),
        Distribution.DESERIALISE: partial(sorted_values, deserialised, pl.col("deserialise_ns").cast(pl.Int64)),
        Distribution.LATENCY_WITH_SERIALISATION: partial(_with_serialisation, deserialised, serialised),
    }


def _with_serialisation(messages: Frame, published: Frame) -> Samples:
    sent = lazy_rows(published).select("publisher", "sequence", "serialise_ns")
    joined = lazy_rows(messages).join(sent, on=["publisher", "sequence"])
    both_ns = pl.col("serialise_ns").cast(pl.Int64) + pl.col("deserialise_ns").cast(pl.Int64)
    value = pl.col("received_ns") - pl.col("sent_ns") + both_ns
    return np.sort(joined.select(value).collect().to_series().to_numpy())


def _with_requests(received: Frame, responses: Frame, value: pl.Expr) -> Samples:
    times = ("intended_ns", "sent_ns", "received_ns")
    requests = lazy_rows(received.filter(pl.col("answer") == 0)).select(
        "publisher", "sequence", *(pl.col(name).alias(f"request_{name}") for name in times)
    )
    joined = lazy_rows(responses).join(requests, on=["publisher", "sequence"])
    return np.sort(joined.select(value.cast(pl.Int64)).collect().to_series().to_numpy())


def _difference(frame: Frame, later: str, earlier: str) -> Samples:
    return sorted_values(frame, pl.col(later) - pl.col(earlier))


def with_fill(published: Frame) -> Frame:
    """Those of which is known what filling took: all, or of runs from before none."""
    return published.filter(pl.col("fill_ns").is_not_null())


def _pacing_error(published: Frame) -> Samples:
    """Filling is taken off where it was recorded; a subscriber's samples have it off in what they have as intended."""
    return sorted_values(published, pl.col("sent_ns") - pl.col("intended_ns") - pl.col("fill_ns").fill_null(0))


def _jitter(messages: Frame) -> Samples:
    """Only pairs of consecutive sequence numbers count, whatever order they came in (RFC 3393, §3.2)."""
    return neighbour_differences(by_sequence_number(messages, pl.col("received_ns") - pl.col("sent_ns")))


def bounds_of_stream(record: TrialRecord, stream: str) -> dict[Distribution, int]:
    """By how much a stream's times may be off; differences of one-way times, and round trips, are by one clock."""
    bound_ns = record.clock_bound_ns(stream)
    one_way = (
        Distribution.LATENCY_FROM_SEND,
        Distribution.LATENCY_FROM_INTENDED,
        Distribution.LATENCY_WITH_SERIALISATION,
    )
    return dict.fromkeys(one_way, bound_ns) if bound_ns else {}


def first_message_values(record: TrialRecord) -> dict[Key, Value]:
    """The last of each part; it is from the common start by this machine's clock to a host's of an application."""
    publishers_of = {stream.name: stream.publishers for stream in record.trial.experiment.streams}
    subscribers_of = {stream.name: stream.subscribers for stream in record.trial.experiment.streams}
    messages = [
        (message, subscribers_of[message.stream][message.subscriber])
        for message in record.first_message
        if not message.answers
    ]
    parts = {
        "initialised_ns": [(after_ns, name) for name, after_ns in record.initialised_after_ns.items()],
        "matched_ns": [
            (match.after_ns, publishers_of[match.stream][match.publisher])
            for match in record.matched
            if not match.answers
        ],
        "first_message_ns": [(message.after_ns, name) for message, name in messages],
        "first_full_message_ns": [
            (message.full_after_ns, name) for message, name in messages if message.full_after_ns is not None
        ],
    }
    values = {
        Key(TRIAL, metric): with_clock_bound(
            Measured(float(after_ns), len(instants)), record.clock_bound_at_ns(application)
        )
        for metric, instants in parts.items()
        if instants
        for after_ns, application in [max(instants)]
    }
    return values | _handshake(record)


def _handshake(record: TrialRecord) -> dict[Key, Value]:
    """The longest by which a publisher and a subscriber knew each other: a duration by one clock, part of no other."""
    durations = [match.handshake_ns for match in record.matched if match.handshake_ns is not None]
    return {Key(TRIAL, "handshake_ns"): Measured(float(max(durations)), len(durations))} if durations else {}
