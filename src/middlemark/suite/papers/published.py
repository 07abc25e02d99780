"""The values that a paper printed, one a row of a CSV file, in the units of our metrics.

`metric`, `value` and `unit` are columns of their own; every other column is a factor of experiments, as `--only` names
it, and an empty cell of a factor says nothing of it. A value that is empty was no communication.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass

from middlemark.errors import SuiteError, UsageError
from middlemark.suite.claims.claim import Selection
from middlemark.suite.claims.parser import bound_of
from middlemark.suite.metrics import Metric, metric_named
from middlemark.suite.yaml.quantity import respelled

METRIC, VALUE, UNIT = "metric", "value", "unit"
OWN_COLUMNS = (METRIC, VALUE, UNIT)


@dataclass(frozen=True)
class PublishedValue:
    """One value of a table."""

    metric: Metric
    selection: Selection
    """The experiments that it is of."""
    value: float | None
    """In the unit at the end of the metric's stored name; None where nothing was received."""


def read_values(text: str, *, file: str) -> tuple[PublishedValue, ...]:
    """All values of a CSV file; refuses what is no metric, value or unit, with its line."""
    reader = csv.DictReader(io.StringIO(text))
    missing = [name for name in OWN_COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise SuiteError(
            f"the table has no column `{missing[0]}`",
            file=file,
            line=1,
            allowed=f"{', '.join(OWN_COLUMNS)} and factors",
        )
    return tuple(_value(row, file, line) for line, row in enumerate(reader, start=2))


def _value(row: Mapping[str | None, str | None], file: str, line: int) -> PublishedValue:
    if None in row or None in row.values():
        raise SuiteError("the row has not as many cells as there are columns", file=file, line=line)
    cells = {str(name): str(cell) for name, cell in row.items()}
    try:
        metric = metric_named(cells[METRIC])
    except UsageError as error:
        raise SuiteError(error.text, file=file, line=line, allowed=error.remedy) from error
    factors = tuple((name, respelled(name, cell)) for name, cell in cells.items() if cell and name not in OWN_COLUMNS)
    return PublishedValue(metric, Selection(factors), _magnitude(metric, cells, file, line))


def _magnitude(metric: Metric, cells: Mapping[str, str], file: str, line: int) -> float | None:
    if not cells[VALUE]:
        return None
    written = f"{cells[VALUE]} {cells[UNIT]}"
    value = bound_of(metric.dimension, written)
    if value is None or not math.isfinite(value):
        example = metric.dimension.example
        raise SuiteError(
            f"`{written}` is no value of {metric.name}", file=file, line=line, allowed=f"such as {example}"
        )
    return value
