"""Which parts a claim has: one for each experiment or pair, and stream, that it speaks of.

Pairs are experiments that agree in every factor that neither side names; `claim_judgement` decides each part,
`claims` puts them together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from middlemark.analysis.claim_judgement import bounded, compared, lossless, monotone, silent
from middlemark.analysis.claim_part import Part
from middlemark.analysis.experiment import ExperimentFindings
from middlemark.analysis.figure import Figure, figure
from middlemark.analysis.pairing import OF_THE_CONTENDER, OPTION
from middlemark.analysis.verdict.evidence import Evidence
from middlemark.plan import is_selected
from middlemark.plan.search import is_whole
from middlemark.suite import (
    Bound,
    Comparison,
    Monotone,
    NoCommunication,
    NoLoss,
    Selection,
    magnitude,
)
from middlemark.suite.claim import Statement

Beside = tuple[tuple[str, str], ...]
"""The factors in which experiments must agree."""


def parts(statement: Statement, experiments: Sequence[ExperimentFindings], confidence: float) -> tuple[Part, ...]:
    """All parts of a claim, each judged for itself."""
    match statement:
        case Comparison():
            return tuple(_comparisons(statement, experiments, confidence))
        case Bound():
            return tuple(
                bounded(statement, each, stream, confidence)
                for each, stream in _streams(statement.side.selection, experiments, figure(statement.side.figure))
            )
        case NoLoss(selection):
            return tuple(lossless(each, stream, confidence) for each, stream in _streams(selection, experiments))
        case NoCommunication(selection):
            return tuple(silent(each, confidence) for each in _selected(selection, experiments))
        case Monotone():
            return tuple(_monotones(statement, experiments, confidence))


def _selected(
    selection: Selection, experiments: Sequence[ExperimentFindings], asked: Figure | None = None
) -> list[ExperimentFindings]:
    """Of a capacity the searches, each as one; of every other figure the experiments with their loads."""
    of_search = asked is not None and asked.of_search
    having = [each for each in experiments if is_whole(each.experiment) == of_search]
    return [each for each in having if is_selected(each.experiment, selection)]


def _streams(
    selection: Selection, experiments: Sequence[ExperimentFindings], asked: Figure | None = None
) -> Iterator[tuple[ExperimentFindings, str | None]]:
    """Every experiment with each of its streams (or chains) that has the figure; with the first where none has."""
    for each in _selected(selection, experiments, asked):
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
            yield compared(asked, (first, second), (stream, other), confidence)


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


def _monotones(asked: Monotone, experiments: Sequence[ExperimentFindings], confidence: float) -> Iterator[Part]:
    own = figure(asked.side.figure)
    groups: dict[tuple[Beside, str | None], dict[float, tuple[ExperimentFindings, Evidence]]] = {}
    for each, stream in _streams(asked.side.selection, experiments, own):
        level = magnitude(asked.factor, each.experiment.factors.get(asked.factor, ""))
        if level is not None:
            group = groups.setdefault((_beside(each, {asked.factor}), stream), {})
            group[level] = each, each.evidence(own, stream)
    for (_, stream), group in groups.items():
        yield monotone([group[level] for level in sorted(group)], stream, confidence)
