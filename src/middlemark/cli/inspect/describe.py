"""`middlemark describe`: what a worker says of itself; `middlemark footprint`: how much code and data it holds.

The first shows what `worker.description` reads, the second what `worker.footprint` measures, with nothing added but
sums.
"""

import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from middlemark.cli import arguments
from middlemark.cli.boundary import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from middlemark.worker.contract import Description, Matching, OptionDescription, SecurityDescription
    from middlemark.worker.footprint import FootprintPart, Size


def command(
    middleware: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="The name of the middleware or pipeline.", autocompletion=arguments.middlewares
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")] = False,
) -> None:
    """Describe a middleware (its library, capabilities, profiles and options), or a shipped pipeline."""
    from middlemark.suite import shipped_workloads

    workload = shipped_workloads().get(middleware)
    if workload is not None and workload.nodes:
        say(_pipeline(middleware))
        return
    from middlemark.worker.description import describe
    from middlemark.worker.executables import worker

    description = describe(worker(middleware))
    if as_json:
        say(description.model_dump_json(indent=2))
    else:
        _print(description)


def _pipeline(workload: str) -> str:
    from middlemark.plan import expand
    from middlemark.report.elements.topology_text import pipeline_text
    from middlemark.suite import MiddlewareChoice, Suite, Workload

    shown = Suite.model_construct(
        suite="shown", middlewares=(MiddlewareChoice(middleware="any"),), workloads=(Workload(workload=workload),)
    )
    return pipeline_text(expand(shown, available=["any"])[0])


def _print(description: "Description") -> None:
    from rich.text import Text

    from middlemark.report.elements.plain_text import Screen

    console = Screen()
    console.print(Text(f"{description.title} ({description.middleware})", style="bold"))
    console.print(Text(description.summary))
    tables = (
        _facts(description),
        _deliveries(description),
        _security(description),
        _profiles(description),
        _tuning(description),
        _options(description),
    )
    for table in tables:
        console.print(table)


def _facts(description: "Description") -> "Table":
    from middlemark.report.elements.labels import library_words

    library, can = description.library, description.capabilities
    rows = {
        "library": f"{library_words(library, datetime.now(UTC).date())}, {library.origin}",
        "patterns": ", ".join(can.patterns),
        "transports": ", ".join(can.transports),
        "reliability": ", ".join(can.reliabilities),
        "durability": ", ".join(can.durabilities),
        "history": ", ".join(can.histories),
        "congestion": ", ".join(can.congestion),
        "serialisations": ", ".join(can.serialisations or ()) or "none: octets alone",
        "largest message": _size(can.largest_message_bytes),
        "matching": _matching(can.matching),
        "zero copy": "yes" if can.zero_copy else "no",
        "one process": "yes" if can.same_process else "no",
        "pause": f"no: {can.lacking_pause}" if can.lacking_pause else "yes",
        "services": ", ".join(need.service for need in description.services) or "none",
    }
    return _table(("", ""), list(rows.items()))


def _matching(matching: "Matching | None") -> str:
    """How a publisher comes to know that a subscriber is there."""
    from middlemark.worker.contract import NeverMatching, ServiceMatching

    match matching:
        case None:
            return "not described"
        case NeverMatching():
            return f"a publisher never knows of a subscriber: {matching.reason}"
        case ServiceMatching():
            return f"a publisher knows of the service alone: {matching.how}"
        case _:
            return f"a publisher knows of a subscriber: {matching.how}"


def _deliveries(description: "Description") -> "Table":
    deliveries = description.capabilities.deliveries
    rows = [
        (
            delivery_description.delivery,
            "default" if delivery_description.delivery == deliveries.default else "yes",
            delivery_description.how,
            delivery_description.source,
        )
        for delivery_description in deliveries.has
    ]
    rows += [
        (delivery.delivery, "no", f"{delivery.reason[0].upper()}{delivery.reason[1:]}.", "")
        for delivery in deliveries.lacks
    ]
    return _table(("delivery", "available", "how, or why not", "example"), rows)


def _security(description: "Description") -> "Table":
    can = description.capabilities
    by = {"credentials": "what it is given", "user": "the user that it runs as"}
    rows = [
        (security.level, "yes", _how(security), by[security.identity], "yes" if security.by_stream else "no")
        for security in can.security
    ]
    rows += [
        (lacking.level, "no", f"{lacking.reason[0].upper()}{lacking.reason[1:]}.", "", "")
        for lacking in can.lacking_security or ()
    ]
    return _table(("security", "there", "how, or why not", "known by", "by stream"), rows)


def _how(security: "SecurityDescription") -> str:
    untold = security.handshake_untold
    return security.how if untold is None else f"{security.how} The handshake is not told apart: {untold}"


def _profiles(description: "Description") -> "Table":
    rows = []
    for name, profile in description.profiles.items():
        delivery = [f"delivery={profile.delivery}"] if profile.delivery else []
        sets = ", ".join(delivery + [f"{option}={_value(value)}" for option, value in profile.options.items()])
        rows.append((name, profile.summary, sets or "nothing"))
    return _table(("profile", "description", "sets"), rows)


def _tuning(description: "Description") -> "Table":
    rows = [
        (name, tuning.axis, ", ".join(tuning.set_by) or "nothing", tuning.why)
        for name, profile in description.profiles.items()
        for tuning in profile.tuning or ()
    ]
    return _table(("profile", "axis", "set by", "on whose advice, or why nothing is"), rows)


def _options(description: "Description") -> "Table":
    rows = [(option.name, _allowed(option), _value(option.default), option.summary) for option in description.options]
    return _table(("option", "values", "default", "what it does"), rows)


def _allowed(option: "OptionDescription") -> str:
    from middlemark.worker.contract import BooleanOption, ChoiceOption, IntegerOption

    match option.kind:
        case BooleanOption():
            return "true, false"
        case IntegerOption(minimum=minimum, maximum=maximum):
            return f"{minimum} to {maximum}"
        case ChoiceOption(choices=choices):
            return ", ".join(choices)
        case _:
            return "text"


def _value(value: bool | int | str) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _size(size_bytes: int) -> str:
    from middlemark.suite import SIZE

    binary = {2**20: "MiB", 2**10: "KiB"}
    return next(
        (f"{size_bytes // unit} {name}" for unit, name in binary.items() if size_bytes % unit == 0),
        SIZE.text(size_bytes),
    )


def _table(columns: tuple[str, ...], rows: "Sequence[tuple[str, ...]]") -> "Table":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_header=any(columns))
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


Footprints = dict[str, "tuple[FootprintPart, ...]"]


def footprint_command(
    middleware: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MIDDLEWARE",
            help="The names of middlewares; without any, all that are built.",
            autocompletion=arguments.middlewares,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")] = False,
) -> None:
    """Measure the static size of workers: text, read-only data, data, bss of each file."""
    from middlemark.worker.description import describe, programs_of
    from middlemark.worker.executables import worker, workers
    from middlemark.worker.footprint import footprint

    paths = {name: worker(name) for name in middleware} if middleware else workers()
    footprints = {name: footprint(path, programs_of(describe(path))) for name, path in paths.items()}
    if as_json:
        say(json.dumps(_as_json(footprints), indent=2))
    else:
        _print_footprints(footprints)


def _as_json(footprints: Footprints) -> dict[str, list[dict[str, object]]]:
    return {
        name: [{"path": str(part.path), "kind": part.kind, **asdict(part.size)} for part in parts]
        for name, parts in footprints.items()
    }


def _print_footprints(footprints: Footprints) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from middlemark.report.elements.plain_text import Screen
    from middlemark.worker.footprint import Size

    table = Table(box=box.SIMPLE_HEAD)
    for heading in ("middleware", "file"):
        table.add_column(heading, overflow="fold")
    for heading in ("text", "read-only", "data", "bss", "all"):
        table.add_column(f"{heading}, KiB", justify="right", no_wrap=True)
    for name, parts in footprints.items():
        whole = sum((part.size for part in parts), Size())
        for place, part in enumerate(sorted(parts, key=lambda part: (part.kind != "worker", -part.size.total_bytes))):
            table.add_row(Text("" if place else name), Text(part.path.name), *_kib(part.size))
        table.add_row("", Text("all together"), *_kib(whole), style="bold", end_section=True)
    Screen().print(table)


def _kib(size: "Size") -> list[str]:
    shown = (*asdict(size).values(), size.total_bytes)
    return [f"{size_bytes / 1024:.1f}" for size_bytes in shown]
