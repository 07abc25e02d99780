"""Confidence intervals from few trials: of a median, of shares and quantiles of all messages, of a difference.

A median's is from its order statistics: with the handful of trials that a campaign has, the plain percentile bootstrap
covers too little (with seven trials 87 % instead of 95 %). By how much one sample is above another comes with its
p-value, by Student's, Welch's and the signed-rank test; `verdicts.difference` says which of them is right where. No
metric is known here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
import scipy
from numpy.typing import NDArray

from middlemark.analysis.stats.quantiles import Sketch, rank
from middlemark.errors import InternalError

CONFIDENCE = 0.95
APART = 0.1
"""Trials whose times differ by more than this, as a standard deviation of logarithms, make pooled quantiles unsure."""
TAILS_APART = 0.7
"""As do trials whose shares of messages beyond the quantile differ by more than this, as a coefficient of variation."""
CHANCE = 0.01
"""How seldom counts of trials that are alike may seem so."""
MAX_WEIGHT = 4
"""As how many independent messages each message of a trial may count at most."""
FARTHEST = 32
"""How many times as many messages, or as few, as expected may lie beyond a value that could be a quantile."""
CANDIDATES = 512
"""Of these values, each 1.4 % rarer than the one before."""
EXACT_RANKS = 60
"""Up to so many pairs the signed-rank distribution is counted out; beyond, it is normal to five digits."""
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


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
    return float(1 - 2 * scipy.special.bdtr(depth - 1, n, 0.5))


def share_interval(
    events: Integers, sizes: Integers, confidence: float = CONFIDENCE, max_weight: float = MAX_WEIGHT
) -> tuple[Floats, Floats]:
    """The interval of the share of all messages that are events, of which each trial has `events` among its `sizes`.

    Clopper and Pearson's for the effective number of independent messages (Korn & Graubard, Survey Methodology 24,
    1998): the variance is that over trials, with Student's quantile, since they are few. Where there is no event, or
    nothing else, it is exact for independent messages; no message counts as more than `max_weight` independent ones, as
    few trials may be alike by chance. The first axis is that of the trials; along others there are more shares.
    """
    within, beyond = _effective(events, sizes, confidence, max_weight)
    return _lowest_share(within, beyond, confidence), _highest_share(within, beyond, confidence)


def _effective(events: Integers, sizes: Integers, confidence: float, max_weight: float) -> tuple[Floats, Floats]:
    """As how many independent messages the events count, and all others."""
    _refuse_impossible(events, sizes)
    n, n_trials, tail = float(sizes.sum()), len(sizes), (1 - confidence) / 2
    n_events = np.asarray(events.sum(axis=0), dtype=np.float64)
    share = n_events / n
    apart = (events.T - np.multiply.outer(share, sizes)) ** 2.0
    widened = (float(scipy.special.stdtrit(n_trials - 1, tail)) / float(scipy.special.ndtri(tail))) ** 2
    of_trials = widened * n_trials / (n_trials - 1) * apart.sum(axis=-1) / n**2
    of_messages = share * (1 - share) / n
    mixed = (n_events > 0) & (n_events < n)
    least = np.where(mixed, of_messages / max_weight, 1.0)
    effective = np.where(mixed, n * of_messages / np.maximum(of_trials, least), n)
    return share * effective, (1 - share) * effective


def _lowest_share(within: Floats, beyond: Floats, confidence: float) -> Floats:
    has_any = within > 0
    ends = scipy.special.betaincinv(np.where(has_any, within, 1), beyond + 1, (1 - confidence) / 2)
    return np.where(has_any, ends, 0.0)


def _highest_share(within: Floats, beyond: Floats, confidence: float) -> Floats:
    others = beyond > 0
    ends = scipy.special.betaincinv(within + 1, np.where(others, beyond, 1), 1 - (1 - confidence) / 2)
    return np.where(others, ends, 1.0)


def _refuse_impossible(events: Integers, sizes: Integers) -> None:
    """A share is of something, of no more events than there are messages, and of none below none."""
    if len(sizes) < 2 or sizes.min() < 0 or not sizes.sum():
        raise InternalError(f"an interval of shares needs two trials with messages, and has {sizes.tolist()}")
    if events.min() < 0 or (sizes < events.T).any():
        raise InternalError(f"{events.min()} to {events.max()} events were counted among {sizes.tolist()} messages")


def pooled_coverage(trials: Sequence[Sketch], whole: Sketch, level: float) -> float | None:
    """How often an interval of a quantile of all trials' samples holds what is true; None where nobody knows.

    Where trials differ much some have most of the messages beyond a rare quantile, and few trials may all have missed
    these: what is true is then left out more often than not (`bench/simulations/coverage.py`). How far they differ,
    their medians say where all of a trial is slow, and where only its tail is, how many of its messages lie beyond the
    quantile.
    """
    return None if _medians_differ(trials) or _tails_differ(trials, whole, level) else CONFIDENCE


def _tails_differ(trials: Sequence[Sketch], whole: Sketch, level: float) -> bool:
    """Whether trials' own shares of messages beyond the quantile differ much, and significantly, by more than chance.

    Pearson's statistic of their counts (the index of dispersion: Fisher, "Statistical methods for research workers",
    1925, §19) has the distribution of chi-square where all have one share; its excess is the variance of their shares.
    """
    value = whole.at(np.array([rank(whole.n, level)])) + 1
    sizes = np.array([trial.n for trial in trials if trial.n])
    beyond = np.array([trial.n - int(trial.below(value)[0]) for trial in trials if trial.n])
    share = beyond.sum() / whole.n
    if not share or len(sizes) < 2:
        return False
    expected = share * sizes
    dispersion = float(np.sum((beyond - expected) ** 2 / (expected * (1 - share)))) / (len(sizes) - 1)
    variation = math.sqrt(max(dispersion - 1, 0.0) * (1 - share) / float(expected.mean()))
    by_chance = float(scipy.special.chdtrc(len(sizes) - 1, dispersion * (len(sizes) - 1)))
    return variation > TAILS_APART and by_chance < CHANCE


def _medians_differ(trials: Sequence[Sketch]) -> bool:
    """Whether trials' true medians differ much, and significantly, by more than their few messages scatter."""
    logarithms = np.log(np.maximum([trial.at(_around_median(trial.n)) for trial in trials if trial.n], 1))
    if len(logarithms) < 2:
        return False
    of_trials = float(np.var(logarithms[:, 1], ddof=1))
    of_messages = float(np.mean(((logarithms[:, 2] - logarithms[:, 0]) / 2) ** 2))
    freedom = len(logarithms) - 1
    by_chance = float(scipy.special.chdtrc(freedom, freedom * of_trials / of_messages)) if of_messages else 0.0
    return math.sqrt(max(of_trials - of_messages, 0.0)) > APART and by_chance < CHANCE


def _around_median(n: int) -> NDArray[np.int64]:
    """The ranks of the median, and of a standard deviation of its rank below and above."""
    shares = 0.5 + np.array([-0.5, 0.0, 0.5]) / math.sqrt(n)
    return np.clip(np.rint(shares * n).astype(np.int64), 1, n)


def pooled_quantile_ranks(trials: Sequence[Sketch], whole: Sketch, level: float) -> tuple[int, int]:
    """The ranks between which a quantile of all trials' samples lies, which the `whole` holds together.

    It may be any value beyond which the share of messages can be 1 − p (a test inverted: Woodruff, JASA 47, 1952;
    Francisco & Fuller, Annals of Statistics 19, 1991). The difference between trials is computed for each quantile, as
    it is largest where the tail is thinnest. Nothing is supposed of how times are distributed.
    """
    expected, own_rank = whole.n * (1 - level), rank(whole.n, level)
    farther = np.geomspace(max(expected / FARTHEST, 1), min(expected * FARTHEST, whole.n), CANDIDATES)
    ranks = np.unique(np.append(whole.n + 1 - np.rint(farther).astype(np.int64), own_rank))
    values = whole.at(ranks)
    sizes = np.array([trial.n for trial in trials])
    from_it = np.array([trial.n - trial.below(values) for trial in trials])
    beyond_it = np.array([trial.n - trial.below(values + 1) for trial in trials])
    fewest = _lowest_share(*_effective(beyond_it, sizes, CONFIDENCE, MAX_WEIGHT), CONFIDENCE)
    most = _highest_share(*_effective(from_it, sizes, CONFIDENCE, MAX_WEIGHT), CONFIDENCE)
    possible = ranks[(fewest <= 1 - level) & (1 - level <= most)]
    return int(possible.min()), int(possible.max())


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
