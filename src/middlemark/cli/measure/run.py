"""`middlemark run`: runs a suite, or resumes an interrupted run, and says where the report is.

Planning, running and reporting are done by the modules that it calls. With `--dry-run` it only prints the plan: the
experiments, their trials in order, and the estimated time.
"""

import json
from collections import defaultdict
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from middlemark.cli import arguments
from middlemark.cli.arguments import Across, Trust
from middlemark.cli.boundary import say
from middlemark.cli.inspect.machine import kept_lines
from middlemark.cli.measure.fleet import Detach, FleetAddress, TlsAuthority, TlsCertificate, TlsKey, fleet_at, leave

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.text import Text

    from middlemark.campaign.fleet.blocks import Connect
    from middlemark.campaign.order import Order
    from middlemark.plan import Experiment, Trial
    from middlemark.report.elements.plain_text import Screen
    from middlemark.results.progress import Observer

MOST_STREAMS_SHOWN = 12
"""More streams than these are counted in a plan; the file has each of them."""


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
        typer.Option(metavar="TAG", help="By which `runs`, `history` and `serve` find the run; may be repeated."),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            "--resume", "--attach", metavar="DIR", help="Continue this run; if it has a base, name it with --against."
        ),
    ] = None,
    across: Across = False,
    trust: Trust = False,
    fleet: FleetAddress = None,
    detach: Detach = False,
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
    _check(suite, [name for name, value in fresh.items() if value], resume, across)
    if fleet is not None and against:
        _refuse_base()
    connect = fleet_at(fleet, (tls_ca_file, tls_cert, tls_key))
    if resume is not None:
        _resume(resume, against or [], connect, across=across, trust=trust, as_json=as_json)
        return
    from middlemark.campaign.order import order_suite, tagged
    from middlemark.suite import load_suite

    order = tagged(order_suite(load_suite(suite or ""), only or [], trials, against or []), tag or [])
    if dry_run:
        show_plan(order, as_json)
    elif detach:
        leave(out or new_folder(order.name), order, connect)
    else:
        _run(out or new_folder(order.name), order, as_json, connect)


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


def show_plan(order: "Order", as_json: bool) -> None:
    """Print what would run."""
    if as_json:
        say(json.dumps([trial.model_dump(mode="json") for trial in order.trials], indent=2))
        return
    from middlemark.report.elements.plain_text import Screen

    print_plan(order.trials, Screen())
    for line in (*_left_out(order), *_left_to_results(order)):
        say(line)


def _left_out(order: "Order") -> list[str]:
    """What the suite would measure had it a worker here."""
    return [f"{middleware} is left out: {reason}" for middleware, reason in order.left_out.items()]


def _left_to_results(order: "Order") -> list[str]:
    """Which trials can't be planned yet."""
    from middlemark.suite import Suite

    stop = order.definition.stop if isinstance(order.definition, Suite) else None
    of_searches = [trial.experiment.search.max_trials for trial in order.trials if trial.experiment.search]
    narrow = (
        [f"then more blocks until intervals are narrow enough, at most {stop.max_trials} trials each"] if stop else []
    )
    return narrow + ([f"then each search continues, with at most {max(of_searches)} trials"] if of_searches else [])


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

    for line in _left_out(order):
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


_IMPLIED_BY_WORKLOAD = ("pattern", "arrival")


def print_plan(trials: "Sequence[Trial]", console: "Screen") -> None:
    """Print the plan as a table, one row an experiment."""
    from rich import box
    from rich.table import Table

    from middlemark.plan import varying_factors

    numbers: dict[str, list[str]] = defaultdict(list)
    for trial in trials:
        observation = f" ({trial.observation})" if trial.observation else ""
        numbers[trial.experiment.id].append(f"{trial.number}{observation}")
    experiments = list({trial.experiment.id: trial.experiment for trial in trials}.values())
    experiments.sort(key=lambda experiment: list(experiment.factors.values()))

    varying = varying_factors(experiments)
    shown = [name for name in varying if name not in _IMPLIED_BY_WORKLOAD]
    table = Table(box=box.SIMPLE_HEAD)
    for name in shown:
        table.add_column(name)
    table.add_column("window", justify="right")
    table.add_column("runs as trial", style="dim")
    for experiment in experiments:
        table.add_row(*_cells(experiment, shown, numbers[experiment.id]))
    console.print(table)
    _print_graphs(experiments, console)
    console.print(_shared(experiments[0], varying))
    console.print(_total(experiments, trials))


def _print_graphs(experiments: "Sequence[Experiment]", console: "Screen") -> None:
    """Each pipeline once on each topology, whatever middleware it runs on."""
    from rich.text import Text

    from middlemark.report.elements.topology_text import pipeline_text

    graphs = {
        (experiment.workload, experiment.topology, pipeline_text(experiment)): None
        for experiment in experiments
        if experiment.nodes
    }
    for workload, topology, text in graphs:
        console.print(Text(f"{workload} on {topology}", style="bold"))
        console.print(Text(text), soft_wrap=True)


def _cells(experiment: "Experiment", varying: "Sequence[str]", numbers: "Sequence[str]") -> "list[Text]":
    from rich.text import Text

    window = f"{experiment.windows.window_ns / 1e9:g} s"
    cells = [*(experiment.factors.get(name, "") for name in varying), window, ", ".join(numbers)]
    return [Text(cell) for cell in cells]


def _shared(experiment: "Experiment", varying: "Sequence[str]") -> "Text":
    from rich.text import Text

    shared = {name: value for name, value in experiment.factors.items() if name not in varying}
    streams = [name for name in shared if name.startswith("stream.")]
    if len(streams) > MOST_STREAMS_SHOWN:
        shared = {name: value for name, value in shared.items() if name not in streams}
        shared[f"{len(streams)} streams"] = "as the file has them"
    return Text(f"all of them: {', '.join(f'{name} {value}' for name, value in shared.items())}", style="dim")


def _total(experiments: "Sequence[Experiment]", trials: "Sequence[Trial]") -> str:
    from middlemark.plan import campaign_duration_ns
    from middlemark.suite.yaml.quantity import plural

    minutes, seconds = divmod(round(campaign_duration_ns(trials) / 1e9), 60)
    blocks = trials[-1].block
    observations = len({trial.observation for trial in trials}) - 1
    observed = f"{blocks} × (1 unobserved + {observations} observed) trials"
    return (
        f"{plural(len(experiments), 'experiment')} × {observed if observations else plural(blocks, 'trial')} = "
        f"{plural(len(trials), 'trial')} in {plural(blocks, 'block')}, about {minutes} min {seconds:02} s"
    )
