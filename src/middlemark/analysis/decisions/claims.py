"""Judges claims: each holds, is refuted, or is undecided.

A claim has a part for each stream of each experiment or pair of experiments that it selects; the two of a pair agree in
every factor that neither operand names. It holds where each part's 95 % interval agrees (an intersection-union test:
Berger, Technometrics 24, 1982); one part refutes it only at a level divided by the number of parts (Bonferroni).
`claim_tests` judges each part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from middlemark.analysis.decisions.claim_tests import (
    ClaimPart,
    judge_bound,
    judge_comparison,
    judge_monotone,
    judge_no_communication,
    judge_no_loss,
)
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.run import RunFindings
from middlemark.analysis.stats.intervals import CONFIDENCE
from middlemark.analysis.verdicts.bounds import Evidence
from middlemark.analysis.verdicts.judge import Judgement
from middlemark.plan import Side, is_selected
from middlemark.plan.factors import SIDE_FACTOR, Factors, fixed_factors
from middlemark.plan.schedule import is_search
from middlemark.suite import Bound, Claim, Comparison, Monotone, NoCommunication, NoLoss, Selection, magnitude
from middlemark.suite.claims.claim import Statement
from middlemark.suite.metrics import Metric, metric_named
from middlemark.suite.yaml.quantity import plural


def claim_parts(
    statement: Statement, experiments: Sequence[ExperimentFindings], confidence: float
) -> tuple[ClaimPart, ...]:
    """All parts of a claim, each judged alone; of what is not applicable only where nothing else is selected."""
    applicable = [candidate for candidate in experiments if candidate.not_applicable is None]
    return _parts(statement, applicable, confidence) or _parts(statement, experiments, confidence)


def _parts(statement: Statement, experiments: Sequence[ExperimentFindings], confidence: float) -> tuple[ClaimPart, ...]:
    match statement:
        case Comparison():
            return tuple(_comparisons(statement, experiments, confidence))
        case Bound():
            return tuple(
                judge_bound(statement, candidate, stream, confidence)
                for candidate, stream in _streams(
                    statement.operand.selection, experiments, metric_named(statement.operand.metric)
                )
            )
        case NoLoss(selection):
            return tuple(
                judge_no_loss(candidate, stream, confidence) for candidate, stream in _streams(selection, experiments)
            )
        case NoCommunication(selection):
            return tuple(
                judge_no_communication(candidate, confidence) for candidate in _selected(selection, experiments)
            )
        case Monotone():
            return tuple(_monotones(statement, experiments, confidence))


def _selected(
    selection: Selection, experiments: Sequence[ExperimentFindings], metric: Metric | None = None
) -> list[ExperimentFindings]:
    """For a capacity the searches, each as one experiment; for every other metric the experiments with their loads."""
    of_search = metric is not None and metric.of_search
    having = [candidate for candidate in experiments if is_search(candidate.experiment) == of_search]
    return [candidate for candidate in having if is_selected(candidate.experiment, selection)]


def _streams(
    selection: Selection, experiments: Sequence[ExperimentFindings], metric: Metric | None = None
) -> Iterator[tuple[ExperimentFindings, str | None]]:
    """Each experiment with each of its streams (or chains) that has the metric; with the first one if none has it."""
    for candidate in _selected(selection, experiments, metric):
        if metric is not None and metric.of_trial:
            yield candidate, None
            continue
        of_chains = metric is not None and metric.of_chain
        flows = candidate.experiment.chains if of_chains else candidate.experiment.streams
        names = [flow.name for flow in flows if selection.stream in {None, flow.name}]
        having = [name for name in names if metric is None or metric.key(name) in candidate.having(metric).estimates]
        yield from ((candidate, name) for name in having or names[:1])


def _comparisons(
    statement: Comparison, experiments: Sequence[ExperimentFindings], confidence: float
) -> Iterator[ClaimPart]:
    metrics = [metric_named(operand.metric) for operand in (statement.first, statement.second)]
    named = {name for operand in (statement.first, statement.second) for name, _ in operand.selection.factors}
    firsts, seconds = (
        list(_streams(operand.selection, experiments, metric))
        for operand, metric in zip((statement.first, statement.second), metrics, strict=True)
    )
    for (first, stream), (second, other) in product(firsts, seconds):
        apart = first is not second or (statement.first.metric, stream) != (statement.second.metric, other)
        if (
            apart
            and fixed_factors(first.experiment, named) == fixed_factors(second.experiment, named)
            and _go_together(stream, other, first, second)
        ):
            yield judge_comparison(statement, (first, second), (stream, other), confidence)


def _go_together(stream: str | None, other: str | None, first: ExperimentFindings, second: ExperimentFindings) -> bool:
    """Streams of the same name where both experiments have one; otherwise every stream with every other."""
    names = [{planned_stream.name for planned_stream in side.experiment.streams} for side in (first, second)]
    return stream == other or None in {stream, other} or not names[0] & names[1]


def _monotones(
    statement: Monotone, experiments: Sequence[ExperimentFindings], confidence: float
) -> Iterator[ClaimPart]:
    metric = metric_named(statement.operand.metric)
    groups: dict[tuple[Factors, str | None], dict[float, tuple[ExperimentFindings, Evidence]]] = {}
    for candidate, stream in _streams(statement.operand.selection, experiments, metric):
        level = magnitude(statement.factor, candidate.experiment.factors.get(statement.factor, ""))
        if level is not None:
            group = groups.setdefault((fixed_factors(candidate.experiment, {statement.factor}), stream), {})
            group[level] = candidate, candidate.evidence(metric, stream)
    for (_, stream), group in groups.items():
        yield judge_monotone([group[level] for level in sorted(group)], stream, confidence)


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with its judgement."""

    claim: Claim
    judgement: Judgement
    parts: tuple[ClaimPart, ...]
    """One for each stream of each experiment or pair of experiments that it selects."""
    reason: str = ""
    """Why it is undecided, where no part gives the reason."""
    side: Side | None = None
    """The side that it is judged for; None where the run has no two sides, or the claim names the side itself."""
    not_applicable: tuple[str, ...] = ()
    """The ids of experiments that it selects and that are not applicable, and so no part of it."""

    @property
    def n_not_applicable(self) -> int:
        """How many they are."""
        return len(self.not_applicable)

    def count(self, judgement: Judgement) -> int:
        """How many of its parts have this judgement."""
        return Counter(part.judgement for part in self.parts)[judgement]


def judge_claims(claims: Sequence[Claim], experiments: Sequence[ExperimentFindings]) -> tuple[JudgedClaim, ...]:
    """Judges every claim on a run's experiments; in a run with two sides, on those of each side."""
    sides = {side: [candidate for candidate in experiments if candidate.experiment.side is side] for side in Side}
    return tuple(
        replace(judge_claim(claim, measured), side=side)
        for claim in claims
        for side, measured in ({None: experiments} if _names_sides(claim) or not any(sides.values()) else sides).items()
    )


def _names_sides(claim: Claim) -> bool:
    return any(name == SIDE_FACTOR for selection in claim.selections for name, _ in selection.factors)


def decisive(judged: Sequence[JudgedClaim]) -> list[JudgedClaim]:
    """The judgements that count for the run: in a run with two sides those of the head, as the base does not change."""
    return [claim for claim in judged if claim.side is not Side.BASE]


def judge_own_claims(findings: RunFindings) -> tuple[JudgedClaim, ...]:
    """Judges the claims of a run's suite."""
    return judge_claims(findings.manifest.claims, findings.claimable)


def judge_claim(claim: Claim, experiments: Sequence[ExperimentFindings], *, n_parts: int | None = None) -> JudgedClaim:
    """Judges one claim; where it is one of several of a finding, `n_parts` is how many parts all of them have."""
    judged = _judge_parts(claim, experiments, n_parts)
    left_out = [candidate for candidate in experiments if candidate.not_applicable is not None]
    judged_ones = {subject.experiment.id for part in judged.parts for subject in part.subjects}
    not_applicable = tuple(
        candidate.experiment.id
        for candidate in left_out
        if candidate.experiment.id not in judged_ones
        and any(is_selected(candidate.experiment, selection) for selection in claim.selections)
    )
    return replace(judged, not_applicable=not_applicable)


def _judge_parts(claim: Claim, experiments: Sequence[ExperimentFindings], n_parts: int | None) -> JudgedClaim:
    parts = claim_parts(claim.statement, experiments, CONFIDENCE)
    if not parts:
        return JudgedClaim(claim, Judgement.UNDECIDED, (), "the run has no experiment that this claim selects")
    if all(part.judgement is Judgement.HOLDS for part in parts):
        return JudgedClaim(claim, Judgement.HOLDS, parts)
    if not any(part.judgement is Judgement.REFUTED for part in parts):
        return JudgedClaim(claim, Judgement.UNDECIDED, parts)
    among = n_parts or len(parts)
    strictly = claim_parts(claim.statement, experiments, 1 - (1 - CONFIDENCE) / among)
    if any(part.judgement is Judgement.REFUTED for part in strictly):
        return JudgedClaim(claim, Judgement.REFUTED, parts)
    reason = f"what refutes it may be chance among {plural(among, 'part')}: run more trials"
    return JudgedClaim(claim, Judgement.UNDECIDED, parts, reason)
