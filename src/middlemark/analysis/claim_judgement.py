"""Decides a part of a claim: on which side of what was claimed its effect lies, with its whole interval.

`contrast` has most of the statistics; which experiments and streams make up a part, `claim_parts` has found.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import scipy

from middlemark.analysis.claim_part import Effect, JudgedBy, Judgement, Part, Scale
from middlemark.analysis.contrast import SHARE_MARGIN, Contrast, Known, NoContrast, contrast_of
from middlemark.analysis.experiment import ExperimentFindings
from middlemark.analysis.figure import Figure, figure
from middlemark.analysis.interval import share_interval
from middlemark.analysis.pairing import MARGIN, why_missing
from middlemark.suite import Bound, Comparison

FEWEST_LEVELS = 3
"""Through two points everything is monotone."""

Streams = tuple[str | None, str | None]


def compared(
    asked: Comparison, sides: tuple[ExperimentFindings, ExperimentFindings], streams: Streams, confidence: float
) -> Part:
    """The first side against the second, each with its stream."""
    figures = figure(asked.first.figure), figure(asked.second.figure)
    stream = streams[0] or streams[1]
    if missing := _missing(sides, figures, streams):
        return _undecided(sides, stream, missing)
    first, second = (values_of(each, own, name) for each, own, name in zip(sides, figures, streams, strict=True))
    is_share = figures[0].is_share
    found = _contrast(first, second, is_share=is_share, confidence=confidence)
    if isinstance(found, NoContrast):
        return _undecided(sides, stream, found.reason)
    bound = 0.0 if is_share else asked.ratio
    scale = Scale.DIFFERENCE if is_share else Scale.TIMES
    effect = Effect(scale, found.value, found.low, found.high)
    n = min(found.n_first, found.n_second)
    return Part(sides, stream, _side_of(effect, bound, above=asked.above), _test(found), effect, n)


def bounded(asked: Bound, each: ExperimentFindings, stream: str | None, confidence: float) -> Part:
    """A figure against its bound."""
    own = figure(asked.side.figure)
    effect: Effect | str
    values = values_of(each, own, stream)
    if not values:
        effect = why_missing(each, own, stream)
    elif own.is_share:
        effect = _share(each, own, stream, confidence)
    else:
        effect = _value(values, own, asked.bound, confidence)
    if isinstance(effect, str):
        return _undecided((each,), stream, effect, len(values))
    test = JudgedBy.SHARE if own.is_share else JudgedBy.AGAINST_BOUND
    return Part((each,), stream, _side_of(effect, asked.bound, above=asked.above), test, effect, len(values))


def lossless(each: ExperimentFindings, stream: str | None, confidence: float) -> Part:
    """One lost message refutes it; that none was lost of so many says how rare a loss can be."""
    own = [figure("loss"), figure("unanswered")]
    having = [one for one in own if values_of(each, one, stream)]
    trials = max((len(values_of(each, one, stream)) for one in having), default=0)
    if trials < 2:
        reason = "fewer than two trials" if trials else why_missing(each, own[0], stream)
        return _undecided((each,), stream, reason, trials)
    effects = [_share(each, one, stream, confidence) for one in having]
    worst = max((one for one in effects if isinstance(one, Effect)), key=lambda one: (one.value, one.high))
    judgement = Judgement.REFUTED if worst.value else Judgement.HOLDS
    return Part((each,), stream, judgement, JudgedBy.SHARE, worst, trials)


def silent(each: ExperimentFindings, confidence: float) -> Part:
    """One trial that communicated refutes it."""
    kinds = [outcome.kind for outcome in each.outcomes]
    without, heard = kinds.count("no_communication"), kinds.count("valid")
    effect = Effect(Scale.TRIALS, without / len(kinds), *_binomial(without, len(kinds), confidence)) if kinds else None
    judgement = Judgement.REFUTED if heard else Judgement.UNDECIDED
    reason = ""
    if not heard and without == len(kinds) and without > 1:
        judgement = Judgement.HOLDS
    elif not heard:
        others = sorted(set(kinds) - {"no_communication"})
        reason = f"trials ended otherwise: {', '.join(others)}" if others else "fewer than two trials"
    return Part((each,), None, judgement, JudgedBy.OUTCOMES, effect, len(kinds), reason)


def monotone(
    steps: Sequence[tuple[ExperimentFindings, Known]], stream: str | None, own: Figure, confidence: float
) -> Part:
    """A figure over the levels of a factor, in their order; the effect is that of the last level against the first."""
    subjects, levels = tuple(each for each, _ in steps), [values for _, values in steps if values]
    if len(levels) < FEWEST_LEVELS:
        missing = dict.fromkeys(why_missing(each, own, stream) for each, values in steps if not values)
        why = f" ({'; '.join(missing)})" if missing else ""
        return _undecided(subjects, stream, f"fewer than {FEWEST_LEVELS} levels were measured{why}")
    ends = _contrast(levels[-1], levels[0], is_share=own.is_share, confidence=confidence)
    if isinstance(ends, NoContrast):
        return _undecided(subjects, stream, ends.reason)
    judgement = _goes_on(ends, levels, own, confidence)
    scale = Scale.TIMES if ends.is_ratio else Scale.DIFFERENCE
    effect = Effect(scale, ends.value, ends.low, ends.high)
    n, reason = min(ends.n_first, ends.n_second), "from the first level to the last"
    return Part(subjects, stream, judgement, JudgedBy.STEPS, effect, n, reason)


def _goes_on(ends: Contrast, levels: Sequence[Known], own: Figure, confidence: float) -> Judgement:
    """Whether the ends differ and no step goes back; refuted where steps surely go both ways."""
    steps = [_contrast(later, first, is_share=own.is_share, confidence=confidence) for first, later in pairwise(levels)]
    strictly = 1 - (1 - confidence) / len(steps)
    sure = [_contrast(later, first, is_share=own.is_share, confidence=strictly) for first, later in pairwise(levels)]
    equal = 1.0 if ends.is_ratio else 0.0
    if any(isinstance(step, Contrast) and step.low > equal for step in sure) and any(
        isinstance(step, Contrast) and step.high < equal for step in sure
    ):
        return Judgement.REFUTED
    known = [step for step in steps if isinstance(step, Contrast)]
    rises, falls = ends.low > equal, ends.high < equal
    goes_on = len(known) == len(steps) and (
        (rises and all(step.low >= _back(step) for step in known))
        or (falls and all(step.high <= _forth(step) for step in known))
    )
    return Judgement.HOLDS if goes_on else Judgement.UNDECIDED


def _undecided(subjects: tuple[ExperimentFindings, ...], stream: str | None, reason: str, n_trials: int = 0) -> Part:
    return Part(subjects, stream, Judgement.UNDECIDED, JudgedBy.NONE, None, n_trials, reason)


def values_of(each: ExperimentFindings, asked: Figure, stream: str | None) -> Known:
    """A figure's values by block; none where it was not measured."""
    return each.known(asked.key(stream or ""))


def _missing(sides: Sequence[ExperimentFindings], figures: Sequence[Figure], streams: Sequence[str | None]) -> str:
    """Why a side has no values; nothing where both have some."""
    said = [
        f"{each.experiment.middleware}: {why_missing(each, own, stream)}"
        for each, own, stream in zip(sides, figures, streams, strict=True)
        if not values_of(each, own, stream)
    ]
    return "; ".join(dict.fromkeys(said))


def _contrast(first: Known, second: Known, *, is_share: bool, confidence: float) -> Contrast | NoContrast:
    """The first side against the second, paired where two blocks have both."""
    paired = len(first.low.keys() & second.low.keys()) > 1 or min(len(first), len(second)) < 2
    return contrast_of(second, first, paired=paired, as_ratio=not is_share, confidence=confidence)


def _test(found: Contrast) -> JudgedBy:
    if found.is_ratio:
        return JudgedBy.PAIRED if found.paired else JudgedBy.UNPAIRED
    return JudgedBy.PAIRED_SHARES if found.paired else JudgedBy.UNPAIRED_SHARES


def _side_of(effect: Effect, bound: float, *, above: bool) -> Judgement:
    """On which side of a bound the whole interval lies."""
    holds, refuted = effect.high < bound, effect.low > bound
    if above:
        holds, refuted = refuted, holds
    return Judgement.HOLDS if holds else Judgement.REFUTED if refuted else Judgement.UNDECIDED


def _value(values: Known, own: Figure, bound: float, confidence: float) -> Effect | str:
    """The geometric mean with its interval: the ratio to the bound, times the bound."""
    unit = bound or 1.0
    against = Known(dict.fromkeys(values.low, unit))
    found = contrast_of(against, values, paired=True, as_ratio=True, confidence=confidence)
    if isinstance(found, NoContrast):
        return found.reason
    return Effect(Scale.VALUE, found.value * unit, found.low * unit, found.high * unit, own.dimension)


def _share(each: ExperimentFindings, own: Figure, stream: str | None, confidence: float) -> Effect | str:
    """A share of all messages; messages are lost together, so that trials may differ by more than their number says."""
    counts = list(each.counted.get(own.key(stream or ""), {}).values())
    if len(counts) < 2:
        return "fewer than two trials"
    events, sizes = (np.array(side, dtype=np.int64) for side in zip(*counts, strict=True))
    low, high = (float(end) for end in share_interval(events, sizes, confidence))
    return Effect(Scale.VALUE, float(events.sum() / sizes.sum()), low, high, own.dimension)


def _binomial(found: int, of: int, confidence: float) -> tuple[float, float]:
    """Exact (Clopper & Pearson, Biometrika 26, 1934)."""
    ends = scipy.stats.binomtest(found, of).proportion_ci(confidence)
    return float(ends.low), float(ends.high)


def _back(step: Contrast) -> float:
    return 1 / (1 + MARGIN) if step.is_ratio else -SHARE_MARGIN


def _forth(step: Contrast) -> float:
    return 1 + MARGIN if step.is_ratio else SHARE_MARGIN
