"""What a table is made of: columns that say what they hold, and cells with a value, its interval, or why there is none.

Only the writers (the page, the terminal, LaTeX, Markdown and CSV) make text of them, and none reads that text again.
How a number is written in its unit is `formatting`'s; the tables themselves are made where their subject is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING

from middlemark.report.elements.formatting import ABSENT, WHOLE, Unit, ends

if TYPE_CHECKING:
    from middlemark.analysis.experiment.findings import ExperimentFindings
    from middlemark.analysis.stats.estimate import Estimate


class Holds(Enum):
    """What a column holds, which says how a writer sets it."""

    VALUES = "values"
    """Short, and to be compared down the column."""
    NAMES = "names"
    """Short words, which stay on one line where there is room."""
    SENTENCES = "sentences"
    """Words that run over several lines."""


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str
    unit: str = ""
    holds: Holds = Holds.VALUES
    metric: str = field(default="", compare=False)
    """The stored name of what it shows, where it is one metric."""

    @property
    def heading(self) -> str:
        """Its name and unit in one line: `median, µs`, `executions/s`."""
        return f"{self.name}{'' if self.unit.startswith('/') or not self.unit else ', '}{self.unit}"


MIDDLEWARE = Column("middleware", holds=Holds.NAMES)


def named(*names: str) -> tuple[Column, ...]:
    """Columns of names."""
    return tuple(Column(name, holds=Holds.NAMES) for name in names)


def values(*names: str) -> tuple[Column, ...]:
    """Columns of values without a unit, or with one of their own in each cell."""
    return tuple(map(Column, names))


def sentences(name: str) -> Column:
    """A column of sentences."""
    return Column(name, holds=Holds.SENTENCES)


@dataclass(frozen=True)
class Cell:
    """A value with its interval, or words; where `value` is None, `reason` says why."""

    value: float | str | None
    unit: Unit = WHOLE
    low: float | None = None
    high: float | None = None
    is_rough: bool = False
    """Whether the interval is a rough one."""
    is_pooled: bool = False
    """Whether the value is of all trials' samples together."""
    is_at_least: bool = False
    """Whether nothing is known above the value."""
    bound_ns: int = 0
    """By how much the clocks of different machines may put it off."""
    share: float | None = None
    """Of a part, its share of the whole."""
    quantile: str = ""
    """Another quantile than the column's, which is what the trials support."""
    reason: str = ""
    link: str = ""
    """Where it leads to, relative to the run's folder."""

    @property
    def is_missing(self) -> bool:
        """Whether there is no value."""
        return self.value is None

    @property
    def text(self) -> str:
        """The value without its unit, the words, or why there is no value."""
        if self.value is None:
            return self.reason or ABSENT
        if isinstance(self.value, str):
            return self.value
        return f"{'over ' if self.is_at_least else ''}{self.unit.write(self.value)}"

    @property
    def interval(self) -> str:
        """The interval's ends; empty where there is none."""
        return "" if self.is_at_least else ends(self.low, self.high, self.unit, is_rough=self.is_rough)

    @property
    def clocks(self) -> str:
        """`± 90`: by how much clocks may put it off; empty where one clock measured it."""
        return f"± {self.unit.write(self.bound_ns)}" if self.bound_ns and not self.is_at_least else ""

    @property
    def percent_of_whole(self) -> str:
        """`25 %`; empty where it is no part."""
        return "" if self.share is None else f"{100 * self.share:.0f} %"

    @property
    def words(self) -> str:
        """The value with its unit and its interval, for a sentence: `41.2 ± 90 µs (39.0–44.1)`."""
        parts = [self.text, self.clocks, self.unit.name, f"({self.interval})" if self.interval else ""]
        return self.text if self.is_missing else " ".join(part for part in parts if part)

    @property
    def line(self) -> str:
        """All of it in one line: `41.2 ± 90 (39.0–44.1) pooled`."""
        words = [
            self.text,
            self.clocks,
            f"({self.interval})" if self.interval else "",
            self.quantile,
            "pooled" if self.is_pooled else "",
        ]
        line = " ".join(word for word in words if word)
        return f"{line}, {self.percent_of_whole}" if self.percent_of_whole else line


NOTHING = Cell(None)
"""Where there is nothing to say."""


@dataclass(frozen=True)
class Table:
    """A table, which every writer sets in its own way."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    detail: str = ""
    """What the title is followed by: a unit, or what the table is of."""

    @property
    def full_title(self) -> str:
        """The title with its detail."""
        return f"{self.title}, {self.detail}" if self.detail else self.title

    @property
    def name(self) -> str:
        """The title as a part of a file's name."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")

    def only(self, columns: Sequence[Column]) -> Table:
        """Some of its columns, for a narrow place."""
        places = [self.columns.index(column) for column in columns]
        return replace(
            self, columns=tuple(columns), rows=tuple(tuple(row[place] for place in places) for row in self.rows)
        )

    @property
    def headings(self) -> tuple[str, ...]:
        """Each column's, in one line."""
        return tuple(column.heading for column in self.columns)

    @property
    def data(self) -> dict[str, object]:
        """For a program to read, every cell in one line of text."""
        return {"title": self.full_title, "headings": self.headings, "rows": self.lines, "caption": self.caption}

    @property
    def lines(self) -> tuple[tuple[str, ...], ...]:
        """Each cell of each row, in one line."""
        return tuple(tuple(cell.line for cell in row) for row in self.rows)


Row = Sequence[Cell | str]


def table(
    title: str,
    columns: Sequence[Column],
    rows: Iterable[Row],
    caption: str = "",
    detail: str = "",
) -> Table:
    """A table of cells and of words, which become cells."""
    cells = tuple(tuple(Cell(entry) if isinstance(entry, str) else entry for entry in row) for row in rows)
    return Table(title, tuple(columns), cells, caption, detail)


def estimate_cell(estimate: Estimate | None, unit: Unit, whole: float | None = None) -> Cell:
    """An estimate; of a part of a `whole`, with its share of that."""
    if estimate is None:
        return NOTHING
    if estimate.value is None:
        return Cell(None, unit, reason=estimate.reason)
    return Cell(
        estimate.value,
        unit,
        estimate.low,
        estimate.high,
        is_rough=estimate.is_rough,
        is_pooled=estimate.is_pooled,
        bound_ns=estimate.bound_ns,
        share=estimate.value / whole if whole else None,
    )


def value_cell(cell: Cell) -> Cell:
    """The value alone, for where its interval has no room."""
    return replace(cell, low=None, high=None)


@dataclass(frozen=True)
class MetricColumn:
    """A column that shows one metric of whatever has a row."""

    name: str
    metric: str
    unit: Unit

    @property
    def column(self) -> Column:
        """As a table has it."""
        return Column(self.name, self.unit.name, metric=self.metric)

    def cell(self, candidate: ExperimentFindings, subject: str) -> Cell:
        """The metric of a stream, a process, a node or the trial."""
        return estimate_cell(candidate.estimate(subject, self.metric), self.unit)


def metric_columns(columns: Iterable[MetricColumn]) -> tuple[Column, ...]:
    """As a table has them."""
    return tuple(column.column for column in columns)


def metric_cells(columns: Iterable[MetricColumn], candidate: ExperimentFindings, subject: str) -> tuple[Cell, ...]:
    """A cell for each column, of one subject."""
    return tuple(column.cell(candidate, subject) for column in columns)
