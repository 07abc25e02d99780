"""`middlemark export`: writes a run's distributions in the form that other tools read.

`analysis.percentile_tables` makes the texts; here they become files. Samples and estimates are Parquet already.
"""

from pathlib import Path
from typing import Annotated

import typer


def command(
    run: Annotated[Path, typer.Argument(metavar="DIR", help="The run folder, as `middlemark run` printed it.")],
    out: Annotated[Path | None, typer.Option(help="Where the files go, instead of DIR/hgrm.")] = None,
) -> None:
    """Write each distribution of a run as a percentile table of HdrHistogram (.hgrm)."""
    from middlemark.analysis.percentile_tables import percentile_tables
    from middlemark.analysis.run_folder import RunFolder
    from middlemark.report.store import write_text

    folder = RunFolder(run)
    folder.read_manifest()
    tables = out or run / "hgrm"
    written = [write_text(tables / table.name, table.text) for table in percentile_tables(folder)]
    typer.echo(f"{len(written)} percentile tables: {tables}")
