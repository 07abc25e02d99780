"""What many runs estimate of one metric: from the index of their folder, which it keeps, and from the runs themselves.

A run that was never reported is analysed. Which runs there are is `library`'s; `compare.history` makes histories of the
estimates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from middlemark.results.tables import read_tables
from middlemark.suite.metrics import Metric

AT_ONCE = 100
"""Tables of runs, which are all open then."""
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
    folder: Path, runs: Sequence[ListedRun], metric: Metric, *, is_whole: bool
) -> tuple[pl.DataFrame, list[str]]:
    index, unreadable = Index(folder), list[str]()
    indexed, covered = index.estimates(rows_of_metric(metric))
    tables, gone = [indexed], covered - {run.entry.key for run in runs} if is_whole else set[int]()
    for rows, added in _read([run for run in runs if run.entry.key not in covered], unreadable):
        index.keep_estimates(rows, added, gone)
        tables.append(rows.filter(rows_of_metric(metric)))
    return pl.concat(tables), unreadable


Read = tuple[pl.DataFrame, set[int]]
"""All estimates of some runs, and the keys of these."""


def _read(runs: Sequence[ListedRun], unreadable: list[str]) -> Iterator[Read]:
    """What is stored comes first; a run that was never reported, or whose table is none, is analysed."""
    rest = {run.entry.key: run for run in runs}
    for rows, added in _stored(runs):
        yield rows, added
        rest = {key: run for key, run in rest.items() if key not in added}
    yield from _portions(_analysed(rest, unreadable))


def _stored(runs: Sequence[ListedRun]) -> Iterator[Read]:
    reported = [run for run in runs if _is_reported(run)]
    return _portions(_tables(reported[first : first + AT_ONCE]) for first in range(0, len(reported), AT_ONCE))


def _portions(read: Iterable[Read]) -> Iterator[Read]:
    """As many together as memory holds."""
    tables, keys = list[pl.DataFrame](), set[int]()
    for rows, added in read:
        tables.append(rows)
        keys |= added
        if sum(table.height for table in tables) > MANY_ROWS:
            yield pl.concat(tables), keys
            tables, keys = [], set()
    if keys:
        yield pl.concat(tables), keys


def _is_reported(run: ListedRun) -> bool:
    with suppress(StoreError):  # whatever it is, what it was made of tells the same
        return is_there(run.folder.summary_path)
    return False


def _tables(runs: Sequence[ListedRun]) -> Read:
    """As stored; where they can't be read together, half by half, so that only what is no such table is left out."""
    keys = {str(run.folder.summary_path): run.entry.key for run in runs}
    key = pl.col("path").replace_strict(list(keys), pl.Series(keys.values(), dtype=INDEXED["run"]))
    rows = read_tables(
        [*map(Path, keys)], SCHEMA, lambda rows: rows.filter(IS_KNOWN).with_columns(run=key).select(INDEXED.names())
    )
    if rows is not None:
        return rows, set(keys.values())
    if len(runs) == 1:
        return pl.DataFrame(schema=INDEXED), set()
    (first, of_first), (second, of_second) = _tables(runs[: len(runs) // 2]), _tables(runs[len(runs) // 2 :])
    return pl.concat([first, second]), of_first | of_second


def _analysed(runs: Mapping[int, ListedRun], unreadable: list[str]) -> Iterator[Read]:
    for key, run in runs.items():
        try:
            rows = summary_table(analyse(run.folder)).filter(IS_KNOWN)
        except MiddlemarkError as error:
            unreadable.append(str(error))
        else:
            yield rows.with_columns(run=pl.lit(key, INDEXED["run"])).select(INDEXED.names()), {key}
