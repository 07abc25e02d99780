"""Confidence intervals from few values: for a median from its order statistics, for all else from resamples of trials.

Both are made for the handful of trials that a campaign has, where the plain percentile bootstrap covers too little
(of a median 87 % with seven trials instead of 95 %). It knows no metric; `estimate` and `scaling` ask it.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import scipy.stats
from numpy.typing import NDArray

CONFIDENCE = 0.95


def coverage(n_trials: int, confidence: float = CONFIDENCE) -> float:
    """The most that an interval over so many trials can cover.

    All trials lie on one side of the true median with probability 2^(1−n), and no interval within their range holds it
    then (the sign test's bound: Conover, "Practical nonparametric statistics", 1999, ch. 3.4): 75 % with three trials.
    """
    return min(confidence, 1 - 2.0 ** (1 - n_trials))


def median_interval(values: NDArray[np.float64], confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The interval of a median, between order statistics; the range where these are too few for the confidence.

    It is the limit of the bootstrap of a median, whose coverage jumps with n, smoothed by interpolation between
    neighbouring order statistics (Hettmansperger & Sheather, Statistics & Probability Letters 4, 1986; Nyblom, ibid.
    14, 1992), and supposes nothing of the values' distribution but that it is continuous.
    """
    ordered = np.sort(values)
    n = len(ordered)
    depth = 1
    while depth + 1 <= n // 2 and _covered(n, depth + 1) >= confidence:
        depth += 1
    if _covered(n, depth) < confidence or depth >= n - depth:
        return float(ordered[0]), float(ordered[-1])
    wide, narrow = _covered(n, depth), _covered(n, depth + 1)
    excess = (wide - confidence) / (wide - narrow)
    inward = (n - depth) * excess / (depth + (n - 2 * depth) * excess)
    low = (1 - inward) * ordered[depth - 1] + inward * ordered[depth]
    high = (1 - inward) * ordered[n - depth] + inward * ordered[n - depth - 1]
    return float(low), float(high)


@cache
def _covered(n: int, depth: int) -> float:
    """How often the median lies between the `depth`-th smallest and the `depth`-th largest of n values."""
    return float(1 - 2 * scipy.stats.binom.cdf(depth - 1, n, 0.5))


def proportion_interval(found: int, of: int) -> tuple[float, float]:
    """The interval of a probability of which `found` of so many independent events tell (Wilson, JASA 22, 1927)."""
    ends = scipy.stats.binomtest(found, of).proportion_ci(CONFIDENCE, method="wilson")
    return float(ends.low), float(ends.high)


def pooled_share_interval(share: float, reached: NDArray[np.int64], sizes: NDArray[np.int64]) -> tuple[float, float]:
    """The interval of a share of all trials' messages, of which each trial has `reached` among its `sizes`.

    Clopper and Pearson's for as many messages as independent ones would have to be (Korn & Graubard, Survey
    Methodology 24, 1998), where the trials' own part of the variance counts with Student's quantile, as they are few.
    Turned into messages by their ranks it is a quantile's interval (Woodruff, JASA 47, 1952); a bootstrap of few trials
    with a dozen messages beyond the quantile covers too seldom (82 to 94 %).
    """
    n, n_trials, tail = int(sizes.sum()), len(sizes), (1 - CONFIDENCE) / 2
    of_messages = share * (1 - share) / n
    of_all = n_trials / (n_trials - 1) * float(np.sum((reached - share * sizes) ** 2.0)) / n**2
    widened = (float(scipy.stats.t.ppf(tail, n_trials - 1)) / float(scipy.stats.norm.ppf(tail))) ** 2
    variance = of_messages + widened * max(of_all - of_messages, 0.0)
    effective = share * (1 - share) / variance
    within, beyond = share * effective, (1 - share) * effective
    return (
        float(scipy.stats.beta.ppf(tail, within, beyond + 1)),
        float(scipy.stats.beta.ppf(1 - tail, within + 1, beyond)),
    )


def tails(n_trials: int) -> tuple[float, float]:
    """The quantiles of a statistic's resamples that make its interval.

    A resample of n values varies by (n−1)/n too little, and a normal quantile stands where Student's belongs; the
    percentiles are moved outward by both (expanded percentile: Hesterberg, The American Statistician 69, 2015, §3.1.3).
    """
    student = float(scipy.stats.t.ppf((1 - CONFIDENCE) / 2, n_trials - 1))
    tail = float(scipy.stats.norm.cdf(math.sqrt(n_trials / (n_trials - 1)) * student))
    return tail, 1 - tail
