"""`middlemark clean`: removes what killed runs left on this machine, and says what that was.

Only what the ledgers list is touched, and nothing of runs that are under way. `run` does the same before it begins.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from middlemark.testbed.processes.ledger import Removed


def command(
    forget: Annotated[
        str | None,
        typer.Option(
            metavar="TARGET",
            help="Remove nothing, and forget the folders on a machine that is gone for good: user@address:port.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")] = False,
) -> None:
    """Remove what killed runs left: processes, folders, shared memory."""
    from middlemark.testbed.processes import ledger

    if forget is not None:
        _forget(forget, as_json)
        return
    swept = ledger.sweep()
    if as_json:
        typer.echo(json.dumps([asdict(each) for each in swept], indent=2))
        return
    for each in swept:
        if each.problem is None:
            typer.echo(f"removed {each.kind}: {each.what}")
    for line in kept_lines(swept):
        typer.echo(line)
    if not swept:
        typer.echo("nothing was left to remove")


def kept_lines(swept: "Sequence[Removed]") -> list[str]:
    """What could not be removed and why, and for each machine that is to blame how its entries come to an end."""
    from middlemark.testbed.processes import ledger

    kept = [f"not removed {each.kind}: {each.what}: {each.problem}" for each in swept if each.problem is not None]
    ends = [
        f"what is on {target} stays entered, and every `middlemark run` and `middlemark clean` tries again; "
        f"if that machine is gone for good: middlemark clean --forget {target}"
        for target in ledger.out_of_reach(swept)
    ]
    return kept + ends


def _forget(target: str, as_json: bool) -> None:
    from middlemark.errors import UsageError
    from middlemark.testbed.processes import ledger

    forgotten = ledger.forget(target)
    if not forgotten:
        raise UsageError(
            f"no folder on `{target}` is left to forget",
            remedy="`middlemark clean` names the machines that it can't reach",
        )
    if as_json:
        typer.echo(json.dumps([asdict(each) for each in forgotten], indent=2))
        return
    for each in forgotten:
        typer.echo(f"forgotten, not removed {each.kind}: {each.what}")
