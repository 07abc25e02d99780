"""The program `middlemark`: its commands, and the one place where an error becomes a message and an exit code.

Each command lives in a module of its own; this one knows their names only.
"""

import atexit
import gc
import sys
from typing import Annotated

import typer

from middlemark.cli import claims, compare, gate, history, report
from middlemark.cli.arguments import Command, Group
from middlemark.cli.boundary import reported_errors, say
from middlemark.cli.inspect import describe, machine
from middlemark.cli.inspect import list as list_command
from middlemark.cli.measure import fleet, init, recommend, reproduce, run, selftest

app = typer.Typer(
    name="middlemark",
    cls=Group,
    help="Measures communication middleware under one neutral load. `middlemark run quick` is the first thing to try.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(requested: bool) -> None:
    if requested:
        from middlemark import __version__

        say(f"middlemark {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Handles the options that all commands have."""


app.command("run", cls=Command)(run.command)
app.command("init", cls=Command)(init.command)
app.command("reproduce", cls=Command)(reproduce.command)
app.command("report", cls=Command)(report.command)
app.command("recommend", cls=Command)(recommend.command)
app.command("compare", cls=Command)(compare.command)
app.command("claims", cls=Command)(claims.command)
app.command("export", cls=Command)(report.export_command)
app.command("list", cls=Command)(list_command.command)
app.add_typer(list_command.app, name="topology")
app.add_typer(fleet.app, name="testbed")
app.command("describe", cls=Command)(describe.command)
app.command("footprint", cls=Command)(describe.footprint_command)
app.command("gate", cls=Command)(gate.command)
app.command("selftest", cls=Command)(selftest.command)
app.command("pack", cls=Command)(report.pack_command)
app.command("unpack", cls=Command)(report.unpack_command)
app.command("runs", cls=Command)(history.runs_command)
app.command("history", cls=Command)(history.command)
app.command("serve", cls=Command)(report.serve_command)
app.command("doctor", cls=Command)(machine.doctor_command)
app.command("clean", cls=Command)(machine.clean_command)


def main() -> None:
    """Run the program."""
    # A command keeps nearly everything that it allocates: garbage collection took a sixth of the time of a large
    # report, and the interpreter's own at exit another tenth.
    gc.set_threshold(100_000, 20, 50)
    atexit.register(gc.freeze)
    with reported_errors(sys.argv):
        app()
