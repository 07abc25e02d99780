"""`middlemark run`: runs a suite, or resumes an interrupted run, and says where the report is.

Planning, running and reporting are done by the modules that it calls. With `--dry-run` it only prints the plan: the
experiments, their trials in order, and the estimated time.
"""

from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from middlemark.cli import arguments
from middlemark.cli.arguments import Across, Hosts, Trust
from middlemark.cli.boundary import say
from middlemark.cli.inspect.machine import kept_lines
from middlemark.cli.measure.fleet import (
    Detach,
    FleetAddress,
    Through,
    TlsAuthority,
    TlsCertificate,
    TlsKey,
    fleet_at,
    leave,
)
from middlemark.cli.measure.plan import left_out_words, show_plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from middlemark.campaign.fleet.blocks import Connect
    from middlemark.campaign.order import Order
    from middlemark.results.progress import Observer
    from middlemark.suite import LoadedSuite


def command(  # noqa: PLR0913, PLR0917 - a command line has so many options
    suite: Annotated[
        str | None,
        typer.Argument(metavar="SUITE", help="A shipped suite's name, or a file.", autocompletion=arguments.suites),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="K=V",
            help="Only experiments with this factor value; may be repeated.",
            autocompletion=arguments.conditions,
        ),
    ] = None,
    trials: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Trials of each experiment, in place of the suite's number.")
    ] = None,
    against: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR",
            help="Also run everything with the workers of this folder, as the base of a comparison; may be repeated.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The run folder, in place of runs/<suite>-<time>.")
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option(metavar="TAG", help="A word for `runs`, `history` and `serve` to find the run; may be repeated."),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            "--resume", "--attach", metavar="DIR", help="Continue this run; if it has a base, name it with --against."
        ),
    ] = None,
    hosts: Hosts = None,
    across: Across = False,
    trust: Trust = False,
    fleet: FleetAddress = None,
    detach: Detach = False,
    through: Through = None,
    tls_ca_file: TlsAuthority = None,
    tls_cert: TlsCertificate = None,
    tls_key: TlsKey = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would run, and how long it would take.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")] = False,
) -> None:
    """Run a suite: its trials in interleaved random order, then the report."""
    fresh = {"--only": only, "--trials": trials, "--out": out, "--detach": detach, "--dry-run": dry_run, "--tag": tag}
    fresh |= {"--hosts": hosts}
    _check(suite, [name for name, value in fresh.items() if value], resume, across)
    if fleet is not None and against:
        _refuse_base()
    connect = fleet_at(fleet, (tls_ca_file, tls_cert, tls_key), through)
    if resume is not None:
        _resume(resume, against or [], connect, across=across, trust=trust, as_json=as_json)
        return
    from middlemark.campaign.order import order_suite, tagged

    order = tagged(order_suite(_suite(suite or "", hosts), only or [], trials, against or []), tag or [])
    if dry_run:
        show_plan(order, as_json)
    elif detach:
        leave(out or new_folder(order.name), order, connect, as_json=as_json)
    else:
        _run(out or new_folder(order.name), order, as_json, connect)


def _suite(name_or_file: str, hosts: Path | None) -> "LoadedSuite":
    """The suite, with the machines of an inventory for its hosts where one is given; says what is left out."""
    from middlemark.suite import load_inventory, load_suite, suite_on_machines

    loaded = load_suite(name_or_file)
    if hosts is None:
        return loaded
    placed, left_out = suite_on_machines(loaded, load_inventory(str(hosts)))
    for topology, reason in left_out.items():
        say(f"the topology {topology} is left out: {reason}", err=True)
    return placed


def _refuse_base() -> None:
    from middlemark.errors import UsageError

    raise UsageError(
        "a fleet measures one build: --against names executables of this machine, which the test-beds don't have",
        remedy="measure both builds on this machine, without --fleet",
    )


def _check(suite: str | None, options: list[str], resume: Path | None, across: bool) -> None:
    from middlemark.errors import UsageError

    if resume is None and across:
        raise UsageError("`--across` is only for runs that are resumed", remedy="middlemark run --resume DIR --across")
    if resume is None and suite is None:
        raise UsageError("no suite is named", remedy="middlemark run quick; `middlemark list suites` shows all of them")
    if resume is not None and (suite is not None or options):
        other = "a suite" if suite is not None else options[0]
        raise UsageError(
            f"--resume continues what was planned and can't be combined with {other}",
            remedy=f"middlemark run --resume {resume}",
        )


def new_folder(suite: str) -> Path:
    """The default folder of a run."""
    return Path("runs", f"{suite}-{datetime.now().astimezone():%Y%m%d-%H%M%S}")


def _run(path: Path, order: "Order", as_json: bool, connect: "Connect | None") -> None:
    carry_out(path, order, as_json, connect)
    _end(path, trust=False, as_json=as_json)


def _resume(  # noqa: PLR0913 - what can be said of a run that is continued
    path: Path, against: list[Path], connect: "Connect | None", *, across: bool, trust: bool, as_json: bool
) -> None:
    from middlemark.campaign.campaign import resume_run
    from middlemark.results.run_folder import RunFolder

    folder = RunFolder(path, is_trusted=trust)
    watched(lambda observer: resume_run(folder, observer, against=against, across=across, connect=connect), as_json)
    _end(path, trust=trust, as_json=as_json)


def _end(path: Path, *, trust: bool, as_json: bool) -> None:
    from middlemark.campaign import progress
    from middlemark.cli import report
    from middlemark.results.run_folder import RunFolder

    report.command(path, as_json=as_json, trust=trust)
    progress.check_accepted(progress.outcomes(RunFolder(path, is_trusted=trust)))


def carry_out(path: Path, order: "Order", as_json: bool, connect: "Connect | None" = None) -> None:
    """Runs all trials of an order, with the live view unless the output is JSON."""
    from middlemark.campaign.campaign import run_new

    for line in left_out_words(order):
        say(line, err=True)
    watched(lambda observer: run_new(path, order, observer, connect), as_json)


def watched(run: "Callable[[Observer], None]", as_json: bool) -> None:
    """Runs trials with the live view unless the output is JSON, after what killed runs left was removed."""
    from middlemark.report.elements.plain_text import Screen
    from middlemark.report.output.live import live
    from middlemark.results.progress import Unobserved
    from middlemark.testbed.processes import abandoned

    # What killed runs left.
    for line in kept_lines(abandoned.sweep()):
        say(line, err=True)
    with nullcontext(Unobserved()) if as_json else live(Screen(stderr=True)) as observer:
        run(observer)
