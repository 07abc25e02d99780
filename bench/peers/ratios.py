"""From the values of both sides, block by block, to a ratio, its interval and whether the goal is met.

The intervals are the product's own, of a median between order statistics; it measures nothing and prints nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from middlemark.analysis.stats.intervals import coverage, median_interval
from peer import Cores, Metric

MOST_ABOVE = 1.03
"""Of the peer's median and 99th percentile, between two awake cores."""
LEAST_RATE = 0.97
MOST_BEYOND_NS = 1000.0
"""On one core a round trip may take so much longer than the peer's."""

LEAST_COVERAGE = 0.9
"""Of an interval that decides: five blocks."""


class Goal(StrEnum):
    """Whether it is met: by the whole interval, by none of it, or by a part."""

    MET = "met"
    MISSED = "missed"
    OPEN = "open"
    NONE = "none"


@dataclass(frozen=True)
class Spread:
    """A median over blocks and its interval, which holds the true one with probability `coverage`."""

    median: float
    low: float
    high: float
    coverage: float


@dataclass(frozen=True)
class Compared:
    """One metric of one pair at one place."""

    metric: Metric
    ours: tuple[float, ...]
    peers: tuple[float, ...]
    ratio: Spread
    beyond: Spread
    """Ours minus the peer's."""
    goal: Goal


def compared(metric: Metric, cores: Cores, ours: Sequence[float], peers: Sequence[float]) -> Compared:
    """Values of the same place belong to the same block."""
    own, others = np.asarray(ours, dtype=np.float64), np.asarray(peers, dtype=np.float64)
    if own.shape != others.shape or not own.size:
        raise ValueError(f"{own.size} values of ours beside {others.size} of the peer's")
    ratio, beyond = spread(own / others), spread(own - others)
    return Compared(metric, tuple(ours), tuple(peers), ratio, beyond, judged(metric, cores, ratio, beyond))


def spread(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Spread:
    """Of one value a block."""
    low, high = median_interval(values)
    return Spread(float(np.median(values)), low, high, coverage(len(values)))


def judged(metric: Metric, cores: Cores, ratio: Spread, beyond: Spread) -> Goal:
    """Against the goal of this metric at this place; too few blocks decide nothing."""
    goal = _against(metric, cores, ratio, beyond)
    return Goal.OPEN if goal is not Goal.NONE and ratio.coverage < LEAST_COVERAGE else goal


def _against(metric: Metric, cores: Cores, ratio: Spread, beyond: Spread) -> Goal:
    match metric, cores:
        case Metric.RATE, _:
            return _within(-ratio.high, -ratio.low, -LEAST_RATE)
        case ((Metric.MEDIAN | Metric.P99), Cores.TWO):
            return _within(ratio.low, ratio.high, MOST_ABOVE)
        case Metric.MEDIAN, Cores.ONE:
            return _within(beyond.low, beyond.high, MOST_BEYOND_NS)
    return Goal.NONE


def _within(low: float, high: float, most: float) -> Goal:
    if high <= most:
        return Goal.MET
    return Goal.MISSED if low > most else Goal.OPEN
