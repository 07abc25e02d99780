"""`middlemark reproduce`: measures a published evaluation again, judges its findings, sets its values beside ours.

Planning, running, judging and reporting are done by the modules that it calls. With `--dry-run` it only says what would
run, what can't here and why, and how long it takes.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from middlemark.cli import arguments
from middlemark.cli.arguments import Across, Hosts, Trust
from middlemark.cli.boundary import say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from middlemark.campaign.reproduction import PlannedPaper


def command(  # noqa: PLR0913, PLR0917 - a command line has so many options
    paper: Annotated[
        str | None,
        typer.Argument(
            metavar="PAPER", help="A paper of `middlemark list papers`, or a folder.", autocompletion=arguments.papers
        ),
    ] = None,
    full: Annotated[
        bool,
        typer.Option(
            "--full/--quick",
            help="Measure all of the paper, or a part that takes minutes and leaves more findings undecided.",
        ),
    ] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder, in place of runs/<paper>-<extent>-<time>.")
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Continue this reproduction, and make its report again.")
    ] = None,
    hosts: Hosts = None,
    across: Across = False,
    trust: Trust = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would run, what can't run here, and how long it would take.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")] = False,
) -> None:
    """Measure a published evaluation again: its findings judged anew, its values beside ours."""
    from middlemark.campaign.reproduction import plan_paper, reproduce_new, with_refusals
    from middlemark.cli.measure.run import new_folder, watched
    from middlemark.suite import load_inventory
    from middlemark.suite.papers import Extent, load_paper

    _check(paper, resume, dry_run=dry_run, fresh={"--out": out, "--hosts": hosts})
    if resume is not None:
        _resume(resume, across=across, trust=trust, as_json=as_json)
        return
    inventory = load_inventory(str(hosts)) if hosts else None
    planned = plan_paper(load_paper(paper or ""), Extent.FULL if full else Extent.QUICK, inventory)
    if dry_run:
        _show_plan(with_refusals(planned), as_json)
        return
    path = out or new_folder(f"{planned.paper.paper.paper}-{planned.extent}")
    watched(lambda observer: reproduce_new(path, planned, observer), as_json)
    _show(path, trust=trust, as_json=as_json)


def _check(paper: str | None, resume: Path | None, *, dry_run: bool, fresh: "Mapping[str, Path | None]") -> None:
    from middlemark.errors import UsageError

    if paper is None and resume is None:
        raise UsageError("no paper is named", remedy="`middlemark list papers` shows them")
    given = [name for name, value in fresh.items() if value is not None]
    if resume is not None and (paper is not None or dry_run or given):
        problem = "--resume continues what was planned and can't be combined with a paper, --out, --hosts or --dry-run"
        raise UsageError(problem, remedy=f"middlemark reproduce --resume {resume}")


def _resume(path: Path, *, across: bool, trust: bool, as_json: bool) -> None:
    from middlemark.campaign.reproduction import resume_paper
    from middlemark.cli.measure.run import watched
    from middlemark.results.run_folder import ReproductionFolder

    folder = ReproductionFolder(path, is_trusted=trust)
    watched(lambda observer: resume_paper(folder, observer, across=across), as_json)
    _show(path, trust=trust, as_json=as_json)


def _show_plan(planned: "PlannedPaper", as_json: bool) -> None:
    """What would run, what can't here and why, how long it takes, and which findings it can't decide."""
    from middlemark.analysis.decisions.paper_findings import unmeasured_claims
    from middlemark.campaign.reproduction import lacking

    open_claims = {
        finding.finding: unmeasured_claims(finding, planned.accepted_experiments(finding.suite or ""))
        for finding in planned.paper.paper.findings
    }
    if as_json:
        say(json.dumps(_plan_data(planned, lacking(planned.trials), open_claims), indent=2))
    else:
        _print_plan(planned, lacking(planned.trials), open_claims)


def _plan_data(
    planned: "PlannedPaper", missing: "Mapping[str, str]", open_claims: "Mapping[int, int]"
) -> dict[str, object]:
    return {
        "paper": planned.paper.paper.paper,
        "extent": planned.extent.value,
        "seconds": planned.duration_ns / 1e9,
        "suites": {
            name: {"experiments": len(planned.experiments(name)), "trials": len(order.trials)}
            for name, order in planned.orders.items()
        },
        "not_installed": dict(planned.not_installed),
        "not_run": dict(planned.not_run),
        "left_out": _left_out(planned),
        "not_possible_here": dict(missing),
        "refused": {
            suite: {f"{reason.middleware}: {reason.reason}": reason.n_experiments for reason in refused}
            for suite, refused in planned.refused_reasons.items()
        },
        "claims_not_measured": {str(number): n for number, n in open_claims.items()},
    }


def _print_plan(planned: "PlannedPaper", missing: "Mapping[str, str]", open_claims: "Mapping[int, int]") -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from middlemark.report.elements.plain_text import Screen

    console = Screen()
    table = Table(title=f"{planned.paper.paper.title}, {planned.extent}", title_justify="left", box=box.SIMPLE_HEAD)
    for heading in ("suite", "measures", "experiments", "trials", "about"):
        table.add_column(heading, justify="left" if heading in {"suite", "measures"} else "right")
    for name, order in planned.orders.items():
        cells = [name, order.definition.summary, str(len(planned.experiments(name))), str(len(order.trials))]
        table.add_row(*map(Text, [*cells, _minutes(planned.duration_of_ns(name))]))
    console.print(table)
    console.print(
        f"{len(planned.trials)} trials, about {_minutes(planned.duration_ns)}, and longer where messages are lost"
    )
    for part, reason in {**planned.not_installed, **planned.not_run, **_left_out(planned), **missing}.items():
        console.print(Text(f"not here: {part}: {reason}", "yellow"))
    for suite, refused in planned.refused_reasons.items():
        for refusal in refused:
            console.print(Text(f"not applicable: {suite}, {refusal}", "yellow"))
    for finding in planned.paper.paper.findings:
        n = open_claims[finding.finding]
        if finding.claims is None:
            console.print(Text(f"finding {finding.finding} stays undecided: {finding.decided_by}", "dim"))
        elif n:
            text = f"finding {finding.finding} can't hold: {n} of {len(finding.claims)} claims are not measured so"
            console.print(Text(text, "dim"))


def _left_out(planned: "PlannedPaper") -> dict[str, str]:
    """By suite and topology: why the machines of the inventory can't be it."""
    return {
        f"{suite}, {topology}": reason
        for suite, reasons in planned.left_out.items()
        if suite in planned.orders
        for topology, reason in reasons.items()
    }


def _minutes(duration_ns: int) -> str:
    minutes, seconds = divmod(round(duration_ns / 1e9), 60)
    return f"{minutes} min {seconds:02} s"


def _show(path: Path, *, trust: bool, as_json: bool) -> None:
    """Writes the pages of the paper and of each of its suites, and prints the findings."""
    from middlemark.report.papers.page import write_pages
    from middlemark.report.papers.terminal import print_paper, reproduced_data
    from middlemark.results.run_folder import ReproductionFolder

    folder = ReproductionFolder(path, is_trusted=trust)
    reproduced, page = write_pages(folder)
    if as_json:
        say(json.dumps(reproduced_data(reproduced) | {"report": str(page)}, indent=2))
        return
    from middlemark.report.elements.plain_text import Screen

    print_paper(reproduced, Screen())
    say(f"report: {page}")
