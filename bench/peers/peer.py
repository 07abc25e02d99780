"""What a comparison is made of: the load that both sides bear, where they run, what comes out, and what a peer is.

It starts nothing and computes nothing; `ours` and the modules of the tools make a `Measured`, `ratios` compares two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from middlemark.suite import Delivery

WARM_UP_S = 0.5
"""Peers run for so long before anything counts, as our trials do."""


class Placement(StrEnum):
    """Where the two ends run."""

    ONE_CORE = "one core"
    TWO_CORES = "two awake cores"


class Pattern(StrEnum):
    """How messages follow each other, by the names of our suites."""

    PING_PONG = "ping_pong"
    UNTHROTTLED = "unthrottled"


class Metric(StrEnum):
    """What is compared; the name ends in the unit."""

    MEDIAN = "round_trip_p50_ns"
    P99 = "round_trip_p99_ns"
    RATE = "rate_hz"
    CPU = "cpu_ns_per_message"


Measured = Mapping[Metric, float]


@dataclass(frozen=True)
class Load:
    """What both sides do."""

    pattern: Pattern
    size_bytes: int
    delivery: Delivery
    reliable: bool = False

    def __str__(self) -> str:
        reliability = "reliable" if self.reliable else "best effort"
        return f"{self.pattern.value} {self.size_bytes} B, {reliability}, {self.delivery.value}"


@dataclass(frozen=True)
class Site:
    """The CPUs of the end that answers or receives, and of the one that asks or sends."""

    placement: Placement
    receiver: int
    sender: int

    @property
    def cpus(self) -> list[int]:
        """Each once."""
        return sorted({self.receiver, self.sender})


@dataclass(frozen=True)
class Command:
    """One process of a peer."""

    argv: tuple[str, ...]
    cpus: tuple[int, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Session:
    """The processes of one measurement in the order of their start, and which of them says what was measured."""

    commands: tuple[Command, ...]
    speaker: int
    read: Callable[[str], Measured]
    """From what the speaker wrote to all metrics but the CPU's."""
    preparing_s: float = WARM_UP_S
    """How long after the last start it is under the load that is measured."""


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
    placements: tuple[Placement, ...] = tuple(Placement)
    counts_sent: bool = False
    """Whether the peer's rate is of what was sent, not of what arrived."""

    @property
    def name(self) -> str:
        """As the command line takes it."""
        return f"{self.middleware}/{self.peer.name}"
