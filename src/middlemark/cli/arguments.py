"""What commands share: options, how `--help` shows them, the names that the shell completes, and how a run is read.

Completion never fails: where something can't be read, it offers nothing. The classes of commands replace those of
typer, which show `<bool>` beside a switch and `<list[Path]>` beside folders; every command of `main` is made with them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from middlemark.cli.boundary import say
from middlemark.errors import MiddlemarkError

if TYPE_CHECKING:
    from collections.abc import Callable

    from middlemark.analysis.run import RunFindings


def suites(incomplete: str) -> list[str]:
    """The names of shipped suites; the shell completes files where none matches."""
    from middlemark.suite import shipped_suite_names

    return [name for name in shipped_suite_names() if name.startswith(incomplete)]


def middlewares(incomplete: str) -> list[str]:
    """The middlewares with a worker on this machine."""
    from middlemark.worker.executables import workers

    return [name for name in workers() if name.startswith(incomplete)]


def conditions(context: typer.Context, incomplete: str) -> list[str]:
    """`factor=value` for every factor of the suite on the command line."""
    from middlemark.plan import expand
    from middlemark.suite import load_suite
    from middlemark.worker.executables import workers

    try:
        suite = load_suite(context.params.get("suite") or "quick").suite
        experiments = expand(suite, available=list(workers()))
    except MiddlemarkError:
        return []
    written = dict.fromkeys(f"{name}={value}" for e in experiments for name, value in e.factors.items())
    return [condition for condition in written if condition.startswith(incomplete)]


def papers(incomplete: str) -> list[str]:
    """The names of papers that ship; the shell completes folders where none matches."""
    from middlemark.suite.papers import shipped_paper_names

    return [name for name in shipped_paper_names() if name.startswith(incomplete)]


def topologies(incomplete: str) -> list[str]:
    """The names of shipped topologies."""
    from middlemark.suite import COUNTED_TOPOLOGIES, shipped_topologies

    return [name for name in [*COUNTED_TOPOLOGIES, *shipped_topologies()] if name.startswith(incomplete)]


Across = Annotated[
    bool,
    typer.Option("--across", help="Continue although build, libraries, kernel or machine differ; this is recorded."),
]
Hosts = Annotated[
    Path | None,
    typer.Option(
        "--hosts", metavar="FILE", help="Machines, reached by SSH, that take the place of hosts in namespaces."
    ),
]
Trust = Annotated[bool, typer.Option("--trust", help="Read a run folder that belongs to another user.")]


def analysed(run: Path, only: Sequence[str] = (), *, trust: bool = False) -> "RunFindings":
    """Reads and analyses a run; where its metrics must be computed first, it says so."""
    from middlemark.analysis.run import analyse
    from middlemark.results.run_folder import RunFolder

    return analyse(RunFolder(run, is_trusted=trust), only, measuring(run))


def measuring(run: Path) -> "Callable[[], None]":
    """What says once that a run's metrics are computed, which takes a while, and what makes that needless."""
    is_said = False

    def say_once() -> None:
        nonlocal is_said
        if not is_said:
            is_said = True
            say(
                f"{run}: no metrics of this version of Middlemark are stored, so that they are computed from the "
                f"samples; `middlemark report {run} --recompute` stores them",
                err=True,
            )

    return say_once


class Command(TyperCommand):
    """A command whose help shows no types."""

    def get_params(self, ctx: typer.Context) -> list[Any]:  # type: ignore[override]
        """The command's parameters as typer has them, with their help."""
        return [_without_type(parameter) for parameter in super().get_params(ctx)]


class Group(TyperGroup):
    """A group of commands whose help shows no types."""

    def get_params(self, ctx: typer.Context) -> list[Any]:  # type: ignore[override]
        """The group's own parameters as typer has them, with their help."""
        return [_without_type(parameter) for parameter in super().get_params(ctx)]


def _without_type(parameter: object) -> object:
    if isinstance(parameter, TyperOption) and parameter.is_flag:
        parameter.metavar = ""
    elif isinstance(parameter, TyperArgument):
        # Its word stands in the column before; typer has no setting that leaves its type out.
        parameter.display_type = _no_type  # type: ignore[method-assign]
    return parameter


def _no_type(ctx: object) -> str:
    del ctx
    return ""
