"""Judges the findings of a reproduced paper: each holds, is refuted, or is undecided, as its claims are.

A finding is all of its claims together: it holds where every part of every claim does, and one part refutes it only at
a level divided by the number of all parts (Bonferroni), as `claims` does for the parts of one claim.
`compare.published` compares values with those that were published.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from middlemark.analysis.compare.published import PaperComparison, compare_values
from middlemark.analysis.decisions.claims import JudgedClaim, claim_parts, judge_claim
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.run import RunFindings, analyse
from middlemark.analysis.stats.intervals import CONFIDENCE
from middlemark.analysis.verdicts.judge import Judgement
from middlemark.plan import Experiment
from middlemark.results.manifest import Reproduction
from middlemark.results.run_folder import ReproductionFolder
from middlemark.suite.claims.claim import Claim
from middlemark.suite.papers import Explanation, Finding, Otherwise, Paper

NOT_RUN = "its suite was not run"
NO_CLAIM = "it can't be written as a claim"
NOT_IN_EXTENT = "nothing that a claim selects is measured in this extent"


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

    @property
    def n_not_applicable(self) -> int:
        """How many of the experiments that they select are not applicable, each counted once."""
        left_out = {name for claim in self.claims for name in claim.not_applicable}
        judged = (subject for claim in self.claims for part in claim.parts for subject in part.subjects)
        return len(left_out | {subject.experiment.id for subject in judged if subject.not_applicable is not None})


@dataclass(frozen=True)
class JudgedExplanation(JudgedClaims):
    """Whether a finding is gone with another value of one setting."""

    explanation: Explanation = field(kw_only=True)


@dataclass(frozen=True)
class JudgedOtherwise(JudgedClaims):
    """Whether a finding is found in experiments that the paper did not make."""

    otherwise: Otherwise = field(kw_only=True)


@dataclass(frozen=True)
class JudgedFinding(JudgedClaims):
    """A finding with its judgement."""

    finding: Finding = field(kw_only=True)
    explained: JudgedExplanation | None = None
    otherwise: tuple[JudgedOtherwise, ...] = ()


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
    judged = JudgedClaims(Judgement.UNDECIDED, (), NO_CLAIM)
    if finding.claims is not None and finding.suite is not None:
        judged = _judge_together(finding.claims, measured.get(finding.suite), not_installed)
    explained = _judge_explanation(finding.explained, measured, not_installed) if finding.explained else None
    otherwise = tuple(_judge_otherwise(other, measured, not_installed) for other in finding.otherwise)
    return JudgedFinding(
        judged.judgement, judged.claims, judged.reason, finding=finding, explained=explained, otherwise=otherwise
    )


def _judge_explanation(
    explanation: Explanation, measured: Mapping[str, Sequence[ExperimentFindings]], not_installed: Mapping[str, str]
) -> JudgedExplanation:
    judged = _judge_together(explanation.claims, measured.get(explanation.suite), not_installed)
    return JudgedExplanation(judged.judgement, judged.claims, judged.reason, explanation=explanation)


def _judge_otherwise(
    otherwise: Otherwise, measured: Mapping[str, Sequence[ExperimentFindings]], not_installed: Mapping[str, str]
) -> JudgedOtherwise:
    judged = _judge_together(otherwise.claims, measured.get(otherwise.suite), not_installed)
    return JudgedOtherwise(judged.judgement, judged.claims, judged.reason, otherwise=otherwise)


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
    """A claim of which nothing was measured, with the reason: what it names and is not installed, or the extent."""
    if judged.parts:
        return judged
    named = {dict(selection.factors).get("middleware", "") for selection in judged.claim.selections}
    absent = [_absent(name, reason) for name, reason in not_installed.items() if name in named]
    return replace(judged, reason="; ".join(absent) or NOT_IN_EXTENT)


def _absent(name: str, reason: str) -> str:
    """In short, as the page says once what is missing and how to mend it."""
    return f"{name} is not installed" if "not installed" in reason else f"{name}: {reason}"


def unmeasured_claims(finding: Finding, experiments: Sequence[Experiment]) -> int:
    """How many of its claims select nothing of what is planned, so that they stay undecided."""
    planned = [ExperimentFindings(experiment, (), {}, {}) for experiment in experiments]
    return sum(not claim_parts(claim.statement, planned, CONFIDENCE) for claim in finding.claims or ())


@dataclass(frozen=True)
class ReproducedPaper:
    """A paper with all that its runs say of it."""

    folder: ReproductionFolder
    reproduction: Reproduction
    paper: Paper
    runs: Mapping[str, RunFindings]
    """By suite."""
    findings: tuple[JudgedFinding, ...]
    comparisons: Mapping[str, PaperComparison]
    """By table of the paper."""

    @property
    def n_missing(self) -> int:
        """Planned trials that are not stored."""
        return sum(len(run.missing) for run in self.runs.values())

    @property
    def not_begun(self) -> tuple[str, ...]:
        """Suites that can run here and have not."""
        names = [suite.suite for suite in self.paper.suites]
        return tuple(name for name in names if name not in self.runs and name not in self.reproduction.not_run)


def analyse_paper(folder: ReproductionFolder) -> ReproducedPaper:
    """Reads and analyses all runs of a reproduced paper."""
    reproduction = folder.read()
    loaded = reproduction.paper
    runs = {name: analyse(run) for name, run in folder.stored_runs(reproduction).items()}
    measured = {name: run.claimable for name, run in runs.items()}
    return ReproducedPaper(
        folder=folder,
        reproduction=reproduction,
        paper=loaded.paper,
        runs=runs,
        findings=judge_findings(loaded.paper.findings, measured, reproduction.not_installed),
        comparisons={
            table.table: compare_values(
                loaded.values[table.table], measured[table.suite], table.series, reproduction.not_installed
            )
            for table in loaded.paper.tables
            if table.suite in measured
        },
    )
