"""Writes the documentation's pages on papers: `docs/papers`."""

from pathlib import Path

from middlemark.report.papers.docs import index_page, paper_page
from middlemark.suite.papers import load_paper, shipped_paper_names

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "papers"


def main() -> None:
    papers = [load_paper(name) for name in shipped_paper_names()]
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "index.md").write_text(index_page(papers), encoding="utf-8")
    for each in papers:
        (FOLDER / f"{each.paper.paper}.md").write_text(paper_page(each), encoding="utf-8")


if __name__ == "__main__":
    main()
