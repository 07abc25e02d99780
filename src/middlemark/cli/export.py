"""`middlemark export`: writes a run in the forms that other tools read.

`report.exported` makes the files; here is chosen which and where. Damaged trials end it with exit code 1.
"""

from pathlib import Path
from typing import Annotated

import typer

from middlemark.cli import damage
from middlemark.cli.trust import Trust
from middlemark.report.formats import ExportFormat


def command(
    run: Annotated[Path, typer.Argument(metavar="DIR", help="The run folder, as `middlemark run` printed it.")],
    kind: Annotated[
        ExportFormat,
        typer.Option(
            "--format",
            help="hgrm: HdrHistogram's percentile tables; parquet, csv, json: trials, metrics and estimates; "
            "openmetrics: the estimates.",
        ),
    ] = ExportFormat.HGRM,
    out: Annotated[Path | None, typer.Option(help="Where the files go, instead of DIR/hgrm, DIR/parquet, ….")] = None,
    trust: Trust = False,
) -> None:
    """Write a run's distributions and figures as files that other tools read."""
    from middlemark import load
    from middlemark.report.exported import export

    loaded = load(run, trust=trust)
    folder = out or run / kind
    written = export(loaded, kind, folder)
    what = "percentile tables" if kind is ExportFormat.HGRM else "files"
    typer.echo(f"{len(written)} {what}: {folder}")
    damage.check(loaded.damaged)
