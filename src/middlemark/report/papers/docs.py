"""The documentation's pages on papers, as Markdown, from the same files that papers are measured and judged by.

Only what is stated before any measurement is on them; `setup/pages/papers.py` writes them.
"""

from __future__ import annotations

from collections.abc import Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined

from middlemark.report.elements.tables import Table, named, sentences, table, values
from middlemark.report.output.figures import as_markdown
from middlemark.report.papers.tables import equipment_table, features_table
from middlemark.suite.papers import LoadedPaper, Paper

OUTCOME = "No full run of the maintainers is published yet, so that there is no verdict here."


def index_page(papers: Sequence[LoadedPaper]) -> str:
    """All papers with all their findings."""
    return _page("index", papers=[paper.paper for paper in papers], findings_of=findings_of, overview=overview)


def paper_page(loaded: LoadedPaper) -> str:
    """One paper: what it was, what stands in its place, its findings with their claims."""
    return _page(
        "paper",
        paper=loaded.paper,
        equipment=equipment_table(loaded.paper),
        features=features_table(loaded.paper),
        tables=published_tables(loaded),
    )


def _page(name: str, **content: object) -> str:
    environment = Environment(  # noqa: S701 - Markdown has no markup of its own to be hidden
        loader=PackageLoader("middlemark.report", "templates/docs"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["markdown"] = _set
    return environment.get_template(f"{name}.md.j2").render(outcome=OUTCOME, **content).rstrip() + "\n"


def overview(papers: Sequence[Paper]) -> Table:
    """What each paper asked, and how many findings and claims it comes to."""
    columns = (*named("paper"), sentences("asks"), *values("findings", "claims"))
    rows = [
        (
            paper.paper,
            paper.summary,
            str(len(paper.findings)),
            str(sum(len(own.claims or ()) for own in paper.findings)),
        )
        for paper in papers
    ]
    return table("Papers", columns, rows)


def findings_of(paper: Paper) -> Table:
    """What a paper concludes, and with how many claims that is judged."""
    columns = (*named("finding"), sentences("says"), *values("claims"))
    rows = [(str(finding.finding), finding.says, str(len(finding.claims or ()))) for finding in paper.findings]
    return table("Findings", columns, rows)


def published_tables(loaded: LoadedPaper) -> Table:
    """The tables of a paper, and how many values each has."""
    columns = (*named("table"), sentences("has"), sentences("source"), *named("suite"), *values("values"))
    rows = [
        (
            published_table.table,
            published_table.summary,
            published_table.source,
            published_table.suite,
            str(len(loaded.values[published_table.table])),
        )
        for published_table in loaded.paper.tables
    ]
    return table("Published values", columns, rows)


def _set(shown: Table) -> str:
    """A table without its title, which the heading above it says."""
    return as_markdown(shown.name, shown).partition("\n\n")[2].rstrip()
