"""What a self-test found, in a table and in one sentence. It judges nothing: `analysis.chance` did."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from middlemark.analysis.chance import BOUND, ChanceRate
from middlemark.report.display import digits


def print_chance(rates: Sequence[ChanceRate], blocks: int, console: Console) -> None:
    """One line a figure, then what it says of all."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim")
    table.add_column("", no_wrap=True)
    for heading in ("comparisons", "differences", "rate, 95 % interval"):
        table.add_column(heading, justify="right")
    table.add_column("")
    for each in rates:
        low, high = each.interval
        rate = f"{digits(100 * each.share)} % ({digits(100 * low)} to {digits(100 * high)})"
        verdict = Text("holds") if each.holds else Text("too many", "bold red")
        table.add_row(
            " ".join(dict.fromkeys(word for word in (each.label, each.stream, each.figure) if word)),
            str(each.comparisons),
            str(each.found),
            rate,
            verdict,
        )
    console.print(table)
    console.print(Text(words(rates, blocks)))


def words(rates: Sequence[ChanceRate], blocks: int) -> str:
    """The result in sentences."""
    found, comparisons = sum(each.found for each in rates), sum(each.comparisons for each in rates)
    return (
        f"Of {comparisons} comparisons of the same with itself, {blocks} blocks each, {found} found a difference "
        f"({digits(100 * found / comparisons)} %). At most {100 * BOUND:.0f} % may; a figure has too many where the "
        "interval of its rate lies above that."
    )


def as_data(rates: Sequence[ChanceRate]) -> list[dict[str, object]]:
    """Every rate for a program to read."""
    return [
        {
            "experiment": each.experiment,
            "stream": each.stream,
            "figure": each.figure,
            "comparisons": each.comparisons,
            "differences": each.found,
            "rate": each.share,
            "interval": each.interval,
            "holds": each.holds,
        }
        for each in rates
    ]
