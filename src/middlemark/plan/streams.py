"""Streams of an experiment, and nodes and chains of a pipeline, in the worker contract's words and units.

Every value is fixed but addresses and seeds, which belong to a trial. Nothing is chosen here: `resolve`, `pipeline` and
`demand` choose.
"""

import math
from bisect import bisect_left
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from middlemark.suite import Arrival, Congestion, Durability, Model, Readiness, Reliability
from middlemark.suite.yaml.model import Count, Hertz, Index, Name, Nanoseconds, StreamName

_MOST_MESSAGES = 2**32 - 1
# No middleware is faster than these, so that accounting is always reserved for enough messages.
_FASTEST_UNTHROTTLED_HZ = 10e6
_FASTEST_PING_PONG_HZ = 2e6
_FASTEST_COMPUTED_HZ = 1e6


class _Pattern(Model):
    """What metrics must know of a pattern, where it differs from most."""

    is_scheduled: ClassVar[bool] = False
    """Whether it has a rate of its own, so that every message is due at some instant."""
    has_answers: ClassVar[bool] = False
    """Whether its messages are questions, and what its users wait for the answers."""
    is_self_paced: ClassVar[bool] = False
    """Whether its publishers go on as soon as they can, and so may have sent their last before the window ends."""
    is_slowed_by_refusals: ClassVar[bool] = False
    """Whether a refusal only slows its publishers down: no message was to be sent at that instant."""


class Periodic(_Pattern):
    """An absolute schedule, open loop."""

    is_scheduled = True

    kind: Literal["periodic"] = "periodic"
    rate_hz: Hertz
    arrival: Arrival

    def most_messages(self, window_ns: int) -> int:
        """The most messages of one publisher within a window."""
        mean = self.rate_hz * window_ns / 1e9
        spread = 8 * math.sqrt(mean) + 16 if self.arrival is Arrival.POISSON else 1
        return math.ceil(mean + spread)


class Burst(_Pattern):
    """`messages` at one intended instant, `rate_hz` times a second."""

    is_scheduled = True

    kind: Literal["burst"] = "burst"
    rate_hz: Hertz
    messages: Count

    def most_messages(self, window_ns: int) -> int:
        """The most messages of one publisher within a window."""
        return self.messages * math.ceil(self.rate_hz * window_ns / 1e9 + 1)


class Unthrottled(_Pattern):
    """As fast as the middleware accepts, until the window ends or `messages` are sent."""

    is_self_paced = True
    is_slowed_by_refusals = True

    kind: Literal["unthrottled"] = "unthrottled"
    approach_hz: Hertz
    messages: Count | None

    def most_messages(self, window_ns: int) -> int:
        """The most messages of one publisher within a window."""
        return self.messages or math.ceil(_FASTEST_UNTHROTTLED_HZ * window_ns / 1e9)


class PingPong(_Pattern):
    """A message, then its answers from every subscriber, then the next message."""

    has_answers = True
    is_self_paced = True

    kind: Literal["ping_pong"] = "ping_pong"
    approach_hz: Hertz
    answer_bytes: Count
    interval_ns: Nanoseconds
    patience_ns: Nanoseconds
    messages: Count | None

    def most_messages(self, window_ns: int) -> int:
        """The most messages of one publisher within a window."""
        by_interval = 1e9 / self.interval_ns if self.interval_ns else _FASTEST_PING_PONG_HZ
        return self.messages or math.ceil(min(by_interval, _FASTEST_PING_PONG_HZ) * window_ns / 1e9 + 1)


class Computed(_Pattern):
    """A node sends one at the end of each execution."""

    kind: Literal["computed"] = "computed"
    rate_hz: Hertz | None
    """At most, in the long run; None where nothing bounds it."""

    def most_messages(self, window_ns: int) -> int:
        """The most messages of one publisher within a window, those included that were under way when it opened."""
        rate_hz = _FASTEST_COMPUTED_HZ if self.rate_hz is None else self.rate_hz
        return math.ceil(2 * rate_hz * window_ns / 1e9) + 1_000


StreamPattern = Annotated[Periodic | Burst | Unthrottled | PingPong | Computed, Field(discriminator="kind")]


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


class Stream(Model):
    """One topic from its publishers to its subscribers."""

    name: StreamName
    size_bytes: Count
    """Of each message; of the largest where they were recorded."""
    pattern: StreamPattern
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


class ConstantTime(Model):
    """Each execution computes as long."""

    kind: Literal["constant"] = "constant"
    time_ns: Nanoseconds


class UniformTime(Model):
    """Every time between two, alike."""

    kind: Literal["uniform"] = "uniform"
    minimum_ns: Nanoseconds
    maximum_ns: Nanoseconds


class NormalTime(Model):
    """A normal distribution."""

    kind: Literal["normal"] = "normal"
    mean_ns: Nanoseconds
    deviation_ns: Nanoseconds


class LognormalTime(Model):
    """A lognormal distribution, by mean and deviation of the time itself."""

    kind: Literal["lognormal"] = "lognormal"
    mean_ns: Nanoseconds
    deviation_ns: Nanoseconds


ComputeTime = Annotated[ConstantTime | UniformTime | NormalTime | LognormalTime, Field(discriminator="kind")]


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
