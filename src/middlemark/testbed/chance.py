"""What chance makes of a probe's figures where the link is exactly what was asked: the bounds that `verdict` judges by.

Counts of frames are binomial. Round trips are drawn, from many pretended probes of the same pings: jitter, frames that
overtake and those that wait for an earlier one shape them together, and no formula holds for all. It judges nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
import scipy

from middlemark.plan.network import Direction

CONFIDENCE = 0.999
"""The share of all links that are as asked which a figure's interval holds; one of 1000 is outside, by chance."""
PROBES = 20_000
"""Pretended ones: ten of them lie beyond either end of an interval."""
_SEED = 1
Interval = tuple[float, float]
Times = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RoundTrips:
    """Of answered pings."""

    median_ns: Interval
    spread_ns: Interval
    """From the least up to the one that 90 % are not above."""


@cache
def frames(of: int, least_share: float, most_share: float) -> tuple[int, int]:
    """How many of so many frames something happens to, by itself to each, with a chance between the two shares."""
    least, _ = scipy.stats.binom.interval(CONFIDENCE, of, least_share)
    _, most = scipy.stats.binom.interval(CONFIDENCE, of, most_share)
    return max(int(least), 0), int(most)


@cache
def round_trips(outgoing: Direction, incoming: Direction, answered: int, interval_ns: int) -> RoundTrips:
    """What the delays of both directions make of pings that leave at an interval."""
    if not any(way.jitter_ns or way.reordering for way in (outgoing, incoming)):
        both_ns = outgoing.delay_ns + incoming.delay_ns
        return RoundTrips(median_ns=(both_ns, both_ns), spread_ns=(0, 0))
    generator = np.random.default_rng(_SEED)
    sent = np.tile(np.arange(answered, dtype=np.float64) * interval_ns, (PROBES, 1))
    times = np.sort(_left(incoming, _left(outgoing, sent, generator), generator) - sent, axis=1)
    return RoundTrips(
        median_ns=_interval(_quantile(times, 0.5)), spread_ns=_interval(_quantile(times, 0.9) - times[:, 0])
    )


def _left(way: Direction, entered: Times, generator: np.random.Generator) -> Times:
    """When each frame leaves a direction: in order, but for those that skip the delay."""
    order = np.argsort(entered, axis=1, kind="stable")
    at = np.take_along_axis(entered, order, axis=1)
    delay_ns = np.maximum(way.delay_ns + way.jitter_ns * generator.uniform(-1, 1, at.shape), 0)
    skips = generator.random(at.shape) < way.reordering
    in_order = np.maximum.accumulate(np.where(skips, at, at + delay_ns), axis=1)
    left = np.empty_like(at)
    np.put_along_axis(left, order, np.where(skips, at, in_order), axis=1)
    return left


def _quantile(times: Times, share: float) -> Times:
    """Of each row by the nearest rank, as the probe takes them."""
    return times[:, math.ceil(share * times.shape[1]) - 1]


def _interval(figures: Times) -> Interval:
    least, most = np.quantile(figures, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(least), float(most)
