"""`middlemark footprint`: how much code and data each middleware's worker and its libraries hold before they run.

It shows what `worker.footprint` measures and adds nothing but sums.
"""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from middlemark.cli import completion

if TYPE_CHECKING:
    from middlemark.worker.footprint import Part, Size

Footprints = dict[str, "tuple[Part, ...]"]


def command(
    middleware: Annotated[
        list[str] | None,
        typer.Argument(help="Their names; without any, all that are built.", autocompletion=completion.middlewares),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")] = False,
) -> None:
    """Measure the static size of workers: text, read-only data, data, bss of each file."""
    from middlemark.worker.description import describe, programs_of
    from middlemark.worker.footprint import footprint
    from middlemark.worker.locate import worker, workers

    paths = {name: worker(name) for name in middleware} if middleware else workers()
    found = {name: footprint(path, programs_of(describe(path))) for name, path in paths.items()}
    if as_json:
        typer.echo(json.dumps(_as_json(found), indent=2))
    else:
        _print(found)


def _as_json(found: Footprints) -> dict[str, list[dict[str, object]]]:
    return {
        name: [{"path": str(part.path), "kind": part.kind, **asdict(part.size)} for part in parts]
        for name, parts in found.items()
    }


def _print(found: Footprints) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from middlemark.worker.footprint import Size

    table = Table(box=box.SIMPLE_HEAD)
    for heading in ("middleware", "file"):
        table.add_column(heading, overflow="fold")
    for heading in ("text", "read-only", "data", "bss", "all"):
        table.add_column(f"{heading}, KiB", justify="right", no_wrap=True)
    for name, parts in found.items():
        whole = sum((part.size for part in parts), Size())
        for place, part in enumerate(sorted(parts, key=lambda part: (part.kind != "worker", -part.size.total_bytes))):
            table.add_row(Text("" if place else name), Text(part.path.name), *_kib(part.size))
        table.add_row("", Text("all together"), *_kib(whole), style="bold", end_section=True)
    Console().print(table)


def _kib(size: "Size") -> list[str]:
    shown = (*asdict(size).values(), size.total_bytes)
    return [f"{size_bytes / 1024:.1f}" for size_bytes in shown]
