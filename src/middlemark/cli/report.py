"""`middlemark report`: makes a run's report again from stored data alone.

It analyses once and hands the findings to those who write and print; damaged trials end it with exit code 1.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from middlemark.analysis.run import RunFindings


def command(
    run: Annotated[Path, typer.Argument(metavar="DIR", help="The run folder, as `middlemark run` printed it.")],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print every estimate as JSON for a program to read.")
    ] = False,
    paths: Annotated[
        bool,
        typer.Option("--paths", help="Draw the ways of single messages too, where `observe: kernel_path` saw them."),
    ] = False,
) -> None:
    """Make the report of a run again."""
    from middlemark.analysis.run import analyse
    from middlemark.analysis.run_folder import RunFolder
    from middlemark.report.html import write_report
    from middlemark.report.store import write_summary
    from middlemark.report.summary import print_message_paths, print_summary

    findings = analyse(RunFolder(run))
    write_summary(findings)
    report = write_report(findings)
    if as_json:
        typer.echo(_json(findings, report))
    else:
        from rich.console import Console

        console = Console()
        print_summary(findings, console)
        if paths:
            print_message_paths(findings, console)
        typer.echo(f"report: {report}")
    _check(findings)


def _json(findings: "RunFindings", report: Path) -> str:
    from middlemark.analysis.claims import own_claims
    from middlemark.analysis.summary import summary_table
    from middlemark.report.claims import as_data

    said = {
        "run": str(findings.folder.path),
        "report": str(report),
        "rankings": [
            {
                "setting": dict(comparison.setting.factors),
                "stream": comparison.setting.stream,
                "ranked_by": comparison.criterion.metric,
                "places": [
                    {"experiment": place.key, "rank": place.rank, "ties_with": place.tied_with}
                    for place in comparison.places.values()
                ],
                "not_ranked": dict(comparison.unranked),
            }
            for comparison in findings.comparisons
        ],
        "scaling_factors": [
            {
                "experiments": dict(scaling.factors),
                "stream": scaling.stream,
                "metric": scaling.metric,
                "sizes_bytes": scaling.sizes_bytes,
                "slope_ns_per_byte": asdict(scaling.slope_ns_per_byte),
                "base_ns": asdict(scaling.base_ns),
                "misfit_share": scaling.misfit_share,
            }
            for scaling in findings.scalings
        ],
        "widths": [each.model_dump(mode="json") for each in findings.manifest.widths],
        "claims": as_data(own_claims(findings)),
        "estimates": summary_table(findings).to_dicts(),
        "damaged": {damage.trial: damage.problem for damage in findings.damaged},
        "missing": findings.missing,
    }
    return json.dumps(said, indent=2)


def _check(findings: "RunFindings") -> None:
    from middlemark.errors import ResultsNotAccepted

    if findings.damaged:
        names = ", ".join(damage.trial for damage in findings.damaged)
        raise ResultsNotAccepted(
            f"{len(findings.damaged)} stored trials are damaged and left out: {names}",
            remedy="remove their folders and run `middlemark run --resume` on this run to try them again",
        )
