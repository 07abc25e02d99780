"""Whether memory grows: its slope by Theil and Sen with an interval, and whether the growth lasts.

The slope is the median of those between all pairs of samples, which no single leap can bend; its interval is that of
Sen, "Estimates of the regression coefficient based on Kendall's tau", JASA 63, 1968. Neighbouring samples hardly differ
and would make the interval too narrow, so that many of them count as one, their median. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import scipy

Values: TypeAlias = npt.NDArray[np.float64]
POINTS = 60
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
    """Of samples in the order of time; None where there are no two of them."""
    if len(at_s) < 2:
        return None
    span_s = float(at_s[-1] - at_s[0])
    if span_s < LEAST_SPAN_S:
        return Growth(_slope(at_s, size_bytes), None)
    is_early = at_s < at_s[0] + span_s / 2
    halves = [_slope(at_s[half], size_bytes[half]) for half in (is_early, ~is_early)]
    return Growth(_slope(at_s, size_bytes), all(half.low > 0 for half in halves))


def _slope(at_s: Values, size_bytes: Values) -> Slope:
    parts = np.array_split(np.arange(len(at_s)), min(POINTS, len(at_s)))
    middles = [[float(np.median(column[part])) for part in parts] for column in (size_bytes, at_s)]
    found = scipy.stats.theilslopes(*middles)
    return Slope(float(found.slope), float(found.low_slope), float(found.high_slope))
