"""`middlemark pack` and `unpack`: a run as one file with its digest, here or in an object store.

`campaign.packing` does the work; this module names the files and says what was done.
"""

import json
from pathlib import Path
from typing import Annotated

import typer

from middlemark.cli.arguments import Trust
from middlemark.cli.boundary import say


def command(
    run: Annotated[Path, typer.Argument(metavar="DIR", help="The run folder, as printed by `middlemark run`.")],
    to: Annotated[
        str | None,
        typer.Argument(metavar="FILE|URL", help="By default the folder's name with `.tar`; or a URL for fsspec."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")] = False,
    trust: Trust = False,
) -> None:
    """Pack a run into one file, with its digest beside it."""
    from middlemark.campaign.packing import pack
    from middlemark.results.run_folder import RunFolder

    target = to or f"{run.resolve().name}.tar"
    digest = pack(RunFolder(run, is_trusted=trust), target)
    say(json.dumps({"file": target, "sha256": digest}) if as_json else f"{digest}  {target}")


def unpack_command(
    source: Annotated[str, typer.Argument(metavar="FILE|URL", help="What `middlemark pack` made.")],
    into: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="The new run folder, in place of runs/<name of the file>.")
    ] = None,
    sha256: Annotated[
        str | None, typer.Option(metavar="DIGEST", help="The digest that it must have, in place of FILE.sha256.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")] = False,
) -> None:
    """Unpack a run, whole or not at all, after its digest was checked."""
    from middlemark.campaign.packing import unpack_run

    folder = into or Path("runs", source.rpartition("/")[2].removesuffix(".tar"))
    digest = unpack_run(source, folder, sha256)
    if as_json:
        say(json.dumps({"run": str(folder), "sha256": digest}))
        return
    say(str(folder))
    if digest is None:
        say(f"not checked: there is no {source}.sha256, and no --sha256 was given", err=True)
