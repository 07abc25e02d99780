"""Writes the documentation's pages on papers, `docs/papers`, with what the reproduced papers in these folders came to.

python setup/pages/papers.py [FOLDER…]
"""

import sys
from pathlib import Path

from middlemark.analysis.decisions.paper_findings import analyse_paper
from middlemark.report.papers.docs import index_page, paper_page
from middlemark.report.papers.outcome import PaperOutcome, outcome_of
from middlemark.results.files import write_model
from middlemark.results.run_folder import ReproductionFolder
from middlemark.suite.papers import load_paper, shipped_paper_names

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "papers"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for folder in sys.argv[1:]:
        outcome = outcome_of(analyse_paper(ReproductionFolder(Path(folder))))
        write_model(FOLDER / f"{outcome.paper}.json", outcome)
    papers = [load_paper(name) for name in shipped_paper_names()]
    outcomes = stored_outcomes(FOLDER)
    (FOLDER / "index.md").write_text(index_page(papers, outcomes), encoding="utf-8")
    for loaded in papers:
        page = paper_page(loaded, outcomes.get(loaded.paper.paper))
        (FOLDER / f"{loaded.paper.paper}.md").write_text(page, encoding="utf-8")


def stored_outcomes(folder: Path) -> dict[str, PaperOutcome]:
    """By paper: what its published run came to."""
    stored = (PaperOutcome.model_validate_json(path.read_bytes()) for path in sorted(folder.glob("*.json")))
    return {outcome.paper: outcome for outcome in stored}


if __name__ == "__main__":
    main()
