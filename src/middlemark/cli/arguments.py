"""What commands share: the option `--trust`, and the names that the shell completes.

Completion never fails: where something can't be read, it offers nothing.
"""

from typing import Annotated

import typer

from middlemark.errors import MiddlemarkError


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
    known = dict.fromkeys(f"{name}={value}" for e in experiments for name, value in e.factors.items())
    return [condition for condition in known if condition.startswith(incomplete)]


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
Trust = Annotated[bool, typer.Option("--trust", help="Read a run folder that belongs to another user.")]
