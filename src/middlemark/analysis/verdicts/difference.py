"""By how much the second experiment differs from the first: a ratio or a difference of shares, with its interval.

Trials of one run are paired by block (Jain, "The art of computer systems performance analysis", 1991, §13.4.1), all
others are not (Welch, Biometrika 34, 1947); ratios are of logarithms (Fleming & Wallace, CACM 29, 1986) with the
signed-rank test's interval, or Student's of few blocks (Hollander, Wolfe & Chicken, "Nonparametric statistical
methods", 2014, §3.2 and 3.3), differences of shares combine the intervals of both (MOVER: Zou & Donner, Statistics in
Medicine 27, 2008; Newcombe, ibid. 17, 1998). It decides nothing; `judge` does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from functools import partial

import numpy as np
import scipy

from middlemark.analysis.stats.intervals import (
    CONFIDENCE,
    MAX_WEIGHT,
    paired_t,
    ranks_reach,
    share_interval,
    signed_ranks,
    student,
    welch,
)
from middlemark.analysis.verdicts.across_machines import AcrossMachines, Combined, combined, comparable
from middlemark.analysis.verdicts.values import (
    FARTHEST,
    BlockValues,
    Machines,
    PooledValue,
    ShareCounts,
    Values,
    from_logarithm,
)

FEWEST_BLOCKS = 3
"""Two blocks agree by chance too often to be evidence."""
POWER = 0.8
"""The power for which the smallest detectable difference is given."""
LEAST_WIDTH = 1e-12
"""A narrower interval is one of trials that do not differ: the rest is rounding."""
TOO_FEW_BLOCKS = f"fewer than {FEWEST_BLOCKS} blocks with values of both"
TOO_FEW_TRIALS = f"fewer than {FEWEST_BLOCKS} trials of each"
TOO_FEW_SEARCHES = f"fewer than {FEWEST_BLOCKS} searches of each: their spread is unknown (`searches: 5` in the suite)"
NO_MACHINE = "no machine has measured both"
AT_BOUNDS = "both ended at a bound of their search: use wider bounds"


class Test(StrEnum):
    """The method of an interval, in the words of the report."""

    __test__ = False  # no test of pytest's

    SIGNED_RANKS = "ratios paired by block, Hodges-Lehmann estimate with the signed-rank test's interval"
    PAIRED_T = "ratios paired by block, Student's t over their logarithms"
    WELCH = "ratio of trials that share no block, Welch's t over logarithms"
    MACHINES = "ratios of machines, one value each (Student's t)"
    INTERVALS = "ratio of percentiles pooled over all trials' messages, from the intervals of both (MOVER)"
    SHARES = "difference of two shares, from the intervals of both (Newcombe's hybrid, Korn and Graubard's ends)"
    NEXT_RUN = "ratio of a run to the runs of the base, Student's prediction interval of logarithms of runs' estimates"
    NEXT_SHARE = "difference of a run's share to that of the base's runs, widened by how these differ"


@dataclass(frozen=True)
class Difference:
    """The second side's value against the first's."""

    value: float
    """How many times as large, or by how much larger."""
    low: float
    high: float
    n_first: int
    n_second: int
    is_ratio: bool
    test: Test
    p_value: float | None = None
    """Of no difference, two-sided; None of shares."""
    across: AcrossMachines | None = None
    """Of a ratio over several machines: that of each, and how far they differ."""

    @property
    def paired(self) -> bool:
        """Whether trials are compared with those of their block."""
        return self.test in {Test.SIGNED_RANKS, Test.PAIRED_T}

    @property
    def equal(self) -> float:
        """What it is where both sides are the same."""
        return 1.0 if self.is_ratio else 0.0

    @property
    def has_width(self) -> bool:
        """Whether its interval is wider than rounding makes it."""
        return self.high - self.low > LEAST_WIDTH

    @property
    def detectable(self) -> float:
        """The smallest relative change (of shares: difference) that so many trials would find in 80 % of cases.

        From the width of the interval, and the allowance for the other error; infinite, as unknown, where an end is
        unknown or the interval has no width.
        """
        if not self.has_width:
            return math.inf
        if not self.is_ratio:
            reach = max(self.high - self.value, self.value - self.low)
        elif self.low <= 0 or self.high == math.inf:
            return math.inf
        else:
            reach = max(math.log(self.high / self.value), math.log(self.value / self.low))
        counted = self.test in {Test.SHARES, Test.INTERVALS}
        of_runs = self.test in {Test.NEXT_RUN, Test.NEXT_SHARE}
        n = len(self.across.ratios) if self.across else self.n_first if of_runs else min(self.n_first, self.n_second)
        freedom = math.inf if counted else n - 1
        factor = 1 + float(scipy.special.stdtrit(freedom, POWER) / scipy.special.stdtrit(freedom, (1 + CONFIDENCE) / 2))
        return math.expm1(min(reach * factor, FARTHEST)) if self.is_ratio else reach * factor


class Lacks(Enum):
    """What was too little for a difference, where more of it helps."""

    RUNS = "runs of the base"
    VALUES = "values of the metric"


@dataclass(frozen=True)
class NoDifference:
    """Why nothing can be said."""

    reason: str
    lacks: Lacks | None = None


def ratio(
    first: BlockValues, second: BlockValues, *, paired: bool, confidence: float = CONFIDENCE
) -> Difference | NoDifference:
    """How many times the first side's value the second has, whether values are exact or lie between two."""
    had_values = bool(first.low and second.low)
    first, second = comparable(first, second, paired=paired)
    if had_values and not first.low and first.machines:
        return NoDifference(NO_MACHINE)
    of_values = partial(_ratio, machines=(first.machines, second.machines), paired=paired, confidence=confidence)
    if first.is_exact and second.is_exact:
        return of_values(first.low, second.low)
    if min(len(first), len(second)) < FEWEST_BLOCKS:
        return NoDifference(TOO_FEW_SEARCHES if first.of_searches else TOO_FEW_BLOCKS if paired else TOO_FEW_TRIALS)
    return difference_between_bounds(first, second, of_values)


def difference_between_bounds(
    first: BlockValues, second: BlockValues, of_values: Callable[[Values, Values], Difference | NoDifference]
) -> Difference | NoDifference:
    """From where the values are as near as they may be to where they are as far apart.

    Without that, searches that all ended at one step of their ladder would seem to agree to the last digit.
    """

    def compared(before: Values, after: Values) -> Difference | None:
        if not all(0 < value < math.inf for value in (*before.values(), *after.values())):
            return None
        difference = of_values(before, after)
        return difference if isinstance(difference, Difference) else None

    least, most = compared(first.upper, second.low), compared(first.low, second.upper)
    middle = compared(first.low, second.low) or compared(first.upper, second.upper) or least or most
    if middle is None or (least is None and most is None):
        return NoDifference(AT_BOUNDS)
    ends = (least.low if least else 0.0, most.high if most else math.inf)
    p_value = max(least.p_value or 0.0, most.p_value or 0.0) if least and most and not ends[0] < 1 < ends[1] else 1.0
    return replace(middle, low=ends[0], high=ends[1], p_value=p_value)


def _ratio(
    first: Values, second: Values, *, machines: tuple[Machines, Machines], paired: bool, confidence: float
) -> Difference | NoDifference:
    blocks = sorted(first.keys() & second.keys())
    before = [first[block] for block in blocks] if paired else list(first.values())
    after = [second[block] for block in blocks] if paired else list(second.values())
    if min(len(before), len(after)) < FEWEST_BLOCKS:
        return NoDifference(TOO_FEW_BLOCKS if paired else TOO_FEW_TRIALS)
    if min(*before, *after) <= 0:
        return NoDifference("a value that is not positive has no ratio")
    if len({machines[0].get(block) for block in first}) > 1:
        over_machines = combined(first, second, machines, paired=paired)
        return _ratio_over_machines(over_machines, len(before), len(after), confidence)
    logs = np.log(before), np.log(after)
    test = Test.WELCH if not paired else Test.SIGNED_RANKS if ranks_reach(len(before), confidence) else Test.PAIRED_T
    value, low, high, p_value = _SPANS[test](*logs, confidence)
    middle, least, most = (from_logarithm(end) for end in (value, low, high))
    return Difference(middle, least, most, len(before), len(after), is_ratio=True, test=test, p_value=p_value)


def _ratio_over_machines(combination: Combined, n_first: int, n_second: int, confidence: float) -> Difference:
    value, low, high, p_value = student(combination.value, combination.error, combination.freedom, confidence)
    middle, least, most = (from_logarithm(end) for end in (value, low, high))
    return Difference(
        middle,
        least,
        most,
        n_first,
        n_second,
        is_ratio=True,
        test=Test.MACHINES,
        p_value=p_value,
        across=combination.across,
    )


_SPANS = {Test.SIGNED_RANKS: signed_ranks, Test.PAIRED_T: paired_t, Test.WELCH: welch}


def ratio_of_pooled(
    first: PooledValue, second: PooledValue, *, confidence: float = CONFIDENCE
) -> Difference | NoDifference:
    """Of values of all trials' messages together: there is no value per trial to pair."""
    if min(first.n_trials, second.n_trials) < FEWEST_BLOCKS:
        return NoDifference(TOO_FEW_TRIALS)
    if min(first.low, second.low) <= 0:
        return NoDifference("a value that is not positive has no ratio")
    (before, low_before, high_before), (after, low_after, high_after) = (
        (math.log(side.value), math.log(side.low), math.log(side.high)) for side in (first, second)
    )
    middle = after - before
    down, up = math.hypot(after - low_after, high_before - before), math.hypot(high_after - after, before - low_before)
    normal = scipy.special.ndtri
    z_given, z_wanted = float(normal((1 + CONFIDENCE) / 2)), float(normal((1 + confidence) / 2))
    towards = down if middle > 0 else up
    p_value = 2 * float(scipy.special.ndtr(-abs(middle) / towards * z_given)) if towards else float(middle == 0)
    return Difference(
        value=math.exp(middle),
        low=math.exp(middle - down * z_wanted / z_given),
        high=math.exp(middle + up * z_wanted / z_given),
        n_first=first.n_trials,
        n_second=second.n_trials,
        is_ratio=True,
        test=Test.INTERVALS,
        p_value=p_value,
    )


def difference_of_shares(
    first: ShareCounts, second: ShareCounts, *, of_machines: bool = False, confidence: float = CONFIDENCE
) -> Difference | NoDifference:
    """By how much the second side's share of all its messages is larger; never surer than independent messages are.

    With `of_machines` the counts are those of machines, of which two tell something as each has several trials.
    """
    if min(len(first), len(second)) < (2 if of_machines else FEWEST_BLOCKS):
        return NoDifference(TOO_FEW_TRIALS)
    ends = [share_with_interval(side, confidence, max_weight=1) for side in (first, second)]
    (before, low_before, high_before), (after, low_after, high_after) = ends
    value = after - before
    down = math.hypot(after - low_after, high_before - before)
    up = math.hypot(high_after - after, before - low_before)
    return Difference(value, value - down, value + up, len(first), len(second), is_ratio=False, test=Test.SHARES)


def share_with_interval(
    counts: ShareCounts, confidence: float = CONFIDENCE, max_weight: float = MAX_WEIGHT
) -> tuple[float, float, float]:
    """A share of all messages with its interval; `max_weight` as in `share_interval`."""
    events, sizes = (np.array(side, dtype=np.int64) for side in zip(*counts.values(), strict=True))
    low, high = (float(end) for end in share_interval(events, sizes, confidence, max_weight))
    return float(events.sum() / sizes.sum()), low, high
