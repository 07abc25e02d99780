"""`middlemark history` and `middlemark runs`: a metric over many runs, and which runs there are.

`analysis.catalogue` finds the runs and what they estimate, `report.conclusions.history` shows the history as the pages
of `serve` do. `runs_before` finds what `middlemark gate --history` compares with.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from middlemark.cli import arguments
from middlemark.cli.arguments import Trust
from middlemark.cli.boundary import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from middlemark.analysis.catalogue.library import ListedRun, RunSelection, Shelf

Folders = Annotated[list[Path], typer.Argument(metavar="DIR", help="Run folders, and folders of runs such as `runs`.")]
OfMiddleware = Annotated[
    str,
    typer.Option(
        "--middleware", metavar="NAME", autocompletion=arguments.middlewares, help="Only runs of this middleware."
    ),
]
OfVersion = Annotated[
    str,
    typer.Option(
        "--version", metavar="VERSION", help="Only runs with this version of its library; 1.10 also selects 1.10.2."
    ),
]
OfWorkload = Annotated[str, typer.Option("--workload", metavar="NAME", help="Only runs with this workload.")]
OfMachine = Annotated[
    str,
    typer.Option(
        "--machine", metavar="WORDS", help="Only runs on this machine: a part of its processor's name or of its id."
    ),
]
OfSuite = Annotated[str, typer.Option("--suite", metavar="NAME", help="Only runs of this suite.")]
OfTag = Annotated[str, typer.Option("--tag", metavar="TAG", help="Only runs that were made with this `--tag`.")]
Since = Annotated[
    str, typer.Option("--since", metavar="DAY", help="Only runs that began on this day or later: 2026-01-31.")
]
Until = Annotated[
    str, typer.Option("--until", metavar="DAY", help="Only runs that began on this day or before: 2026-01-31.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")]


def command(  # noqa: PLR0913, PLR0917 - a command line has so many options
    metric: Annotated[str, typer.Argument(metavar="METRIC", help="`p99(latency)`, `loss`, `cpu`, …")],
    folders: Folders,
    middleware: OfMiddleware = "",
    version: OfVersion = "",
    workload: OfWorkload = "",
    machine: OfMachine = "",
    suite: OfSuite = "",
    tag: OfTag = "",
    since: Since = "",
    until: Until = "",
    setting: Annotated[
        str, typer.Option("--setting", metavar="WORDS", help="Only settings whose names contain these words.")
    ] = "",
    as_json: AsJson = False,
    trust: Trust = False,
) -> None:
    """Show a metric over many runs: where its level changed permanently, and with which versions."""
    from middlemark.analysis.catalogue.estimates import past_runs
    from middlemark.analysis.catalogue.library import RunSelection
    from middlemark.analysis.compare.history import histories
    from middlemark.errors import UsageError
    from middlemark.report.conclusions.history import history_data, print_history, settings
    from middlemark.suite.metrics import metric_named

    wanted, selection = (
        metric_named(metric),
        RunSelection(middleware, version, workload, machine, suite, tag, since, until),
    )
    runs, estimates, unreadable = past_runs(_selected(folders, selection, trust=trust), wanted)
    _warn(unreadable)
    series = [past for past in histories(runs, estimates, wanted) if middleware in {"", past.middleware}]
    listed = [group for group in settings(series) if setting.casefold() in group.words.casefold()]
    if not listed:
        raise UsageError(
            f"no run has {wanted.name}{f' in a setting with {setting!r}' if setting else ''}",
            remedy="messages have a latency, ping-pongs a round trip; `middlemark report` shows all metrics",
        )
    if as_json:
        say(json.dumps(history_data([past for group in listed for past in group.series], wanted), indent=2))
        return
    from middlemark.report.elements.plain_text import Screen

    print_history(listed, wanted, Screen())


def runs_command(  # noqa: PLR0913, PLR0917 - a command line has so many options
    folders: Folders,
    middleware: OfMiddleware = "",
    version: OfVersion = "",
    workload: OfWorkload = "",
    machine: OfMachine = "",
    suite: OfSuite = "",
    tag: OfTag = "",
    since: Since = "",
    until: Until = "",
    as_json: AsJson = False,
    trust: Trust = False,
) -> None:
    """List runs, the oldest first: all, or those of a middleware, version, workload, machine, suite, tag or time."""
    from middlemark.analysis.catalogue.library import RunSelection

    selection = RunSelection(middleware, version, workload, machine, suite, tag, since, until)
    shelf = _selected(folders, selection, trust=trust)
    if as_json:
        rows = [{"run": str(run.folder.path), **run.outline.model_dump(mode="json")} for run in shelf.runs]
        say(json.dumps(rows, indent=2))
    else:
        _print_runs(shelf.runs)


def _print_runs(runs: "Sequence[ListedRun]") -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from middlemark.report.elements.plain_text import Screen

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("run", "began", "suite", "middlewares", "machine", "tags"):
        table.add_column(heading, overflow="fold")
    for run in runs:
        head = run.head
        versions = ", ".join(f"{name} {listed.library.version}" for name, listed in head.middlewares.items())
        began, processor = head.started_at[:16].replace("T", " "), str(head.machine.get("cpu_model", "–"))
        table.add_row(*map(Text, (str(run.folder.path), began, head.suite, versions, processor, ", ".join(head.tags))))
    Screen().print(table)


def _selected(folders: "Sequence[Path]", selection: "RunSelection", *, trust: bool) -> "Shelf":
    """The selected runs; says what can't be read, and where none is left."""
    from middlemark.analysis.catalogue.library import RunLibrary
    from middlemark.errors import UsageError

    shelf = RunLibrary(folders, trust).look()
    _warn(shelf.unreadable)
    if not shelf.runs:
        raise UsageError(
            f"there is no run in {', '.join(map(str, folders))}", remedy="give run folders, or a folder of runs"
        )
    selected = selection.of_shelf(shelf)
    if not selected.runs:
        conditions = ", ".join(f"{name} {value}" for name, value in selection.conditions.items())
        raise UsageError(
            f"none of {len(shelf.runs)} runs has {conditions}", remedy="`middlemark runs` without options lists all"
        )
    return selected


def _warn(unreadable: "Sequence[str]") -> None:
    for text in unreadable:
        say(f"left out: {text}", err=True)


def runs_before(head: Path, folder: Path, last: int, *, across_machines: bool, trust: bool) -> list[Path]:
    """The last runs of a folder that began before one, of its suite and on its machine."""
    from middlemark.analysis.catalogue.library import RunLibrary
    from middlemark.errors import UsageError
    from middlemark.results.run_folder import RunFolder

    manifest = RunFolder(head, is_trusted=trust).read_manifest()
    machine = manifest.machine_identity
    shelf = RunLibrary([folder], trust).look()
    _warn(shelf.unreadable)
    earlier = [
        run.folder.path
        for run in shelf.runs
        if run.head.suite == manifest.suite
        and run.head.started_at < manifest.started_at
        and (across_machines or run.head.machine_identity == machine)
    ]
    if not earlier:
        raise UsageError(
            f"{folder} has no run of the suite {manifest.suite} on {machine} that began before {head}",
            remedy=f"`middlemark runs {folder}` lists what there is",
        )
    return earlier[-last:]
