"""The page on results names every column that a run's files have."""

import polars as pl
import pytest

from middlemark.analysis import run_folder, summary
from pages import text

FILES = {
    "received.parquet": run_folder.RECEIVED_SCHEMA,
    "published.parquet": run_folder.PUBLISHED_SCHEMA,
    "processes.parquet": run_folder.PROCESSES_SCHEMA,
    "machine.parquet": run_folder.MACHINE_SCHEMA,
    "kernel_path.parquet": run_folder.KERNEL_EVENTS_SCHEMA,
    "summary.parquet": summary.SCHEMA,
}


@pytest.mark.parametrize(("file", "schema"), FILES.items(), ids=FILES.keys())
def test_every_column_of_a_file_is_named(file: str, schema: pl.Schema) -> None:
    (row,) = [line for line in text("results").splitlines() if line.startswith(f"| `{file}`")]
    assert [name for name in schema if f"`{name}`" not in row] == []
