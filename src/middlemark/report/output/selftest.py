"""The self-test in the terminal and for programs: how often comparing a middleware with itself found a difference.

`analysis.compare.selftest` compared and counted.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from middlemark.analysis.compare.selftest import BOUND, ChanceRate
from middlemark.report.elements.formatting import digits
from middlemark.report.elements.terminal_tables import grid
from middlemark.suite.yaml.quantity import plural


def print_selftest(rates: Sequence[ChanceRate], blocks: int, console: Console) -> None:
    """One line a metric, then what it says of all."""
    table = grid()
    table.add_column("", no_wrap=True)
    for heading in ("comparisons", "differences", "rate, 95 % interval"):
        table.add_column(heading, justify="right")
    table.add_column("")
    for chance_rate in rates:
        low, high = chance_rate.interval
        rate = f"{digits(100 * chance_rate.share)} % ({digits(100 * low)} to {digits(100 * high)})"
        verdict = Text("holds") if chance_rate.holds else Text("too many", "bold red")
        table.add_row(
            " ".join(
                dict.fromkeys(word for word in (chance_rate.label, chance_rate.stream, chance_rate.metric) if word)
            ),
            str(chance_rate.comparisons),
            str(chance_rate.differences),
            rate,
            verdict,
        )
    console.print(table)
    console.print(Text(selftest_words(rates, blocks)))


def selftest_words(rates: Sequence[ChanceRate], blocks: int) -> str:
    """The result in sentences."""
    differences, comparisons = sum(rate.differences for rate in rates), sum(rate.comparisons for rate in rates)
    return (
        f"Of {plural(comparisons, 'comparison')} of a middleware with itself, {plural(blocks, 'block')} each, "
        f"{differences} found a difference ({digits(100 * differences / comparisons)} %). At most "
        f"{100 * BOUND:.0f} % may do so; a metric has too many where the whole interval of its rate is above that."
    )


def selftest_data(rates: Sequence[ChanceRate]) -> list[dict[str, object]]:
    """Every rate for a program to read."""
    return [
        {
            "experiment": rate.experiment,
            "stream": rate.stream,
            "figure": rate.metric,
            "comparisons": rate.comparisons,
            "differences": rate.differences,
            "rate": rate.share,
            "interval": rate.interval,
            "holds": rate.holds,
        }
        for rate in rates
    ]
