"""`middlemark init`: a first suite for a user's own case, from three answers or from options.

It is YAML with a comment on each line that a user would change, checked as `middlemark run` would check it before it
is kept.
"""

import re
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from middlemark.cli import arguments
from middlemark.cli.boundary import say

QUESTIONS = {
    "middlewares": ("Which middlewares, with commas (all: every one that is built)?", "all"),
    "messages": ("Which messages: a workload, as `middlemark list workloads` has them, or `2 MB at 10 Hz`?", "imu"),
    "topology": ("Where: C1-1 (one computer), D1-1 (two hosts), or another topology?", "C1-1"),
}
_LOAD: Final = re.compile(r"\s*(?P<size>[0-9.]+\s*[kKMG]?i?B)\s+at\s+(?P<rate>[0-9.]+\s*k?Hz)\s*")


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The suite to write.")] = Path("my_suite.yaml"),
    middlewares: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Names, separated by commas; or `all` that are built.")
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

    if file.exists() or file.is_symlink():
        raise UsageError(f"{file} is there already", remedy="name another file: middlemark init other.yaml")
    given = {"middlewares": middlewares, "messages": messages, "topology": topology}
    answers = {name: _answer(name, value) for name, value in given.items()}
    text = _suite_text(_name(file), **answers)
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
        raise UsageError(f"without a terminal nobody can answer: {question}", remedy=f"--{name} {default!r}")
    answer: str = typer.prompt(question, default=default)
    return answer


def _suite_text(name: str, middlewares: str, messages: str, topology: str) -> str:
    """A suite of this name: middlewares with commas or `all`; a shipped workload, or `2 MB at 10 Hz`; a topology."""
    chosen = ", ".join(part for part in re.split(r"[\s,]+", middlewares.strip()) if part)
    return f"""\
# What would run, in which order and for how long: middlemark run {name}.yaml --dry-run
# Everything that a suite can say: docs/guide/suites.md
suite: {name}
summary: {messages.strip()} on {topology}
seed: 1                      # the same seed gives the same order of trials
trials: 5                    # of each experiment; more make the intervals narrower

middlewares: {"all" if chosen == "all" else f"[{chosen}]"}   # all of them: middlemark list middlewares
profiles: [default]          # add `tuned` for what its documentation advises

workloads:
{_workload(messages)}

topologies: [{topology}]         # others: middlemark list topologies; a drawing: middlemark topology show {topology}

conditions: {{cpus: spread, keep_awake: true}}   # also CPU load, links with delay or loss, containers, faults
windows: {{warm_up: 200 ms, window: 2 s}}        # how long each trial measures
"""


def _workload(messages: str) -> str:
    from middlemark.errors import UsageError
    from middlemark.suite.load import shipped_workloads
    from middlemark.suite.yaml.model import closest_first

    load = _LOAD.fullmatch(messages)
    if load is not None:
        return f"""\
  - workload: own            # a name for your messages
    pattern: periodic
    size: {load["size"]}
    rate: {load["rate"]}
    qos: {{reliability: reliable}}   # or best_effort"""
    names = list(shipped_workloads())
    if messages.strip() not in names:
        raise UsageError(
            f"{messages!r} is neither a shipped workload nor a size and a rate",
            remedy=f"`2 MB at 10 Hz`, or one of: {closest_first(messages, names)}",
        )
    return f"""\
  # Its sizes and rates: middlemark list workloads. Others: {{workload: …, size: 2 MB, rate: 10 Hz}}
  - {{workload: {messages.strip()}}}"""
