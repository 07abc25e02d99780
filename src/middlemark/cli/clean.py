"""`middlemark clean`: removes what killed runs left on this machine, and says what that was.

Only what the ledgers list is touched, and nothing of runs that are under way.
"""

import json
from dataclasses import asdict
from typing import Annotated

import typer


def command(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")] = False,
) -> None:
    """Remove what killed runs left: processes, folders, shared memory."""
    from middlemark.testbed import ledger

    removed = ledger.sweep()
    if as_json:
        typer.echo(json.dumps([asdict(each) for each in removed], indent=2))
        return
    for each in removed:
        typer.echo(
            f"removed {each.kind}: {each.what}"
            if each.problem is None
            else f"not removed, next time again: {each.kind} {each.what}: {each.problem}"
        )
    if not removed:
        typer.echo("nothing was left to remove")
