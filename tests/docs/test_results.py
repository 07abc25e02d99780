"""The page on results names every column that a run's files have."""

import polars as pl
import pytest

from middlemark.analysis import columns, summary
from pages import text

FILES = {
    "received.parquet": columns.RECEIVED_SCHEMA,
    "published.parquet": columns.PUBLISHED_SCHEMA,
    "processes.parquet": columns.PROCESSES_SCHEMA,
    "machine.parquet": columns.MACHINE_SCHEMA,
    "kernel_path.parquet": columns.KERNEL_EVENTS_SCHEMA,
    "summary.parquet": summary.SCHEMA,
}


@pytest.mark.parametrize(("file", "schema"), FILES.items(), ids=FILES.keys())
def test_every_column_of_a_file_is_named(file: str, schema: pl.Schema) -> None:
    (row,) = [line for line in text("results").splitlines() if line.startswith(f"| `{file}`")]
    assert [name for name in schema if f"`{name}`" not in row] == []
