"""The documentation's pages on papers, as Markdown, from the same files that papers are measured and judged by.

Beside what is stated before any measurement they have what the maintainers' run of a paper came to, where there is one;
`setup/pages/papers.py` writes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined

from middlemark.analysis.verdicts.judge import Judgement
from middlemark.report.elements.formatting import ABSENT
from middlemark.report.elements.tables import Table, named, sentences, table, values
from middlemark.report.output.figures import as_markdown
from middlemark.report.papers.outcome import PaperOutcome
from middlemark.report.papers.tables import WHY_UNDECIDED, equipment_table, features_table
from middlemark.suite.papers import LoadedPaper, Paper

NO_OUTCOME = "No run of the maintainers is published yet, so that the findings have no verdict here."


def index_page(papers: Sequence[LoadedPaper], outcomes: Mapping[str, PaperOutcome]) -> str:
    """All papers with all their findings, and their verdicts where there are any."""
    plain = [loaded.paper for loaded in papers]
    shown = [
        (paper, findings_of(paper, outcome), _in_short(outcome) if outcome else "")
        for paper in plain
        for outcome in [outcomes.get(paper.paper)]
    ]
    some_without_outcome = any(paper.paper not in outcomes for paper in plain)
    return _page("index", papers=shown, overview=overview(plain, outcomes), some_without_outcome=some_without_outcome)


def paper_page(loaded: LoadedPaper, outcome: PaperOutcome | None = None) -> str:
    """One paper: what it was, what differs here, its findings with their claims, and what they came to."""
    return _page(
        "paper",
        paper=loaded.paper,
        told=_in_short(outcome) if outcome else NO_OUTCOME,
        outcome=outcome,
        judged={finding.finding: finding for finding in outcome.findings} if outcome else {},
        is_of_these_claims=outcome is None or outcome.paper_digest == loaded.digest,
        agreement=_agreement(outcome) if outcome and outcome.agreement else None,
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
    return environment.get_template(f"{name}.md.j2").render(**content).rstrip() + "\n"


def overview(papers: Sequence[Paper], outcomes: Mapping[str, PaperOutcome]) -> Table:
    """What each paper asked, how many findings and claims it comes to, and how many of them hold."""
    verdicts = [judgement.value for judgement in Judgement] if outcomes else []
    columns = (*named("paper"), sentences("asks"), *values("findings", "claims", *verdicts))
    rows = []
    for paper in papers:
        outcome = outcomes.get(paper.paper)
        counts = [str(outcome.count(verdict)) if outcome else ABSENT for verdict in verdicts]
        n_claims = sum(len(finding.claims or ()) for finding in paper.findings)
        rows.append((paper.paper, paper.summary, str(len(paper.findings)), str(n_claims), *counts))
    return table("Papers", columns, rows)


def findings_of(paper: Paper, outcome: PaperOutcome | None) -> Table:
    """What a paper concludes, with the verdict and why it is open, or with how many claims it is judged."""
    if outcome is None:
        columns = (*named("finding"), sentences("says"), *values("claims"))
        rows = [(str(finding.finding), finding.says, str(len(finding.claims or ()))) for finding in paper.findings]
        return table("Findings", columns, rows)
    judged = {finding.finding: finding for finding in outcome.findings}
    columns = (*named("finding", "verdict"), sentences("says"), *values("claims"), sentences(WHY_UNDECIDED))
    with_verdicts = [
        # A table's text has no code: its marks would be shown as they are.
        (str(finding.finding), verdict.judgement, finding.says, verdict.came_to, verdict.open.replace("`", ""))
        for finding in paper.findings
        if (verdict := judged.get(finding.finding))
    ]
    return table("Findings", columns, with_verdicts)


def _in_short(outcome: PaperOutcome) -> str:
    """When, where and how much was measured."""
    missing = f", {outcome.not_run} planned ones not run" if outcome.not_run else ""
    return (
        f"Measured again {outcome.started_at[:10]}, {outcome.extent}, {outcome.trials} trials{missing}, on "
        f"{outcome.machine}: {outcome.count('holds')} of {len(outcome.findings)} findings hold, "
        f"{outcome.count('refuted')} refuted, {outcome.count('undecided')} undecided."
    )


def _agreement(outcome: PaperOutcome) -> Table:
    columns = (*named("table", "metric"), *values("cells", "rank correlation", "95 % interval"))
    rows = [
        (
            agreement.table,
            agreement.metric,
            str(agreement.cells),
            ABSENT if agreement.value is None else f"{agreement.value:.2f}",
            ABSENT
            if agreement.low is None or agreement.high is None
            else f"{agreement.low:.2f} to {agreement.high:.2f}",
        )
        for agreement in outcome.agreement
    ]
    return table("Agreement", columns, rows)


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
