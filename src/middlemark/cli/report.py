"""`middlemark report`: makes a run's report again from stored data alone.

It analyses once and hands the findings to those who write and print; damaged trials end it with exit code 1.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from middlemark.cli import damage
from middlemark.cli.trust import Trust
from middlemark.report.formats import ReportFormat

if TYPE_CHECKING:
    from middlemark.analysis.run import RunFindings


def command(  # noqa: PLR0913, PLR0917 - a command line has so many options
    run: Annotated[Path, typer.Argument(metavar="DIR", help="The run folder, as `middlemark run` printed it.")],
    kind: Annotated[
        ReportFormat,
        typer.Option(
            "--format",
            help="html: the page; png, svg, pdf: each of its figures; latex, markdown, csv: each of its tables.",
        ),
    ] = ReportFormat.HTML,
    out: Annotated[
        Path | None, typer.Option(help="Where figures and tables go, instead of DIR/png, DIR/latex, ….")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print every estimate as JSON for a program to read.")
    ] = False,
    paths: Annotated[
        bool,
        typer.Option("--paths", help="Draw the ways of single messages too, where `observe: kernel_path` saw them."),
    ] = False,
    recompute: Annotated[
        bool,
        typer.Option("--recompute", help="Compute each trial's metrics from its samples again, and store them."),
    ] = False,
    trust: Trust = False,
) -> None:
    """Make the report of a run again, or its figures and tables as files for a paper."""
    _check_options(kind, out, as_json=as_json)
    from middlemark.analysis.run import analyse
    from middlemark.results.run_folder import RunFolder

    folder = RunFolder(run, is_trusted=trust)
    if recompute:
        from middlemark.report.store import recompute_metrics

        recompute_metrics(folder)
    findings = analyse(folder)
    if kind is not ReportFormat.HTML:
        from middlemark.report.parts import write_parts

        into = out or run / kind
        typer.echo(f"{len(write_parts(findings, kind, into))} files: {into}")
        damage.check(findings.damaged)
        return
    show(findings, as_json, paths)
    damage.check(findings.damaged)


def show(findings: "RunFindings", as_json: bool, paths: bool = False) -> None:
    """Write the page and the estimates of a run, and print what it came to."""
    from middlemark.report.html import write_report
    from middlemark.report.store import write_summary
    from middlemark.report.summary import print_message_paths, print_summary

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


def _check_options(kind: ReportFormat, out: Path | None, *, as_json: bool) -> None:
    from middlemark.errors import UsageError

    if kind is ReportFormat.HTML and out is not None:
        raise UsageError("the page stays with its run: DIR/report.html", remedy="leave out `--out`, and copy the page")
    if kind is not ReportFormat.HTML and as_json:
        raise UsageError(f"`--json` prints all estimates, `--format {kind}` writes files", remedy="give one of the two")


def _json(findings: "RunFindings", report: Path) -> str:
    from middlemark.analysis.claims import own_claims
    from middlemark.analysis.summary import summary_table
    from middlemark.report.capacity import as_data as capacities_data
    from middlemark.report.cautions import as_data as warnings_data
    from middlemark.report.claims import as_data
    from middlemark.report.contender import contenders
    from middlemark.report.recommendation import recommendation
    from middlemark.report.spread import as_data as spread_data
    from middlemark.report.uncounted import as_data as uncounted_data

    recommended = recommendation(findings)
    who = contenders(findings.manifest, (each.experiment for each in findings.experiments))
    said = {
        "run": str(findings.folder.path),
        "report": str(report),
        "warnings": warnings_data(findings, who),
        "not_counted": uncounted_data(findings, who),
        "recommendation": None if recommended is None else asdict(recommended),
        "rankings": [
            {
                "setting": dict(comparison.setting.factors),
                "stream": comparison.setting.stream,
                "ranked_by": comparison.criterion.metric,
                "places": [
                    {
                        "experiment": place.key,
                        "best_rank": place.first,
                        "worst_rank": place.last,
                        "ties_with": place.tied_with,
                    }
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
        "spread_over_trials": spread_data(findings),
        "capacities": capacities_data(findings.capacities),
        "widths": [each.model_dump(mode="json") for each in findings.manifest.widths],
        "claims": as_data(own_claims(findings)),
        "estimates": summary_table(findings).to_dicts(),
        "damaged": {damage.trial: damage.problem for damage in findings.damaged},
        "missing": findings.missing,
    }
    return json.dumps(said, indent=2)
