"""Whether a difference is significant and in whose favour, and whether a statement about a metric holds.

A difference counts where its whole interval leaves out equality and is not wholly within a margin stated before; within
it there is none (Schuirmann, J. Pharmacokinetics 15, 1987). Setbacks, the trials in which the middleware could not keep
up, are results too, as those that are left flatter it; `difference` and `ranking` have the statistics.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import scipy

from middlemark.analysis.stats.intervals import CONFIDENCE
from middlemark.analysis.verdicts.difference import FEWEST_BLOCKS, Difference, NoDifference
from middlemark.analysis.verdicts.values import BlockValues

FAILURES = {"no_communication": "no communication", "failed": "failed", "timed_out": "timed out"}
"""Outcomes that are the middleware's own, in words."""
MARGIN = 0.05
"""Ratios within 5 % of 1 are no significant difference, unless another margin is given."""
SHARE_MARGIN = 0.001
"""Shares that differ by less than 0.1 percentage points are the same."""


@dataclass(frozen=True)
class Setbacks:
    """How many trials of one experiment can't count for a metric, and why."""

    n_trials: int = 0
    """All that the machine did not disturb."""
    reasons: Mapping[str, int] = field(default_factory=dict)
    n_disturbed: int = 0
    """Trials that the machine disturbed: they count against nobody, but many more of one side are a selection."""

    @property
    def n(self) -> int:
        """How many there were."""
        return min(sum(self.reasons.values()), self.n_trials)

    @property
    def share(self) -> float:
        """Of all its trials."""
        return self.n / self.n_trials if self.n_trials else 0.0

    @property
    def is_majority(self) -> bool:
        """Whether fewer trials count than don't."""
        return 2 * self.n > self.n_trials

    def __str__(self) -> str:
        """`overloaded in 7 of 10 trials`."""
        words = [f"{reason} in {n}" for reason, n in self.reasons.items() if n]
        return f"{', '.join(words)} of {self.n_trials} trials" if words else f"none of {self.n_trials} trials"


def count_setbacks(kinds: Counter[str], values: BlockValues, n_overloaded: int = 0) -> Setbacks:
    """Of a metric's values, and how the trials ended; overloaded ones are valid, but have no value of the path."""
    reasons = {words: kinds[kind] for kind, words in FAILURES.items() if kinds[kind]}
    endless = sum(value == math.inf for value in values.low.values())
    reasons |= {"overloaded": n_overloaded} if n_overloaded else {}
    reasons |= {"too much lost for this percentile": endless} if endless else {}
    return Setbacks(kinds["valid"] + sum(kinds[kind] for kind in FAILURES), reasons, kinds["invalid"])


def significantly_more(first: Setbacks, second: Setbacks) -> bool:
    """Whether the first has more of them than chance explains (Fisher's exact test), or all where the other none."""
    p_value = p_value_of_setbacks(first, second)
    if p_value is None or first.share <= second.share:
        return False
    return (first.share == 1 and second.share == 0) or p_value < 1 - CONFIDENCE


def p_value_of_setbacks(first: Setbacks, second: Setbacks) -> float | None:
    """Of both having them equally often (Fisher's exact test); none where no trial or too few could tell."""
    if min(first.n_trials, second.n_trials) < FEWEST_BLOCKS or not (first.n or second.n):
        return None
    return _p_value([(side.n, side.n_trials - side.n) for side in (first, second)])


def unequal_disturbance(first: Setbacks, second: Setbacks) -> str:
    """Why valid trials may be a selection: the machine disturbed significantly more trials of one of the two."""
    disturbed = [(side.n_disturbed, side.n_trials) for side in (first, second)]
    if not (first.n_disturbed or second.n_disturbed):  # the test is slow, and mostly not needed
        return ""
    if _p_value(disturbed) >= 1 - CONFIDENCE:
        return ""
    counts = [f"{side.n_disturbed} of {side.n_trials + side.n_disturbed}" for side in (first, second)]
    return f"the machine disturbed {counts[0]} trials of one side, {counts[1]} of the other: the rest is a selection"


def _p_value(table: list[tuple[int, int]]) -> float:
    return float(scipy.stats.fisher_exact(table).pvalue)


class Verdict(StrEnum):
    """The result of a comparison, for the second side."""

    BETTER = "better"
    WORSE = "worse"
    NO_DIFFERENCE = "no_difference"
    UNDECIDED = "undecided"

    @property
    def inverse(self) -> Verdict:
        """The same, for the first side."""
        return {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}.get(self, self)


class Judgement(StrEnum):
    """The judgement of a statement: a claim, a condition of a gate, a requirement."""

    HOLDS = "holds"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Decision:
    """A verdict, and why it is not what the interval alone would say."""

    verdict: Verdict
    reason: str = ""


@dataclass(frozen=True)
class ReasonedJudgement:
    """A judgement, and why it is undecided, or what the interval does not say."""

    judgement: Judgement
    reason: str = ""


@dataclass(frozen=True)
class Significant:
    """Which tests of a pair are significant, among all tests of a table."""

    values: bool
    setbacks: bool


NO_SETBACKS = (Setbacks(), Setbacks())
SetbacksPair = tuple[Setbacks, Setbacks]
"""Of the first side and of the second."""


def judge_difference(
    difference: Difference | NoDifference,
    *,
    lower_is_better: bool,
    margin: float = MARGIN,
    setbacks: SetbacksPair = NO_SETBACKS,
    significant: Significant | None = None,
) -> Decision:
    """What a difference comes to; `significant` is given where the error rate of a whole table is held."""
    worse = None if significant and not significant.setbacks else _significantly_worse(setbacks)
    if worse is not None:
        return Decision(worse, _unequal(setbacks))
    if isinstance(difference, NoDifference):
        return Decision(Verdict.UNDECIDED, difference.reason)
    if selected := unequal_disturbance(*setbacks):
        return Decision(Verdict.UNDECIDED, selected)
    is_significant = significant.values if significant else None
    verdict = _of_interval(difference, lower_is_better=lower_is_better, margin=margin, is_significant=is_significant)
    flattered = _flattered(setbacks)
    if flattered is not None and verdict not in {Verdict.UNDECIDED, flattered.inverse}:
        return Decision(Verdict.UNDECIDED, _unequal(setbacks))
    return Decision(verdict)


def _of_interval(
    difference: Difference, *, lower_is_better: bool, margin: float, is_significant: bool | None
) -> Verdict:
    if is_within_margin(difference, margin):
        return Verdict.NO_DIFFERENCE
    if is_significant is False or not (sign := direction(difference)):
        return Verdict.UNDECIDED
    return Verdict.BETTER if (sign < 0) is lower_is_better else Verdict.WORSE


def direction(difference: Difference | NoDifference) -> int:
    """1 where the second has significantly more, -1 where significantly less, 0 where the interval holds equality."""
    if isinstance(difference, NoDifference):
        return 0
    return int(difference.low > difference.equal) - int(difference.high < difference.equal)


def is_within_margin(difference: Difference, margin: float) -> bool:
    """Whether all of the interval is a difference too small to matter."""
    if difference.is_ratio:
        return 1 / (1 + margin) <= difference.low and difference.high <= 1 + margin
    return difference.low >= -SHARE_MARGIN and difference.high <= SHARE_MARGIN


def may_go_back(difference: Difference, sign: int, margin: float = MARGIN) -> bool:
    """Whether a step may go against a direction, 1 or -1, by more than the margin."""
    back = 1 / (1 + margin) if difference.is_ratio else -SHARE_MARGIN
    forth = 1 + margin if difference.is_ratio else SHARE_MARGIN
    return difference.low < back if sign > 0 else difference.high > forth


def _significantly_worse(setbacks: SetbacksPair) -> Verdict | None:
    """Where one could not keep up in significantly more trials, whatever the others say."""
    first, second = setbacks
    if significantly_more(second, first):
        return Verdict.WORSE
    return Verdict.BETTER if significantly_more(first, second) else None


def _flattered(setbacks: SetbacksPair) -> Verdict | None:
    """The verdict that the side with more setbacks is flattered into; None where both have as many."""
    first, second = setbacks
    if first.share == second.share:
        return None
    return Verdict.BETTER if second.share > first.share else Verdict.WORSE


def _unequal(setbacks: SetbacksPair) -> str:
    return f"one side could not keep up more often: {setbacks[0]}, against {setbacks[1]}"


def judge_change(
    difference: Difference | NoDifference, bound: float, *, above: bool, lower_is_better: bool, setbacks: SetbacksPair
) -> ReasonedJudgement:
    """Whether the change from the first side to the second is not beyond a bound; `above`: beyond is above it."""
    of_worse = above is lower_is_better
    if of_worse and _significantly_worse(setbacks) is Verdict.WORSE:
        return ReasonedJudgement(Judgement.REFUTED, _unequal(setbacks))
    if isinstance(difference, NoDifference):
        return ReasonedJudgement(Judgement.UNDECIDED, difference.reason)
    if selected := unequal_disturbance(*setbacks):
        return ReasonedJudgement(Judgement.UNDECIDED, selected)
    judgement = judge_interval(difference.low, difference.high, bound, above=not above)
    for_second = Verdict.BETTER if (judgement is Judgement.HOLDS) is of_worse else Verdict.WORSE
    if judgement is not Judgement.UNDECIDED and _flattered(setbacks) is for_second:
        return ReasonedJudgement(Judgement.UNDECIDED, _unequal(setbacks))
    return ReasonedJudgement(judgement)


def judge_interval(low: float, high: float, bound: float, *, above: bool) -> Judgement:
    """Whether all of an interval lies on the stated side of a bound; refuted where all lies on the other."""
    holds, refuted = (low > bound, high <= bound) if above else (high <= bound, low > bound)
    return Judgement.HOLDS if holds else Judgement.REFUTED if refuted else Judgement.UNDECIDED


def why_uncertain(coverage: float | None, n_trials: int) -> str:
    """Why an interval decides nothing; empty where it has the coverage that it states."""
    if coverage is None:
        return "trials differ too much: the coverage of the interval is unknown"
    if coverage < CONFIDENCE:
        return f"the interval over {n_trials} trials covers only {100 * coverage:.0f} %"
    return ""
