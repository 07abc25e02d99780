"""A run opened for notebooks: frames that agree with the report, samples that stay on disk, damage that is named."""

import shutil
from pathlib import Path

import polars as pl
import pytest

import middlemark
from middlemark.analysis.dataframes import METRICS_SCHEMA, TRIALS_SCHEMA, LoadedRun
from middlemark.errors import StoreError
from middlemark.results.tables import RECEIVED_SCHEMA
from shared_runs import GOLDEN, SharedRuns

RUN = GOLDEN / "run-format-1"


@pytest.fixture(scope="module")
def run(runs: SharedRuns) -> LoadedRun:
    return runs.golden(RUN.name)


def test_every_stored_trial_is_a_row_whatever_its_outcome(run: LoadedRun) -> None:
    assert run.trials.schema == TRIALS_SCHEMA
    assert run.trials["outcome"].value_counts(sort=True).rows() == [("valid", 8), ("not_applicable", 4)]
    assert run.trials.filter(outcome="not_applicable")["detail"].unique().to_list() == ["it carries 16 bytes at most"]


def test_the_median_over_the_metrics_of_trials_is_the_estimate(run: LoadedRun) -> None:
    assert run.metrics.schema == METRICS_SCHEMA
    own = run.metrics.filter(middleware="beta", workload="imu", metric="latency_from_send_p50_ns", subject="stream:imu")
    (estimate,) = run.estimates.filter(
        middleware="beta", workload="imu", metric="latency_from_send_p50_ns", subject="stream:imu"
    )["estimate"]
    assert own["value"].median() == estimate
    assert own.height == 2


def test_what_has_no_value_has_a_reason(run: LoadedRun) -> None:
    without = run.metrics.filter(pl.col("value").is_null())
    assert len(without)
    has_reason = pl.col("reason").str.contains(r"^too few samples \(n = | of \d+ messages never arrived$")
    assert without.filter(has_reason).height == len(without)
    assert set(run.metrics.filter(pl.col("value").is_not_null())["reason"]) == {""}


def test_samples_are_lazy_and_carry_their_trial(run: LoadedRun) -> None:
    assert run.received.collect_schema() == pl.Schema({"trial": pl.String(), **RECEIVED_SCHEMA})
    counts = run.received.group_by("trial").len().collect()
    assert set(counts["trial"]) == set(run.trials.filter(outcome="valid")["trial"])


def test_a_damaged_trial_is_named_and_its_samples_left_out(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(RUN, tmp_path / "run"))
    broken = folder / "trials" / "02-beta-imu-C1-1-93f2c47f"
    (broken / "received.parquet").write_bytes(b"nothing")
    damaged = middlemark.load(str(folder))
    assert damaged.damaged == ()
    assert broken.name not in damaged.received.collect()["trial"]
    assert broken.name not in damaged.metrics["trial"]
    assert {each.trial for each in damaged.damaged} == {broken.name}


def test_what_some_trials_have_not_recorded_is_null(tmp_path: Path) -> None:
    shutil.copytree(RUN, tmp_path / "run")
    before, now = [each for each in sorted((tmp_path / "run/trials").iterdir()) if is_sampled(each)][:2]
    table = pl.read_parquet(now / "published.parquet")
    place = table.columns.index("returned_ns") + 1
    table.insert_column(place, pl.lit(7, pl.Int64).alias("fill_ns")).write_parquet(now / "published.parquet")
    rows = middlemark.load(tmp_path / "run").published.filter(pl.col("trial").is_in([before.name, now.name])).collect()
    told = dict(rows.group_by("trial").agg(pl.col("fill_ns").unique()).iter_rows())
    assert told == {before.name: [None], now.name: [7]}


def is_sampled(folder: Path) -> bool:
    return (folder / "published.parquet").is_file()


def test_a_run_without_samples_has_frames_without_rows(tmp_path: Path) -> None:
    shutil.copy(RUN / "manifest.json", tmp_path)
    empty = middlemark.load(tmp_path)
    assert (empty.trials.height, empty.metrics.height, empty.estimates.height) == (0, 0, 0)
    assert empty.received.collect().height == 0


def test_a_folder_that_is_no_run_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="has no manifest"):
        middlemark.load(tmp_path)
