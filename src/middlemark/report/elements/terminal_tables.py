"""Tables in a terminal: how all of them look there, and how a table's columns and cells are set.

What they hold, the module of each subject says; `tables` has columns and cells, and `report.output.markup` sets them on
the page.
"""

from __future__ import annotations

from textwrap import fill, wrap

from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from middlemark.report.elements.labels import DELIVERY
from middlemark.report.elements.tables import Cell, Column, Holds, Table

WIDE = 100
"""Columns of a terminal that has room for the percentile from the intended send; the page always has it."""
HEADING_WIDTH = 17
"""Characters in a line of a heading over values."""
REASON_WIDTH = 12
"""Characters in a line of the reason in a missing value's place."""


def grid(*headings: str) -> Grid:
    """A table without rows; where these headings are not all that it needs, columns are added to it."""
    empty = Grid(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    for heading in headings:
        empty.add_column(heading, overflow="fold")
    return empty


def print_table(shown: Table, console: Console, title: str = "") -> None:
    """A table, with deliveries where there is room; its title stands over the first column or is printed above."""
    if console.width < WIDE:
        shown = shown.only([column for column in shown.columns if column is not DELIVERY])
    rows = grid()
    for place, column in enumerate(shown.columns):
        is_value = place > 0 and column.holds is Holds.VALUES
        rows.add_column(
            title if title and not place else heading_lines(column),
            justify="right" if is_value else "left",
            no_wrap=is_value,
            overflow="fold",
        )
    for row in shown.rows:
        rows.add_row(*map(cell_text, row))
    console.print(rows)


def heading_lines(column: Column) -> str:
    """The name on several lines, and the unit below it."""
    return "\n".join(
        [*wrap(column.name, HEADING_WIDTH, break_long_words=False), *([column.unit] if column.unit else [])]
    )


def cell_text(cell: Cell, style: str = "") -> Text:
    """A value with what belongs to it below; a missing value's reason on several lines."""
    if cell.is_missing:
        reason = cell.text.replace(" = ", "\u00a0=\u00a0")  # an equation stays on one line
        return Text(fill(reason, REASON_WIDTH, break_long_words=False), "dim")
    quantile = f"{cell.quantile} " if cell.quantile else ""
    text = Text.assemble((quantile, "dim"), (f"{cell.text}{'*' if cell.is_pooled else ''}", style))
    for below in (cell.clocks, cell.interval, cell.percent_of_whole):
        text.append(f"\n{below}" if below else "", "dim")
    return text
