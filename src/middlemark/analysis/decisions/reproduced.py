"""A reproduced paper, from its folder: the findings of every suite's run, judged and compared with what was published.

It writes nothing; `decisions.paper_findings` judges and `compare.published` compares.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from middlemark.analysis.compare.published import PaperComparison, compare_values
from middlemark.analysis.decisions.paper_findings import JudgedFinding, judge_findings
from middlemark.analysis.run import RunFindings, analyse
from middlemark.results.manifest import Reproduction
from middlemark.results.run_folder import ReproductionFolder
from middlemark.suite.papers import Paper


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
            table.table: compare_values(loaded.values[table.table], measured[table.suite], table.series)
            for table in loaded.paper.tables
            if table.suite in measured
        },
    )
