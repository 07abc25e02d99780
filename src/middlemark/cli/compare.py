"""`middlemark compare`: what differs between two runs, or within one run between the values of a factor.

It reads, has `analysis.pairing` compare and `report.compared` show; the one decision here is which of the two is asked.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from middlemark.cli import sides
from middlemark.cli.trust import Trust

if TYPE_CHECKING:
    from collections.abc import Sequence

    from middlemark.analysis.figure import Figure
    from middlemark.analysis.pairing import Compared, Pairs


def command(  # noqa: PLR0913, PLR0917 - a command line has so many options
    first: Annotated[Path, typer.Argument(metavar="A", help="A run folder: the base.")],
    second: Annotated[Path | None, typer.Argument(metavar="[B]", help="The run to compare with it.")] = None,
    by: Annotated[
        str | None, typer.Option(metavar="FACTOR", help="Within one run: compare the values of this factor.")
    ] = None,
    base: Annotated[str | None, typer.Option(help="With --by: compare all others with this value only.")] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="K=V", help="Only experiments with this factor; again for another.")
    ] = None,
    figure: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="`p99(latency)`, `loss`, `cpu`, …; again for another."),
    ] = None,
    streams: Annotated[
        bool, typer.Option("--streams", help="Of pipelines not only the chains, but every stream too.")
    ] = False,
    margin: Annotated[
        float, typer.Option(min=0, max=100, help="In %: ratios that lie this near to 1 are no difference.")
    ] = 5.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")] = False,
    trust: Trust = False,
) -> None:
    """Compare two runs, or within a run what differs in one factor, and say what can be told."""
    sides.check("compare", [first] if second is None else [first, second], by, base, trust=trust)
    from middlemark.analysis.figure import figure as named
    from middlemark.analysis.figure import usual
    from middlemark.analysis.over_settings import over_settings
    from middlemark.analysis.pairing import compared, usually_compared

    _check_streams(streams, figure)
    figures = [named(name) for name in figure or ()]
    chosen = only or []
    pairs = (
        sides.of_two_runs(first, second, chosen, trust=trust)
        if second
        else sides.within_run(first, by, base, chosen, trust=trust)
    )
    found = (
        compared(pairs.pairs, figures, margin / 100)
        if figures
        else usually_compared(pairs.pairs, margin / 100, streams=streams)
    )
    _check_figures(found, figures or usual())
    if as_json:
        _print_data(found, pairs, margin / 100)
        return
    from rich.console import Console

    from middlemark.report.compared import print_compared
    from middlemark.report.over_settings import print_over_settings

    print_compared(found, margin / 100, Console())
    print_over_settings(over_settings(found), Console())
    for each in pairs.alone:
        typer.echo(each)
    if not figures and not streams and any(pair.sides[0].experiment.chains for pair in pairs.pairs):
        typer.echo("Of pipelines the chains are compared; --streams has every stream too.")


def _print_data(found: "Sequence[Compared]", pairs: "Pairs", margin: float) -> None:
    from middlemark.analysis.over_settings import over_settings
    from middlemark.report import over_settings as means
    from middlemark.report.compared import as_data

    said = {
        "margin_share": margin,
        "comparisons": as_data(found),
        "over_settings": means.as_data(over_settings(found)),
        "alone": pairs.alone,
    }
    typer.echo(json.dumps(said, indent=2))


def _check_streams(streams: bool, figure: list[str] | None) -> None:
    from middlemark.errors import UsageError

    if streams and figure:
        raise UsageError(
            "--streams adds the usual figures of streams, and --figure names those to compare",
            remedy="leave one of the two out: a figure of streams, as `p99(latency)`, is of every stream",
        )


def _check_figures(found: "Sequence[object]", figures: "Sequence[Figure]") -> None:
    from middlemark.errors import UsageError

    if not found:
        raise UsageError(
            f"no stream of these runs has {', '.join(each.name for each in figures)}",
            remedy="a latency is of messages, a round trip of ping-pongs; `middlemark report` shows what there is",
        )
