"""What a comparison is made of: the load that both sides bear, where they run, what comes out, and what a peer is.

It starts nothing and computes nothing; `ours` and the modules of the tools make a `Measured`, `ratios` compares two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from middlemark.suite import Delivery, Pattern, Reliability

WARM_UP_S = 0.5
"""Peers run for so long before anything counts, as our trials do."""


class Cores(StrEnum):
    """On which cores the two ends run."""

    ONE = "one core"
    TWO = "two awake cores"


class Metric(StrEnum):
    """What is compared; the name ends in the unit."""

    MEDIAN = "round_trip_p50_ns"
    P99 = "round_trip_p99_ns"
    RATE = "rate_hz"
    UNFILLED = "rate_unfilled_at_most_hz"
    """A flood's, if filling its messages took no time; of a peer that fills none it is the rate."""
    CPU = "cpu_ns_per_message"


Measured = Mapping[Metric, float]


@dataclass(frozen=True)
class Load:
    """What both sides do."""

    pattern: Pattern
    size_bytes: int
    delivery: Delivery
    reliability: Reliability = Reliability.BEST_EFFORT

    def __str__(self) -> str:
        reliability = self.reliability.value.replace("_", " ")
        return f"{self.pattern.value} {self.size_bytes} B, {reliability}, {self.delivery.value}"


@dataclass(frozen=True)
class Site:
    """The CPUs of the end that answers or receives, and of the one that asks or sends."""

    cores: Cores
    receiver: int
    sender: int

    @property
    def service(self) -> int:
        """The CPU of a broker or routing manager: left to the scheduler it wanders, and the cost of a message too."""
        return self.receiver


@dataclass(frozen=True)
class Command:
    """One process of a peer."""

    argv: tuple[str, ...]
    cpus: tuple[int, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    ends_with_input: bool = False
    """Whether it removes what it made and ends, once its standard input does; others end with a signal."""


@dataclass(frozen=True)
class Session:
    """The processes of one measurement in the order of their start, and which of them says what was measured."""

    commands: tuple[Command, ...]
    speaker: int
    read: Callable[[str], Measured]
    """From what the speaker wrote to all metrics but the CPU's."""
    preparing_s: float = WARM_UP_S
    """How long after its ends became busy, or said that they begin, it is under the load that is measured."""
    announced_by: str = ""
    """What the speaker writes when it begins; empty where it writes nothing, and being busy has to show it."""


@dataclass(frozen=True)
class Peer:
    """What a user would pick instead."""

    name: str
    missing: Callable[[], str | None]
    """Why it can't run here, with the remedy; None where it can."""
    session: Callable[[Load, Site, float, Path], Session]
    """For so many seconds, with an empty folder of its own."""


@dataclass(frozen=True)
class Pair:
    """One of our workers and a peer under the same load."""

    middleware: str
    peer: Peer
    load: Load
    options: Mapping[str, object] = field(default_factory=dict)
    """Of our worker, so that its configuration is the peer's."""
    cores: tuple[Cores, ...] = tuple(Cores)
    counts_sent: bool = False
    """Whether the peer's rate is of what was sent, not of what arrived."""
    qos: Mapping[str, object] = field(default_factory=dict)
    """What our worker is asked for beside reliability, so that it keeps for a slow receiver what the peer keeps."""
    waits: bool = False
    """Whether the peer's publish call waits for room where ours as shipped would refuse the message and go on."""

    @property
    def name(self) -> str:
        """As the command line takes it."""
        return f"{self.middleware}/{self.peer.name}"
