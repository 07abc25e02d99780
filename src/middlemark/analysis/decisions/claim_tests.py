"""The tests of a claim's parts: the test used, the effect size, and whether the whole confidence interval agrees.

`verdicts` has the statistics and the rules; `claims` finds the experiments and streams of each part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import scipy

from middlemark.analysis.compare.metrics import difference_of
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.verdicts.bounds import BoundTest, Evidence, judge_against_bound
from middlemark.analysis.verdicts.difference import FEWEST_BLOCKS, Difference, NoDifference, Test
from middlemark.analysis.verdicts.judge import Judgement, direction, judge_change, may_go_back
from middlemark.plan import Experiment
from middlemark.suite import Bound, Comparison, Dimension
from middlemark.suite.metrics import metric_named

FEWEST_LEVELS = 3
"""Through two points everything is monotone."""
NO_LOSS = ("loss", "unanswered", "undelivered")
"""The shares that have to be zero, where a pattern has them; a message refused or not offered did not arrive either."""
STEPS_EFFECT = "the effect compares the last level with the first"
STEPS_UNDECIDED = "first and last level do not differ significantly, or a step between may go back: run more trials"
Streams = tuple[str | None, str | None]


class ClaimTest(StrEnum):
    """How a part without two operands or a bound was judged, in the words that the report shows."""

    OUTCOMES = "outcomes of trials, Clopper and Pearson's interval"
    STEPS = "ends differ significantly, and no step goes back by more than 5 % (shares: 0.1 pp); paired by block"
    NONE = "none"


JudgedBy = Test | BoundTest | ClaimTest


class Scale(StrEnum):
    """The scale of an effect size."""

    TIMES = "times"
    """The ratio of the first operand to the second."""
    DIFFERENCE = "difference"
    """The difference of two shares."""
    VALUE = "value"
    """The metric itself, in the unit at the end of its name."""
    TRIALS = "trials"
    """A share of trials."""


@dataclass(frozen=True)
class Effect:
    """An effect size with its confidence interval, at 95 % or at the requested level."""

    scale: Scale
    value: float
    low: float
    high: float
    dimension: Dimension | None = None
    """Of a value."""


@dataclass(frozen=True)
class ClaimPart:
    """A claim for one experiment or one pair of them."""

    subjects: tuple[ExperimentFindings, ...]
    stream: str | None
    judgement: Judgement
    test: JudgedBy
    effect: Effect | None
    n_trials: int
    """The number of blocks or trials from which the effect was estimated."""
    reason: str = ""
    """Why it is undecided, or what the reader has to know beside the effect."""


def judge_comparison(
    statement: Comparison, sides: tuple[ExperimentFindings, ExperimentFindings], streams: Streams, confidence: float
) -> ClaimPart:
    """Compares the first operand with the second, each with its stream."""
    metrics = metric_named(statement.first.metric), metric_named(statement.second.metric)
    stream = streams[0] or streams[1]
    first, second = (
        candidate.evidence(metric, name) for candidate, metric, name in zip(sides, metrics, streams, strict=True)
    )
    difference = _against(second, first, sides, confidence)
    bound = 0.0 if first.is_share else statement.ratio
    judged = judge_change(
        difference,
        bound,
        above=not statement.above,
        lower_is_better=first.lower_is_better,
        setbacks=(second.setbacks, first.setbacks),
    )
    if isinstance(difference, NoDifference):
        return ClaimPart(sides, stream, judged.judgement, ClaimTest.NONE, None, 0, judged.reason)
    n = min(difference.n_first, difference.n_second)
    return ClaimPart(sides, stream, judged.judgement, difference.test, _effect(difference), n, judged.reason)


def judge_bound(statement: Bound, candidate: ExperimentFindings, stream: str | None, confidence: float) -> ClaimPart:
    """Compares a metric with its bound."""
    metric = metric_named(statement.operand.metric)
    tested = judge_against_bound(
        candidate.evidence(metric, stream), statement.bound, above=statement.above, confidence=confidence
    )
    effect = None
    if tested.value is not None and tested.low is not None and tested.high is not None:
        effect = Effect(Scale.VALUE, tested.value, tested.low, tested.high, metric.dimension)
    return ClaimPart(
        (candidate,), stream, tested.result.judgement, tested.test, effect, tested.n_trials, tested.result.reason
    )


def judge_no_loss(candidate: ExperimentFindings, stream: str | None, confidence: float) -> ClaimPart:
    """One message that did not arrive refutes it.

    Where all arrived, the interval gives the largest loss still possible.
    """
    metrics = {name: metric_named(name) for name in NO_LOSS}
    having = [evidence for metric in metrics.values() if (evidence := candidate.evidence(metric, stream)).counts]
    trials = max((len(evidence.counts) for evidence in having), default=0)
    if any(lost for evidence in having for lost, _ in evidence.counts.values()):
        judgement, reason = Judgement.REFUTED, ""
    elif trials < FEWEST_BLOCKS:
        reason = f"fewer than {FEWEST_BLOCKS} trials" if trials else candidate.evidence(metrics["loss"], stream).missing
        return _undecided((candidate,), stream, reason, trials)
    else:
        setbacks = having[0].setbacks
        judgement = Judgement.UNDECIDED if setbacks.n else Judgement.HOLDS
        reason = str(setbacks) if setbacks.n else ""
    spans = [judge_against_bound(evidence, 0.0, above=True, confidence=confidence) for evidence in having]
    effects = [
        Effect(Scale.VALUE, span.value, span.low, span.high, metrics["loss"].dimension)
        for span in spans
        if span.value is not None and span.low is not None and span.high is not None
    ]
    worst = max(effects, key=lambda effect: (effect.value, effect.high), default=None)
    return ClaimPart((candidate,), stream, judgement, BoundTest.SHARE, worst, trials, reason)


def judge_no_communication(candidate: ExperimentFindings, confidence: float) -> ClaimPart:
    """One trial that communicated refutes it."""
    kinds = [outcome.kind for outcome in candidate.outcomes]
    without, heard = kinds.count("no_communication"), kinds.count("valid")
    effect = Effect(Scale.TRIALS, without / len(kinds), *_binomial(without, len(kinds), confidence)) if kinds else None
    judgement = Judgement.REFUTED if heard else Judgement.UNDECIDED
    reason = ""
    if not heard and without == len(kinds) and without >= FEWEST_BLOCKS:
        judgement = Judgement.HOLDS
    elif not heard:
        others = sorted(set(kinds) - {"no_communication"})
        reason = f"trials ended otherwise: {', '.join(others)}" if others else f"fewer than {FEWEST_BLOCKS} trials"
    return ClaimPart((candidate,), None, judgement, ClaimTest.OUTCOMES, effect, len(kinds), reason)


def judge_monotone(
    steps: Sequence[tuple[ExperimentFindings, Evidence]], stream: str | None, confidence: float
) -> ClaimPart:
    """A metric over the levels of a factor in their order; the effect compares the last level with the first."""
    subjects = tuple(candidate for candidate, _ in steps)
    levels = [evidence for _, evidence in steps if evidence.block_values]
    if len(levels) < FEWEST_LEVELS:
        missing = dict.fromkeys(evidence.missing for _, evidence in steps if not evidence.block_values)
        why = f" ({'; '.join(missing)})" if missing else ""
        return _undecided(subjects, stream, f"fewer than {FEWEST_LEVELS} levels were measured{why}")
    ends = _against(levels[0], levels[-1], (subjects[-1], subjects[0]), confidence)
    if isinstance(ends, NoDifference):
        return _undecided(subjects, stream, ends.reason)
    n = min(ends.n_first, ends.n_second)
    setback = next((evidence.setbacks for evidence in levels if evidence.setbacks.n), None)
    if setback is not None:
        return ClaimPart(subjects, stream, Judgement.UNDECIDED, ClaimTest.STEPS, _effect(ends), n, str(setback))
    judgement = _goes_on(ends, levels, confidence)
    reason = STEPS_UNDECIDED if judgement is Judgement.UNDECIDED else STEPS_EFFECT
    return ClaimPart(subjects, stream, judgement, ClaimTest.STEPS, _effect(ends), n, reason)


def _goes_on(ends: Difference, levels: Sequence[Evidence], confidence: float) -> Judgement:
    """Holds where the ends differ and no step goes back beyond the margin; refuted where steps go both ways."""
    strictly = 1 - (1 - confidence) / (len(levels) - 1)
    if {direction(_step(first, later, strictly)) for first, later in pairwise(levels)} >= {-1, 1}:
        return Judgement.REFUTED
    steps = [_step(first, later, confidence) for first, later in pairwise(levels)]
    sign = direction(ends)
    goes_on = sign and all(isinstance(step, Difference) and not may_go_back(step, sign) for step in steps)
    return Judgement.HOLDS if goes_on else Judgement.UNDECIDED


def _undecided(
    subjects: tuple[ExperimentFindings, ...], stream: str | None, reason: str, n_trials: int = 0
) -> ClaimPart:
    return ClaimPart(subjects, stream, Judgement.UNDECIDED, ClaimTest.NONE, None, n_trials, reason)


def _against(
    base: Evidence, other: Evidence, sides: Sequence[ExperimentFindings], confidence: float
) -> Difference | NoDifference:
    """Compares with the base, or says why one of the two has no value."""
    names = _told_apart(*(candidate.experiment for candidate in sides))
    missing = [
        f"{name}: {evidence.missing}"
        for name, evidence in zip(names, (other, base), strict=True)
        if not evidence.has_values
    ]
    return NoDifference("; ".join(dict.fromkeys(missing))) if missing else _step(base, other, confidence)


def _told_apart(one_side: Experiment, other_side: Experiment) -> tuple[str, str]:
    """Their middlewares; of one middleware the values of the first factor in which they differ."""
    names = dict.fromkeys((*one_side.factors, *other_side.factors))
    differing = (name for name in names if one_side.factors.get(name) != other_side.factors.get(name))
    name = "middleware" if one_side.middleware != other_side.middleware else next(differing, "middleware")
    return one_side.factors.get(name, "none"), other_side.factors.get(name, "none")


def _step(base: Evidence, other: Evidence, confidence: float) -> Difference | NoDifference:
    """The difference, paired where enough blocks have both values."""
    common = base.block_values.finite.low.keys() & other.block_values.finite.low.keys()
    paired = len(common) >= FEWEST_BLOCKS or min(len(base.block_values), len(other.block_values)) < FEWEST_BLOCKS
    return difference_of(base, other, paired=paired, confidence=confidence)


def _effect(difference: Difference) -> Effect:
    return Effect(
        Scale.TIMES if difference.is_ratio else Scale.DIFFERENCE, difference.value, difference.low, difference.high
    )


def _binomial(events: int, n: int, confidence: float) -> tuple[float, float]:
    """Exact (Clopper & Pearson, Biometrika 26, 1934)."""
    ends = scipy.stats.binomtest(events, n).proportion_ci(confidence)
    return float(ends.low), float(ends.high)
