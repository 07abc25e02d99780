"""The Parquet tables of a trial: their columns with types and units, and how they are read, scanned and written.

What a table says of itself, its columns, their types and how many rows it has, is checked before any row is read.
Where the files lie `trial_folder` says; what the rows mean is their readers' business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import polars as pl

from middlemark.errors import StoreError
from middlemark.results.files import CHUNK_BYTES, RESTORE, check_rows, is_there, size_bytes, write_with
from middlemark.results.streaming import GROUP_ROWS, NEWER, Frame, stored_rows

RECEIVED_SCHEMA = pl.Schema(
    {
        "application": pl.String(),
        "stream": pl.UInt16(),
        "answer": pl.UInt16(),
        "publisher": pl.UInt16(),
        "subscriber": pl.UInt16(),
        "sequence": pl.UInt32(),
        "intended_ns": pl.Int64(),
        "sent_ns": pl.Int64(),
        "received_ns": pl.Int64(),
        "deserialise_ns": pl.UInt32(),
    }
)
"""`received.parquet`: one row a message and subscriber, in the order in which they came at each application."""

PUBLISHED_SCHEMA = pl.Schema(
    {
        "application": pl.String(),
        "stream": pl.UInt16(),
        "publisher": pl.UInt16(),
        "sequence": pl.UInt32(),
        "intended_ns": pl.Int64(),
        "sent_ns": pl.Int64(),
        "returned_ns": pl.Int64(),
        "fill_ns": pl.Int64(),
        "serialise_ns": pl.UInt32(),
        "accepted": pl.UInt8(),
    }
)
"""`published.parquet`: one row a message at its publisher."""

EXECUTIONS_SCHEMA = pl.Schema(
    {
        "application": pl.String(),
        "node": pl.UInt16(),
        "execution": pl.UInt64(),
        "trigger": pl.String(),
        "started_ns": pl.Int64(),
        "computed_ns": pl.Int64(),
    }
)
"""`executions.parquet`: one row an execution that a node began within the window; `node` is its place in the plan."""

INPUTS_SCHEMA = pl.Schema(
    {
        "application": pl.String(),
        "node": pl.UInt16(),
        "execution": pl.UInt64(),
        "stream": pl.UInt16(),
        "publisher": pl.UInt16(),
        "sequence": pl.UInt32(),
        "sent_ns": pl.Int64(),
        "received_ns": pl.Int64(),
    }
)
"""`inputs.parquet`: one row a message of the window that an execution took."""

OUTPUTS_SCHEMA = pl.Schema(
    {
        "application": pl.String(),
        "node": pl.UInt16(),
        "execution": pl.UInt64(),
        "stream": pl.UInt16(),
        "sequence": pl.UInt32(),
        "sent_ns": pl.Int64(),
        "fill_ns": pl.Int64(),
    }
)
"""`outputs.parquet`: one row a message that an execution sent and the middleware accepted."""

PROCESSES_SCHEMA = pl.Schema(
    {
        "process": pl.String(),
        "at_ns": pl.Int64(),
        "cpu_ns": pl.Int64(),
        "cpu_user_ns": pl.Int64(),
        "cpu_system_ns": pl.Int64(),
        "resident_bytes": pl.Int64(),
        "proportional_bytes": pl.Int64(),
        "unique_bytes": pl.Int64(),
        "peak_resident_bytes": pl.Int64(),
        "anonymous_bytes": pl.Int64(),
        "shared_resident_bytes": pl.Int64(),
        "dev_shm_bytes": pl.Int64(),
        "threads": pl.Int64(),
        "descriptors": pl.Int64(),
        "voluntary_switches": pl.Int64(),
        "involuntary_switches": pl.Int64(),
        "minor_faults": pl.Int64(),
        "major_faults": pl.Int64(),
        "cgroup_memory_bytes": pl.Int64(),
        "cgroup_cpu_ns": pl.Int64(),
        "cgroup_throttled_ns": pl.Int64(),
    }
)
"""`processes.parquet`: one row a process and sample; counts and times are totals, null is what could not be had."""

MACHINE_SCHEMA = pl.Schema(
    {
        "host": pl.String(),
        "at_ns": pl.Int64(),
        "cpu_pressure_ns": pl.Int64(),
        "memory_pressure_ns": pl.Int64(),
        "io_pressure_ns": pl.Int64(),
        "observer_cpu_ns": pl.Int64(),
    }
)
"""`machine.parquet`: one row a machine and sample; of the machine that Middlemark ran on the host is null."""

SKETCHES_SCHEMA = pl.Schema({"sketch": pl.UInt16(), "step_ns": pl.Int64(), "count": pl.Int64()})
"""`sketches.parquet`: one row per value of a distribution and the number of messages that it represents, ascending.

`sketch` is the distribution's place in `metrics.json`, from 0. The value is by `step_ns` above the one before it, the
first of each distribution by so much above 0: a quarter of the size that the values themselves have."""

KERNEL_EVENTS_SCHEMA = pl.Schema(
    {
        "at_ns": pl.Int64(),
        "subject": pl.UInt64(),
        "other": pl.UInt64(),
        "value": pl.Int64(),
        "process": pl.UInt32(),
        "thread": pl.UInt32(),
        "ports": pl.UInt32(),
        "mark": pl.UInt32(),
        "length": pl.UInt32(),
        "kind": pl.UInt16(),
        "cpu": pl.UInt16(),
    }
)
"""`kernel_path.parquet`: one row an event, in the order of time; `kernel_trace` says what the columns mean."""


ADDED = {"host", "fill_ns", *NEWER}
"""Columns that tables from before lack; they are read as null there: nothing is known of it."""
FEW_ROWS = 1 << 20
"""Of a file that is read at once: some 40 MB."""
Table = pl.DataFrame | pl.LazyFrame
"""Rows in memory, or those that are read a piece at a time while they are written."""
UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
"""What polars raises of a file that is not what it says; its panics are no `Exception`."""


def read_table(path: Path, schema: pl.Schema) -> pl.DataFrame:
    """All rows, none where there is no file."""
    if not is_there(path):
        return pl.DataFrame(schema=schema)
    with _reading(path):
        table, _ = _checked(path, schema)
        return table.collect()


def read_tables(
    paths: list[Path], schema: pl.Schema, chosen: Callable[[pl.LazyFrame], pl.LazyFrame]
) -> pl.DataFrame | None:
    """What is chosen of the rows of several tables, each with its table's path in `path`; None where one is no table.

    Small tables take a fifth of the time that they take one by one; what is wrong with one, only `read_table` says.
    """
    with suppress(StoreError, *UNREADABLE):
        n_bytes = sum(map(size_bytes, paths))
        rows = pl.scan_parquet(paths, glob=False, schema=schema, include_file_paths="path")
        check_rows(paths[0], int(rows.select(pl.len()).collect().item()), n_bytes)
        return chosen(rows).collect()
    return None


def scan_table(path: Path, schema: pl.Schema) -> Frame:
    """The rows without the application's name: in memory where they are few, else where they lie."""
    if not is_there(path):
        return pl.DataFrame(schema=schema).drop("application")
    with _reading(path):
        table, n = _checked(path, schema)
        narrow = table.drop("application")
        return narrow.collect() if n <= FEW_ROWS else stored_rows(narrow, n)


def check_table(path: Path, schema: pl.Schema) -> None:
    """Refuses a table that is not of this schema, or says that it has more rows than it can."""
    with _reading(path):
        _checked(path, schema)


def write_table(path: Path, table: Table, schema: pl.Schema) -> None:
    """Write a table; columns and types must be those of the schema."""
    rows = table.lazy()
    _check_columns(path, rows.collect_schema(), schema)
    write_parquet(path, lambda partial: rows.sink_parquet(partial, compression="zstd", row_group_size=GROUP_ROWS))


def write_parquet(path: Path, write: Callable[[Path], object]) -> Path:
    """Write what polars puts into a file; where it fails, the error is the system's, as of any other file."""
    return write_with(path, lambda partial: _write(partial, write))


def _write(partial: Path, write: Callable[[Path], object]) -> None:
    try:
        write(partial)
    except pl.exceptions.PolarsError as error:
        with partial.open("ab") as file:  # Polars does not always say that a disk is full, and the system does
            file.write(bytes(CHUNK_BYTES))
        raise OSError(str(error)) from error


def _checked(path: Path, schema: pl.Schema) -> tuple[pl.LazyFrame, int]:
    n_bytes = size_bytes(path)
    table = pl.scan_parquet(path, glob=False)
    columns = table.collect_schema()
    missing = [name for name in schema if name in ADDED and name not in columns]
    _check_columns(path, columns, pl.Schema({name: kind for name, kind in schema.items() if name not in missing}))
    n = int(table.select(pl.len()).collect().item())
    check_rows(path, n, n_bytes)
    return table.with_columns(pl.lit(None, schema[name]).alias(name) for name in missing).select(schema.names()), n


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except UNREADABLE as cause:
        raise StoreError(path, "it can't be read", RESTORE) from cause


def _check_columns(path: Path, columns: pl.Schema, schema: pl.Schema) -> None:
    if columns != schema:
        raise StoreError(path, f"its columns are {dict(columns)}, not {dict(schema)}", "write it again")
