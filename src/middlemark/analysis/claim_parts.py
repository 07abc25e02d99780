"""The parts of a claim, one for each experiment or pair that it speaks of, each with its test, effect and interval.

Pairs are experiments that agree in every factor that neither side names; `contrast` has most of the
statistics, `claims` puts the parts together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise, product

import scipy.stats

from middlemark.analysis.compare import Block
from middlemark.analysis.contrast import SHARE_MARGIN, Contrast, NoContrast, contrast
from middlemark.analysis.experiment import ExperimentFindings
from middlemark.analysis.figure import Figure, figure
from middlemark.analysis.pairing import MARGIN, OF_THE_CONTENDER, OPTION, why_missing
from middlemark.plan import is_selected
from middlemark.suite import (
    Bound,
    Comparison,
    Dimension,
    Monotone,
    NoCommunication,
    NoLoss,
    Selection,
    magnitude,
)
from middlemark.suite.claim import Statement

FEWEST_LEVELS = 3
"""Through two points everything is monotone."""


class Judgement(StrEnum):
    """What became of a claim."""

    HOLDS = "holds"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


class JudgedBy(StrEnum):
    """How a part was judged."""

    PAIRED = "ratios paired by block, Student's t of their logarithms"
    UNPAIRED = "ratio of trials that share no block, Welch's t of logarithms"
    PAIRED_SHARES = "differences paired by block, Student's t"
    UNPAIRED_SHARES = "difference of trials that share no block, Welch's t"
    AGAINST_BOUND = "trials against the bound, Student's t of logarithms"
    SHARE = "share of all messages: the wider of Clopper and Pearson's interval and Student's over trials"
    OUTCOMES = "outcomes of trials, Clopper and Pearson's interval"
    STEPS = "ends certainly differ, and no step goes back by more than 5 % (shares: 0.1 pp); paired by block"
    NONE = "none"


class Scale(StrEnum):
    """What an effect is a number of."""

    TIMES = "times"
    """How many times as large the first side is as the second."""
    DIFFERENCE = "difference"
    """By how much a share is larger."""
    VALUE = "value"
    """The figure itself, in the unit that its metric's name ends in."""
    TRIALS = "trials"
    """A share of trials."""


@dataclass(frozen=True)
class Effect:
    """How large it is, with its interval at 95 % or at what was asked for."""

    scale: Scale
    value: float
    low: float
    high: float
    dimension: Dimension | None = None
    """Of a value."""


@dataclass(frozen=True)
class Part:
    """A claim at one experiment or pair."""

    subjects: tuple[ExperimentFindings, ...]
    stream: str | None
    judgement: Judgement
    test: JudgedBy
    effect: Effect | None
    n_trials: int
    """Blocks or trials that the effect rests on."""
    reason: str = ""
    """Why it is undecided, or what the effect does not say."""


Values = Mapping[Block, float]
Beside = tuple[tuple[str, str], ...]
"""The factors in which experiments must agree."""


def parts(statement: Statement, experiments: Sequence[ExperimentFindings], confidence: float) -> tuple[Part, ...]:
    """All parts of a claim, each judged for itself."""
    match statement:
        case Comparison():
            return tuple(_comparisons(statement, experiments, confidence))
        case Bound():
            return tuple(_bounds(statement, experiments, confidence))
        case NoLoss(selection):
            return tuple(_lossless(each, stream, confidence) for each, stream in _streams(selection, experiments))
        case NoCommunication(selection):
            return tuple(_silent(each, confidence) for each in _selected(selection, experiments))
        case Monotone():
            return tuple(_monotones(statement, experiments, confidence))


def _selected(selection: Selection, experiments: Sequence[ExperimentFindings]) -> list[ExperimentFindings]:
    return [each for each in experiments if is_selected(each.experiment, selection)]


def _streams(
    selection: Selection, experiments: Sequence[ExperimentFindings], asked: Figure | None = None
) -> Iterator[tuple[ExperimentFindings, str | None]]:
    """Every experiment with each of its streams (or chains) that has the figure; with the first where none has."""
    for each in _selected(selection, experiments):
        if asked is not None and asked.of_trial:
            yield each, None
            continue
        of_chains = asked is not None and asked.of_chain
        known = each.experiment.chains if of_chains else each.experiment.streams
        names = [flow.name for flow in known if selection.stream in {None, flow.name}]
        having = [name for name in names if asked is None or asked.key(name) in each.estimates]
        yield from ((each, name) for name in having or names[:1])


def _comparisons(asked: Comparison, experiments: Sequence[ExperimentFindings], confidence: float) -> Iterator[Part]:
    figures = [figure(side.figure) for side in (asked.first, asked.second)]
    named = {name for side in (asked.first, asked.second) for name, _ in side.selection.factors}
    firsts, seconds = (
        list(_streams(side.selection, experiments, own))
        for side, own in zip((asked.first, asked.second), figures, strict=True)
    )
    for (first, stream), (second, other) in product(firsts, seconds):
        apart = first is not second or (asked.first.figure, stream) != (asked.second.figure, other)
        if apart and _beside(first, named) == _beside(second, named) and _go_together(stream, other, first, second):
            values = _values(first, figures[0], stream), _values(second, figures[1], other)
            missing = _missing((first, second), figures, (stream, other))
            yield _compared(asked, (first, second), stream or other, values, missing, confidence)


def _go_together(stream: str | None, other: str | None, first: ExperimentFindings, second: ExperimentFindings) -> bool:
    """Streams of one name, where both sides have such; else each with each."""
    names = [{each.name for each in side.experiment.streams} for side in (first, second)]
    return stream == other or None in {stream, other} or not names[0] & names[1]


def _beside(each: ExperimentFindings, named: set[str]) -> Beside:
    """The factors in which two sides must agree: all that neither names; options go with the middleware."""
    contender = bool(named.intersection(OF_THE_CONTENDER))
    return tuple(
        sorted(
            (name, value)
            for name, value in each.experiment.factors.items()
            if name not in named and not (contender and name.startswith(OPTION))
        )
    )


def _values(each: ExperimentFindings, asked: Figure, stream: str | None) -> Values:
    return each.by_block.get(asked.key(stream or ""), {})


def _missing(sides: Sequence[ExperimentFindings], figures: Sequence[Figure], streams: Sequence[str | None]) -> str:
    """Why a side has no values; nothing where both have some."""
    said = [
        f"{each.experiment.middleware}: {why_missing(each, own, stream)}"
        for each, own, stream in zip(sides, figures, streams, strict=True)
        if not _values(each, own, stream)
    ]
    return "; ".join(dict.fromkeys(said))


def _compared(  # noqa: PLR0913, PLR0917 - both sides, what they lack and how it is judged
    asked: Comparison,
    sides: tuple[ExperimentFindings, ...],
    stream: str | None,
    values: tuple[Values, Values],
    missing: str,
    confidence: float,
) -> Part:
    is_share = figure(asked.first.figure).is_share
    found = NoContrast(missing) if missing else _contrast(*values, is_share=is_share, confidence=confidence)
    if isinstance(found, NoContrast):
        return Part(sides, stream, Judgement.UNDECIDED, JudgedBy.NONE, None, 0, found.reason)
    bound = 0.0 if is_share else asked.ratio
    scale = Scale.DIFFERENCE if is_share else Scale.TIMES
    effect = Effect(scale, found.value, found.low, found.high)
    n = min(found.n_first, found.n_second)
    return Part(sides, stream, _side_of(effect, bound, above=asked.above), _test(found), effect, n)


def _contrast(first: Values, second: Values, *, is_share: bool, confidence: float) -> Contrast | NoContrast:
    """The first side against the second, paired where two blocks have both."""
    paired = len(first.keys() & second.keys()) > 1 or min(len(first), len(second)) < 2
    return contrast(second, first, paired=paired, as_ratio=not is_share, confidence=confidence)


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


def _bounds(asked: Bound, experiments: Sequence[ExperimentFindings], confidence: float) -> Iterator[Part]:
    own = figure(asked.side.figure)
    for each, stream in _streams(asked.side.selection, experiments, own):
        effect: Effect | str
        values = _values(each, own, stream)
        if not values:
            effect = why_missing(each, own, stream)
        elif own.is_share:
            effect = _share(each, own, stream, confidence)
        else:
            effect = _value(values, own, asked.bound, confidence)
        if isinstance(effect, str):
            yield Part((each,), stream, Judgement.UNDECIDED, JudgedBy.NONE, None, len(values), effect)
            continue
        test = JudgedBy.SHARE if own.is_share else JudgedBy.AGAINST_BOUND
        judgement = _side_of(effect, asked.bound, above=asked.above)
        yield Part((each,), stream, judgement, test, effect, len(values))


def _value(values: Values, own: Figure, bound: float, confidence: float) -> Effect | str:
    """The geometric mean with its interval: the ratio to the bound, times the bound."""
    unit = bound or 1.0
    against = dict.fromkeys(values, unit)
    found = contrast(against, values, paired=True, as_ratio=True, confidence=confidence)
    if isinstance(found, NoContrast):
        return found.reason
    return Effect(Scale.VALUE, found.value * unit, found.low * unit, found.high * unit, own.dimension)


def _share(each: ExperimentFindings, own: Figure, stream: str | None, confidence: float) -> Effect | str:
    """A share of all messages; messages are lost together, so that trials may differ by more than their number says."""
    estimate = each.estimates[own.key(stream or "")]
    values = _values(each, own, stream)
    over_trials = contrast(dict.fromkeys(values, 0.0), values, paired=True, as_ratio=False, confidence=confidence)
    if estimate.value is None or isinstance(over_trials, NoContrast):
        return "fewer than two trials"
    low, high = _binomial(round(estimate.value * estimate.n_messages), estimate.n_messages, confidence)
    low, high = min(low, max(over_trials.low, 0.0)), max(high, min(over_trials.high, 1.0))
    return Effect(Scale.VALUE, estimate.value, low, high, own.dimension)


def _binomial(found: int, of: int, confidence: float) -> tuple[float, float]:
    """Exact (Clopper & Pearson, Biometrika 26, 1934)."""
    ends = scipy.stats.binomtest(found, of).proportion_ci(confidence)
    return float(ends.low), float(ends.high)


def _lossless(each: ExperimentFindings, stream: str | None, confidence: float) -> Part:
    """One lost message refutes it; that none was lost of so many says how rare a loss can be."""
    own = [figure("loss"), figure("unanswered")]
    having = [one for one in own if _values(each, one, stream)]
    trials = max((len(_values(each, one, stream)) for one in having), default=0)
    if trials < 2:
        reason = "fewer than two trials" if trials else why_missing(each, own[0], stream)
        return Part((each,), stream, Judgement.UNDECIDED, JudgedBy.NONE, None, trials, reason)
    effects = [_share(each, one, stream, confidence) for one in having]
    worst = max((one for one in effects if isinstance(one, Effect)), key=lambda one: (one.value, one.high))
    judgement = Judgement.REFUTED if worst.value else Judgement.HOLDS
    return Part((each,), stream, judgement, JudgedBy.SHARE, worst, trials)


def _silent(each: ExperimentFindings, confidence: float) -> Part:
    """One trial that communicated refutes it."""
    kinds = [outcome.kind for outcome in each.outcomes]
    silent, heard = kinds.count("no_communication"), kinds.count("valid")
    effect = Effect(Scale.TRIALS, silent / len(kinds), *_binomial(silent, len(kinds), confidence)) if kinds else None
    judgement = Judgement.REFUTED if heard else Judgement.UNDECIDED
    reason = ""
    if not heard and silent == len(kinds) and silent > 1:
        judgement = Judgement.HOLDS
    elif not heard:
        others = sorted(set(kinds) - {"no_communication"})
        reason = f"trials ended otherwise: {', '.join(others)}" if others else "fewer than two trials"
    return Part((each,), None, judgement, JudgedBy.OUTCOMES, effect, len(kinds), reason)


def _monotones(asked: Monotone, experiments: Sequence[ExperimentFindings], confidence: float) -> Iterator[Part]:
    own = figure(asked.side.figure)
    groups: dict[tuple[Beside, str | None], dict[float, tuple[ExperimentFindings, Values]]] = {}
    for each, stream in _streams(asked.side.selection, experiments, own):
        level = magnitude(asked.factor, each.experiment.factors.get(asked.factor, ""))
        if level is not None:
            group = groups.setdefault((_beside(each, {asked.factor}), stream), {})
            group[level] = each, _values(each, own, stream)
    for (_, stream), group in groups.items():
        steps = [group[level] for level in sorted(group)]
        subjects = tuple(each for each, _ in steps)
        found = _steps([values for _, values in steps if values], own, confidence)
        if isinstance(found, str):
            yield Part(subjects, stream, Judgement.UNDECIDED, JudgedBy.NONE, None, 0, found)
        else:
            yield replace(found, subjects=subjects, stream=stream)


def _steps(levels: Sequence[Values], own: Figure, confidence: float) -> Part | str:
    """The effect is that of the last level against the first."""
    if len(levels) < FEWEST_LEVELS:
        return f"fewer than {FEWEST_LEVELS} levels were measured"
    ends = _contrast(levels[-1], levels[0], is_share=own.is_share, confidence=confidence)
    steps = [_contrast(later, first, is_share=own.is_share, confidence=confidence) for first, later in pairwise(levels)]
    strictly = 1 - (1 - confidence) / len(steps)
    sure = [_contrast(later, first, is_share=own.is_share, confidence=strictly) for first, later in pairwise(levels)]
    if isinstance(ends, NoContrast):
        return ends.reason
    equal = 1.0 if ends.is_ratio else 0.0
    rises, falls = ends.low > equal, ends.high < equal
    known = [step for step in steps if isinstance(step, Contrast)]
    turns = any(isinstance(step, Contrast) and step.low > equal for step in sure) and any(
        isinstance(step, Contrast) and step.high < equal for step in sure
    )
    goes_on = len(known) == len(steps) and (
        (rises and all(step.low >= _back(step) for step in known))
        or (falls and all(step.high <= _forth(step) for step in known))
    )
    judgement = Judgement.REFUTED if turns else Judgement.HOLDS if goes_on else Judgement.UNDECIDED
    scale = Scale.TIMES if ends.is_ratio else Scale.DIFFERENCE
    effect = Effect(scale, ends.value, ends.low, ends.high)
    reason = "from the first level to the last"
    return Part((), None, judgement, JudgedBy.STEPS, effect, min(ends.n_first, ends.n_second), reason)


def _back(step: Contrast) -> float:
    return 1 / (1 + MARGIN) if step.is_ratio else -SHARE_MARGIN


def _forth(step: Contrast) -> float:
    return 1 + MARGIN if step.is_ratio else SHARE_MARGIN
