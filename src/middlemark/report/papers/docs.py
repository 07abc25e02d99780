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
from middlemark.report.papers.outcome import FindingOutcome, PaperOutcome, standing
from middlemark.report.papers.tables import BESIDE, WHY, equipment_table, features_table, headline
from middlemark.suite.papers import Finding, LoadedPaper, Paper
from middlemark.suite.yaml.quantity import plural

NOT_MEASURED = "not measured yet"
NO_OUTCOME = "No run of the maintainers is published yet, so that the findings have no verdict here."


def index_page(papers: Sequence[LoadedPaper], outcomes: Mapping[str, PaperOutcome]) -> str:
    """All papers with all their findings, and their verdicts where there are any."""
    plain = [loaded.paper for loaded in papers]
    standing_outcomes = {
        loaded.paper.paper: standing(outcome, loaded)
        for loaded in papers
        if (outcome := outcomes.get(loaded.paper.paper))
    }
    shown = [
        (paper, findings_of(paper, outcome), _in_short(paper, outcome) if outcome else "")
        for paper in plain
        for outcome in [standing_outcomes.get(paper.paper)]
    ]
    return _page(
        "index",
        papers=shown,
        overview=overview(plain, standing_outcomes),
        some_without_outcome=len(standing_outcomes) < len(plain),
    )


def paper_page(loaded: LoadedPaper, published: PaperOutcome | None = None) -> str:
    """One paper: what it was, what differs here, its findings with their claims, and what they came to."""
    outcome = published and standing(published, loaded)
    return _page(
        "paper",
        paper=loaded.paper,
        told=_in_short(loaded.paper, outcome) if outcome else NO_OUTCOME,
        outcome=outcome,
        measured_with=_measured_with(outcome) if outcome else "",
        judged=_by_number(outcome),
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


def _by_number(outcome: PaperOutcome | None) -> dict[int, FindingOutcome]:
    return {finding.finding: finding for finding in outcome.findings} if outcome else {}


def overview(papers: Sequence[Paper], outcomes: Mapping[str, PaperOutcome]) -> Table:
    """What each paper asked, how many findings and claims it comes to, and how many of them hold."""
    verdicts = tuple(Judgement) if outcomes else ()
    columns = (*named("paper"), sentences("asks"), *values("findings", "claims", *verdicts))
    rows = []
    for paper in papers:
        outcome = outcomes.get(paper.paper)
        counts = [str(outcome.count(verdict)) if outcome else ABSENT for verdict in verdicts]
        n_claims = sum(len(finding.claims or ()) for finding in paper.findings)
        rows.append((paper.paper, paper.summary, str(len(paper.findings)), str(n_claims), *counts))
    return table("Papers", columns, rows)


def findings_of(paper: Paper, outcome: PaperOutcome | None) -> Table:
    """What a paper concludes, with the verdict and what speaks against it, or with how many claims it is judged."""
    if outcome is None:
        columns = (*named("finding"), sentences("says"), *values("claims"))
        with_claims = [
            (str(finding.finding), finding.says, str(len(finding.claims or ()))) for finding in paper.findings
        ]
        return table("Findings", columns, with_claims)
    judged = _by_number(outcome)
    columns = (*named("finding", "verdict"), sentences("says"), *values("claims"), sentences(BESIDE), sentences(WHY))
    return table("Findings", columns, [_row(finding, judged.get(finding.finding)) for finding in paper.findings])


def _row(finding: Finding, judged: FindingOutcome | None) -> tuple[str, ...]:
    beside = _beside(finding, judged)
    if judged is None:
        return (str(finding.finding), ABSENT, finding.says, ABSENT, beside, "")
    why = judged.why.replace("`", "")  # a table's text has no code: its marks would be shown as they are
    return (str(finding.finding), judged.judgement.value, finding.says, judged.came_to, beside, why)


def _beside(finding: Finding, judged: FindingOutcome | None) -> str:
    """The setting that it comes from, and how else it was looked for, with what was found."""
    judgements = {other.how: other.judgement.value for other in judged.otherwise} if judged else {}
    words = [f"{other.how}: {judgements.get(other.how, NOT_MEASURED)}" for other in finding.otherwise]
    if finding.explained is None:
        return "; ".join(words)
    explained = judged.explained.judgement.value if judged and judged.explained else NOT_MEASURED
    return "; ".join([f"{finding.explained.setting}: {explained}", *words])


def _in_short(paper: Paper, outcome: PaperOutcome) -> str:
    """When, where and how much was measured, and what the findings came to."""
    missing = f", {outcome.not_run} planned ones not run" if outcome.not_run else ""
    n_changed = len(paper.findings) - len(outcome.findings)
    changed = f"; {plural(n_changed, 'finding')} changed since, without a verdict" if n_changed else ""
    came_to = headline([finding.judgement for finding in outcome.findings])
    return (
        f"Measured again {outcome.started_at[:10]}, {outcome.extent}, {outcome.trials} trials{missing}, on "
        f"{outcome.machine}: {came_to}{changed}."
    )


def _measured_with(outcome: PaperOutcome) -> str:
    """`Fast DDS (fastrtps 2.9.1), Zenoh (zenoh 1.10.2), by Middlemark 0.1.0`."""
    libraries = [f"{title} ({library})" for title, library in outcome.libraries.items()]
    return f"{', '.join(libraries)}, by Middlemark {outcome.middlemark_version}"


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
