"""Findings are judged as their claims are, and say why they are undecided."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from middlemark.analysis.decisions.paper_findings import (
    NO_CLAIM,
    NOT_IN_EXTENT,
    NOT_RUN,
    JudgedFinding,
    judge_findings,
    unmeasured_claims,
)
from middlemark.analysis.experiment.findings import ExperimentFindings, TrialOutcome
from middlemark.analysis.run import analyse
from middlemark.analysis.verdicts.judge import Judgement
from middlemark.plan import expand
from middlemark.report.papers.tables import came_to
from middlemark.suite.papers import Extent, LoadedPaper, load_paper
from run_builder import Behaviour, build_run
from staged_paper import stage_paper

FAST, SLOW = Behaviour(latency_ns=40_000), Behaviour(latency_ns=400_000)


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> LoadedPaper:
    return load_paper(str(stage_paper(tmp_path_factory.mktemp("paper") / "staged")))


def judged(
    paper: LoadedPaper, folder: Path, extent: Extent, behaviours: Mapping[str, Behaviour]
) -> tuple[JudgedFinding, ...]:
    run = build_run(folder, paper.suite("messages", extent).text, behaviours)
    return judge_findings(paper.paper.findings, {"messages": analyse(run).claimable})


def test_a_finding_holds_where_all_its_claims_hold(paper: LoadedPaper, tmp_path: Path) -> None:
    first, second, _ = judged(paper, tmp_path, Extent.FULL, {"fake": FAST, "other": SLOW})
    assert (first.judgement, second.judgement) == (Judgement.HOLDS, Judgement.HOLDS)
    assert first.count(Judgement.HOLDS) == 2


def test_one_refuted_claim_refutes_a_finding(paper: LoadedPaper, tmp_path: Path) -> None:
    first, second, _ = judged(paper, tmp_path, Extent.FULL, {"fake": SLOW, "other": FAST})
    assert (first.judgement, second.judgement) == (Judgement.REFUTED, Judgement.HOLDS)


def test_a_claim_that_is_not_measured_leaves_its_finding_undecided(paper: LoadedPaper, tmp_path: Path) -> None:
    first, second, _ = judged(paper, tmp_path, Extent.QUICK, {"fake": FAST, "other": SLOW})
    assert [each.judgement for each in first.claims] == [Judgement.HOLDS, Judgement.UNDECIDED]
    assert (first.judgement, second.judgement) == (Judgement.UNDECIDED, Judgement.HOLDS)


def test_what_was_not_run_or_no_claim_says_is_undecided_with_the_reason(paper: LoadedPaper) -> None:
    nothing: Mapping[str, list[ExperimentFindings]] = {}
    found = judge_findings(paper.paper.findings, nothing)
    assert {each.judgement for each in found} == {Judgement.UNDECIDED}
    assert [each.reason for each in found] == [NOT_RUN, NOT_RUN, NO_CLAIM]


def test_a_claim_about_what_is_not_installed_says_so(paper: LoadedPaper) -> None:
    first, second, _ = judge_findings(paper.paper.findings, {"messages": []}, {"other": "not installed"})
    assert first.judgement is Judgement.UNDECIDED
    assert {each.reason for each in first.claims} == {"other is not installed"}
    assert {each.reason for each in second.claims} == {NOT_IN_EXTENT}


def test_claims_that_an_extent_does_not_measure_are_counted(paper: LoadedPaper) -> None:
    finding = paper.paper.findings[0]
    quick, full = (expand(paper.suite("messages", extent).suite, available=["fake", "other"]) for extent in Extent)
    assert (unmeasured_claims(finding, quick), unmeasured_claims(finding, full)) == (1, 0)


def test_an_explanation_is_judged_beside_its_finding(paper: LoadedPaper, tmp_path: Path) -> None:
    _, full, _ = judged(paper, tmp_path / "full", Extent.FULL, {"fake": FAST, "other": SLOW})
    _, quick, _ = judged(paper, tmp_path / "quick", Extent.QUICK, {"fake": FAST, "other": SLOW})
    assert full.explained is not None
    assert quick.explained is not None
    assert (full.judgement, full.explained.judgement) == (Judgement.HOLDS, Judgement.HOLDS)
    assert (quick.judgement, quick.explained.judgement) == (Judgement.HOLDS, Judgement.UNDECIDED)


def test_a_worker_that_is_there_and_unfit_is_named_with_the_reason(paper: LoadedPaper) -> None:
    first, *_ = judge_findings(paper.paper.findings, {"messages": []}, {"other": "it speaks version 9 of the contract"})
    assert {each.reason for each in first.claims} == {"other: it speaks version 9 of the contract"}


def test_what_is_measured_otherwise_decides_nothing_of_its_finding(paper: LoadedPaper, tmp_path: Path) -> None:
    first, *_ = judged(paper, tmp_path, Extent.FULL, {"fake": FAST, "other": SLOW})
    assert (first.judgement, [each.judgement for each in first.otherwise]) == (Judgement.HOLDS, [Judgement.REFUTED])
    assert first.otherwise[0].otherwise.how == "backwards"


def test_experiments_that_are_not_applicable_are_counted_once_for_a_finding(paper: LoadedPaper) -> None:
    """Those that are left out of a claim, and those that are all that it selects."""
    refused = TrialOutcome("1", 1, 1, "not_applicable", "too large")
    planned = expand(paper.suite("messages", Extent.FULL).suite, available=["fake", "other"])
    measured = [ExperimentFindings(each, (refused,) if each.middleware == "fake" else (), {}, {}) for each in planned]
    first, second, _ = judge_findings(paper.paper.findings, {"messages": measured})
    assert (first.n_not_applicable, second.n_not_applicable) == (2, 1)
    assert came_to(first) == "2 undecided of 2 (2 experiments not applicable)"
    assert came_to(second) == "1 undecided of 1 (1 experiment not applicable)"
