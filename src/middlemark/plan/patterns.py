"""How a stream's messages are produced, in the worker contract's words and units, and how long a program computes.

The models, what metrics must know of a pattern, and how a suite's workload becomes one. Seeds belong to a trial.
"""

import math
from typing import Annotated, ClassVar, Literal, assert_never

from pydantic import Field

from middlemark.suite import Arrival, Compute, Distribution, Model, Pattern, Workload
from middlemark.suite.yaml.model import Count, Hertz, Nanoseconds

DEFAULT_APPROACH_HZ = 100.0
_DEFAULT_PATIENCE_NS = 1_000_000_000
_DEFAULT_TIMEOUT_NS = 1_000_000_000
_DEFAULT_OUTSTANDING = 64
"""Of requests at a rate."""
# No middleware is faster than these, so that accounting is always reserved for enough messages.
_FASTEST_UNTHROTTLED_HZ = 10e6
_FASTEST_PING_PONG_HZ = 2e6
_FASTEST_COMPUTED_HZ = 1e6


WORD = 2**64 - 1
"""The largest number that a generator of random numbers has as its state."""
_APART = 0xA076_1D64_78BD_642F
"""What a publisher's generator is apart from that of the one before."""


def publisher_seed(seed: int, publisher: int) -> int:
    """What one of a stream's publishers draws from, as workers reckon it from the trial's seed."""
    return (seed + publisher * _APART) & WORD


class ConstantTime(Model):
    """Each execution computes as long."""

    kind: Literal["constant"] = "constant"
    time_ns: Nanoseconds


class UniformTime(Model):
    """Every time between two, alike."""

    kind: Literal["uniform"] = "uniform"
    minimum_ns: Nanoseconds
    maximum_ns: Nanoseconds


class ExponentialTime(Model):
    """An exponential distribution."""

    kind: Literal["exponential"] = "exponential"
    mean_ns: Nanoseconds


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


ComputeTime = Annotated[
    ConstantTime | UniformTime | ExponentialTime | NormalTime | LognormalTime, Field(discriminator="kind")
]


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

    @property
    def bytes_of_answer(self) -> int:
        """The size of an answer; 0 where there is none."""
        return 0


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

    @property
    def bytes_of_answer(self) -> int:
        """The size of an answer."""
        return self.answer_bytes


class _Requests(_Pattern):
    """Requests to a server and their responses; publishers are the clients, subscribers the servers."""

    has_answers = True

    response_bytes: Count
    outstanding: Count
    timeout_ns: Nanoseconds
    server_time: ComputeTime

    @property
    def bytes_of_answer(self) -> int:
        """The size of a response."""
        return self.response_bytes


class OpenRequests(_Requests):
    """By an absolute schedule, open loop; one that would be one too many under way is refused by its client."""

    is_scheduled = True

    kind: Literal["open_requests"] = "open_requests"
    rate_hz: Hertz
    arrival: Arrival

    def most_messages(self, window_ns: int) -> int:
        """The most requests of one client within a window."""
        return Periodic(rate_hz=self.rate_hz, arrival=self.arrival).most_messages(window_ns)


class ClosedRequests(_Requests):
    """As many under way at any time as may be: the next when a response has come, or a timeout."""

    is_self_paced = True

    kind: Literal["closed_requests"] = "closed_requests"
    approach_hz: Hertz

    def most_messages(self, window_ns: int) -> int:
        """The most requests of one client within a window."""
        return math.ceil(_FASTEST_PING_PONG_HZ * window_ns / 1e9 + 1)


class Computed(_Pattern):
    """A node sends one at the end of each execution."""

    kind: Literal["computed"] = "computed"
    rate_hz: Hertz | None
    """At most, in the long run; None where nothing bounds it."""

    def most_messages(self, window_ns: int) -> int:
        """The most messages of one publisher within a window, those included that were under way when it opened."""
        rate_hz = _FASTEST_COMPUTED_HZ if self.rate_hz is None else self.rate_hz
        return math.ceil(2 * rate_hz * window_ns / 1e9) + 1_000


Requests = OpenRequests | ClosedRequests
StreamPattern = Annotated[
    Periodic | Burst | Unthrottled | PingPong | OpenRequests | ClosedRequests | Computed, Field(discriminator="kind")
]


def planned_compute(requested: Compute | None) -> ComputeTime:
    """How long something computes; no time at all where nothing is requested."""
    if requested is None:
        return ConstantTime(time_ns=0)
    mean, deviation = requested.mean or 0, requested.deviation or 0
    match requested.distribution:
        case Distribution.UNIFORM:
            return UniformTime(minimum_ns=requested.minimum or 0, maximum_ns=requested.maximum or 0)
        case Distribution.EXPONENTIAL:
            return ExponentialTime(mean_ns=mean)
        case Distribution.NORMAL:
            return NormalTime(mean_ns=mean, deviation_ns=deviation)
        case Distribution.LOGNORMAL:
            return LognormalTime(mean_ns=mean, deviation_ns=deviation)
        case _:
            return ConstantTime(time_ns=requested.constant or 0)


def planned_pattern(workload: Workload, size_bytes: int, given_hz: float | None) -> StreamPattern:
    """How messages of this size are produced, at the rate where one is given."""
    rate_hz = given_hz or 0.0
    approach_hz = workload.approach or DEFAULT_APPROACH_HZ
    match workload.pattern:
        case Pattern.BURST:
            return Burst(rate_hz=rate_hz, messages=workload.messages or 1)
        case Pattern.UNTHROTTLED:
            return Unthrottled(approach_hz=approach_hz, messages=workload.messages)
        case Pattern.PING_PONG:
            return PingPong(
                approach_hz=approach_hz,
                answer_bytes=workload.answer or size_bytes,
                interval_ns=workload.interval or 0,
                patience_ns=workload.patience or _DEFAULT_PATIENCE_NS,
                messages=workload.messages,
            )
        case Pattern.REQUEST_RESPONSE:
            return _requests(workload, size_bytes, given_hz)
        case Pattern.PERIODIC | Pattern.CAPACITY | Pattern.PIPELINE | None:
            return Periodic(rate_hz=rate_hz, arrival=workload.arrival or Arrival.FIXED)
        case _:
            assert_never(workload.pattern)


def _requests(workload: Workload, size_bytes: int, rate_hz: float | None) -> Requests:
    both = {
        "response_bytes": workload.response or size_bytes,
        "outstanding": workload.outstanding or (1 if rate_hz is None else _DEFAULT_OUTSTANDING),
        "timeout_ns": timeout_ns(workload),
        "server_time": planned_compute(workload.server_time),
    }
    if rate_hz is None:
        return ClosedRequests.model_validate(both | {"approach_hz": workload.approach or DEFAULT_APPROACH_HZ})
    return OpenRequests.model_validate(both | {"rate_hz": rate_hz, "arrival": workload.arrival or Arrival.FIXED})


def timeout_ns(workload: Workload) -> int:
    """After which a request of it counts as unanswered."""
    return _DEFAULT_TIMEOUT_NS if workload.timeout is None else workload.timeout
