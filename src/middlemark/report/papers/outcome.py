"""What a reproduced paper came to, small enough to be kept with the documentation: verdicts, evidence and agreement.

`docs` sets it beside the paper's own findings; the run itself is told by the digest of its files.
"""

from __future__ import annotations

from collections.abc import Iterable

from middlemark.analysis.decisions.paper_findings import ReproducedPaper
from middlemark.report.conclusions.claims import claims_shown
from middlemark.report.papers.tables import came_to, what_decides
from middlemark.results.digest import folder_digest
from middlemark.suite import Model
from middlemark.suite.papers import Extent


class ClaimOutcome(Model):
    """A claim as it was judged."""

    claim: str
    judgement: str
    evidence: str


class FindingOutcome(Model):
    """A finding as it was judged."""

    finding: int
    judgement: str
    came_to: str
    open: str
    claims: tuple[ClaimOutcome, ...]
    explained: str = ""
    """Whether its explanation holds, where it has one."""


class Agreement(Model):
    """The rank correlation of one metric of one table."""

    table: str
    metric: str
    cells: int
    value: float | None
    low: float | None
    high: float | None


class PaperOutcome(Model):
    """What one run of a paper came to."""

    paper: str
    extent: Extent
    started_at: str
    machine: str
    trials: int
    not_run: int
    """Trials that were planned and are not stored."""
    paper_digest: str
    """Of the paper's files: what it was judged by."""
    run_digest: str
    """Of the run's stored files."""
    findings: tuple[FindingOutcome, ...]
    agreement: tuple[Agreement, ...] = ()
    not_installed: dict[str, str] = {}
    not_applicable: tuple[str, ...] = ()

    def count(self, judgement: str) -> int:
        """How many findings have this judgement."""
        return sum(finding.judgement == judgement for finding in self.findings)


def outcome_of(reproduced: ReproducedPaper) -> PaperOutcome:
    """What it came to."""
    return PaperOutcome(
        paper=reproduced.paper.paper,
        extent=reproduced.reproduction.extent,
        started_at=reproduced.reproduction.started_at,
        machine=_machine(reproduced),
        trials=sum(run.n_trials for run in reproduced.runs.values()),
        not_run=reproduced.n_missing,
        paper_digest=reproduced.reproduction.paper.digest,
        run_digest=folder_digest(reproduced.folder.path, without=".html"),
        findings=tuple(_findings(reproduced)),
        agreement=tuple(
            Agreement(
                table=name,
                metric=correlation.metric.name,
                cells=correlation.n_cells,
                value=correlation.value,
                low=correlation.low,
                high=correlation.high,
            )
            for name, compared in reproduced.comparisons.items()
            for correlation in compared.correlations
        ),
        not_installed=dict(reproduced.reproduction.not_installed),
        not_applicable=tuple(dict.fromkeys(_refusals(reproduced))),
    )


def _findings(reproduced: ReproducedPaper) -> Iterable[FindingOutcome]:
    for finding in reproduced.findings:
        lines = [shown.line for shown in claims_shown(finding.claims)]
        yield FindingOutcome(
            finding=finding.finding.finding,
            judgement=finding.judgement.value,
            came_to=came_to(finding),
            open=what_decides(finding),
            claims=tuple(
                ClaimOutcome(claim=line.text, judgement=line.judgement.value, evidence=line.effect or line.why)
                for line in lines
            ),
            explained=finding.explained.judgement.value if finding.explained else "",
        )


def _machine(reproduced: ReproducedPaper) -> str:
    machines = (run.manifest.machine_in_short for run in reproduced.runs.values())
    return next(machines, "no machine: nothing was run")


def _refusals(reproduced: ReproducedPaper) -> Iterable[str]:
    for suite, run in reproduced.runs.items():
        yield from (
            f"{suite}, {experiment.experiment.middleware}: {experiment.not_applicable}"
            for experiment in run.experiments
            if experiment.not_applicable
        )
