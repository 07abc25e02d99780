"""By how much one sample is above another, with its interval and p-value: Student's, Welch's and the signed-rank test.

`verdicts.difference` says which of them is right where, and what the values are.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import scipy
from numpy.typing import NDArray

Floats = NDArray[np.float64]
EXACT_RANKS = 60
"""Up to so many pairs the signed-rank distribution is counted out; beyond, it is normal to five digits."""


def paired_t(first: Floats, second: Floats, confidence: float) -> tuple[float, float, float, float]:
    """The mean change of pairs, the ends of its interval, and the p-value of none."""
    change = second - first
    error = float(np.std(change, ddof=1)) / math.sqrt(len(change))
    return student(float(np.mean(change)), error, len(change) - 1, confidence)


def welch(first: Floats, second: Floats, confidence: float) -> tuple[float, float, float, float]:
    """The same of two samples that share no pairs."""
    squares = [float(np.var(side, ddof=1)) / len(side) for side in (first, second)]
    error = math.sqrt(sum(squares))
    shares = [square / error**2 if error else 0.5 for square in squares]  # squares themselves may be too small
    freedom = 1 / sum(share**2 / (len(side) - 1) for share, side in zip(shares, (first, second), strict=True))
    return student(float(np.mean(second) - np.mean(first)), error, freedom, confidence)


def student(middle: float, error: float, freedom: float, confidence: float) -> tuple[float, float, float, float]:
    """The arithmetic of SciPy's `ttest_1samp` and `ttest_ind`, without what these check at every call."""
    if not error:
        return middle, middle, middle, float(middle == 0)
    reach = float(scipy.special.stdtrit(freedom, (1 + confidence) / 2)) * error
    return middle, middle - reach, middle + reach, 2 * float(scipy.special.stdtr(freedom, -abs(middle) / error))


def signed_ranks(first: Floats, second: Floats, confidence: float) -> tuple[float, float, float, float]:
    """The median of all averages of two changes; its ends are as many of them further in as the test allows."""
    change, (rows, columns) = second - first, _pairs(len(first))
    walsh = (change[rows] + change[columns]) / 2
    walsh.sort()
    n, inward = len(walsh), _inward(len(change), confidence)
    below, up_to = int(walsh.searchsorted(0.0)), int(walsh.searchsorted(0.0, side="right"))
    fewer = min(below, n - up_to) + (up_to - below) // 2
    p_value = min(2 * _at_most(len(change), fewer), 1.0)
    middle = float(walsh[(n - 1) // 2] + walsh[n // 2]) / 2
    return middle, float(walsh[inward]), float(walsh[n - 1 - inward]), p_value


@cache
def _pairs(n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The places of all pairs of n changes, each with itself too."""
    rows, columns = np.triu_indices(n)
    return rows, columns


def ranks_reach(n: int, confidence: float) -> bool:
    """Whether the range of so many changes has the requested coverage."""
    return n > 1 and round(2.0 ** (1 - n), 12) <= 1 - confidence


@cache
def _inward(n: int, confidence: float) -> int:
    """How many of the ordered averages lie outside the interval at either end."""
    tail, outside = (1 - confidence) / 2, 0
    while _at_most(n, outside) <= tail:
        outside += 1
    return outside - 1 if outside else 0


@cache
def _at_most(n: int, rank_sum: int) -> float:
    """How often the ranks of the positive ones of n changes come to no more than that, were none different."""
    if n > EXACT_RANKS:
        mean, deviation = n * (n + 1) / 4, math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        return float(scipy.special.ndtr((rank_sum + 0.5 - mean) / deviation))
    return float(_rank_sums(n)[: rank_sum + 1].sum())


@cache
def _rank_sums(n: int) -> Floats:
    """The probability of each sum of a random part of the ranks 1 to n."""
    probability = np.ones(1)
    for number in range(1, n + 1):
        grown = np.zeros(len(probability) + number)
        grown[: len(probability)] += probability / 2
        grown[number:] += probability / 2
        probability = grown
    return probability
