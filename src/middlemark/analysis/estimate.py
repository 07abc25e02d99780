"""From the values of several trials to one figure with its uncertainty.

The trial, not the message, is the unit of inference: messages of one trial depend on each other (Hoefler & Belli,
"Scientific benchmarking of parallel computing systems", SC'15, rules 5 to 8). A share, or a quantile that no single
trial supports, is taken of all trials' samples together; the interval of a share is bootstrapped by whole trials
(cluster bootstrap: Field & Welsh, "Bootstrapping clustered data", JRSS B 69, 2007). Comparisons are `compare`'s.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from middlemark.analysis.clocks import can_tell, widest
from middlemark.analysis.condensed import Condensed, pooled
from middlemark.analysis.interval import (
    CONFIDENCE,
    coverage,
    median_interval,
    pooled_share_interval,
    proportion_interval,
    tails,
)
from middlemark.analysis.outlier import NO_OUTLIERS, Outliers, outliers
from middlemark.analysis.quantile import Measured, TooFewSamples, Value, WithinClocks, needed, rank

RESAMPLES = 1999
SEED = 20_111_125
"""The same samples give the same interval."""


class Method(StrEnum):
    """How a figure came about."""

    MEDIAN_OF_TRIALS = "median_of_trials"
    POOLED = "pooled_over_trials"
    SHARE_OF_ALL = "share_of_all_trials"
    WITHIN_CLOCKS = "within_clocks"
    """There is none: the clocks of different machines don't tell it."""
    NONE = "none"


@dataclass(frozen=True)
class Estimate:
    """A figure over trials; where `value` is None, `reason` says why there is none."""

    value: float | None
    low: float | None
    high: float | None
    coverage: float | None
    """How often such an interval holds the true median: with fewer than six trials less often than was asked for."""
    n_trials: int
    n_messages: int
    method: Method
    reason: str = ""
    outliers: Outliers = NO_OUTLIERS
    """Among the trials; they are in the figure all the same."""
    bound_ns: int = 0
    """By how much the clocks of different machines may put it off."""


def within_clocks(refused: WithinClocks) -> Estimate:
    """A figure that there is not, because clocks of different machines don't tell it in every trial."""
    return Estimate(None, None, None, None, 0, refused.n, Method.WITHIN_CLOCKS, str(refused))


def no_estimate(reason: str, n_messages: int = 0) -> Estimate:
    """A figure that there is not, with its reason."""
    return Estimate(None, None, None, None, 0, n_messages, Method.NONE, reason)


def median_of_trials(values: Sequence[Measured]) -> Estimate:
    """The median of the trials' values, with its interval; a single trial has no interval."""
    if not values:
        return no_estimate("no valid trial measured it")
    array = np.array([each.value for each in values])
    n_messages = sum(each.n for each in values)
    bound_ns = max(each.bound_ns for each in values)
    value = float(np.median(array))
    if len(array) == 1:
        return Estimate(value, None, None, None, 1, n_messages, Method.MEDIAN_OF_TRIALS, bound_ns=bound_ns)
    low, high = median_interval(array)
    n = len(array)
    found = outliers(array.tolist())
    return Estimate(value, low, high, coverage(n), n, n_messages, Method.MEDIAN_OF_TRIALS, "", found, bound_ns)


def share_of_trials(values: Sequence[Measured]) -> Estimate:
    """A share of the messages of all trials together: the median would hide a loss that one trial in three has."""
    asked = np.array([each.n for each in values], dtype=np.float64)
    missing = asked * np.array([each.value for each in values])
    n_messages = int(asked.sum())
    if not n_messages:
        return no_estimate("no valid trial measured it")
    value = float(missing.sum() / n_messages)
    if len(values) == 1:
        return Estimate(value, None, None, None, 1, n_messages, Method.SHARE_OF_ALL)
    weights = _resampled_trials(len(values))
    low, high = np.quantile((weights @ missing) / (weights @ asked), tails(len(values)), method="inverted_cdf")
    return Estimate(value, float(low), float(high), coverage(len(values)), len(values), n_messages, Method.SHARE_OF_ALL)


def rate_of_events(values: Sequence[Measured]) -> Estimate:
    """A share of all trials' messages whose interval also holds what so few messages can't rule out.

    Resampled trials know that events come together, but of none they make an interval of none; Wilson's knows how
    little few messages say, but supposes that they come singly. The interval reaches as far as either.
    """
    found = share_of_trials(values)
    if found.value is None:
        return found
    low, high = proportion_interval(round(found.value * found.n_messages), found.n_messages)
    lows, highs = [low, found.low], [high, found.high]
    return replace(
        found,
        low=min(end for end in lows if end is not None),
        high=max(end for end in highs if end is not None),
        coverage=found.coverage or CONFIDENCE,
    )


def _resampled_trials(count: int) -> NDArray[np.int64]:
    """How often each trial is in each resample."""
    return np.random.default_rng(SEED).multinomial(count, [1 / count] * count, RESAMPLES)


def quantile_of_trials(own: Sequence[Value], trials: Sequence[Condensed], level: float) -> Estimate:
    """A quantile: the median of the trials' own where each supports it, else of all samples together where they do."""
    if not trials:
        return no_estimate("no valid trial measured it")
    refused = widest(own)
    if refused is not None:
        return within_clocks(refused)
    supported = [each for each in own if isinstance(each, Measured)]
    if len(supported) == len(own):
        return median_of_trials(supported)
    n_messages = sum(samples.n for samples in trials)
    if n_messages < needed(level):
        return no_estimate(str(TooFewSamples(n_messages)), n_messages)
    return _pooled_quantile(trials, level)


def _pooled_quantile(trials: Sequence[Condensed], level: float) -> Estimate:
    """Of all samples together; the interval is that of the share of messages up to it, told by their ranks."""
    whole = pooled(trials)
    place = rank(whole.n, level)
    value = int(whole.at(np.array([place]))[0])
    if not can_tell(value, whole.bound_ns):
        return within_clocks(WithinClocks(whole.n, whole.bound_ns))
    if len(trials) == 1:
        return Estimate(float(value), None, None, None, 1, whole.n, Method.POOLED, bound_ns=whole.bound_ns)
    reached = np.array([int(each.counts[: np.searchsorted(each.values, value, side="right")].sum()) for each in trials])
    sizes = np.array([each.n for each in trials])
    low, high = pooled_share_interval(place / whole.n, reached, sizes)
    ends = whole.at(np.array([max(math.floor(low * whole.n), 1), min(math.ceil(high * whole.n), whole.n)]))
    if not can_tell(float(ends[0]), whole.bound_ns):  # as much a figure as the value is
        return within_clocks(WithinClocks(whole.n, whole.bound_ns))
    sure = coverage(len(trials))
    span = float(ends[0]), float(ends[1])
    return Estimate(float(value), *span, sure, len(trials), whole.n, Method.POOLED, bound_ns=whole.bound_ns)
