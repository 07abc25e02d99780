"""Nodes and chains of an experiment with every figure fixed, in the worker contract's words and units.

Only seeds are left open, which belong to a trial. `pipeline` makes them of a workload; nothing here chooses.
"""

from typing import Annotated, Literal

from pydantic import Field

from middlemark.suite import Model, Readiness


class Source(Model):
    """It has no input and runs by an absolute schedule."""

    kind: Literal["source"] = "source"
    rate_hz: float


class UnthrottledSource(Model):
    """It has no input and runs again as soon as its last execution is over."""

    kind: Literal["unthrottled"] = "unthrottled"
    approach_hz: float


class Timer(Model):
    """It runs when its timer fires."""

    kind: Literal["timer"] = "timer"
    rate_hz: float


class OnMessage(Model):
    """It runs when messages come."""

    kind: Literal["message"] = "message"
    when: Readiness


Trigger = Annotated[Source | UnthrottledSource | Timer | OnMessage, Field(discriminator="kind")]


class ConstantTime(Model):
    """Each execution computes as long."""

    kind: Literal["constant"] = "constant"
    time_ns: int


class UniformTime(Model):
    """Every time between two, alike."""

    kind: Literal["uniform"] = "uniform"
    minimum_ns: int
    maximum_ns: int


class NormalTime(Model):
    """A normal distribution."""

    kind: Literal["normal"] = "normal"
    mean_ns: int
    deviation_ns: int


class LognormalTime(Model):
    """A lognormal distribution, by mean and deviation of the time itself."""

    kind: Literal["lognormal"] = "lognormal"
    mean_ns: int
    deviation_ns: int


ComputeTime = Annotated[ConstantTime | UniformTime | NormalTime | LognormalTime, Field(discriminator="kind")]


class TakeNewest(Model):
    """The newest message is taken, those before it are passed over."""

    kind: Literal["newest"] = "newest"


class TakeQueue(Model):
    """Messages are taken in their order; as many may wait."""

    kind: Literal["queue"] = "queue"
    capacity: int


class NodeInput(Model):
    """One stream that a node reads."""

    stream: str
    subscriber: int
    """Its place in the stream's `subscribers`."""
    take: Annotated[TakeNewest | TakeQueue, Field(discriminator="kind")]


class Node(Model):
    """One node."""

    name: str
    application: str
    trigger: Trigger
    compute: ComputeTime
    inputs: tuple[NodeInput, ...] = ()
    outputs: tuple[str, ...] = ()
    """The streams that it sends, in their order; it is their only publisher."""


class Chain(Model):
    """A path of nodes, with the streams between them."""

    name: str
    nodes: tuple[str, ...]
    streams: tuple[str, ...]
    """One fewer than nodes."""
    deadline_ns: int | None = None
