"""How far another machine's clock is from this one's, estimated from questions and answers; pure.

The other clock was read at some instant between a question and its answer, so each exchange says between which two
figures the offset lies, whatever the ways there and back take; together they say it more narrowly. `clock_offset` asks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

# Faster than this no clock runs away from another: Linux slews at most 500 ppm, to each side (adjtimex(2)).
MOST_DRIFT = 1e-3

Source = Literal["exchanges", "ptp"]


@dataclass(frozen=True)
class Exchange:
    """One question and its answer: this machine's clock before and after, the other's in between."""

    asked_ns: int
    there_ns: int
    answered_ns: int

    @property
    def round_trip_ns(self) -> int:
        """From the question to its answer."""
        return self.answered_ns - self.asked_ns


@dataclass(frozen=True)
class ClockOffset:
    """The other clock minus this one: the truth is at most the bound away from the offset."""

    offset_ns: int
    bound_ns: int
    source: Source = "exchanges"

    @classmethod
    def between(cls, low_ns: float, high_ns: float, source: Source = "exchanges") -> ClockOffset:
        """The narrowest that holds both."""
        middle = round((low_ns + high_ns) / 2)
        return cls(middle, math.ceil(max(high_ns - middle, middle - low_ns, 0)), source)

    @property
    def low_ns(self) -> int:
        """The least that it may be."""
        return self.offset_ns - self.bound_ns

    @property
    def high_ns(self) -> int:
        """The most that it may be."""
        return self.offset_ns + self.bound_ns


def estimate(exchanges: Sequence[Exchange]) -> ClockOffset | None:
    """The offset at the quickest exchange; None where the exchanges contradict each other, as when a clock was set."""
    quickest = min(exchanges, key=lambda each: each.round_trip_ns)
    reference_ns = (quickest.asked_ns + quickest.answered_ns) // 2
    ranges = [_range(exchange, reference_ns) for exchange in exchanges]
    low, high = max(low for low, _ in ranges), min(high for _, high in ranges)
    return None if low > high else ClockOffset.between(low, high)


def _range(exchange: Exchange, reference_ns: int) -> tuple[float, float]:
    """What one exchange allows the offset to be at the reference, while the clocks drift as fast as they may."""
    apart_ns = max(abs(exchange.asked_ns - reference_ns), abs(exchange.answered_ns - reference_ns))
    drift_ns = MOST_DRIFT * apart_ns
    return exchange.there_ns - exchange.answered_ns - drift_ns, exchange.there_ns - exchange.asked_ns + drift_ns


def over_window(before: ClockOffset, after: ClockOffset) -> ClockOffset:
    """One offset for all instants between two estimates, which it holds both: what the clocks drift is in its bound."""
    source: Source = "ptp" if before.source == after.source == "ptp" else "exchanges"
    return ClockOffset.between(min(before.low_ns, after.low_ns), max(before.high_ns, after.high_ns), source)


def by_ptp(exchanged: ClockOffset, here: PtpClock, there: PtpClock) -> ClockOffset:
    """The offset by two clocks that PTP keeps together, where it is narrower than by exchanges and not contradicted."""
    if here.grandmaster != there.grandmaster:
        return exchanged
    # Both count from the same instant of one time scale, so what differs is when each machine's own clock began.
    offset_ns = there.monotonic_ns - there.realtime_ns - (here.monotonic_ns - here.realtime_ns)
    kept = ClockOffset(offset_ns, here.error_ns + there.error_ns, "ptp")
    if kept.bound_ns >= exchanged.bound_ns:
        return exchanged
    contradicted = kept.high_ns < exchanged.low_ns or kept.low_ns > exchanged.high_ns
    return exchanged if contradicted else kept


@dataclass(frozen=True)
class PtpClock:
    """A machine's clocks and what keeps its time of day."""

    grandmaster: str
    monotonic_ns: int
    realtime_ns: int
    error_ns: int
    """How far its time of day may be from the grandmaster's, as far as PTP can see, and how far apart it was read."""
