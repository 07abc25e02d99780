"""Judges a paper's findings: each holds, is refuted, or is undecided, as its claims are.

A finding is all of its claims together: it holds where every part of every claim does, and one part refutes it only at
a level divided by the number of all parts (Bonferroni), as `claims` does for the parts of one claim.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from middlemark.analysis.decisions.claims import JudgedClaim, claim_parts, judge_claim
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.stats.intervals import CONFIDENCE
from middlemark.analysis.verdicts.judge import Judgement
from middlemark.plan import Experiment
from middlemark.suite.papers import Finding

NOT_RUN = "its suite was not run"
NO_CLAIM = "no claim can say it"


@dataclass(frozen=True)
class JudgedFinding:
    """A finding with its judgement."""

    finding: Finding
    judgement: Judgement
    claims: tuple[JudgedClaim, ...]
    reason: str = ""
    """Why it is undecided, where no claim gives the reason."""

    def count(self, judgement: Judgement) -> int:
        """How many of its claims have this judgement."""
        return Counter(each.judgement for each in self.claims)[judgement]


def judge_findings(
    findings: Sequence[Finding], measured: Mapping[str, Sequence[ExperimentFindings]]
) -> tuple[JudgedFinding, ...]:
    """Judges every finding by the experiments of its suite; `measured` has them by suite."""
    return tuple(_judge(each, measured) for each in findings)


def _judge(finding: Finding, measured: Mapping[str, Sequence[ExperimentFindings]]) -> JudgedFinding:
    if finding.claims is None or finding.suite is None:
        return JudgedFinding(finding, Judgement.UNDECIDED, (), NO_CLAIM)
    if finding.suite not in measured:
        return JudgedFinding(finding, Judgement.UNDECIDED, (), NOT_RUN)
    own = measured[finding.suite]
    n_parts = sum(len(claim_parts(claim.statement, own, CONFIDENCE)) for claim in finding.claims)
    judged = tuple(judge_claim(claim, own, n_parts=n_parts) for claim in finding.claims)
    judgements = {each.judgement for each in judged}
    for decisive in (Judgement.REFUTED, Judgement.UNDECIDED):
        if decisive in judgements:
            return JudgedFinding(finding, decisive, judged)
    return JudgedFinding(finding, Judgement.HOLDS, judged)


def unmeasured_claims(finding: Finding, experiments: Sequence[Experiment]) -> int:
    """How many of its claims select nothing of what is planned, so that they stay undecided."""
    planned = [ExperimentFindings(each, (), {}, {}) for each in experiments]
    return sum(not claim_parts(claim.statement, planned, CONFIDENCE) for claim in finding.claims or ())
