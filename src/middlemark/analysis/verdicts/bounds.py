"""The evidence for one metric of one experiment, and whether it is above a bound: one judge for all callers.

`ExperimentFindings.evidence` gathers it; gates, claims and demands judge it. Comparisons of two experiments go through
`difference` and `judge`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from middlemark.analysis.stats.estimate import Estimate
from middlemark.analysis.stats.intervals import CONFIDENCE, coverage, median_interval
from middlemark.analysis.verdicts.difference import FEWEST_BLOCKS, Difference, NoDifference, ratio, share_with_interval
from middlemark.analysis.verdicts.judge import Judgement, ReasonedJudgement, Setbacks, judge_interval, why_uncertain
from middlemark.analysis.verdicts.values import BlockValues, PooledValue, ShareCounts

TOO_FEW = f"fewer than {FEWEST_BLOCKS} trials"
POOLED_MACHINES = "single trials have too few messages for it, and machines' messages can't be pooled: longer windows"


class BoundTest(StrEnum):
    """How a metric was tested against a bound, in the words of the report."""

    VALUES = "trials against the bound, Student's t over logarithms"
    MACHINES = "machines against the bound, one value each (Student's t)"
    MEDIAN = "median of trials, interval between order statistics"
    SHARE = "share of all messages, Clopper and Pearson's interval for trials as clusters (Korn and Graubard)"
    POOLED = "percentile pooled over all trials' messages, by inversion of its test"
    EXTREME = "the slowest of all messages"
    NONE = "none"


@dataclass(frozen=True)
class Evidence:
    """One metric of one stream (or chain, or the trial) of an experiment."""

    block_values: BlockValues
    """By block; infinite where more was lost than its percentile leaves room for."""
    counts: ShareCounts = field(default_factory=dict)
    """Of a share of messages."""
    estimate: Estimate | None = None
    setbacks: Setbacks = field(default_factory=Setbacks)
    n_lost: int = 0
    """For a maximum: the number of messages that never arrived, which count as infinitely slow."""
    is_share: bool = False
    is_maximum: bool = False
    lower_is_better: bool = True
    missing: str = ""
    """Why there is no value at all."""

    @property
    def has_values(self) -> bool:
        """Whether any trial has one, or all together have."""
        return bool(self.counts if self.is_share else self.block_values) or isinstance(self.whole, PooledValue)

    @property
    def of_machines(self) -> bool:
        """Whether its trials are of several machines; `counts` are then of machines in place of blocks."""
        return len(set(self.block_values.machines.values())) > 1

    @property
    def whole(self) -> PooledValue | NoDifference:
        """Of all trials' messages together, where single trials have too few; or why that decides nothing."""
        estimate = self.estimate
        if self.of_machines:
            return NoDifference(POOLED_MACHINES)
        if estimate is None or estimate.value is None or not estimate.is_pooled:
            return NoDifference((estimate.reason if estimate is not None else "") or self.missing or TOO_FEW)
        if estimate.n_trials < FEWEST_BLOCKS or estimate.low is None or estimate.high is None:
            return NoDifference(TOO_FEW)
        if unsure := why_uncertain(estimate.coverage, estimate.n_trials):
            return NoDifference(unsure)
        low, high = estimate.low - estimate.bound_ns, estimate.high + estimate.bound_ns
        return PooledValue(estimate.value, low, high, estimate.n_trials)


@dataclass(frozen=True)
class BoundResult:
    """A metric tested against its bound."""

    result: ReasonedJudgement
    test: BoundTest
    n_trials: int
    value: float | None = None
    low: float | None = None
    high: float | None = None


def judge_against_bound(
    evidence: Evidence, bound: float, *, above: bool, confidence: float = CONFIDENCE
) -> BoundResult:
    """Whether the metric lies above the bound (or, not `above`, at or below it)."""
    n = max(len(evidence.counts), len(evidence.block_values))
    if not n and not evidence.setbacks.n and (evidence.estimate is None or evidence.estimate.value is None):
        return BoundResult(
            ReasonedJudgement(Judgement.UNDECIDED, evidence.missing or "it was not measured"), BoundTest.NONE, 0
        )
    if evidence.is_maximum:
        return _extreme(evidence, bound, above=above)
    span = _share(evidence, confidence) if evidence.is_share else _values(evidence, confidence) or _pooled(evidence)
    if isinstance(span, str):
        result = _of_setbacks(evidence, ReasonedJudgement(Judgement.UNDECIDED, span), above=above)
        return BoundResult(result, BoundTest.NONE, n)
    test, value, low, high = span
    result = _of_setbacks(evidence, ReasonedJudgement(judge_interval(low, high, bound, above=above)), above=above)
    return BoundResult(result, test, n, value, low, high)


TestedInterval = tuple[BoundTest, float, float, float]


def _share(evidence: Evidence, confidence: float) -> TestedInterval | str:
    if len(evidence.counts) < FEWEST_BLOCKS and not evidence.of_machines:
        return TOO_FEW
    return BoundTest.SHARE, *share_with_interval(evidence.counts, confidence)


def _values(evidence: Evidence, confidence: float) -> TestedInterval | None:
    """Of the trials' own values, where every trial that counts has one: the interval of their median, if it covers."""
    finite = evidence.block_values.finite
    n_counting = evidence.estimate.n_trials if evidence.estimate is not None else 0
    n = len(finite)
    if n < max(FEWEST_BLOCKS, n_counting):
        return None
    if coverage(n, confidence) >= confidence and not evidence.of_machines:
        least, most = (np.array(list(side.values())) for side in (finite.low, finite.upper))
        low, high = median_interval(least, confidence)[0], median_interval(most, confidence)[1]
        return BoundTest.MEDIAN, float(np.median(least) + np.median(most)) / 2, low, high
    unit = max(abs(value) for value in finite.low.values()) or 1.0
    unity = BlockValues(dict.fromkeys(finite.low, unit), machines=finite.machines)
    against = ratio(unity, finite, paired=True, confidence=confidence)
    if not isinstance(against, Difference):
        return None
    test = BoundTest.MACHINES if against.across else BoundTest.VALUES
    return test, against.value * unit, against.low * unit, against.high * unit


def _pooled(evidence: Evidence) -> TestedInterval | str:
    whole = evidence.whole
    if isinstance(whole, PooledValue):
        return BoundTest.POOLED, whole.value, whole.low, whole.high
    return TOO_FEW if len(evidence.block_values) < FEWEST_BLOCKS and evidence.block_values else whole.reason


def _of_setbacks(evidence: Evidence, judged: ReasonedJudgement, *, above: bool) -> ReasonedJudgement:
    """Trials that could not keep up count against the middleware, and let no statement in its favour hold."""
    good = above is not evidence.lower_is_better
    if evidence.setbacks.is_majority and evidence.setbacks.n_trials >= FEWEST_BLOCKS:
        return ReasonedJudgement(Judgement.REFUTED if good else Judgement.HOLDS, str(evidence.setbacks))
    flattering = Judgement.HOLDS if good else Judgement.REFUTED
    if evidence.setbacks.n and judged.judgement is flattering:
        return ReasonedJudgement(Judgement.UNDECIDED, str(evidence.setbacks))
    return judged


def _extreme(evidence: Evidence, bound: float, *, above: bool) -> BoundResult:
    """One message beyond the bound decides; none beyond it is a statement about these messages only."""
    values = evidence.block_values
    slowest, at_least = max(values.upper.values(), default=math.nan), max(values.low.values(), default=0.0)
    n = len(values)
    if evidence.n_lost or at_least > bound:
        reason = f"{evidence.n_lost} messages never arrived" if evidence.n_lost else ""
        result = ReasonedJudgement(Judgement.HOLDS if above else Judgement.REFUTED, reason)
    elif n < FEWEST_BLOCKS or slowest > bound:
        result = ReasonedJudgement(Judgement.UNDECIDED, TOO_FEW if n < FEWEST_BLOCKS else "within the clocks' bound")
    else:
        result = ReasonedJudgement(Judgement.REFUTED if above else Judgement.HOLDS)
    result = _of_setbacks(evidence, result, above=above)
    if not n:
        return BoundResult(result, BoundTest.EXTREME, n)
    return BoundResult(result, BoundTest.EXTREME, n, at_least, min(values.low.values()), slowest)
