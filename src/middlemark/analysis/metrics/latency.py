"""From a stream's samples in one trial to its distributions: latency, round trip, jitter, publish call, pacing error.

Each distribution is an ascending array of nanoseconds over all flows of the stream, made when it is asked for: of a
large trial memory has room for one of them. Late messages are lost by
definition (RFC 7680's Tmax) and so have no latency; negative values stay as they are. Quantiles of these are
`quantile`'s business.

Whether a one-way time can be told by clocks of different machines: decided here, for every figure.

A time from one machine to another is known to ± the bound of their clocks; what is no longer than that is a figure of
the clocks, not of the middleware. `testbed.clock_offset` finds the bounds, the trial's record has them.

One stream of one trial as its metrics need it: its shape, its samples, what became of its messages.

`metrics` makes these of a trial's files; `rates` and `metrics` ask them. It computes no figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

import polars as pl

from middlemark.analysis.metrics.accounting import Flow
from middlemark.analysis.stats.quantiles import Measured, Samples, Value, WithinClocks
from middlemark.plan import Chain, Experiment
from middlemark.results.counts import PublisherCounts
from middlemark.results.record import TrialRecord, Window
from middlemark.results.streaming import Frame, ascending, line, steps


class Distribution(StrEnum):
    """What is measured of each message."""

    LATENCY_FROM_SEND = "latency_from_send"
    LATENCY_FROM_INTENDED = "latency_from_intended"
    ROUND_TRIP = "round_trip"
    JITTER = "jitter"
    PUBLISH_CALL = "publish_call"
    PACING_ERROR = "pacing_error"
    END_TO_END = "end_to_end"
    COMMUNICATION = "communication"
    IDLE = "idle"
    COMPUTATION = "computation"

    @property
    def summary(self) -> str:
        """How it is obtained, in one sentence."""
        return _SUMMARIES[self]


_SUMMARIES = {
    Distribution.LATENCY_FROM_SEND: "one way, from the hand-over to the middleware to the arrival at the subscriber",
    Distribution.LATENCY_FROM_INTENDED: "one way, from the scheduled instant, so that a stalled publisher shows",
    Distribution.ROUND_TRIP: "from the question's hand-over to the middleware to the answer's arrival, never halved",
    Distribution.JITTER: "the size of the change in latency from one message to the next (IPDV, RFC 3393)",
    Distribution.PUBLISH_CALL: "how long the publish call kept its caller",
    Distribution.END_TO_END: "from the start of a chain's first node to the end of its last one's computation",
    Distribution.COMMUNICATION: "of a chain's end-to-end latency what messages take between nodes, all together",
    Distribution.IDLE: "of a chain's end-to-end latency what messages wait for timers, other inputs and busy nodes",
    Distribution.COMPUTATION: "of a chain's end-to-end latency what its nodes compute, all together",
    Distribution.PACING_ERROR: "how long after its scheduled instant a message was handed over",
}


OF_CHAINS = (Distribution.END_TO_END, Distribution.COMMUNICATION, Distribution.IDLE, Distribution.COMPUTATION)
"""Of chains of nodes, not of single streams."""


def distributions(received: Frame, published: Frame, late_after_ns: int) -> dict[Distribution, Callable[[], Samples]]:
    """What makes each distribution of one stream; those that its samples don't hold are empty."""
    in_time = received.filter(pl.col("received_ns") - pl.col("sent_ns") <= late_after_ns)
    messages = in_time.filter(pl.col("answer") == 0)
    answers = in_time.filter(pl.col("answer") == 1)
    return {
        Distribution.LATENCY_FROM_SEND: partial(_difference, messages, "received_ns", "sent_ns"),
        Distribution.LATENCY_FROM_INTENDED: partial(_difference, messages, "received_ns", "intended_ns"),
        Distribution.ROUND_TRIP: partial(_difference, answers, "received_ns", "intended_ns"),
        Distribution.JITTER: partial(_jitter, messages),
        Distribution.PUBLISH_CALL: partial(_difference, published, "returned_ns", "sent_ns"),
        Distribution.PACING_ERROR: partial(_difference, published, "sent_ns", "intended_ns"),
    }


def _difference(frame: Frame, later: str, earlier: str) -> Samples:
    return ascending(frame, pl.col(later) - pl.col(earlier))


def _jitter(messages: Frame) -> Samples:
    """Only pairs of consecutive sequence numbers count, whatever order they came in (RFC 3393, §3.2)."""
    return steps(line(messages, pl.col("received_ns") - pl.col("sent_ns")))


CLOCK_BOUND = "clock_bound_ns"
"""The metric that says by how much one-way times of a stream or chain may be off; of streams between clocks only."""


def can_tell(time_ns: float, bound_ns: float) -> bool:
    """Whether a time is long enough to be known by clocks that may be so far apart; always by a single clock."""
    return not bound_ns or time_ns > bound_ns


def told(value: Value, bound_ns: int, time_ns: float | None = None) -> Value:
    """A figure with its bound, or that there is none; `time_ns` is what a figure rests on that is no time itself."""
    if not bound_ns or not isinstance(value, Measured):
        return value
    if can_tell(value.value if time_ns is None else time_ns, bound_ns):
        return Measured(value.value, value.n, bound_ns if time_ns is None else 0)
    return WithinClocks(value.n, bound_ns)


def widest(values: Iterable[Value]) -> WithinClocks | None:
    """The refusal with the widest bound; none where each value is told.

    One is enough to refuse a figure over trials: those left would be the ones that took longer.
    """
    refused = [value for value in values if isinstance(value, WithinClocks)]
    return max(refused, key=lambda each: each.bound_ns) if refused else None


def bounds_of_stream(record: TrialRecord, stream: str) -> dict[Distribution, int]:
    """By how much a stream's times may be off; differences of one-way times, and round trips, are by one clock."""
    bound_ns = record.clock_bound_ns(stream)
    one_way = (Distribution.LATENCY_FROM_SEND, Distribution.LATENCY_FROM_INTENDED)
    return dict.fromkeys(one_way, bound_ns) if bound_ns else {}


def bounds_of_chain(record: TrialRecord, chain: Chain) -> dict[Distribution, int]:
    """The same of a chain: the whole is by the clocks of its ends alone, computing and waiting are by one clock."""
    at = applications_of(record, chain)
    bounds = {
        Distribution.END_TO_END: record.clocks_apart_ns(at[:1], at[-1:]),
        Distribution.COMMUNICATION: sum(bounds_of_hops(record, chain)),
    }
    return {kind: bound_ns for kind, bound_ns in bounds.items() if bound_ns}


def bounds_of_hops(record: TrialRecord, chain: Chain) -> tuple[int, ...]:
    """Of each message of a chain, from its first node on."""
    at = applications_of(record, chain)
    return tuple(record.clocks_apart_ns(at[n : n + 1], at[n + 1 : n + 2]) for n in range(len(at) - 1))


def applications_of(record: TrialRecord, chain: Chain) -> tuple[str, ...]:
    """The application of each node on the way."""
    of_node = {node.name: node.application for node in record.trial.experiment.nodes}
    return tuple(of_node[name] for name in chain.nodes)


@dataclass(frozen=True)
class StreamShape:
    """What the metrics must know of a stream beside its samples."""

    name: str
    size_bytes: float
    """The mean where its messages differ."""
    pattern: str
    """Its kind: periodic, burst, unthrottled, ping_pong or computed."""
    late_after_ns: int

    @property
    def scheduled(self) -> bool:
        """Whether its pattern has a rate of its own."""
        return self.pattern in {"periodic", "burst"}

    @property
    def asks(self) -> bool:
        """Whether its messages are questions, and what its users wait for the answers."""
        return self.pattern == "ping_pong"

    @property
    def at_own_pace(self) -> bool:
        """Whether its publishers go on as soon as they can, and so may have sent their last before the window ends."""
        return self.pattern in {"unthrottled", "ping_pong"}

    @property
    def refusals_pace_it(self) -> bool:
        """Whether a refusal only slows its publishers down: no message was to be sent at that instant."""
        return self.pattern == "unthrottled"


def stream_shapes(experiment: Experiment) -> tuple[StreamShape, ...]:
    """What the metrics must know of the experiment's streams."""
    return tuple(
        StreamShape(
            name=stream.name,
            size_bytes=stream.mean_bytes,
            pattern=stream.pattern.kind,
            late_after_ns=experiment.windows.late_after_ns,
        )
        for stream in experiment.streams
    )


@dataclass(frozen=True)
class StreamRows:
    """The samples and accounts of one stream, with the window they belong to."""

    stream: StreamShape
    received: Frame
    published: Frame
    window: Window
    publishers: tuple[PublisherCounts, ...]
    flows: tuple[Flow, ...]

    @property
    def window_ns(self) -> int:
        """The length of the window."""
        return self.window.end_ns - self.window.begin_ns

    def flows_of(self, *, answers: bool) -> list[Flow]:
        """Those of its messages, or of their answers."""
        return [flow for flow in self.flows if flow.answers is answers]

    def undelivered(self, *, answers: bool) -> tuple[int, int]:
        """How many messages, or answers, did not arrive in time, whatever became of them, and how many were to."""
        own = self.flows_of(answers=answers)
        intended = sum(flow.sent if self.stream.refusals_pace_it else flow.intended for flow in own)
        return intended - sum(flow.received for flow in own), intended
