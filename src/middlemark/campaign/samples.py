"""The samples that the applications of a trial left, as the tables that are stored.

It reads the `.npy` files of the worker contract and joins them, each row with its application, a piece at a time as
they are written; `results.schema` says what the columns are, `results.writer` writes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars.io.plugins import register_io_source

from middlemark.results.schema import (
    EXECUTIONS_SCHEMA,
    INPUTS_SCHEMA,
    OUTPUTS_SCHEMA,
    PUBLISHED_SCHEMA,
    RECEIVED_SCHEMA,
)
from middlemark.results.streaming import PIECE_ROWS

_TRIGGERS = {0: "message", 1: "timer", 2: "source"}


def received(folders: Mapping[str, Path]) -> pl.LazyFrame:
    """What the subscribers recorded, and the clients of ping-pongs; `folders` by application."""
    return _joined(folders, "received", RECEIVED_SCHEMA)


def published(folders: Mapping[str, Path]) -> pl.LazyFrame:
    """What the publishers recorded; `folders` by application."""
    return _joined(folders, "published", PUBLISHED_SCHEMA)


def executions(folders: Mapping[str, Path]) -> pl.LazyFrame:
    """What the nodes did; `folders` by application."""
    coded = pl.Schema({**EXECUTIONS_SCHEMA, "trigger": pl.UInt8()})
    frame = _joined(folders, "executions", coded)
    return frame.with_columns(pl.col("trigger").replace_strict(_TRIGGERS, return_dtype=pl.String()))


def inputs(folders: Mapping[str, Path]) -> pl.LazyFrame:
    """What the nodes took; `folders` by application."""
    return _joined(folders, "inputs", INPUTS_SCHEMA)


def outputs(folders: Mapping[str, Path]) -> pl.LazyFrame:
    """What the nodes sent; `folders` by application."""
    return _joined(folders, "outputs", OUTPUTS_SCHEMA)


def histograms(folders: Iterable[Path]) -> list[Path]:
    """The logs of latencies beyond the sample memory."""
    return sorted(file for folder in folders for file in folder.glob("*.beyond.hlog"))


def _joined(folders: Mapping[str, Path], kind: str, schema: pl.Schema) -> pl.LazyFrame:
    def rows(
        columns: list[str] | None, predicate: pl.Expr | None, most: int | None, _size_hint: int | None
    ) -> Iterator[pl.DataFrame]:
        left = most
        for piece in _pieces(folders, kind, schema):
            asked = piece.slice(0, left).select(columns or pl.all())
            left = None if left is None else left - len(asked)
            yield asked if predicate is None else asked.filter(predicate)

    return register_io_source(rows, schema=schema)


def _pieces(folders: Mapping[str, Path], kind: str, schema: pl.Schema) -> Iterator[pl.DataFrame]:
    yield pl.DataFrame(schema=schema)
    for application, folder in folders.items():
        path = folder / f"{application}.{kind}.npy"
        if path.exists():
            for records in _records(path):
                yield _frame(records, application, schema)


def _records(path: Path) -> Iterator[NDArray[np.void]]:
    """The file's rows a piece at a time; a mapped file's pages would count as memory in use."""
    mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    begin_bytes, kind, left = mapped.offset, mapped.dtype, len(mapped)
    with path.open("rb") as file:
        file.seek(begin_bytes)
        while left > 0:
            records = np.fromfile(file, kind, min(left, PIECE_ROWS))
            left -= len(records)
            yield records


def _frame(records: NDArray[np.void], application: str, schema: pl.Schema) -> pl.DataFrame:
    columns = {name: np.ascontiguousarray(records[name]) for name in records.dtype.names or ()}
    frame = pl.DataFrame(columns).with_columns(pl.lit(application).alias("application"))
    return frame.select(pl.col(name).cast(kind) for name, kind in schema.items())
