"""The pages on papers say what their files say."""

import re

import pytest

from middlemark.report.papers.docs import index_page, paper_page
from middlemark.report.papers.outcome import PaperOutcome
from middlemark.suite.papers import load_paper, shipped_paper_names
from pages import ROOT, text

PAPERS = shipped_paper_names()
STORED = (PaperOutcome.model_validate_json(path.read_bytes()) for path in (ROOT / "docs/papers").glob("*.json"))
OUTCOMES = {each.paper: each for each in STORED}
HEADING_IN_A_TABLE = re.compile(r"\|\n#")


def test_the_index_has_every_finding_of_every_paper() -> None:
    papers = [load_paper(name) for name in PAPERS]
    assert text("papers/index") == index_page(papers, OUTCOMES), "run `make papers`"
    assert not HEADING_IN_A_TABLE.search(text("papers/index"))
    for each in papers:
        assert all(finding.says in text("papers/index") for finding in each.paper.findings)


@pytest.mark.parametrize("name", PAPERS)
def test_the_page_of_a_paper_is_up_to_date(name: str) -> None:
    assert text(f"papers/{name}") == paper_page(load_paper(name), OUTCOMES.get(name)), "run `make papers`"
