"""What many runs estimate of one metric: from the index of their folder, which it keeps, and from the runs themselves.

A run that was never reported is analysed. Which runs there are is `library`'s; `compare.history` makes histories of the
estimates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import groupby
from pathlib import Path

import polars as pl

from middlemark.analysis.catalogue.index import INDEXED, Index
from middlemark.analysis.catalogue.library import ListedRun, Shelf
from middlemark.analysis.compare.history import IS_KNOWN, PastRun, rows_of_metric
from middlemark.analysis.dataframes import SCHEMA, summary_table
from middlemark.analysis.run import analyse
from middlemark.errors import MiddlemarkError, StoreError
from middlemark.results.files import is_there
from middlemark.results.run_folder import RunFolder
from middlemark.results.tables import read_table
from middlemark.suite.metrics import Metric

MANY_ROWS = 1_000_000
"""Of runs that are read for the index: it is written when there are so many."""


def past_runs(shelf: Shelf, metric: Metric) -> tuple[list[PastRun], pl.DataFrame, list[str]]:
    """The runs, their estimates of a metric with the place of the run in the list, and runs that can't be read."""
    places = {run.entry.key: place for place, run in enumerate(shelf.runs)}
    tables, unreadable = [pl.DataFrame(schema=INDEXED)], list[str]()
    ordered = sorted(shelf.runs, key=lambda run: run.folder.path.parent)
    for folder, runs in groupby(ordered, key=lambda run: run.folder.path.parent):
        rows, problems = _of_folder(folder, list(runs), metric, is_whole=folder in shelf.whole)
        tables.append(rows)
        unreadable += problems
    columns = {"run": list(places), "place": list(places.values())}
    placed = pl.DataFrame(columns, schema={"run": INDEXED["run"], "place": pl.UInt32()})
    estimates = pl.concat(tables).join(placed, on="run").drop("run").rename({"place": "run"})
    return [PastRun(run.name, run.head) for run in shelf.runs], estimates, unreadable


def _of_folder(
    folder: Path, runs: list[ListedRun], metric: Metric, *, is_whole: bool
) -> tuple[pl.DataFrame, list[str]]:
    index, present = Index(folder), {run.entry.key for run in runs}
    indexed, covered = index.estimates(rows_of_metric(metric))
    tables, unreadable = [indexed], list[str]()
    gone = covered - present if is_whole else set()
    missing = [run for run in runs if run.entry.key not in covered]
    for added in _read(missing, unreadable):
        rows = pl.concat(added.values())
        index.keep_estimates(rows, added.keys(), gone)
        tables.append(rows.filter(rows_of_metric(metric)))
    return pl.concat(tables), unreadable


def _read(runs: Iterable[ListedRun], unreadable: list[str]) -> Iterator[dict[int, pl.DataFrame]]:
    """All estimates by the key of the run, of so many runs at a time as memory holds; and why others have none."""
    tables: dict[int, pl.DataFrame] = {}
    for run in runs:
        try:
            tables[run.entry.key] = _estimates(run.folder, run.entry.key)
        except MiddlemarkError as error:
            unreadable.append(str(error))
        if sum(rows.height for rows in tables.values()) > MANY_ROWS:
            yield tables
            tables = {}
    if tables:
        yield tables


def _estimates(folder: RunFolder, key: int) -> pl.DataFrame:
    """As stored; computed where a run was never reported, or what is there is not such a table."""
    rows = None
    with suppress(StoreError):  # whatever it is, what it was made of tells the same
        rows = read_table(folder.summary_path, SCHEMA) if is_there(folder.summary_path) else None
    table = summary_table(analyse(folder)) if rows is None else rows
    return table.filter(IS_KNOWN).with_columns(run=pl.lit(key, INDEXED["run"])).select(INDEXED.names())
