"""`middlemark topology`: shows what a topology is: its hosts, networks and links, and what sits where.

It reads and prints; `suite` knows the topologies, `report` draws them.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from middlemark.cli import completion

if TYPE_CHECKING:
    from middlemark.suite import Topology

app = typer.Typer(help="Show topologies; `middlemark list topologies` names those that ship.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """Keep `show` a command of its own name."""


@app.command()
def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FILE",
            help="A topology's name, or a file with topologies, or a suite for all that it has.",
            autocompletion=completion.topologies,
        ),
    ],
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it into an SVG instead.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")] = False,
) -> None:
    """Draw a topology: hosts with their applications, services and limits, networks, and what their links do."""
    from middlemark.suite import load_topologies

    topologies = load_topologies(name)
    if svg is not None:
        _write(svg, topologies)
    if as_json:
        shown = [topology.model_dump(mode="json", exclude_none=True) for topology in topologies]
        typer.echo(json.dumps(shown, indent=2, ensure_ascii=False))
    elif svg is None:
        from rich.console import Console

        from middlemark.report.topology_text import drawn

        console = Console(soft_wrap=True)
        for topology in topologies:
            console.print(drawn(topology), end="\n\n")


def _write(file: Path, topologies: "tuple[Topology, ...]") -> None:
    from middlemark.errors import UsageError
    from middlemark.report.topology_svg import svg
    from middlemark.results.files import write_text

    if len(topologies) != 1:
        names = ", ".join(topology.name for topology in topologies)
        raise UsageError(f"one SVG holds one topology, and there are {len(topologies)}", remedy=f"name one: {names}")
    write_text(file, svg(topologies[0]))
