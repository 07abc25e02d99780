"""How a figure differs between two sides, with an interval, and what that comes to: a closed set of findings.

A ratio is of geometric means, its interval Student's over logarithms (Fleming & Wallace, CACM 29, 1986); shares, which
may be nought, have a difference instead. Trials that ran side by side are paired by block (Jain, "The art of computer
systems performance analysis", 1991, §13.4.1), all others are not (Welch, Biometrika 34, 1947). Two sides are the same
where the whole interval lies within a margin that was stated before (Schuirmann, J. Pharmacokinetics 15, 1987).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import scipy
from numpy.typing import NDArray

from middlemark.analysis.compare import Block
from middlemark.analysis.interval import CONFIDENCE

ONE_SEARCH = "one search does not tell how searches scatter: repeat them, `searches: 5` in the suite"
AT_BOUNDS = "both ended at a bound of their search: wider bounds would tell"
SHARE_MARGIN = 0.001
"""Shares that differ by less than 0.1 percentage points are the same."""
FARTHEST = 50.0
"""e^50 is "anything"; beyond, the exponential would overflow."""


class Finding(StrEnum):
    """What a comparison came to, for the second side."""

    BETTER = "better"
    WORSE = "worse"
    NO_DIFFERENCE = "no_difference"
    CANNOT_TELL = "cannot_tell"


@dataclass(frozen=True)
class Contrast:
    """The second side's value against the first's."""

    value: float
    """How many times as large, or by how much larger."""
    low: float
    high: float
    n_first: int
    n_second: int
    paired: bool
    is_ratio: bool

    def within(self, margin: float) -> bool:
        """Whether all of the interval is a difference too small to matter."""
        if self.is_ratio:
            return 1 / (1 + margin) <= self.low and self.high <= 1 + margin
        return self.low >= -SHARE_MARGIN and self.high <= SHARE_MARGIN

    @property
    def change(self) -> float:
        """The relative change, or the difference."""
        return self.value - 1 if self.is_ratio else self.value


@dataclass(frozen=True)
class NoContrast:
    """Why nothing can be said."""

    reason: str


Values = Mapping[Block, float]


@dataclass(frozen=True)
class Known:
    """What is known of a figure, by block: its value, or two values between which it lies."""

    low: Values
    high: Values | None = None
    """Without a second value the first is it; infinite where nothing is known above the first."""

    def __len__(self) -> int:
        return len(self.low)


def contrast_of(
    first: Known, second: Known, *, paired: bool, as_ratio: bool, confidence: float = CONFIDENCE
) -> Contrast | NoContrast:
    """The second against the first, whether their values are known or lie between two."""
    if first.high is None and second.high is None:
        return contrast(first.low, second.low, paired=paired, as_ratio=as_ratio, confidence=confidence)
    return _contrast_between(first, second, paired=paired, confidence=confidence)


def _contrast_between(first: Known, second: Known, *, paired: bool, confidence: float) -> Contrast | NoContrast:
    """The ratio's interval reaches from where the values are as near as they may be to where they are as far apart.

    Without that, searches that all ended at one step of their ladder would seem to agree to the last digit.
    """
    n = len(first.low.keys() & second.low.keys()) if paired else min(len(first), len(second))
    if n < 2:
        return NoContrast(ONE_SEARCH)
    first_high, second_high = (side.low if side.high is None else side.high for side in (first, second))

    def of(one: Values, other: Values) -> Contrast | None:
        if not all(0 < value < math.inf for value in (*one.values(), *other.values())):
            return None
        found = contrast(one, other, paired=paired, as_ratio=True, confidence=confidence)
        return found if isinstance(found, Contrast) else None

    least, most = of(first_high, second.low), of(first.low, second_high)
    middle = of(first.low, second.low) or of(first_high, second_high) or least or most
    if middle is None or (least is None and most is None):
        return NoContrast(AT_BOUNDS)
    return replace(middle, low=least.low if least else 0.0, high=most.high if most else math.inf)


def contrast(
    first: Values, second: Values, *, paired: bool, as_ratio: bool, confidence: float = CONFIDENCE
) -> Contrast | NoContrast:
    """The second against the first, by their values a block."""
    if paired:
        common = sorted(first.keys() & second.keys())
        sides = [[first[block] for block in common], [second[block] for block in common]]
        too_few = "fewer than two blocks in which both have it"
    else:
        sides = [list(first.values()), list(second.values())]
        too_few = "fewer than two trials of each"
    one, other = (np.array(side, dtype=np.float64) for side in sides)
    if min(len(one), len(other)) < 2:
        return NoContrast(too_few)
    if max(one.max(), other.max()) == math.inf:
        return NoContrast("messages that never arrived have taken for ever, which has no ratio")
    if as_ratio and min(one.min(), other.min()) <= 0:
        return NoContrast("a value that is not positive has no ratio")
    if as_ratio:
        one, other = np.log(one), np.log(other)
    middle, reach = _paired(other - one, confidence) if paired else _unpaired(one, other, confidence)
    ends = [middle, middle - min(reach, FARTHEST), middle + min(reach, FARTHEST)]
    value, low, high = (math.exp(end) for end in ends) if as_ratio else ends
    return Contrast(value, low, high, len(one), len(other), paired, as_ratio)


def _paired(differences: NDArray[np.float64], confidence: float) -> tuple[float, float]:
    """The mean, and how far its interval reaches."""
    n = len(differences)
    error = float(np.std(differences, ddof=1)) / math.sqrt(n)
    return float(np.mean(differences)), _student(n - 1, confidence) * error


def _unpaired(one: NDArray[np.float64], other: NDArray[np.float64], confidence: float) -> tuple[float, float]:
    """The difference of means, and how far its interval reaches (Welch's degrees of freedom)."""
    squares = [float(np.var(side, ddof=1)) / len(side) for side in (one, other)]
    error = math.sqrt(sum(squares))
    middle = float(np.mean(other) - np.mean(one))
    if error == 0:
        return middle, 0.0
    shares = [square / error**2 for square in squares]  # squares themselves may be too small to be squared
    freedom = 1 / sum(s**2 / (len(side) - 1) for s, side in zip(shares, (one, other), strict=True))
    return middle, _student(freedom, confidence) * error


def _student(freedom: float, confidence: float) -> float:
    return float(scipy.stats.t.ppf((1 + confidence) / 2, freedom))


def finding(found: Contrast | NoContrast, *, lower_is_better: bool, margin: float) -> Finding:
    """What a contrast comes to; a difference too small to matter is none, however sure it is."""
    if isinstance(found, NoContrast):
        return Finding.CANNOT_TELL
    if found.within(margin):
        return Finding.NO_DIFFERENCE
    equal = 1.0 if found.is_ratio else 0.0
    if found.high < equal:
        return Finding.BETTER if lower_is_better else Finding.WORSE
    if found.low > equal:
        return Finding.WORSE if lower_is_better else Finding.BETTER
    return Finding.CANNOT_TELL
