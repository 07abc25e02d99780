"""The Parquet tables of a trial, read and written whole, or scanned a piece at a time where they are large.

What a table says of itself, its columns, their types and how many rows it has, is checked before any row is read.
`schema` says what the columns are, `run_folder` where the files lie; what they mean is others' business.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from middlemark.errors import StoreError
from middlemark.results.files import size_bytes, write_with
from middlemark.results.limits import check_rows
from middlemark.results.paths import is_there
from middlemark.results.streaming import GROUP_ROWS, Frame, stored

FEW_ROWS = 1 << 20
"""Of a file that is read at once: some 40 MB."""
Table = pl.DataFrame | pl.LazyFrame
"""Rows in memory, or those that are read a piece at a time while they are written."""
UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
"""What polars raises of a file that is not what it says; its panics are no `Exception`."""


def read_table(path: Path, schema: pl.Schema, added: tuple[str, ...] = ()) -> pl.DataFrame:
    """All rows, none where there is no file; columns that were `added` later are null in files from before."""
    if not is_there(path):
        return pl.DataFrame(schema=schema)
    with _reading(path):
        table, _ = _checked(path, schema, added)
        return table.collect()


def scan_table(path: Path, schema: pl.Schema) -> Frame:
    """The rows without the application's name: in memory where they are few, else where they lie."""
    if not is_there(path):
        return pl.DataFrame(schema=schema).drop("application")
    with _reading(path):
        table, n = _checked(path, schema)
        narrow = table.drop("application")
        return narrow.collect() if n <= FEW_ROWS else stored(narrow, n)


def check_table(path: Path, schema: pl.Schema) -> None:
    """Refuses a table that is not of this schema, or says that it has more rows than it can."""
    with _reading(path):
        _checked(path, schema)


def write_table(path: Path, table: Table, schema: pl.Schema) -> None:
    """Write a table; columns and types must be those of the schema."""
    rows = table.lazy()
    _check_columns(path, rows.collect_schema(), schema)
    write_with(path, lambda partial: rows.sink_parquet(partial, compression="zstd", row_group_size=GROUP_ROWS))


def _checked(path: Path, schema: pl.Schema, added: tuple[str, ...] = ()) -> tuple[pl.LazyFrame, int]:
    n_bytes = size_bytes(path)
    table = pl.scan_parquet(path, glob=False)
    found = table.collect_schema()
    later = [name for name in added if name not in found]
    _check_columns(path, found, pl.Schema({name: kind for name, kind in schema.items() if name not in later}))
    n = int(table.select(pl.len()).collect().item())
    check_rows(path, n, n_bytes)
    return table.with_columns(pl.lit(None, schema[name]).alias(name) for name in later).select(schema.names()), n


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except UNREADABLE as cause:
        raise StoreError(path, "it can't be read", "restore the file, or remove the trial's folder") from cause


def _check_columns(path: Path, found: pl.Schema, schema: pl.Schema) -> None:
    if found != schema:
        raise StoreError(path, f"its columns are {dict(found)}, not {dict(schema)}", "write it anew")
