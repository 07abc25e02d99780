"""`middlemark recommend`: runs an application's streams on every middleware, and says which meet its requirements.

A recording is first converted to an application's file. Planning, running and reporting are done by the modules that it
calls.
"""

from pathlib import Path
from typing import Annotated

import typer

from middlemark.cli.boundary import say


def command(  # noqa: PLR0913, PLR0917 - a command line has so many options
    application: Annotated[
        Path,
        typer.Argument(
            metavar="APPLICATION", help="A shipped application (`middlemark list applications`), or the file of one."
        ),
    ],
    recording: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="RECORDING", help="First write APPLICATION from an MCAP file or a rosbag2 recording."
        ),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="K=V", help="Only candidates with this factor value; may be repeated.")
    ] = None,
    trials: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Trials of each candidate, in place of the file's.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The run folder, in place of runs/<application>-<time>.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would run, and how long it takes.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")] = False,
) -> None:
    """Find the middlewares that meet an application's requirements: run its streams on each, judge and rank them."""
    from middlemark.campaign.order import order_demand
    from middlemark.cli.measure import run as run_command
    from middlemark.cli.measure.plan import show_plan
    from middlemark.suite import load_demand

    if recording is not None:
        _derive(application, recording)
        application = application.absolute()  # of a shipped one's name this would be another
    order = order_demand(load_demand(str(application)), only or [], trials)
    if dry_run:
        show_plan(order, as_json)
        return
    folder = out or run_command.new_folder(order.name)
    run_command.carry_out(folder, order, as_json)
    _report(folder, as_json)


def _derive(application: Path, recording: Path) -> None:
    """Writes the application's file and next to it the messages; an existing file is never overwritten."""
    from middlemark.campaign.import_recording import read_recording, recorded_demand
    from middlemark.errors import UsageError
    from middlemark.results.files import write_text

    messages = application.with_suffix(".messages.csv")
    for file in (application, messages):
        if file.exists():
            raise UsageError(
                f"`{file}` exists already, and `--from` would overwrite it",
                remedy=f"middlemark recommend {application}, or name another file",
            )
    derived = recorded_demand(application.stem, recording.name, messages.name, read_recording(recording))
    write_text(messages, derived.messages)
    write_text(application, derived.demand)
    say(f"written: {application}, {messages}", err=True)


def _report(folder: Path, as_json: bool) -> None:
    from middlemark.analysis.run import analyse
    from middlemark.cli import report
    from middlemark.errors import ResultsNotAccepted
    from middlemark.report.conclusions.recommendation import recommendation
    from middlemark.results.run_folder import RunFolder

    findings = analyse(RunFolder(folder))
    report.show(findings, as_json)
    advice = recommendation(findings)
    if advice is not None and not advice.has_fitting:
        raise ResultsNotAccepted(
            advice.headline, remedy="the report says by how much each candidate misses a requirement"
        )
