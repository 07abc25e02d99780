"""One stream of one trial as its metrics need it: its shape, its samples, what became of its messages.

`metrics` makes these of a trial's files; `rates` and `metrics` ask them. It computes no figure.
"""

from __future__ import annotations

from dataclasses import dataclass

from middlemark.analysis.accounting import Flow
from middlemark.plan import Experiment
from middlemark.results.record import PublisherCounts, Window
from middlemark.results.streaming import Frame


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
