"""`middlemark report`, `export`, `pack`, `unpack` and `serve`: stored runs as a page, as files, and as local pages.

`report.output`, `campaign.packing` and `serve` do the work; this module selects the run, the folder and the address. A
run with damaged trials ends the program with exit code 1.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from middlemark.cli import boundary
from middlemark.cli.arguments import Trust, analysed, measuring
from middlemark.cli.boundary import say
from middlemark.report.output.formats import ExportFormat, ReportFormat, format_help

if TYPE_CHECKING:
    import socket

    from middlemark.analysis.run import RunFindings


def command(  # noqa: PLR0913, PLR0917 - a command line has so many options
    run: Annotated[Path, typer.Argument(metavar="DIR", help="The run folder, as printed by `middlemark run`.")],
    kind: Annotated[
        ReportFormat,
        typer.Option("--format", help=format_help(ReportFormat)),
    ] = ReportFormat.HTML,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The folder for charts and tables, in place of DIR/png, DIR/latex, …."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print every estimate as JSON for a program to read.")
    ] = False,
    paths: Annotated[
        bool,
        typer.Option(
            "--paths", help="Draw the paths of single messages too, where they were observed (`observe: kernel_path`)."
        ),
    ] = False,
    recompute: Annotated[
        bool,
        typer.Option("--recompute", help="Compute each trial's metrics from its samples again, and store them."),
    ] = False,
    trust: Trust = False,
) -> None:
    """Make the report of a run again, or its charts and tables as files for a paper."""
    _check_options(kind, out, as_json=as_json)
    if recompute:
        from middlemark.report.output.data import recompute_metrics
        from middlemark.results.run_folder import RunFolder

        say("computing the metrics of each trial from its samples", err=True)
        recompute_metrics(RunFolder(run, is_trusted=trust))
    findings = analysed(run, trust=trust)
    if kind is not ReportFormat.HTML:
        from middlemark.report.output.figures import write_parts

        into = out or run / kind
        say(f"{len(write_parts(findings, kind, into))} files: {into}")
        boundary.check_damage(findings.damaged)
        return
    show(findings, as_json, paths)
    boundary.check_damage(findings.damaged)


def show(findings: "RunFindings", as_json: bool, paths: bool = False) -> None:
    """Writes the page and the estimates of a run, and prints the summary."""
    from middlemark.report.output.data import write_summary
    from middlemark.report.output.html import write_report
    from middlemark.report.output.terminal import print_message_paths, print_summary

    write_summary(findings)
    report = write_report(findings)
    if as_json:
        say(_json(findings, report))
    else:
        from middlemark.report.elements.plain_text import Screen

        console = Screen()
        print_summary(findings, console)
        if paths:
            print_message_paths(findings, console)
        say(f"report: {report}")


def _check_options(kind: ReportFormat, out: Path | None, *, as_json: bool) -> None:
    from middlemark.errors import UsageError

    if kind is ReportFormat.HTML and out is not None:
        raise UsageError("the page is always written to DIR/report.html", remedy="omit `--out`, and copy the page")
    if kind is not ReportFormat.HTML and as_json:
        raise UsageError(f"`--json` prints all estimates, `--format {kind}` writes files", remedy="give one of the two")


def _json(findings: "RunFindings", report: Path) -> str:
    from middlemark.report.output.run_data import run_data

    return json.dumps({"run": str(findings.folder.path), "report": str(report), **run_data(findings)}, indent=2)


def export_command(
    run: Annotated[Path, typer.Argument(metavar="DIR", help="The run folder, as printed by `middlemark run`.")],
    kind: Annotated[
        ExportFormat,
        typer.Option("--format", help=format_help(ExportFormat)),
    ] = ExportFormat.HGRM,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder for the files, in place of DIR/hgrm, DIR/parquet, ….")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")] = False,
    trust: Trust = False,
) -> None:
    """Write a run's distributions and metrics as files that other tools read."""
    from middlemark.analysis.dataframes import load
    from middlemark.report.output.data import export

    loaded = load(run, trust=trust, on_measuring=measuring(run))
    folder = out or run / kind
    written = export(loaded, kind, folder)
    contents = "percentile tables" if kind is ExportFormat.HGRM else "files"
    files = {"folder": str(folder), "files": [str(file) for file in written]}
    say(json.dumps(files, indent=2) if as_json else f"{len(written)} {contents}: {folder}")
    boundary.check_damage(loaded.damaged)


def serve_command(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR", help="Run folders, and folders of runs such as `runs`.")
    ],
    port: Annotated[int, typer.Option(metavar="PORT", min=0, max=65535, help="The port; 0: any free one.")] = 8450,
    bind: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="The address to listen on; if others can reach it, only requests with the printed token are answered.",
        ),
    ] = "127.0.0.1",
    trust: Trust = False,
) -> None:
    """Show many runs in the browser: a metric's history with change points, and any two runs compared."""
    import uvicorn

    from middlemark.report.elements.plain_text import Screen
    from middlemark.serve.access import admission
    from middlemark.serve.app import site

    with _listening(bind, port) as listener:
        address, chosen_port = listener.getsockname()[:2]
        admitted = admission(address, bind)
        with Screen(stderr=True).status("looking for runs"):
            app = site(folders, admitted, trust=trust)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, server_header=False))
        if admitted.token is not None:
            say(f"Who has the token and can reach {bind} can read these runs; nothing is encrypted.", err=True)
        say(f"{admitted.address(bind, chosen_port)} (Ctrl-C ends it)")
        try:
            server.run(sockets=[listener])
        except KeyboardInterrupt:
            say("ended")


def _listening(bind: str, port: int) -> "socket.socket":
    import socket

    from middlemark.errors import EnvironmentNotReady

    try:
        family = socket.getaddrinfo(bind, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        return socket.create_server((bind, port), family=family)
    except (OSError, UnicodeError) as error:
        raise EnvironmentNotReady(
            f"can't listen on {bind}:{port}: {error.strerror if isinstance(error, OSError) else error}",
            remedy="choose another with `--port`, 0 for any",
        ) from error


def pack_command(
    run: Annotated[Path, typer.Argument(metavar="DIR", help="The run folder, as printed by `middlemark run`.")],
    to: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE|URL",
            help="The file to write, or a URL that fsspec knows, in place of <name of the folder>.tar.",
        ),
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
