"""The page on results names every file that a run's folder holds, and every column of its tables."""

import re
from fnmatch import fnmatch

import polars as pl
import pytest

from middlemark.analysis import dataframes
from middlemark.plan import InvalidKind, WarningKind
from middlemark.results import tables
from middlemark.suite.metrics import DISTRIBUTIONS, PLAIN
from pages import ROOT, text

FILES = {
    "received.parquet": tables.RECEIVED_SCHEMA,
    "published.parquet": tables.PUBLISHED_SCHEMA,
    "executions.parquet": tables.EXECUTIONS_SCHEMA,
    "inputs.parquet": tables.INPUTS_SCHEMA,
    "outputs.parquet": tables.OUTPUTS_SCHEMA,
    "processes.parquet": tables.PROCESSES_SCHEMA,
    "machine.parquet": tables.MACHINE_SCHEMA,
    "kernel_path.parquet": tables.KERNEL_EVENTS_SCHEMA,
    "sketches.parquet": tables.SKETCHES_SCHEMA,
    "summary.parquet": dataframes.SCHEMA,
}


@pytest.mark.parametrize(("file", "schema"), FILES.items(), ids=FILES.keys())
def test_every_column_of_a_file_is_named(file: str, schema: pl.Schema) -> None:
    (row,) = [line for line in text("results/run-folder").splitlines() if line.startswith(f"| `{file}`")]
    assert [name for name in schema if f"`{name}`" not in row] == []


def test_the_page_names_exactly_the_files_that_stored_runs_have() -> None:
    (tree,) = re.findall(r"```text\nruns/(.*?)```", text("results/run-folder"), re.DOTALL)
    named = {line.split()[0] for line in tree.splitlines()[1:]} - {"trials/<trial>/"}
    runs = ROOT.joinpath("tests", "golden").glob("run-format-*")
    held = {re.sub(r"^trials/[^/]+/", "", str(file.relative_to(run))) for run in runs for file in run.rglob("*.*")}
    held = {file for file in held if "." in file.rpartition("/")[2]}
    assert {file for file in held if not any(fnmatch(file, name) for name in named)} == set()
    assert {name for name in named if not any(fnmatch(file, name) for file in held)} == {"report.html"}


def test_every_metric_that_can_be_compared_is_named_on_the_page_of_comparisons() -> None:
    page = text("results/compare")
    assert [name for name in (*DISTRIBUTIONS, *(each.name for each in PLAIN)) if f"`{name}`" not in page] == []


def test_the_page_names_every_warning_and_every_reason_for_an_invalid_trial() -> None:
    page = text("results/run-folder")
    assert [kind.value for kind in (*WarningKind, *InvalidKind) if f"`{kind.value}`" not in page] == []
