"""`middlemark list`: the names that suites and the command line know; `middlemark topology`: what a topology is.

It reads and prints what ships, what `suite` knows and what the workers say of themselves; `report.elements` draws the
topologies.
"""

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from middlemark.cli import arguments
from middlemark.cli.arguments import Command, Group
from middlemark.cli.boundary import say

if TYPE_CHECKING:
    from middlemark.suite import Topology


Rows = list[dict[str, str]]


class Subject(StrEnum):
    """What can be listed."""

    SUITES = "suites"
    APPLICATIONS = "applications"
    MIDDLEWARES = "middlewares"
    WORKLOADS = "workloads"
    TOPOLOGIES = "topologies"
    TIMELINES = "timelines"
    PAPERS = "papers"


def command(
    subject: Annotated[
        Subject | None,
        typer.Argument(metavar="SUBJECT", help=f"What to list, one of {', '.join(Subject)}; by default everything."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")] = False,
) -> None:
    """List suites, applications, middlewares, workloads, topologies, timelines of faults, and published evaluations."""
    listed = {listed_subject.value: _ROWS[listed_subject]() for listed_subject in ([subject] if subject else Subject)}
    if as_json:
        say(json.dumps(listed, indent=2, ensure_ascii=False))
    else:
        _print_tables(listed)


def _suites() -> Rows:
    from middlemark.suite import load_suite, shipped_suite_names

    suites = [load_suite(name).suite for name in shipped_suite_names()]
    return [{"suite": suite.suite, "summary": suite.summary} for suite in suites]


def _applications() -> Rows:
    from middlemark.suite import load_demand, shipped_demand_names

    demands = [load_demand(name).demand for name in shipped_demand_names()]
    return [{"application": demand.application, "summary": demand.summary} for demand in demands]


def _middlewares() -> Rows:
    from middlemark.worker.description import describe
    from middlemark.worker.executables import workers

    descriptions = [describe(path) for path in workers().values()]
    return [
        {
            "middleware": description.middleware,
            "version": description.library.version,
            "profiles": ", ".join(description.profiles),
            "summary": description.summary,
        }
        for description in descriptions
    ]


def _workloads() -> Rows:
    from middlemark.suite import RATE, SIZE, shipped_workloads

    return [
        {
            "workload": workload.workload,
            "pattern": str(workload.pattern),
            "size": ", ".join(SIZE.text(size) for size in workload.size or ()),
            "rate": ", ".join(RATE.text(rate) for rate in workload.rate or ()),
            "reliability": ", ".join(qos.reliability for qos in workload.qos or ()),
            "summary": workload.summary,
        }
        for workload in shipped_workloads().values()
    ]


def _topologies() -> Rows:
    from middlemark.suite import COUNTED_TOPOLOGIES, shipped_topologies

    summaries = COUNTED_TOPOLOGIES | {name: topology.summary for name, topology in shipped_topologies().items()}
    return [{"topology": name, "summary": summary} for name, summary in summaries.items()]


def _timelines() -> Rows:
    from middlemark.suite import shipped_timelines

    return [
        {"timeline": shipped_timeline.timeline, "summary": shipped_timeline.summary}
        for shipped_timeline in shipped_timelines().values()
    ]


def _papers() -> Rows:
    from middlemark.suite.papers import load_paper, shipped_paper_names

    papers = [load_paper(name).paper for name in shipped_paper_names()]
    return [
        {
            "paper": paper.paper,
            "findings": str(len(paper.findings)),
            "published": paper.published,
            "summary": paper.summary,
        }
        for paper in papers
    ]


_ROWS = {
    Subject.SUITES: _suites,
    Subject.APPLICATIONS: _applications,
    Subject.MIDDLEWARES: _middlewares,
    Subject.WORKLOADS: _workloads,
    Subject.TOPOLOGIES: _topologies,
    Subject.TIMELINES: _timelines,
    Subject.PAPERS: _papers,
}


def _print_tables(listed: dict[str, Rows]) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from middlemark.report.elements.plain_text import Screen

    console = Screen()
    for title, rows in listed.items():
        if not rows:
            console.print(f"{title}: none; `middlemark doctor` says why")
            continue
        table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
        for name in rows[0]:
            table.add_column(name, style="cyan" if name == title[:-1] else "", no_wrap=name == title[:-1])
        for row in rows:
            table.add_row(*map(Text, row.values()))
        console.print(table)


app = typer.Typer(
    cls=Group, help="Show topologies; `middlemark list topologies` lists the shipped ones.", no_args_is_help=True
)


@app.callback()
def group() -> None:
    """Keep `show` a command of its own name."""


@app.command(cls=Command)
def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FILE",
            help="A topology's name, a file with topologies, or a suite (all its topologies).",
            autocompletion=arguments.topologies,
        ),
    ],
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the drawing to an SVG file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")] = False,
) -> None:
    """Draw a topology: hosts with their applications, services and limits, networks, and what their links do."""
    from middlemark.suite import load_topologies

    topologies = load_topologies(name)
    if svg is not None:
        _write(svg, topologies)
    if as_json:
        shown = [topology.model_dump(mode="json", exclude_none=True) for topology in topologies]
        say(json.dumps(shown, indent=2, ensure_ascii=False))
    elif svg is None:
        from middlemark.report.elements.plain_text import Screen
        from middlemark.report.elements.topology_text import drawn

        console = Screen(soft_wrap=True)
        for topology in topologies:
            console.print(drawn(topology), end="\n\n")


def _write(file: Path, topologies: "tuple[Topology, ...]") -> None:
    from middlemark.errors import UsageError
    from middlemark.report.elements.topology_drawing import svg
    from middlemark.results.files import write_text

    if len(topologies) != 1:
        names = ", ".join(topology.name for topology in topologies)
        raise UsageError(f"an SVG file holds one topology, and this has {len(topologies)}", remedy=f"name one: {names}")
    write_text(file, svg(topologies[0]))
