"""`middlemark init`: a first suite for a user's own case, from three answers or from options.

`suite.yaml.template` writes it; it is checked as `middlemark run` would check it before it is kept.
"""

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from middlemark.cli import arguments
from middlemark.cli.boundary import say

QUESTIONS = {
    "middlewares": ("Which middlewares, with commas (all: every one that is built)?", "all"),
    "messages": ("Which messages: a workload, as `middlemark list workloads` has them, or `2 MB at 10 Hz`?", "imu"),
    "topology": ("Where: C1-1 (one computer), D1-1 (two hosts), or another topology?", "C1-1"),
}


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The suite to write.")] = Path("my_suite.yaml"),
    middlewares: Annotated[
        str | None, typer.Option(metavar="NAMES", help="With commas; `all` for every one that is built.")
    ] = None,
    messages: Annotated[
        str | None, typer.Option(metavar="WORKLOAD", help="A shipped workload, or a size and a rate: `2 MB at 10 Hz`.")
    ] = None,
    topology: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="`C1-1`, `D1-1`, …", autocompletion=arguments.topologies),
    ] = None,
) -> None:
    """Write a commented suite for your own case, after three questions or from options."""
    from middlemark.errors import UsageError
    from middlemark.results.files import write_text
    from middlemark.suite import parse_suite
    from middlemark.suite.yaml.template import suite_text

    if file.exists() or file.is_symlink():
        raise UsageError(f"{file} is there already", remedy="name another file: middlemark init other.yaml")
    given = {"middlewares": middlewares, "messages": messages, "topology": topology}
    answers = {name: _answer(name, value) for name, value in given.items()}
    text = suite_text(_name(file), **answers)
    parse_suite(text, file=str(file))
    write_text(file, text)
    say(f"{file}: middlemark run {file} --dry-run shows what would run")


def is_asked() -> bool:
    """Whether somebody can answer."""
    return sys.stdin.isatty()


def _name(file: Path) -> str:
    """The file's, as far as a suite can have it."""
    return re.sub(r"[^a-z0-9_-]", "_", file.stem.lower()).lstrip("_-")[:40] or "my_suite"


def _answer(name: str, given: str | None) -> str:
    from middlemark.errors import UsageError

    if given is not None:
        return given
    question, default = QUESTIONS[name]
    if not is_asked():
        raise UsageError(f"nobody is there to be asked: {question}", remedy=f"--{name} {default!r}")
    answer: str = typer.prompt(question, default=default)
    return answer
