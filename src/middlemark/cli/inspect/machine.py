"""`middlemark doctor`: how ready this machine is; `middlemark clean`: removes what killed runs left on it.

The one shows what `worker.available` and `testbed.machine` find out, the other removes only what the ledgers list, and
nothing of runs that are under way.
"""

import json
from dataclasses import asdict
from datetime import UTC, datetime
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

import typer

from middlemark.cli.boundary import say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from middlemark.report.elements.plain_text import Screen
    from middlemark.testbed.machine.readiness import Fact
    from middlemark.testbed.processes.abandoned import Removed
    from middlemark.worker.available import Worker


def doctor_command(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")] = False,
) -> None:
    """Show what is present, what is missing with its remedy, and whether the machine is fit to measure."""
    from middlemark.testbed import capabilities
    from middlemark.testbed.hosts import container
    from middlemark.testbed.machine import readiness
    from middlemark.worker.available import available_workers

    workers, left_out = available_workers()
    facts = [*readiness.facts(), *capabilities.facts(), container.containers_fact()]
    if as_json:
        say(json.dumps(_doctor_data(workers, left_out, facts), indent=2, ensure_ascii=False))
    else:
        from middlemark.report.elements.plain_text import Screen

        console = Screen()
        _print_workers(workers, left_out, console)
        _print_machine(facts, console)
    _check(workers)


def _check(workers: "Mapping[str, Worker]") -> None:
    from middlemark.errors import EnvironmentNotReady
    from middlemark.installation import FOLDERS_VARIABLE

    if not workers:
        raise EnvironmentNotReady(
            "no worker was found, so nothing can be measured", remedy=f"make workers, or {FOLDERS_VARIABLE}=FOLDER"
        )


def _doctor_data(
    workers: "Mapping[str, Worker]", left_out: "Mapping[str, str]", facts: "Sequence[Fact]"
) -> dict[str, object]:
    from middlemark.worker.description import programs_of_services

    return {
        "workers": {
            name: {
                "path": str(worker.path),
                **worker.description.library.model_dump(),
                "programs": [library.model_dump() for library in programs_of_services(worker.description)],
            }
            for name, worker in workers.items()
        },
        "left_out": dict(left_out),
        "machine": [asdict(fact) for fact in facts],
    }


def _print_workers(workers: "Mapping[str, Worker]", left_out: "Mapping[str, str]", console: "Screen") -> None:
    from rich.text import Text

    from middlemark.report.elements.labels import library_words
    from middlemark.worker.description import programs_of_services

    rows = []
    for name, worker in workers.items():
        for library in (worker.description.library, *programs_of_services(worker.description)):
            words = library_words(library, datetime.now(UTC).date())
            rows.append((Text("✔", "green"), name, words, library.origin))
    rows += [(Text("✘", "red"), name, "left out", "see below") for name in left_out]
    _print_table(("", "worker", "library", "from"), rows, console)
    for name, reason in left_out.items():
        console.print(Text.assemble((f"{name} is left out: ", "red"), reason), soft_wrap=True)


def _print_machine(facts: "Sequence[Fact]", console: "Screen") -> None:
    """Each fact with its value, and with its remedy below it; a path stays whole, so that it can be copied."""
    from rich.text import Text

    from middlemark.report.elements.formatting import fact as words

    marks = {True: Text("✔", "green"), False: Text("!", "yellow"), None: Text(" ")}
    shown = [(fact, *words(fact.name, fact.value)) for fact in facts]
    width = max(len(name) for _, name, _ in shown)
    console.print()
    for fact, name, value in shown:
        head = Text.assemble("  ", marks[fact.ready], f"   {name:<{width}}   ")
        room = console.width - len(head)
        remedy = [] if fact.ready else [Text(line, "yellow") for line in _lines(fact.remedy, room)]
        for line in (*map(Text, _lines(value, room) or [""]), *remedy):
            console.print(head + line, soft_wrap=True)
            head = Text(" " * len(head))


def _lines(text: str, room: int) -> list[str]:
    """Broken where words end; a word that is longer than a line is left to the terminal."""
    return wrap(text, max(room, 20), break_long_words=False, break_on_hyphens=False)


def _print_table(columns: "Sequence[str]", rows: "Sequence[Sequence[object]]", console: "Screen") -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD)
    for number, column in enumerate(columns):
        table.add_column(column, overflow="fold", no_wrap=number < 2)
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(str(cell)) for cell in row))
    console.print(table)


def clean_command(
    forget: Annotated[
        str | None,
        typer.Option(
            metavar="TARGET",
            help="Remove nothing; delete the entries of a machine that no longer exists: user@address:port.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")] = False,
) -> None:
    """Remove what killed runs left: processes, folders, shared memory."""
    from middlemark.testbed.processes import abandoned

    if forget is not None:
        _forget(forget, as_json)
        return
    swept = abandoned.sweep()
    if as_json:
        say(json.dumps([asdict(entry) for entry in swept], indent=2))
        return
    for entry in swept:
        if entry.problem is None:
            say(f"removed {entry.kind}: {entry.what}")
    for line in kept_lines(swept):
        say(line)
    if not swept:
        say("nothing was left to remove")


def kept_lines(swept: "Sequence[Removed]") -> list[str]:
    """What could not be removed and why, and for each machine that is to blame how its entries come to an end."""
    from middlemark.testbed.processes import abandoned

    left = [
        f"not removed {removed.kind}: {removed.what}: {removed.problem}"
        for removed in swept
        if removed.problem is not None
    ]
    ends = [
        f"the entries of {target} stay in the ledger, and every `middlemark run` and `middlemark clean` tries again; "
        f"if that machine no longer exists: middlemark clean --forget {target}"
        for target in abandoned.out_of_reach(swept)
    ]
    return left + ends


def _forget(target: str, as_json: bool) -> None:
    from middlemark.errors import UsageError
    from middlemark.testbed.processes import abandoned

    forgotten = abandoned.forget(target)
    if not forgotten:
        raise UsageError(
            f"the ledger has no entry of `{target}`",
            remedy="`middlemark clean` names the machines that it can't reach",
        )
    if as_json:
        say(json.dumps([asdict(entry) for entry in forgotten], indent=2))
        return
    for entry in forgotten:
        say(f"entry deleted, nothing removed: {entry.kind}: {entry.what}")
