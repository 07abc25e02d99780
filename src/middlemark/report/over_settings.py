"""The geometric means over all settings as a table for the terminal and for pages, and as data.

`analysis.over_settings` has the figures; nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from middlemark.analysis.over_settings import OverSettings
from middlemark.report.compared import told
from middlemark.report.display import NARROW_SPACE, factor, plural, times
from middlemark.report.tables import Table

CAPTION = (
    "Geometric means of the ratios in all settings, each with the same weight; a stream of an experiment is a setting. "
    "They sum up the settings that this suite chose and are no forecast for others; intervals are over blocks."
)
_NAMED = 3
"""Of settings without a ratio, so many are named."""


@dataclass(frozen=True)
class _Span:
    value: float
    low: float
    high: float


def mean_words(found: OverSettings) -> str:
    """The mean with its interval, or why there is none."""
    if found.value is None:
        more = len(found.missing) - _NAMED
        named = "; ".join(found.missing[:_NAMED]) + (f"; and {more} more" if more > 0 else "")
        return f"none: {len(found.missing)} of {plural(found.n_settings, 'setting')} without a ratio ({named})"
    if found.low is None or found.high is None:
        return f"{factor(found.value)}{NARROW_SPACE}×"
    return times(_Span(found.value, found.low, found.high))


def table(found: Sequence[OverSettings]) -> Table:
    """One row a figure and two sides; where no setting has a ratio there is nothing to sum up."""
    headings = ("second / first", "figure", "settings", "geometric mean")
    rows = tuple(
        (f"{each.names[1]} / {each.names[0]}", each.figure.name, str(each.n_settings), mean_words(each))
        for each in found
        if len(each.missing) < each.n_settings
    )
    return Table("Over all settings", headings, rows, CAPTION)


def print_over_settings(found: Sequence[OverSettings], console: Console) -> None:
    """Nothing where there are no two settings."""
    shown = table(found)
    if not shown.rows:
        return
    console.print()
    console.print(Text(shown.title, "bold"))
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    for heading in shown.headings:
        grid.add_column(heading, overflow="fold", justify="right" if heading == "settings" else "left")
    for row in shown.rows:
        grid.add_row(*map(Text, row))
    console.print(grid)
    console.print(Text(CAPTION, "dim"))


def as_data(found: Iterable[OverSettings]) -> list[dict[str, object]]:
    """Every mean for a program to read."""
    return [
        {
            "sides": list(each.names),
            "figure": each.figure.name,
            "metric": each.figure.metric,
            "settings": each.n_settings,
            **told({"geometric_mean": each.value, "low": each.low, "high": each.high}),
            "missing": list(each.missing),
        }
        for each in found
    ]
