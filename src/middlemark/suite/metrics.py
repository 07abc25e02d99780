"""The one catalogue of metrics: their names, dimensions and directions, what they are of, and how trials are combined.

A new metric that people compare, claim or stop on is one row of `PLAIN` here, beside the function of `analysis.metrics`
that computes it; a metric's stored name ends in its unit. It computes and draws nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import NamedTuple

from pydantic_core import PydanticCustomError

from middlemark.errors import UsageError
from middlemark.suite.measurement import Observation
from middlemark.suite.yaml.model import closest_first, refusal


class Dimension(StrEnum):
    """The physical dimension of a metric."""

    TIME = "time"
    SHARE = "share"
    BYTES = "bytes"
    BYTES_PER_S = "bytes_per_s"
    PERCENT_OF_CORE = "percent_of_core"
    FRACTION = "fraction"
    """Of a time, so that it is estimated as times are; a share is one of messages."""
    NUMBER = "number"

    @property
    def example(self) -> str:
        """A value as people write it."""
        return _EXAMPLES[self]


_EXAMPLES = {
    Dimension.TIME: "200 µs",
    Dimension.SHARE: "0.1 %",
    Dimension.BYTES: "40 MiB",
    Dimension.BYTES_PER_S: "80 MB/s",
    Dimension.PERCENT_OF_CORE: "50 %",
    Dimension.FRACTION: "50 %",
    Dimension.NUMBER: "3",
}


class Distribution(StrEnum):
    """The distributions over messages, or over paths of a chain."""

    LATENCY_FROM_SEND = "latency_from_send"
    LATENCY_FROM_INTENDED = "latency_from_intended"
    ROUND_TRIP = "round_trip"
    ROUND_TRIP_FROM_INTENDED = "round_trip_from_intended"
    ROUND_TRIP_WITHOUT_SERVER = "round_trip_without_server"
    SERVER_TIME = "server_time"
    JITTER = "jitter"
    PUBLISH_CALL = "publish_call"
    PACING_ERROR = "pacing_error"
    FILL = "fill"
    SERIALISE = "serialise"
    DESERIALISE = "deserialise"
    LATENCY_WITH_SERIALISATION = "latency_with_serialisation"
    END_TO_END = "end_to_end"
    COMMUNICATION = "communication"
    IDLE = "idle"
    COMPUTATION = "computation"

    @property
    def summary(self) -> str:
        """How it is measured, in one sentence."""
        return _SUMMARIES[self]


_SUMMARIES = {
    Distribution.LATENCY_FROM_SEND: "one way, from the hand-over to the middleware to the arrival at the subscriber",
    Distribution.LATENCY_FROM_INTENDED: "one way, from the scheduled instant without filling: a stall is visible",
    Distribution.ROUND_TRIP: "from the question's hand-over to the middleware to the answer's arrival",
    Distribution.ROUND_TRIP_FROM_INTENDED: "from a request's scheduled instant to its response's arrival",
    Distribution.ROUND_TRIP_WITHOUT_SERVER: "of a request: there and back, without the time between at the server",
    Distribution.SERVER_TIME: "from a request's arrival at its server to the response's hand-over to the middleware",
    Distribution.JITTER: "the size of the change in latency from one message to the next (IPDV, RFC 3393)",
    Distribution.PUBLISH_CALL: "the duration of the publish call",
    Distribution.END_TO_END: "from the start of a chain's first node to the end of its last one's computation",
    Distribution.COMMUNICATION: "the part of a chain's end-to-end latency between nodes, all together",
    Distribution.IDLE: "the part of a chain's end-to-end latency spent waiting for timers, inputs and busy nodes",
    Distribution.COMPUTATION: "the part of a chain's end-to-end latency in which its nodes compute, all together",
    Distribution.PACING_ERROR: "how long after its scheduled instant, without filling, a message was handed over",
    Distribution.FILL: "by how much writing the messages delayed the hand-over; part of no other time",
    Distribution.SERIALISE: "the part of filling a message in which it was serialised",
    Distribution.DESERIALISE: "what deserialising a message took, after its arrival",
    Distribution.LATENCY_WITH_SERIALISATION: "one way, with what serialising and deserialising the message took",
}
OF_CHAINS = (Distribution.END_TO_END, Distribution.COMMUNICATION, Distribution.IDLE, Distribution.COMPUTATION)
"""Of chains of nodes, not of single streams."""
DISTRIBUTIONS = {"latency" if kind is Distribution.LATENCY_FROM_SEND else kind.value: kind for kind in Distribution}
"""By the names that people write."""
LEVELS = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999, "p9999": 0.9999}
"""The quantiles that are reported, by the name that a metric has."""
MOMENTS = {"mean": "ns", "deviation": "ns", "kurtosis": "ratio"}
"""What else is said of a distribution in which nothing was lost, with the unit of its stored name."""
LEVEL_NAMES = ("median", "min", "max", *MOMENTS, *(level for level in LEVELS if level != "p50"))
"""The allowed words before the bracket; `p50` is read as `median`."""

TRIAL = "trial"


class Key(NamedTuple):
    """The subject and the metric of a value."""

    subject: str
    """`trial`, `stream:<name>`, `process:<name>` or `host:<name>`; under faults
    `flow:<stream>/<publisher>/<subscriber>`, both as numbers; of pipelines `node:<name>`, `chain:<name>`, and
    `chain:<name>/<position>`."""
    metric: str


@dataclass(frozen=True)
class Metric:
    """One metric of a trial, as it is compared, claimed and shown."""

    name: str
    """As people write it."""
    stored_name: str
    """As trials and tables have it; ends in its unit."""
    dimension: Dimension
    of_trial: bool = False
    """Whether it is of the trial as a whole, all processes together, rather than of each stream."""
    of_chain: bool = False
    """Whether it is of each chain of nodes rather than of each stream."""
    of_search: bool = False
    """Whether it is of a capacity search, and has one value a search."""
    lower_is_better: bool = True
    is_usual: bool = True
    """Whether it is compared where no metric is named."""
    observed_by: Observation | None = None
    """The observation in whose trials it is measured; None for a metric of every trial."""
    is_long: bool = False
    """Whether it is a time that is shown in milliseconds rather than in microseconds."""

    @property
    def is_share(self) -> bool:
        """Whether it is a share of messages: over trials one of all their messages, and compared by differences."""
        return self.dimension is Dimension.SHARE

    def key(self, name: str) -> Key:
        """The key of its values for a stream or a chain."""
        if self.of_trial:
            return Key(TRIAL, self.stored_name)
        return Key(chain_subject(name) if self.of_chain else stream_subject(name), self.stored_name)


def _observed(
    name: str, stored_name: str, dimension: Dimension, observed_by: Observation, *, of_trial: bool = True
) -> Metric:
    """A metric of the trials with an observation, which is compared only where it is named."""
    return Metric(name, stored_name, dimension, of_trial=of_trial, is_usual=False, observed_by=observed_by)


_unusual = partial(Metric, is_usual=False)
"""One that is compared only where it is named."""
CAPACITY = "capacity_bytes_per_s"
"""The sustained payload per second: one value per search, whether rates or sizes were searched."""
PLAIN = (
    Metric("first_message", "first_message_ns", Dimension.TIME, of_trial=True, is_long=True),
    _unusual("first_full_message", "first_full_message_ns", Dimension.TIME, of_trial=True, is_long=True),
    _unusual("matched", "matched_ns", Dimension.TIME, of_trial=True, is_long=True),
    _unusual("handshake", "handshake_ns", Dimension.TIME, of_trial=True, is_long=True),
    Metric("start_up", "start_up_ns", Dimension.TIME, of_trial=True),
    Metric("deadline_missed", "deadline_missed_share", Dimension.SHARE, of_chain=True),
    Metric("loss", "loss_share", Dimension.SHARE),
    Metric("unanswered", "unanswered_share", Dimension.SHARE),
    Metric("undelivered", "undelivered_share", Dimension.SHARE),
    Metric("goodput", "goodput_bytes_per_s", Dimension.BYTES_PER_S, lower_is_better=False),
    _unusual("capacity", CAPACITY, Dimension.BYTES_PER_S, of_trial=True, of_search=True, lower_is_better=False),
    Metric("cpu", "cpu_percent_of_core", Dimension.PERCENT_OF_CORE, of_trial=True),
    Metric("memory", "peak_memory_bytes", Dimension.BYTES, of_trial=True),
    _observed("kernel_share", "path_typical_kernel_share", Dimension.FRACTION, Observation.KERNEL_PATH, of_trial=False),
    _observed("tcp_share", "tcp_share", Dimension.SHARE, Observation.KERNEL_PATH),
    _observed("cpu_per_message", "cpu_per_message_ns", Dimension.TIME, Observation.RESOURCES),
    _observed("wire_to_payload", "wire_overhead_ratio", Dimension.NUMBER, Observation.WIRE),
)
USUAL_QUANTILES = (
    *("median(latency)", "p99(latency)", "p99(latency_from_intended)", "median(round_trip)", "p99(round_trip)"),
    *("median(end_to_end)", "p99(end_to_end)"),
)
"""Compared where no metric is named."""
SHARES_OF_MESSAGES = {metric.stored_name for metric in PLAIN if metric.is_share} | {
    *("after_window_share", "missing_share", "passed_over_share", "overflowed_share", "stale_share", "skipped_share"),
    "set_aside_share",
}
"""Shares that are pooled over the messages of all trials, not medians of shares; some have no written name."""

_CALL = re.compile(r"\s*(?P<level>[a-z0-9]+)\s*\(\s*(?P<what>[a-z_]+)\s*\)\s*")


def metric_named(written: str) -> Metric:
    """The metric of a name; refuses an unknown name, with the known ones."""
    call = _CALL.fullmatch(written)
    try:
        return metric_of(call["level"], call["what"]) if call else metric_of(None, written.strip())
    except PydanticCustomError as error:
        context = error.context or {}
        raise UsageError(context["problem"], remedy=f"metrics: {context['allowed']}") from error


def metric_of(level: str | None, quantity: str) -> Metric:
    """The metric of a name's parts; refuses an unknown name, with the known ones, as a suite's errors do."""
    plain = next((metric for metric in PLAIN if metric.name == quantity), None)
    if level is None and plain is not None:
        return plain
    if level is None or quantity not in DISTRIBUTIONS:
        names = [f"p99({name})" for name in DISTRIBUTIONS] + [metric.name for metric in PLAIN]
        written = quantity if level is None else f"{level}({quantity})"
        raise refusal(f"`{written}` is no metric", allowed=closest_first(written, names))
    level = "median" if level == "p50" else level
    if level not in LEVEL_NAMES:
        problem = f"`{level}({quantity})`: there is no `{level}`"
        raise refusal(problem, allowed=f"before the bracket: {', '.join(LEVEL_NAMES)}")
    kind = DISTRIBUTIONS[quantity]
    stored_name = moment_metric(kind, level) if level in MOMENTS else quantile_metric(kind, _stored_level(level))
    dimension = Dimension.NUMBER if level == "kurtosis" else Dimension.TIME
    name = f"{level}({quantity})"
    return Metric(name, stored_name, dimension, of_chain=kind in OF_CHAINS, is_usual=name in USUAL_QUANTILES)


def _stored_level(level: str) -> str:
    return "p50" if level == "median" else level


def usual_metrics() -> list[Metric]:
    """The metrics to compare where none is named: of streams, then of chains, then of trials."""
    every = [*map(metric_named, USUAL_QUANTILES), *(metric for metric in PLAIN if metric.is_usual)]
    return sorted(every, key=lambda metric: (metric.of_trial, metric.of_chain))


def quantile_metric(kind: Distribution, level: str) -> str:
    """The name of a quantile's metric."""
    return f"{kind}_{level}_ns"


def moment_metric(kind: Distribution, moment: str) -> str:
    """The name of the metric of one of `MOMENTS`."""
    return f"{kind}_{moment}_{MOMENTS[moment]}"


def metrics_of_distribution(kind: Distribution) -> tuple[str, ...]:
    """The names of all metrics of a distribution."""
    quantiles = (quantile_metric(kind, level) for level in ("min", *LEVELS, "max"))
    return (*quantiles, *(moment_metric(kind, moment) for moment in MOMENTS))


def stream_subject(name: str) -> str:
    """The subject for a stream."""
    return f"stream:{name}"


def flow_subject(stream: str, publisher: int, subscriber: int) -> str:
    """The subject for one publisher's messages at one subscriber, both as the stream counts them."""
    return f"flow:{stream}/{publisher}/{subscriber}"


def chain_subject(name: str) -> str:
    """The subject for a chain of nodes."""
    return f"chain:{name}"


def chain_position_subject(chain: str, position: int) -> str:
    """The subject for the node at a position of a chain, with the message to it."""
    return f"chain:{chain}/{position}"


def node_subject(name: str) -> str:
    """The subject for a node."""
    return f"node:{name}"


def distribution_subject(name: str, kind: Distribution) -> str:
    """The subject of a distribution, from the name of its stream or chain."""
    return chain_subject(name) if kind in OF_CHAINS else stream_subject(name)


def process_subject(name: str) -> str:
    """The subject for a process."""
    return f"process:{name}"


def host_subject(name: str) -> str:
    """The subject for a host that is another machine."""
    return f"host:{name}"
