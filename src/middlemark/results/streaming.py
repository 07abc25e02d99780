"""A trial's samples in chunks of rows, so that it may have more messages than memory has room for their rows.

They are read into one narrow array: values in order of size, or a place for each message in the order of its flow's
sequence numbers. Of the `.npy` files that workers and observers leave nothing is trusted: they are regular ones, with
the columns of a schema and the rows that they say. It knows no metric; `analysis.metrics` does.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np
import polars as pl
from numpy.lib import format as npy
from numpy.typing import NDArray

from middlemark.errors import StoreError
from middlemark.results.files import opened_regular

MOST_ROW_BYTES: Final = 1024
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_TYPES: Final = {
    pl.Boolean: np.dtype("u1"),
    pl.UInt8: np.dtype("u1"),
    pl.UInt16: np.dtype("<u2"),
    pl.UInt32: np.dtype("<u4"),
    pl.UInt64: np.dtype("<u8"),
    pl.Int64: np.dtype("<i8"),
}


FLOW = ("stream", "answer", "publisher", "subscriber")
"""What tells one flow of messages from another among the samples."""
NEWER = frozenset({"serialise_ns", "deserialise_ns"})
"""Columns that a worker of an earlier day doesn't write: nothing is known of them there."""
GROUP_ROWS = 1 << 18
"""Of a file: what is read of it at once at least."""
CHUNK_ROWS = 4 * GROUP_ROWS


@dataclass(frozen=True)
class StoredRows:
    """The rows of a file, of which no more than a chunk is ever in memory."""

    table: pl.LazyFrame
    n: int
    """All rows of the file."""
    chosen: pl.Expr

    def filter(self, predicate: pl.Expr) -> StoredRows:
        """Of these the ones that hold it too."""
        return replace(self, chosen=self.chosen & predicate)


Frame = pl.DataFrame | StoredRows
"""Rows that are in memory where they are few, else in their file."""


def stored_rows(table: pl.LazyFrame, n: int) -> StoredRows:
    """All rows of a file; `n` of them."""
    return StoredRows(table, n, pl.lit(value=True))


def lazy_rows(frame: Frame) -> pl.LazyFrame:
    """All rows, of which a query reads what it needs."""
    return frame.lazy() if isinstance(frame, pl.DataFrame) else frame.table.filter(frame.chosen)


def row_chunks(frame: Frame, *wanted: pl.Expr | str) -> Iterator[pl.DataFrame]:
    """What is wanted of each row, at least one chunk of rows."""
    if isinstance(frame, pl.DataFrame):
        yield frame.select(*wanted)
        return
    for begin in range(0, max(frame.n, 1), CHUNK_ROWS):
        yield frame.table.slice(begin, CHUNK_ROWS).filter(frame.chosen).select(*wanted).collect()


def row_count(frame: Frame) -> int:
    """How many rows there are."""
    return sum(int(chunk.item()) for chunk in row_chunks(frame, pl.len()))


def highest_value(frame: Frame, column: str) -> int | None:
    """The largest value of a column of whole numbers."""
    chunk_values = [chunk.item() for chunk in row_chunks(frame, pl.col(column).max())]
    return max((int(value) for value in chunk_values if value is not None), default=None)


def random_rows(frame: Frame, most: int, *wanted: pl.Expr) -> pl.DataFrame:
    """What is wanted of every row, or of so many at random; always of the same."""
    share = most / max(row_count(frame), 1)
    chunks = row_chunks(frame, *wanted)
    if share >= 1:
        return pl.concat(chunks)
    return pl.concat(chunk.sample(fraction=share, seed=number) for number, chunk in enumerate(chunks))


def sorted_values(frame: Frame, value: pl.Expr) -> NDArray[np.int64]:
    """A value of each row, in order; no second array of that length is made on the way."""
    values = np.empty(len(frame) if isinstance(frame, pl.DataFrame) else frame.n, dtype=np.int64)
    end = 0
    for chunk in row_chunks(frame, value):
        values[end : end + len(chunk)] = chunk.to_series().to_numpy()
        end += len(chunk)
    values[:end].sort()
    return values[:end]


def present_numbers(frame: Frame) -> NDArray[np.bool_]:
    """Which sequence numbers there are, of the rows of one flow."""
    last = highest_value(frame, "sequence")
    present = np.zeros(0 if last is None else last + 1, dtype=np.bool_)
    for chunk in row_chunks(frame, "sequence"):
        present[chunk.to_series().to_numpy()] = True
    return present


@dataclass(frozen=True)
class SequenceOrder:
    """All flows' messages, one flow after the other by sequence numbers, with an empty place after each flow."""

    rows: Mapping[tuple[int, ...], int]
    """How many each flow has."""
    present: NDArray[np.bool_]
    values: NDArray[np.int64]
    """A value for each message that is present, or none at all."""

    @property
    def repeated(self) -> int:
        """How many rows are of messages that another row is of."""
        return sum(self.rows.values()) - int(np.count_nonzero(self.present))


def by_sequence_number(frame: Frame, value: pl.Expr | None = None) -> SequenceOrder:
    """Put each message in its place."""
    flows = _flows(frame)
    lengths = flows["last"] - flows["first"] + 2
    starts = flows.select(*FLOW, start=lengths.cum_sum() - lengths - flows["first"])
    present = np.zeros(int(lengths.sum()), dtype=np.bool_)
    values = np.zeros(0 if value is None else len(present), dtype=np.int64)
    wanted = [] if value is None else [value.alias("value")]
    for chunk in row_chunks(frame, *FLOW, pl.col("sequence").cast(pl.Int64), *wanted):
        # Most trials have a single flow, whose messages need no search for where it begins.
        placed = chunk.with_columns(start=starts["start"].item()) if len(starts) == 1 else chunk.join(starts, on=FLOW)
        places = (placed["start"] + placed["sequence"]).to_numpy()
        present[places] = True
        if value is not None:
            values[places] = placed["value"].to_numpy()
    return SequenceOrder(
        {tuple(flow): rows for *flow, rows in flows.select(*FLOW, "rows").iter_rows()}, present, values
    )


def _flows(frame: Frame) -> pl.DataFrame:
    """Of each flow how many rows there are, and its first and last sequence number."""
    sequence = pl.col("sequence").cast(pl.Int64)
    by_chunk = [
        chunk.group_by(FLOW).agg(rows=pl.len().cast(pl.Int64), first=sequence.min(), last=sequence.max())
        for chunk in row_chunks(frame, *FLOW, "sequence")
    ]
    by_flow = pl.concat(by_chunk).group_by(FLOW, maintain_order=True)
    return by_flow.agg(pl.col("rows").sum(), pl.col("first").min(), pl.col("last").max())


def neighbour_differences(whole: SequenceOrder) -> NDArray[np.int64]:
    """How far each value is from that of the message right before it, in order; made in the place of the values."""
    values, end = whole.values, 0
    for begin in range(0, len(values), CHUNK_ROWS):
        pair_present = whole.present[begin : begin + CHUNK_ROWS + 1]
        differences = np.abs(np.diff(values[begin : begin + CHUNK_ROWS + 1]))[pair_present[1:] & pair_present[:-1]]
        values[end : end + len(differences)] = differences
        end += len(differences)
    values[:end].sort()
    return values[:end]


def recorded_rows(path: Path, schema: pl.Schema) -> Iterator[pl.DataFrame]:
    """The rows of a file with the columns of a schema; refused before the first where they can't be such rows."""
    with _opened(path, schema) as (file, kind, n_rows):
        for begin in range(0, n_rows, CHUNK_ROWS):
            rows = np.fromfile(file, kind, min(n_rows - begin, CHUNK_ROWS))
            yield _frame(rows, schema)


def check_rows_of(path: Path, schema: pl.Schema) -> None:
    """Refuses a file that has no such rows."""
    with _opened(path, schema):
        pass


@contextmanager
def _opened(path: Path, schema: pl.Schema) -> Iterator[tuple[BinaryIO, np.dtype[np.void], int]]:
    with opened_regular(path) as number, os.fdopen(number, "rb", closefd=False) as file:
        try:
            shape, is_fortran, kind = _HEADERS[npy.read_magic(file)](file)
        except Exception as cause:
            raise StoreError(path, f"it is no `.npy` file of rows: {type(cause).__name__}") from cause
        left_bytes = os.fstat(number).st_size - file.tell()
        if len(shape) != 1 or is_fortran or not 0 <= shape[0] * kind.itemsize <= left_bytes:
            raise StoreError(path, f"it says that it has {shape} rows of {kind.itemsize} bytes, and has {left_bytes}")
        _check_columns(path, kind, schema)
        yield file, kind, shape[0]


def _check_columns(path: Path, kind: np.dtype[np.void], schema: pl.Schema) -> None:
    names = kind.names or ()
    there = {name: wanted for name, wanted in schema.items() if name in names or name not in NEWER}
    wrong = [name for name, wanted in there.items() if name not in names or kind[name] != _TYPES[type(wanted)]]
    if wrong or kind.hasobject or kind.itemsize > MOST_ROW_BYTES:
        raise StoreError(path, f"its columns are not those of its kind: {', '.join(wrong) or 'too many'}")


def _frame(rows: NDArray[np.void], schema: pl.Schema) -> pl.DataFrame:
    names = rows.dtype.names or ()
    columns = {name: np.ascontiguousarray(rows[name]) for name in schema if name in names}
    missing = [pl.lit(None).alias(name) for name in schema if name not in names]
    frame = pl.DataFrame(columns).with_columns(missing)
    return frame.select(pl.col(name).cast(kind) for name, kind in schema.items())
