"""Whether memory grows: its slope by Theil and Sen, with an interval that autocorrelated samples keep.

The slope is the median of those between all pairs of points (Sen, "Estimates of the regression coefficient based on
Kendall's tau", JASA 63, 1968), which no single leap can bend. His interval supposes independent samples, and memory is
nearer to a random walk: the interval here is from how growth differs among blocks of the window, and growth that lasts
is in both halves. Pure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import scipy

Values: TypeAlias = npt.NDArray[np.float64]
POINTS = 60
"""Of the slope: many samples count as one, their median."""
BLOCKS = 12
"""Of the whole window; each half has half as many. Long ones, so that what they grow by is independent."""
FEWEST_BLOCKS = 3
"""Two differences, without which there is no variance."""
WORKING = 1.5
"""By how much the variance of a mean is larger where neighbours are correlated by 1/4, as the differences between
averages of a random walk are (Working, "Note on the correlation of first differences of averages in a random chain",
Econometrica 28, 1960); those of independent samples are correlated negatively, and the interval is on the safe side."""
CONFIDENCE = 0.95
OF_HALF = 0.8
"""The confidence of each half's interval: one in ten is wholly above nothing by chance, so both are in one of a
hundred."""
LEAST_SPAN_S = 60.0
"""Allocators and queues take seconds to settle: growth over less than this says nothing of a leak."""


@dataclass(frozen=True)
class Slope:
    """In bytes a second, with its interval of 95 %."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Growth:
    """How memory went over a window."""

    slope: Slope
    lasts: bool | None
    """Whether it grew in the window's first half and in its second; None where the window is too short to tell."""


def growth(at_s: Values, size_bytes: Values) -> Growth | None:
    """Of samples in the order of time; None where there are too few for an interval."""
    if len(at_s) < FEWEST_BLOCKS:
        return None
    span_s = float(at_s[-1] - at_s[0])
    whole = _slope(at_s, size_bytes, BLOCKS, CONFIDENCE)
    is_early = at_s < at_s[0] + span_s / 2
    if span_s < LEAST_SPAN_S or min(is_early.sum(), (~is_early).sum()) < FEWEST_BLOCKS:
        return Growth(whole, None)
    halves = [_slope(at_s[half], size_bytes[half], BLOCKS // 2, OF_HALF) for half in (is_early, ~is_early)]
    return Growth(whole, all(half.low > 0 for half in halves))


def _slope(at_s: Values, size_bytes: Values, n_blocks: int, confidence: float) -> Slope:
    value = float(scipy.stats.theilslopes(*_middles(at_s, size_bytes, POINTS)).slope)
    sizes, instants = _middles(at_s, size_bytes, n_blocks)
    rates = np.diff(sizes) / np.diff(instants)
    student = float(scipy.stats.t.ppf((1 + confidence) / 2, len(rates) - 1))
    reach = student * math.sqrt(WORKING * float(np.var(rates, ddof=1)) / len(rates))
    return Slope(value, value - reach, value + reach)


def _middles(at_s: Values, size_bytes: Values, n_parts: int) -> tuple[Values, Values]:
    """The medians of equally many samples each: sizes, instants."""
    parts = np.array_split(np.arange(len(at_s)), min(n_parts, len(at_s)))
    return (
        np.array([float(np.median(size_bytes[part])) for part in parts]),
        np.array([float(np.median(at_s[part])) for part in parts]),
    )
