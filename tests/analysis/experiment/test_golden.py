"""A run stored in format 1 must load for ever, and say what it said when it was stored.

But for what was wrong then: quantiles are of lost messages too, and none is told of a distribution that isn't whole.
"""

import json
from pathlib import Path

import jsonschema
import polars as pl
import pytest

from middlemark.analysis.dataframes import summary_table
from middlemark.analysis.run import RunFindings
from middlemark.errors import StoreError
from middlemark.report.output.data import schemas
from middlemark.results.run_folder import RunFolder
from shared_runs import GOLDEN, SharedRuns

RUN = GOLDEN / "run-format-1"
EXPECTED = {
    ("alpha", "latency_from_send_p50_ns"): 29352.5,
    ("alpha", "loss_share"): 0.055,
    ("alpha", "round_trip_p50_ns"): 60440.0,
    ("beta", "latency_from_send_p50_ns"): 82424.0,
    ("beta", "loss_share"): 0.0,
    ("beta", "round_trip_p50_ns"): 162442.5,
}


@pytest.fixture(scope="module")
def golden(runs: SharedRuns) -> RunFindings:
    return runs.golden(RUN.name).findings


def test_every_trial_of_the_golden_run_is_read(golden: RunFindings) -> None:
    assert golden.damaged == ()
    assert golden.missing == ()
    assert golden.n_trials == 12


def test_its_estimates_are_those_that_it_was_stored_with(golden: RunFindings) -> None:
    found = {
        (each.experiment.middleware, metric): estimate.value
        for each in golden.experiments
        for metric in ("latency_from_send_p50_ns", "round_trip_p50_ns", "loss_share")
        if (estimate := each.estimate(f"stream:{each.experiment.workload}", metric)) is not None
        and each.experiment.workload == ("ping_pong" if metric.startswith("round") else "imu")
    }
    assert found == EXPECTED


def test_its_verdicts_are_those_that_it_was_stored_with(golden: RunFindings) -> None:
    said = {comparison.setting.workload: comparison for comparison in golden.comparisons}
    assert [each.experiment.middleware for each in said["ping_pong"].experiments] == ["beta", "alpha", "gamma"]
    why = {name.split("-")[0]: reason for name, reason in said["imu"].unranked.items()}
    assert why["alpha"] == "loses 5.5 % of its messages"
    assert why["gamma"] == "not applicable: it carries 16 bytes at most"


OBSERVED = GOLDEN / "run-format-1-observed"
"""A real run with every kind of file that there is."""


@pytest.fixture(scope="module")
def observed(runs: SharedRuns) -> RunFindings:
    return runs.golden(OBSERVED.name).findings


def test_every_kind_of_file_of_the_observed_run_is_read(observed: RunFindings) -> None:
    assert observed.damaged == ()
    assert observed.missing == ()
    folders = list(RunFolder(OBSERVED).stored_trials())
    assert observed.n_trials == len(folders) == 16
    for read in ("read_received", "read_published", "read_overflow", "read_kernel_events", "read_processes"):
        assert any(len(getattr(folder, read)()) for folder in folders), read
    assert any(folder.spec_path.is_file() and folder.events_path.is_file() for folder in folders)
    assert all(folder.read_record().format_version == 1 for folder in folders)


def test_its_estimates_are_those_of_the_summary_that_was_stored_with_it(observed: RunFindings) -> None:
    stored = pl.read_parquet(RunFolder(OBSERVED).summary_path)
    # How single messages are cut at the kernel's events is still refined: those figures are of the version.
    stored = stored.filter(pl.col("observation").is_null() | (pl.col("observation") != "kernel_path"))
    keys = ("experiment", "observation", "subject", "metric")
    now = summary_table(observed).rows_by_key(keys, named=True, unique=True)
    before = stored.rows_by_key(keys, named=True, unique=True)
    assert len(before) > 100
    partial = {key for key, row in now.items() if row["method"] == "partial"}
    assert {metric.rpartition("_p50_ns")[0] for *_, metric in partial if metric.endswith("_p50_ns")} == {
        *("latency_from_intended", "jitter", "publish_call", "pacing_error")
    }
    for key in before.keys() - partial:
        value = before[key]["estimate"]
        assert now[key]["estimate"] == (value if value is None else pytest.approx(value, rel=1e-6)), key


@pytest.mark.parametrize("path", [RUN, OBSERVED], ids=["built", "observed"])
def test_records_are_what_their_schemas_say(path: Path) -> None:
    said = {name: jsonschema.Draft202012Validator(schema) for name, schema in schemas().items()}
    trials = {each.read_record().trial.observation: each for each in RunFolder(path).stored_trials()}
    assert list(said["manifest"].iter_errors(json.loads((path / "manifest.json").read_bytes()))) == []
    for folder in trials.values():  # one of each observation
        assert list(said["trial"].iter_errors(json.loads(folder.record_path.read_bytes()))) == []


def test_a_run_of_a_newer_format_is_refused(tmp_path: Path) -> None:
    manifest = json.loads((RUN / "manifest.json").read_bytes())
    (tmp_path / "manifest.json").write_text(json.dumps({**manifest, "format_version": 2}), encoding="utf-8")
    with pytest.raises(StoreError, match="can't be read"):
        RunFolder(tmp_path).read_manifest()
