"""The page on results names every file that a run's folder holds, and every column of its tables."""

import re
from fnmatch import fnmatch

import polars as pl
import pytest

from middlemark.analysis import summary
from middlemark.results import schema
from pages import ROOT, text

FILES = {
    "received.parquet": schema.RECEIVED_SCHEMA,
    "published.parquet": schema.PUBLISHED_SCHEMA,
    "executions.parquet": schema.EXECUTIONS_SCHEMA,
    "inputs.parquet": schema.INPUTS_SCHEMA,
    "outputs.parquet": schema.OUTPUTS_SCHEMA,
    "processes.parquet": schema.PROCESSES_SCHEMA,
    "machine.parquet": schema.MACHINE_SCHEMA,
    "kernel_path.parquet": schema.KERNEL_EVENTS_SCHEMA,
    "sketches.parquet": schema.SKETCHES_SCHEMA,
    "summary.parquet": summary.SCHEMA,
}


@pytest.mark.parametrize(("file", "schema"), FILES.items(), ids=FILES.keys())
def test_every_column_of_a_file_is_named(file: str, schema: pl.Schema) -> None:
    (row,) = [line for line in text("results").splitlines() if line.startswith(f"| `{file}`")]
    assert [name for name in schema if f"`{name}`" not in row] == []


def test_every_file_of_the_stored_runs_is_named_and_each_that_is_named_is_in_one_of_them() -> None:
    (tree,) = re.findall(r"```text\nruns/(.*?)```", text("results"), re.DOTALL)
    named = {line.split()[0] for line in tree.splitlines()[1:]} - {"trials/<trial>/"}
    runs = ROOT.joinpath("tests", "golden").glob("run-format-*")
    held = {re.sub(r"^trials/[^/]+/", "", str(file.relative_to(run))) for run in runs for file in run.rglob("*.*")}
    held = {file for file in held if "." in file.rpartition("/")[2]}
    assert {file for file in held if not any(fnmatch(file, name) for name in named)} == set()
    assert {name for name in named if not any(fnmatch(file, name) for file in held)} == {"report.html"}
