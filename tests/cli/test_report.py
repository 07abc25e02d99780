"""`middlemark report`: from stored data alone, with clear errors where there is none."""

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from behaviour import Behaviour
from middlemark.cli.main import app
from middlemark.errors import ResultsNotAccepted, StoreError
from middlemark.results.run_folder import RunFolder
from shared_runs import SharedRuns

SUITE = """
suite: again
trials: 4
middlewares: all
workloads: [{workload: imu, windows: {window: 1 s}}]
"""
RUNNER = CliRunner()


@pytest.fixture
def run(runs: SharedRuns, tmp_path: Path) -> RunFolder:
    return runs.copy(
        tmp_path / "run", SUITE, {"fast": Behaviour(latency_ns=20_000), "slow": Behaviour(latency_ns=90_000)}
    )


def test_it_prints_the_summary_and_writes_the_report_and_the_estimates(run: RunFolder) -> None:
    answer = RUNNER.invoke(app, ["report", str(run.path)])
    assert answer.exit_code == 0, answer.output
    assert "fast has the lowest latency" in answer.stdout
    assert f"report: {run.report_path}" in answer.stdout
    assert "fast has the lowest latency" in run.report_path.read_text(encoding="utf-8")
    assert pl.read_parquet(run.summary_path).height > 50


def test_json_holds_ranks_and_every_estimate(run: RunFolder) -> None:
    answer = RUNNER.invoke(app, ["report", str(run.path), "--json"])
    said = json.loads(answer.stdout)
    (ranking,) = said["rankings"]
    assert [(place["best_rank"], place["worst_rank"]) for place in ranking["places"]] == [(1, 1), (2, 2)]
    assert ranking["ranked_by"] == "latency_from_send_p50_ns"
    assert len(said["estimates"]) == pl.read_parquet(run.summary_path).height


def test_a_folder_that_is_missing_or_no_run_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        answer = RUNNER.invoke(app, ["report", str(folder)])
        assert isinstance(answer.exception, StoreError)
        assert "middlemark run" in (answer.exception.remedy or "")


def test_a_damaged_trial_ends_it_with_an_error_and_the_rest_is_still_reported(run: RunFolder) -> None:
    first = next(run.stored_trials())
    first.record_path.write_text("nonsense")
    answer = RUNNER.invoke(app, ["report", str(run.path)])
    assert isinstance(answer.exception, ResultsNotAccepted)
    assert first.id in str(answer.exception)
    assert "fast has the lowest latency" in answer.stdout
    assert first.id in run.report_path.read_text(encoding="utf-8")


def test_recomputed_metrics_are_stored_and_reported(run: RunFolder) -> None:
    answer = RUNNER.invoke(app, ["report", str(run.path)])
    expected = pl.read_parquet(run.summary_path)
    assert not any(folder.metrics_path.exists() for folder in run.stored_trials())
    answer = RUNNER.invoke(app, ["report", "--recompute", str(run.path)])
    assert answer.exit_code == 0, answer.output
    assert all(folder.metrics_path.exists() for folder in run.stored_trials())
    assert pl.read_parquet(run.summary_path).equals(expected)


def test_computing_the_metrics_first_is_said_once_with_what_makes_it_needless(run: RunFolder) -> None:
    answer = RUNNER.invoke(app, ["report", str(run.path)])
    assert answer.stderr.count(f"`middlemark report {run.path} --recompute` stores them") == 1
    assert not any(folder.metrics_path.exists() for folder in run.stored_trials())
    assert RUNNER.invoke(app, ["export", str(run.path), "--format", "csv"]).stderr.count("--recompute") == 1
    RUNNER.invoke(app, ["report", "--recompute", str(run.path)])
    assert RUNNER.invoke(app, ["report", str(run.path)]).stderr == ""


def test_recomputing_leaves_a_damaged_trial_to_be_named(run: RunFolder) -> None:
    broken = next(run.stored_trials())
    broken.received_path.write_bytes(b"no samples")
    with pytest.raises(ResultsNotAccepted, match=broken.id):
        RUNNER.invoke(app, ["report", "--recompute", str(run.path)], catch_exceptions=False)
    assert sum(folder.metrics_path.exists() for folder in run.stored_trials()) == 7
