"""Streams of an experiment, and nodes and chains of a pipeline, in the worker contract's words and units.

Every value is fixed but addresses and seeds, which belong to a trial. Nothing is chosen here: `resolve`, `pipeline` and
`demand` choose.
"""

from bisect import bisect_left
from collections.abc import Iterator
from itertools import product
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from middlemark.plan.patterns import ComputeTime, Requests, StreamPattern
from middlemark.suite import Congestion, Durability, Model, Payload, Readiness, Reliability, Serialisation
from middlemark.suite.yaml.model import Count, Hertz, Index, Name, Nanoseconds, StreamName

_MOST_MESSAGES = 2**32 - 1


class KeepLast(Model):
    """The newest `depth` messages are kept: a newer one overwrites the oldest."""

    kind: Literal["keep_last"] = "keep_last"
    depth: Count


class KeepAll(Model):
    """All messages are kept that there is room for: none is overwritten."""

    kind: Literal["keep_all"] = "keep_all"


class StreamQos(Model):
    """What is requested of delivery."""

    reliability: Reliability
    history: Annotated[KeepLast | KeepAll, Field(discriminator="kind")]
    durability: Durability
    congestion: Congestion
    patience_ns: Nanoseconds | None = None
    """How long a publish call may wait under `block`; None in a run from before it was asked for."""
    queue_bytes: Count | None = None
    """The most that may be queued for one slow receiver under `keep_all`; None as above."""
    level: Annotated[int, Field(ge=0, le=2)] | None


class Recorded(Model):
    """The instants and sizes of a stream's messages, from the beginning; after the period they begin again."""

    offsets_ns: Annotated[tuple[Nanoseconds, ...], Field(min_length=1)]
    sizes_bytes: Annotated[tuple[Count, ...], Field(min_length=1)]
    period_ns: Annotated[int, Field(ge=1, le=2**62)]

    def most_messages(self, window_ns: int) -> int:
        """The messages of one publisher within a window."""
        whole, rest_ns = divmod(window_ns, self.period_ns)
        return whole * len(self.offsets_ns) + bisect_left(self.offsets_ns, rest_ns)


class TypedPayload(Model):
    """What messages hold in place of octets."""

    kind: Payload
    serialisation: Serialisation | None = None
    """None leaves it to the worker."""


class Stream(Model):
    """Messages from publishers to subscribers: on one topic of all of them, or on several alike ones."""

    name: StreamName
    topics: Annotated[int, Field(ge=1)] | None = None
    """On how many topics it is sent, each from the publisher to the subscriber of its number; None for one topic
    of all publishers and subscribers."""
    size_bytes: Count
    """Of each message; of the largest where they were recorded."""
    pattern: StreamPattern
    payload: TypedPayload | None = None
    """None where messages hold octets."""
    recorded: Recorded | None = None
    """Of a periodic stream: the messages as they were recorded, in place of equal intervals and one size."""
    qos: StreamQos
    publishers: tuple[Name, ...]
    """The application of each publisher, by the publisher's index."""
    subscribers: tuple[Name, ...]
    """The application of each subscriber, by the subscriber's index."""

    def most_messages(self, window_ns: int) -> int:
        """The most messages that one publisher may send within the window."""
        schedule = self.pattern if self.recorded is None else self.recorded
        return min(schedule.most_messages(window_ns), _MOST_MESSAGES)

    def pairs(self) -> Iterator[tuple[int, int]]:
        """The indices of each publisher with each subscriber that its messages are for.

        On several topics these are those of the topic; client k asks server k modulo the number of servers alone.
        """
        if self.topics is not None:
            return ((number, number) for number in range(self.topics))
        if isinstance(self.pattern, Requests):
            return ((client, client % len(self.subscribers)) for client in range(len(self.publishers)))
        return product(range(len(self.publishers)), range(len(self.subscribers)))

    @model_validator(mode="after")
    def _has_both_ends_of_each_topic(self) -> Self:
        if self.topics is not None and {len(self.publishers), len(self.subscribers)} != {self.topics}:
            raise ValueError(f"{self.name} is sent on {self.topics} topics, each with one publisher and one subscriber")
        return self

    def message_bytes(self, sequence: int) -> int:
        """The size of one message, by its place in the window."""
        sizes_bytes = (self.size_bytes,) if self.recorded is None else self.recorded.sizes_bytes
        return sizes_bytes[sequence % len(sizes_bytes)]

    @property
    def mean_bytes(self) -> float:
        """The mean size of its messages."""
        sizes_bytes = (self.size_bytes,) if self.recorded is None else self.recorded.sizes_bytes
        return sum(sizes_bytes) / len(sizes_bytes)


class Source(Model):
    """It has no input and runs by an absolute schedule."""

    kind: Literal["source"] = "source"
    rate_hz: Hertz


class UnthrottledSource(Model):
    """It has no input and runs again as soon as its last execution is over."""

    kind: Literal["unthrottled"] = "unthrottled"
    approach_hz: Hertz


class Timer(Model):
    """It runs when its timer fires."""

    kind: Literal["timer"] = "timer"
    rate_hz: Hertz


class OnMessage(Model):
    """It runs when messages come."""

    kind: Literal["message"] = "message"
    when: Readiness


Trigger = Annotated[Source | UnthrottledSource | Timer | OnMessage, Field(discriminator="kind")]


class TakeNewest(Model):
    """The newest message is taken, those before it are passed over."""

    kind: Literal["newest"] = "newest"


class TakeQueue(Model):
    """Messages are taken in their order; as many may wait."""

    kind: Literal["queue"] = "queue"
    capacity: Count


class NodeInput(Model):
    """One stream that a node reads: a suite's `NodeInput` with its place among the subscribers and how it takes."""

    stream: StreamName
    subscriber: Index
    """Its place in the stream's `subscribers`."""
    take: Annotated[TakeNewest | TakeQueue, Field(discriminator="kind")]


class Node(Model):
    """One node: a suite's `Node` in its application, with what makes it run."""

    name: Name
    application: Name
    trigger: Trigger
    compute: ComputeTime
    inputs: tuple[NodeInput, ...] = ()
    outputs: tuple[StreamName, ...] = ()
    """The streams that it sends, in their order; it is their only publisher."""


class Chain(Model):
    """A path of nodes: a suite's `Chain` with the streams between them."""

    name: Name
    nodes: tuple[Name, ...]
    streams: tuple[StreamName, ...]
    """One fewer than nodes."""
    deadline_ns: Nanoseconds | None = None
