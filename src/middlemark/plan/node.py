"""Nodes and chains of an experiment with every figure fixed, in the worker contract's words and units.

Only seeds are left open, which belong to a trial. `pipeline` makes them of a workload; nothing here chooses.
"""

from typing import Annotated, Literal

from pydantic import Field

from middlemark.suite import Model, Readiness
from middlemark.suite.bounds import Count, Hertz, Index, Name, Nanoseconds, StreamName


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
    """One stream that a node reads."""

    stream: StreamName
    subscriber: Index
    """Its place in the stream's `subscribers`."""
    take: Annotated[TakeNewest | TakeQueue, Field(discriminator="kind")]


class Node(Model):
    """One node."""

    name: Name
    application: Name
    trigger: Trigger
    compute: ComputeTime
    inputs: tuple[NodeInput, ...] = ()
    outputs: tuple[StreamName, ...] = ()
    """The streams that it sends, in their order; it is their only publisher."""


class Chain(Model):
    """A path of nodes, with the streams between them."""

    name: Name
    nodes: tuple[Name, ...]
    streams: tuple[StreamName, ...]
    """One fewer than nodes."""
    deadline_ns: Nanoseconds | None = None
