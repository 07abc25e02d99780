"""From the values of several trials to one estimate with its confidence interval, and how many trials are outliers.

The trial, not the message, is the unit of inference (Hoefler & Belli, "Scientific benchmarking of parallel computing
systems", SC'15, rules 5 to 8); a share, or a quantile that no single trial supports, is of all trials' messages pooled,
and a quantile is infinite where so many messages were lost. The intervals are those of `intervals`; it compares
nothing, as `verdicts` does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

import numpy as np
from numpy.typing import NDArray

from middlemark.analysis.stats.intervals import (
    CONFIDENCE,
    coverage,
    median_interval,
    pooled_coverage,
    pooled_quantile_ranks,
    share_interval,
)
from middlemark.analysis.stats.quantiles import (
    NEVER_NS,
    Lost,
    Measured,
    NoSchedule,
    Partial,
    Sketch,
    TooFewSamples,
    Value,
    WithinClocks,
    is_measurable,
    needed,
    percent,
    pool_sketches,
    rank,
    widest_refusal,
)

HAIR = 1e-9
"""By how much rounding may put an interpolated value off."""
_REFUSED = (WithinClocks, NoSchedule, Partial)
FEWEST_FOR_FENCES = 6
"""Of fewer values the quartiles are nearly the extremes, and nothing could lie beyond the fences."""


class Method(StrEnum):
    """How an estimate came about."""

    MEDIAN_OF_TRIALS = "median_of_trials"
    POOLED = "pooled_over_trials"
    SHARE_OF_ALL = "share_of_all_trials"
    MEAN_OF_RUNS = "mean_of_runs"
    """Of several runs: the geometric mean of their estimates, of shares the share of all runs' messages."""
    WITHIN_CLOCKS = "within_clocks"
    """There is none: the clocks of different machines can't measure it."""
    PARTIAL = "partial"
    """There is none: of some messages there is no sample."""
    NONE = "none"


@dataclass(frozen=True)
class Outliers:
    """How many values lie outside either fence."""

    mild: int = 0
    severe: int = 0


NO_OUTLIERS = Outliers()


@dataclass(frozen=True)
class Estimate:
    """An estimate over trials; where `value` is None, `reason` says why there is none."""

    value: float | None
    low: float | None
    high: float | None
    """Infinite where nothing is known above `low`."""
    coverage: float | None
    """The coverage of the interval: for a median of fewer than six trials it is less than requested. None without an
    interval, and for a rough one."""
    n_trials: int
    n_messages: int
    method: Method
    reason: str = ""
    outliers: Outliers = NO_OUTLIERS
    """Among the trials; they enter the estimate all the same."""
    bound_ns: int = 0
    """By how much the clocks of different machines may put it off."""

    @property
    def is_pooled(self) -> bool:
        """Whether it is of all trials' samples together."""
        return self.method is Method.POOLED

    @property
    def is_rough(self) -> bool:
        """Whether its interval is a rough one: it is of all trials' samples, and trials differ much."""
        return self.is_pooled and self.low is not None and self.coverage is None


def within_clocks(refused: WithinClocks) -> Estimate:
    """No estimate, because clocks of different machines can't measure it in every trial."""
    return Estimate(None, None, None, None, 0, refused.n, Method.WITHIN_CLOCKS, str(refused))


def refusal(values: Sequence[Value]) -> Estimate | None:
    """What one trial is enough to refuse an estimate for: those left would be other trials than all are."""
    if not any(isinstance(value, _REFUSED) for value in values):
        return None
    clocks = widest_refusal(values)
    if clocks is not None:
        return within_clocks(clocks)
    unknown = next((value for value in values if isinstance(value, NoSchedule)), None)
    if unknown is not None:
        return no_estimate(str(unknown), unknown.n)
    parts = [value for value in values if isinstance(value, Partial)]
    if not parts:
        return None
    least = min(parts, key=lambda partial: partial.n / partial.of)
    return Estimate(None, None, None, None, 0, least.n, Method.PARTIAL, str(least))


def no_estimate(reason: str, n_messages: int = 0) -> Estimate:
    """No estimate, with its reason."""
    return Estimate(None, None, None, None, 0, n_messages, Method.NONE, reason)


def median_of_trials(values: Sequence[Measured | Lost]) -> Estimate:
    """The median of the trials' values, with its interval; a single trial has no interval.

    There is none where most trials' values are infinite.
    """
    if not values:
        return no_estimate("no valid trial measured it")
    n, n_messages = len(values), sum(trial.n for trial in values)
    numbers = [math.inf if isinstance(trial, Lost) else trial.value for trial in values]
    bound_ns = max(0 if isinstance(trial, Lost) else trial.bound_ns for trial in values)
    value = float(median(numbers))
    if value == math.inf:
        return no_estimate(_never_arrived([trial for trial in values if isinstance(trial, Lost)], n), n_messages)
    if n == 1:
        return Estimate(value, None, None, None, 1, n_messages, Method.MEDIAN_OF_TRIALS, bound_ns=bound_ns)
    low, high = ends_of_median(np.array(numbers))
    outliers = count_outliers([min(number, NEVER_NS) for number in numbers])
    return Estimate(value, low, high, coverage(n), n, n_messages, Method.MEDIAN_OF_TRIALS, "", outliers, bound_ns)


def ends_of_median(values: NDArray[np.float64], confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The interval of a median of values of which some may be infinite; the upper end may be so then."""
    finite = values[np.isfinite(values)]
    low, high = median_interval(np.minimum(values, NEVER_NS), confidence)
    reaches_to_them = len(finite) < len(values) and high > max(finite, default=0.0) * (1 + HAIR)
    return low, math.inf if reaches_to_them else high


def _never_arrived(lost: Sequence[Lost], n_trials: int) -> str:
    """How much of trials' messages never arrived, and in how many trials it was too much."""
    if n_trials == 1:
        return str(lost[0])
    share = sum(trial.lost for trial in lost) / sum(trial.n for trial in lost)
    return f"{percent(share)} of messages never arrived in {len(lost)} of {n_trials} trials"


def share_of_trials(values: Sequence[Measured]) -> Estimate:
    """A share of the messages of all trials together: the median would hide a loss that one trial in three has."""
    sizes = np.array([measured.n for measured in values], dtype=np.int64)
    events = np.array([round(measured.n * measured.value) for measured in values], dtype=np.int64)
    n_messages = int(sizes.sum())
    if not n_messages:
        return no_estimate("no valid trial measured it")
    value = float(events.sum() / n_messages)
    if len(values) == 1:
        return Estimate(value, None, None, None, 1, n_messages, Method.SHARE_OF_ALL)
    low, high = (float(end) for end in share_interval(events, sizes))
    return Estimate(value, low, high, CONFIDENCE, len(values), n_messages, Method.SHARE_OF_ALL)


def quantile_of_trials(quantiles: Sequence[Value], trials: Sequence[Sketch], level: float) -> Estimate:
    """A quantile: the median of the trials' own where each supports it, else of all samples together where they do."""
    refused = refusal(quantiles)
    if refused is not None:
        return refused
    if not trials:
        return no_estimate("no valid trial measured it")
    supported = [value for value in quantiles if isinstance(value, Measured | Lost)]
    if len(supported) == len(quantiles):
        return median_of_trials(supported)
    n_messages = sum(samples.n_messages for samples in trials)
    if n_messages < needed(level):
        return no_estimate(str(TooFewSamples(n_messages)), n_messages)
    return _pooled_quantile(trials, level)


def _pooled_quantile(trials: Sequence[Sketch], level: float) -> Estimate:
    """Of all messages together."""
    trials = [trial.with_lost() for trial in trials]
    whole = pool_sketches(trials)
    place = rank(whole.n, level)
    value = int(whole.at(np.array([place]))[0])
    if value == NEVER_NS:
        lost = int(whole.n - whole.below(np.array([NEVER_NS]))[0])
        return no_estimate(str(Lost(whole.n, lost)), whole.n)
    if not is_measurable(value, whole.bound_ns):
        return within_clocks(WithinClocks(whole.n, whole.bound_ns))
    if len(trials) == 1:
        return Estimate(float(value), None, None, None, 1, whole.n, Method.POOLED, bound_ns=whole.bound_ns)
    ends = whole.at(np.array(pooled_quantile_ranks(trials, whole, level)))
    if not is_measurable(float(ends[0]), whole.bound_ns):  # an end needs to be measurable as the value does
        return within_clocks(WithinClocks(whole.n, whole.bound_ns))
    span = float(ends[0]), math.inf if ends[1] == NEVER_NS else float(ends[1])
    covers = pooled_coverage(trials, whole, level)
    return Estimate(float(value), *span, covers, len(trials), whole.n, Method.POOLED, bound_ns=whole.bound_ns)


class OutlierClass(StrEnum):
    """Whether a value lies beyond the fences, at 1.5 or 3 times the distance of the quartiles beyond them.

    They are Tukey's ("Exploratory data analysis", 1977, ch. 2). Outliers are counted and never dropped.
    """

    SEVERE_LOW = "severe_low"
    MILD_LOW = "mild_low"
    WITHIN = "within"
    MILD_HIGH = "mild_high"
    SEVERE_HIGH = "severe_high"


def outlier_classes(values: Sequence[float]) -> tuple[OutlierClass, ...]:
    """The class of each value; all are within where there are too few, or their quartiles are equal."""
    if len(values) < FEWEST_FOR_FENCES:
        return (OutlierClass.WITHIN,) * len(values)
    lower, upper = np.quantile(values, [0.25, 0.75])
    reach = upper - lower
    if reach <= 0:
        return (OutlierClass.WITHIN,) * len(values)
    return tuple(_outlier_class(value, float(lower), float(upper), float(reach)) for value in values)


def _outlier_class(value: float, lower: float, upper: float, reach: float) -> OutlierClass:
    if value > upper:
        beyond, mild, severe = value - upper, OutlierClass.MILD_HIGH, OutlierClass.SEVERE_HIGH
    else:
        beyond, mild, severe = lower - value, OutlierClass.MILD_LOW, OutlierClass.SEVERE_LOW
    if beyond > 3 * reach:
        return severe
    return mild if beyond > 1.5 * reach else OutlierClass.WITHIN


def count_outliers(values: Sequence[float]) -> Outliers:
    """How many of the values are outliers, and how far out."""
    classes = outlier_classes(values)
    return Outliers(
        mild=sum(outlier_class in {OutlierClass.MILD_LOW, OutlierClass.MILD_HIGH} for outlier_class in classes),
        severe=sum(outlier_class in {OutlierClass.SEVERE_LOW, OutlierClass.SEVERE_HIGH} for outlier_class in classes),
    )


def theil_sen(values: NDArray[np.float64], positions: NDArray[np.float64]) -> tuple[float, float]:
    """Slope and intercept of a line: the median of the slopes between all pairs (Sen, JASA 63, 1968)."""
    rows, columns = np.triu_indices(len(positions), 1)
    apart = positions[columns] - positions[rows]
    slope = float(np.median((values[columns] - values[rows])[apart != 0] / apart[apart != 0]))
    return slope, float(np.median(values)) - slope * float(np.median(positions))
