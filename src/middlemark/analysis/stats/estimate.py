"""From the values of several trials to one figure with its uncertainty.

The trial, not the message, is the unit of inference: messages of one trial depend on each other (Hoefler & Belli,
"Scientific benchmarking of parallel computing systems", SC'15, rules 5 to 8). A share, or a quantile that no single
trial supports, is taken of all trials' samples together, and its interval is of the population of all trials' messages:
how trials differ makes it wide (`interval`). A message that never arrived has taken for ever: a quantile is infinite
where so many did not arrive, and no figure. Comparisons are `compare`'s.

Shapes to draw: the empirical distribution and the box of many samples, small enough for a page.

The tails keep every sample. The distribution is over all messages, so that a loss shows as the share that is never
reached (RFC 7679, §5.1: a lost message has infinite delay). What lies within the bound of two machines' clocks is in no
shape, though its messages count. It draws nothing; `report.charts` does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

import numpy as np
from numpy.typing import NDArray

from middlemark.analysis.metrics.latency import can_tell, widest
from middlemark.analysis.stats.intervals import (
    CONFIDENCE,
    NO_OUTLIERS,
    Outliers,
    coverage,
    median_interval,
    outliers,
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
    needed,
    percent,
    pooled,
    rank,
)

HAIR = 1e-9
"""By how much rounding may put an interpolated value off."""


class Method(StrEnum):
    """How a figure came about."""

    MEDIAN_OF_TRIALS = "median_of_trials"
    POOLED = "pooled_over_trials"
    SHARE_OF_ALL = "share_of_all_trials"
    MEAN_OF_RUNS = "mean_of_runs"
    """Of several runs: the geometric mean of their figures, of shares the share of all runs' messages."""
    WITHIN_CLOCKS = "within_clocks"
    """There is none: the clocks of different machines don't tell it."""
    PARTIAL = "partial"
    """There is none: of some messages there is no sample."""
    NONE = "none"


@dataclass(frozen=True)
class Estimate:
    """A figure over trials; where `value` is None, `reason` says why there is none."""

    value: float | None
    low: float | None
    high: float | None
    """Infinite where nothing is known above `low`."""
    coverage: float | None
    """How often such an interval holds what is true: a median's, with fewer than six trials, less often than asked.
    None where there is no interval, and of a rough one."""
    n_trials: int
    n_messages: int
    method: Method
    reason: str = ""
    outliers: Outliers = NO_OUTLIERS
    """Among the trials; they are in the figure all the same."""
    bound_ns: int = 0
    """By how much the clocks of different machines may put it off."""

    @property
    def is_rough(self) -> bool:
        """Whether its interval is a rough one: it is of all trials' samples, and trials differ much."""
        return self.method is Method.POOLED and self.low is not None and self.coverage is None


def within_clocks(refused: WithinClocks) -> Estimate:
    """A figure that there is not, because clocks of different machines don't tell it in every trial."""
    return Estimate(None, None, None, None, 0, refused.n, Method.WITHIN_CLOCKS, str(refused))


def refusal(values: Sequence[Value]) -> Estimate | None:
    """What one trial is enough to refuse a figure for: those left would be other trials than all are."""
    clocks = widest(values)
    if clocks is not None:
        return within_clocks(clocks)
    unknown = next((value for value in values if isinstance(value, NoSchedule)), None)
    if unknown is not None:
        return no_estimate(str(unknown), unknown.n)
    parts = [value for value in values if isinstance(value, Partial)]
    if not parts:
        return None
    least = min(parts, key=lambda each: each.n / each.of)
    return Estimate(None, None, None, None, 0, least.n, Method.PARTIAL, str(least))


def no_estimate(reason: str, n_messages: int = 0) -> Estimate:
    """A figure that there is not, with its reason."""
    return Estimate(None, None, None, None, 0, n_messages, Method.NONE, reason)


def median_of_trials(values: Sequence[Measured | Lost]) -> Estimate:
    """The median of the trials' values, with its interval; a single trial has no interval.

    There is none where most trials' values are infinite.
    """
    if not values:
        return no_estimate("no valid trial measured it")
    n, n_messages = len(values), sum(each.n for each in values)
    known = [math.inf if isinstance(each, Lost) else each.value for each in values]
    bound_ns = max(0 if isinstance(each, Lost) else each.bound_ns for each in values)
    value = float(median(known))
    if value == math.inf:
        return no_estimate(_never_arrived([each for each in values if isinstance(each, Lost)], n), n_messages)
    if n == 1:
        return Estimate(value, None, None, None, 1, n_messages, Method.MEDIAN_OF_TRIALS, bound_ns=bound_ns)
    low, high = ends_of_median(np.array(known))
    found = outliers([min(each, NEVER_NS) for each in known])
    return Estimate(value, low, high, coverage(n), n, n_messages, Method.MEDIAN_OF_TRIALS, "", found, bound_ns)


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
    share = sum(each.lost for each in lost) / sum(each.n for each in lost)
    return f"{percent(share)} of messages never arrived in {len(lost)} of {n_trials} trials"


def share_of_trials(values: Sequence[Measured]) -> Estimate:
    """A share of the messages of all trials together: the median would hide a loss that one trial in three has."""
    sizes = np.array([each.n for each in values], dtype=np.int64)
    events = np.array([round(each.n * each.value) for each in values], dtype=np.int64)
    n_messages = int(sizes.sum())
    if not n_messages:
        return no_estimate("no valid trial measured it")
    value = float(events.sum() / n_messages)
    if len(values) == 1:
        return Estimate(value, None, None, None, 1, n_messages, Method.SHARE_OF_ALL)
    low, high = (float(end) for end in share_interval(events, sizes))
    return Estimate(value, low, high, CONFIDENCE, len(values), n_messages, Method.SHARE_OF_ALL)


def quantile_of_trials(own: Sequence[Value], trials: Sequence[Sketch], level: float) -> Estimate:
    """A quantile: the median of the trials' own where each supports it, else of all samples together where they do."""
    refused = refusal(own)
    if refused is not None:
        return refused
    if not trials:
        return no_estimate("no valid trial measured it")
    supported = [each for each in own if isinstance(each, Measured | Lost)]
    if len(supported) == len(own):
        return median_of_trials(supported)
    n_messages = sum(samples.n_messages for samples in trials)
    if n_messages < needed(level):
        return no_estimate(str(TooFewSamples(n_messages)), n_messages)
    return _pooled_quantile(trials, level)


def _pooled_quantile(trials: Sequence[Sketch], level: float) -> Estimate:
    """Of all messages together."""
    trials = [each.with_lost() for each in trials]
    whole = pooled(trials)
    place = rank(whole.n, level)
    value = int(whole.at(np.array([place]))[0])
    if value == NEVER_NS:
        lost = int(whole.n - whole.below(np.array([NEVER_NS]))[0])
        return no_estimate(str(Lost(whole.n, lost)), whole.n)
    if not can_tell(value, whole.bound_ns):
        return within_clocks(WithinClocks(whole.n, whole.bound_ns))
    if len(trials) == 1:
        return Estimate(float(value), None, None, None, 1, whole.n, Method.POOLED, bound_ns=whole.bound_ns)
    ends = whole.at(np.array(pooled_quantile_ranks(trials, whole, level)))
    if not can_tell(float(ends[0]), whole.bound_ns):  # as much a figure as the value is
        return within_clocks(WithinClocks(whole.n, whole.bound_ns))
    span = float(ends[0]), math.inf if ends[1] == NEVER_NS else float(ends[1])
    covers = pooled_coverage(trials, whole, level)
    return Estimate(float(value), *span, covers, len(trials), whole.n, Method.POOLED, bound_ns=whole.bound_ns)


POINTS = 160
"""Points of a curve between its tails."""
TAIL = 24
"""Samples at either end that are drawn one by one."""


@dataclass(frozen=True)
class Curve:
    """An empirical distribution function: the share of all messages that took no longer than a value."""

    value_ns: tuple[int, ...]
    share: tuple[float, ...]
    n: int
    """Of those that arrived."""
    n_messages: int


@dataclass(frozen=True)
class Box:
    """The quantiles of a box plot in nanoseconds; None where there are too few, clocks don't tell, or so many lack."""

    minimum: float | None
    p10: float | None
    p25: float | None
    p50: float | None
    p75: float | None
    p90: float | None
    p99: float | None
    maximum: float | None
    n: int


def curve(samples: Sketch) -> Curve:
    """The distribution, thinned to points of equal share between tails that keep every sample."""
    n = samples.n
    if n <= POINTS + 2 * TAIL:
        ranks = np.arange(1, n + 1)
    else:
        middle = np.linspace(TAIL, n - TAIL, POINTS).round().astype(np.int64)
        ranks = np.unique(np.concatenate([np.arange(1, TAIL), middle, np.arange(n - TAIL, n + 1)]))
    values = samples.at(ranks)
    known = values > samples.bound_ns if samples.bound_ns else np.full(len(values), fill_value=True)
    return Curve(
        value_ns=tuple(int(value) for value in values[known]),
        share=tuple(float(share) for share in ranks[known] / samples.n_messages),
        n=n,
        n_messages=samples.n_messages,
    )


def box(samples: Sketch) -> Box:
    """The quantiles that the samples support; at least one message must have arrived."""

    def at(level: float) -> float | None:
        found = samples.quantile(level)
        return known(found.value) if isinstance(found, Measured) else None

    def known(value_ns: float) -> float | None:
        return float(value_ns) if can_tell(value_ns, samples.bound_ns) else None

    return Box(
        minimum=known(samples.values[0]),
        p10=at(0.10),
        p25=at(0.25),
        p50=at(0.50),
        p75=at(0.75),
        p90=at(0.90),
        p99=at(0.99),
        maximum=known(samples.values[-1]),
        n=samples.n,
    )
