"""What a reproduced paper came to, small enough to be kept with the documentation: verdicts, evidence and agreement.

`docs` sets it beside the paper's own findings; the run itself is told by the digest of its files. Each judgement has
the digest of its basis, so that it stands for a finding only as long as that is the paper's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from middlemark.analysis.decisions.paper_findings import JudgedClaims, ReproducedPaper
from middlemark.analysis.verdicts.judge import Judgement
from middlemark.report.conclusions.claims import Line, claims_shown
from middlemark.report.papers.tables import came_to, refused, why
from middlemark.results.files import folder_digest
from middlemark.suite import Model
from middlemark.suite.papers import Extent, Finding, LoadedPaper

_NO_LIBRARY = "none"
"""What a baseline on the kernel alone says of its library."""


class ClaimOutcome(Model):
    """A claim as it was judged."""

    claim: str
    judgement: Judgement
    evidence: str


class ClaimsOutcome(Model):
    """Claims that were judged together."""

    basis: str
    """The digest of what was judged and measured: `LoadedPaper.basis`."""
    judgement: Judgement
    claims: tuple[ClaimOutcome, ...]
    """None where its suite was not run."""


class OtherwiseOutcome(ClaimsOutcome):
    """What a finding came to in experiments that the paper did not make."""

    how: str


class FindingOutcome(ClaimsOutcome):
    """A finding as it was judged."""

    finding: int
    came_to: str
    why: str
    """What refutes it, or why it is undecided."""
    explained: ClaimsOutcome | None = None
    """Whether its explanation holds, where it has one."""
    otherwise: tuple[OtherwiseOutcome, ...] = ()


class Agreement(Model):
    """The rank correlation of one metric of one table."""

    basis: str
    """The digest of the published values and of what was measured: `LoadedPaper.basis_of_values`."""
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
    middlemark_version: str
    libraries: dict[str, str]
    """By the title of a middleware: its library, and the programs of its services, with their versions."""
    trials: int
    not_run: int
    """Trials that were planned and are not stored."""
    run_digest: str
    """Of the run's stored files."""
    findings: tuple[FindingOutcome, ...]
    agreement: tuple[Agreement, ...] = ()
    not_installed: dict[str, str] = {}
    not_applicable: tuple[str, ...] = ()

    def count(self, judgement: Judgement) -> int:
        """How many findings have this judgement."""
        return sum(finding.judgement is judgement for finding in self.findings)


def outcome_of(reproduced: ReproducedPaper) -> PaperOutcome:
    """What it came to."""
    reproduction = reproduced.reproduction
    return PaperOutcome(
        paper=reproduced.paper.paper,
        extent=reproduction.extent,
        started_at=reproduction.started_at,
        machine=_machine(reproduced),
        middlemark_version=next((run.manifest.middlemark_version for run in reproduced.runs.values()), ""),
        libraries=_libraries(reproduced),
        trials=sum(run.n_trials for run in reproduced.runs.values()),
        not_run=reproduced.n_missing,
        run_digest=folder_digest(reproduced.folder.path, without=".html"),
        findings=tuple(_findings(reproduced, reproduction.paper)),
        agreement=tuple(_agreement(reproduced, reproduction.paper)),
        not_installed=dict(reproduction.not_installed),
        not_applicable=tuple(_refusals(reproduced)),
    )


def standing(outcome: PaperOutcome, loaded: LoadedPaper) -> PaperOutcome:
    """What of it is of the paper as it is now: judgements of the same claims on the same experiments, and no others."""
    extent = outcome.extent
    by_number = {finding.finding: finding for finding in loaded.paper.findings}
    bases = {number: loaded.basis(finding, extent) for number, finding in by_number.items()}
    of_values = {table.table: loaded.basis_of_values(table, extent) for table in loaded.paper.tables}
    return outcome.model_copy(
        update={
            "findings": tuple(
                _with_what_stands_beside(finding, _bases_beside(by_number[finding.finding], loaded, extent))
                for finding in outcome.findings
                if finding.basis == bases.get(finding.finding)
            ),
            "agreement": tuple(
                agreement for agreement in outcome.agreement if agreement.basis == of_values.get(agreement.table)
            ),
        }
    )


def _bases_beside(finding: Finding, loaded: LoadedPaper, extent: Extent) -> Mapping[str | None, str]:
    """Of its explanation, under None, and by how it is found otherwise: the digests of what those depend on."""
    explained = {None: loaded.basis(finding.explained, extent)} if finding.explained else {}
    return explained | {otherwise.how: loaded.basis(otherwise, extent) for otherwise in finding.otherwise}


def _with_what_stands_beside(finding: FindingOutcome, bases: Mapping[str | None, str]) -> FindingOutcome:
    explained = finding.explained
    stands = explained is not None and explained.basis == bases.get(None)
    otherwise = tuple(other for other in finding.otherwise if other.basis == bases.get(other.how))
    return finding.model_copy(update={"explained": explained if stands else None, "otherwise": otherwise})


def _findings(reproduced: ReproducedPaper, loaded: LoadedPaper) -> Iterable[FindingOutcome]:
    extent = reproduced.reproduction.extent
    for judged in reproduced.findings:
        explained = judged.explained
        yield FindingOutcome(
            **_outcome(judged, loaded.basis(judged.finding, extent)).model_dump(),
            finding=judged.finding.finding,
            came_to=came_to(judged),
            why=why(judged),
            explained=_outcome(explained, loaded.basis(explained.explanation, extent)) if explained else None,
            otherwise=tuple(
                OtherwiseOutcome(
                    **_outcome(other, loaded.basis(other.otherwise, extent)).model_dump(), how=other.otherwise.how
                )
                for other in judged.otherwise
            ),
        )


def _outcome(judged: JudgedClaims, basis: str) -> ClaimsOutcome:
    lines = [shown.line for shown in claims_shown(judged.claims)]
    return ClaimsOutcome(
        basis=basis,
        judgement=judged.judgement,
        claims=tuple(
            ClaimOutcome(claim=line.text, judgement=line.judgement, evidence=_evidence(line)) for line in lines
        ),
    )


def _evidence(line: Line) -> str:
    return ": ".join(words for words in (line.effect, line.why) if words)


def _agreement(reproduced: ReproducedPaper, loaded: LoadedPaper) -> Iterable[Agreement]:
    for table in loaded.paper.tables:
        compared = reproduced.comparisons.get(table.table)
        for correlation in compared.correlations if compared else ():
            yield Agreement(
                basis=loaded.basis_of_values(table, reproduced.reproduction.extent),
                table=table.table,
                metric=correlation.metric.name,
                cells=correlation.n_cells,
                value=correlation.value,
                low=correlation.low,
                high=correlation.high,
            )


def _machine(reproduced: ReproducedPaper) -> str:
    machines = (run.manifest.machine_in_short for run in reproduced.runs.values())
    return next(machines, "no machine: nothing was run")


def _libraries(reproduced: ReproducedPaper) -> dict[str, str]:
    """Of middlewares, not of baselines."""
    middlewares = dict(entry for run in reproduced.runs.values() for entry in run.manifest.middlewares.items())
    libraries_of = {
        middleware.title: (middleware.library, *middleware.programs) for _, middleware in sorted(middlewares.items())
    }
    return {
        title: ", ".join(f"{library.name} {library.version}" for library in libraries)
        for title, libraries in libraries_of.items()
        if libraries[0].name != _NO_LIBRARY
    }


def _refusals(reproduced: ReproducedPaper) -> Iterable[str]:
    for suite, run in reproduced.runs.items():
        yield from (f"{suite}, {reason}" for reason in refused(run))
