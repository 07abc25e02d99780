"""Judges a paper's findings: each holds, is refuted, or is undecided, as its claims are.

A finding is all of its claims together: it holds where every part of every claim does, and one part refutes it only at
a level divided by the number of all parts (Bonferroni), as `claims` does for the parts of one claim.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from middlemark.analysis.decisions.claims import JudgedClaim, claim_parts, judge_claim
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.stats.intervals import CONFIDENCE
from middlemark.analysis.verdicts.judge import Judgement
from middlemark.plan import Experiment
from middlemark.suite.claims.claim import Claim
from middlemark.suite.papers import Explanation, Finding

NOT_RUN = "its suite was not run"
NO_CLAIM = "it can't be written as a claim"


@dataclass(frozen=True)
class JudgedClaims:
    """Several claims that are judged as one."""

    judgement: Judgement
    claims: tuple[JudgedClaim, ...]
    reason: str = ""
    """Why they are undecided, where no claim gives the reason."""

    def count(self, judgement: Judgement) -> int:
        """How many of its claims have this judgement."""
        return Counter(claim.judgement for claim in self.claims)[judgement]


@dataclass(frozen=True)
class JudgedExplanation(JudgedClaims):
    """Whether a finding is gone with another value of one setting."""

    explanation: Explanation = field(kw_only=True)


@dataclass(frozen=True)
class JudgedFinding(JudgedClaims):
    """A finding with its judgement."""

    finding: Finding = field(kw_only=True)
    explained: JudgedExplanation | None = None


def judge_findings(
    findings: Sequence[Finding],
    measured: Mapping[str, Sequence[ExperimentFindings]],
    not_installed: Mapping[str, str] = MappingProxyType({}),
) -> tuple[JudgedFinding, ...]:
    """Judges every finding by the experiments of its suite; `measured` has them by suite."""
    return tuple(_judge(finding, measured, not_installed) for finding in findings)


def _judge(
    finding: Finding, measured: Mapping[str, Sequence[ExperimentFindings]], not_installed: Mapping[str, str]
) -> JudgedFinding:
    explained = _judge_explanation(finding.explained, measured, not_installed) if finding.explained else None
    if finding.claims is None or finding.suite is None:
        return JudgedFinding(Judgement.UNDECIDED, (), NO_CLAIM, finding=finding, explained=explained)
    judged = _judge_together(finding.claims, measured.get(finding.suite), not_installed)
    return JudgedFinding(judged.judgement, judged.claims, judged.reason, finding=finding, explained=explained)


def _judge_explanation(
    explanation: Explanation, measured: Mapping[str, Sequence[ExperimentFindings]], not_installed: Mapping[str, str]
) -> JudgedExplanation:
    judged = _judge_together(explanation.claims, measured.get(explanation.suite), not_installed)
    return JudgedExplanation(judged.judgement, judged.claims, judged.reason, explanation=explanation)


def _judge_together(
    claims: Sequence[Claim], experiments: Sequence[ExperimentFindings] | None, not_installed: Mapping[str, str]
) -> JudgedClaims:
    if experiments is None:
        return JudgedClaims(Judgement.UNDECIDED, (), NOT_RUN)
    n_parts = sum(len(claim_parts(claim.statement, experiments, CONFIDENCE)) for claim in claims)
    judged = tuple(_with_absent(judge_claim(claim, experiments, n_parts=n_parts), not_installed) for claim in claims)
    judgements = {claim.judgement for claim in judged}
    for decisive in (Judgement.REFUTED, Judgement.UNDECIDED):
        if decisive in judgements:
            return JudgedClaims(decisive, judged)
    return JudgedClaims(Judgement.HOLDS, judged)


def _with_absent(judged: JudgedClaim, not_installed: Mapping[str, str]) -> JudgedClaim:
    """A claim of which nothing was measured, with the middlewares that it names and that are not installed."""
    named = {dict(selection.factors).get("middleware", "") for selection in judged.claim.selections}
    absent = [f"{name}: {reason}" for name, reason in not_installed.items() if name in named]
    return replace(judged, reason="; ".join(absent)) if absent and not judged.parts else judged


def unmeasured_claims(finding: Finding, experiments: Sequence[Experiment]) -> int:
    """How many of its claims select nothing of what is planned, so that they stay undecided."""
    planned = [ExperimentFindings(experiment, (), {}, {}) for experiment in experiments]
    return sum(not claim_parts(claim.statement, planned, CONFIDENCE) for claim in finding.claims or ())
