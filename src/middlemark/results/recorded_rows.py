"""The `.npy` files in which workers and observers leave what they recorded, a chunk of rows at a time.

Nothing of such a file is trusted: it is a regular one, its columns are those of a schema, and it has the rows that it
says. What they are of, its readers know.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np
import polars as pl
from numpy.lib import format as npy
from numpy.typing import NDArray

from middlemark.errors import StoreError
from middlemark.results.files import opened_regular
from middlemark.results.streaming import CHUNK_ROWS

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
    wrong = [name for name, wanted in schema.items() if name not in names or kind[name] != _TYPES[type(wanted)]]
    if wrong or kind.hasobject or kind.itemsize > MOST_ROW_BYTES:
        raise StoreError(path, f"its columns are not those of its kind: {', '.join(wrong) or 'too many'}")


def _frame(rows: NDArray[np.void], schema: pl.Schema) -> pl.DataFrame:
    columns = {name: np.ascontiguousarray(rows[name]) for name in schema}
    return pl.DataFrame(columns).select(pl.col(name).cast(kind) for name, kind in schema.items())
