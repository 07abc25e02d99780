"""The run folder: what is written is read back, whole or not at all, and what is wrong is named."""

import json
import os
from pathlib import Path

import polars as pl
import pytest

from behaviour import Behaviour
from middlemark.analysis.run import analyse
from middlemark.errors import StoreError
from middlemark.results import tables
from middlemark.results.run_folder import RunFolder
from middlemark.results.streaming import sorted_values
from middlemark.results.tables import MACHINE_SCHEMA, RECEIVED_SCHEMA
from middlemark.results.trial_folder import TrialFolder
from run_builder import build_run

SUITE = """
suite: small
trials: 2
middlewares: all
workloads: [{workload: imu, windows: {window: 200 ms}}]
"""


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return build_run(tmp_path / "run", SUITE, {"one": Behaviour(), "two": Behaviour(latency_ns=90_000)})


def test_records_and_samples_are_read_back_as_written(run: RunFolder) -> None:
    trial = next(run.stored_trials())
    record, received, published = trial.read_record(), trial.read_received(), trial.read_published()
    trial.write_record(record)
    trial.write_samples(received, published)
    assert trial.read_record() == record
    assert trial.read_received().equals(received)
    assert trial.read_published().equals(published)


def test_a_manifest_is_read_back_as_written_and_has_a_line_for_each_trial(run: RunFolder) -> None:
    manifest = run.read_manifest().model_copy(update={"suite_text": SUITE + '\n "trials": []'})
    for planned in (manifest, manifest.model_copy(update={"trials": ()})):
        run.write_manifest(planned)
        assert run.read_manifest() == planned
        lines = run.manifest_path.read_text(encoding="utf-8").splitlines()
        assert sum('"experiment":' in line for line in lines) == len(planned.trials)


def test_trials_that_are_read_together_share_their_experiment(run: RunFolder) -> None:
    trials = run.read_manifest().trials
    assert len(trials) == 4
    assert len({id(trial.experiment) for trial in trials}) == len({trial.experiment.id for trial in trials}) == 2


def test_nothing_half_written_is_left_behind(run: RunFolder) -> None:
    assert not list(run.path.rglob("*.partial"))


def test_a_trial_without_its_record_is_not_stored(run: RunFolder) -> None:
    first, *others = run.stored_trials()
    first.record_path.unlink()
    assert [each.id for each in run.stored_trials()] == [each.id for each in others]
    assert analyse(run).missing == (first.id,)


def test_a_missing_folder_and_a_folder_that_is_no_run_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="the folder does not exist"):
        RunFolder(tmp_path / "nowhere").read_manifest()
    with pytest.raises(StoreError, match="it is not a run"):
        RunFolder(tmp_path).read_manifest()


def test_a_later_format_is_refused_and_not_misread(run: RunFolder) -> None:
    manifest = json.loads(run.manifest_path.read_text()) | {"format_version": 2}
    run.manifest_path.write_text(json.dumps(manifest))
    with pytest.raises(StoreError, match=r"manifest\.json"):
        run.read_manifest()


def test_samples_of_other_columns_are_refused(run: RunFolder) -> None:
    trial = next(run.stored_trials())
    with pytest.raises(StoreError, match="columns"):
        trial.write_samples(pl.DataFrame({"x": [1]}), trial.read_published())
    trial.received_path.write_bytes(b"not parquet")
    with pytest.raises(StoreError, match=r"received\.parquet"):
        trial.read_received()
    with pytest.raises(StoreError, match=r"received\.parquet"), trial.reading_samples():
        pass


def test_samples_that_turn_out_to_be_damaged_while_they_are_read_are_refused(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "FEW_ROWS", 1)
    trial = next(run.stored_trials())
    whole = trial.received_path.read_bytes()
    trial.received_path.write_bytes(whole[:4] + bytes(len(whole) // 2) + whole[4 + len(whole) // 2 :])
    with pytest.raises(StoreError, match=trial.id), trial.reading_samples() as samples:
        sorted_values(samples.received, pl.col("received_ns"))


def test_a_trial_that_left_no_samples_has_none(run: RunFolder) -> None:
    trial = next(run.stored_trials())
    trial.received_path.unlink()
    assert trial.read_received().is_empty()
    assert trial.read_received().schema == RECEIVED_SCHEMA


def test_samples_of_a_machine_that_were_stored_without_its_name_are_of_this_one(tmp_path: Path) -> None:
    folder = TrialFolder(tmp_path)
    columns = {name: [1] for name in MACHINE_SCHEMA if name != "host"}
    pl.DataFrame(columns).write_parquet(folder.machine_path)
    assert folder.read_machine().to_dicts() == [{"host": None, **dict.fromkeys(columns, 1)}]


def test_what_is_not_a_trial_of_this_run_is_damaged_and_the_rest_is_analysed(run: RunFolder, tmp_path: Path) -> None:
    first, second, third, *others = run.stored_trials()
    elsewhere = tmp_path / "elsewhere"
    first.path.rename(elsewhere)
    first.path.symlink_to(elsewhere)
    second.record_path.unlink()
    os.mkfifo(second.record_path)
    third.path.rename(third.path.with_name("0-another"))
    found = analyse(run)
    problems = {damage.trial: damage.problem for damage in found.damaged}
    assert set(problems) == {first.id, second.id, "0-another"}
    assert "symbolic link" in problems[first.id]
    assert "no regular file" in problems[second.id]
    assert f"the record of '{third.id}'" in problems["0-another"]
    assert found.n_trials == len(others)


def test_what_is_wrong_in_a_record_is_named_by_its_field(run: RunFolder) -> None:
    trial = next(run.stored_trials())
    record = json.loads(trial.record_path.read_text())
    record["trial"]["experiment"]["streams"][0]["qos"]["reliability"] = "never"
    trial.record_path.write_text(json.dumps(record))
    with pytest.raises(StoreError, match=r"trial\.experiment\.streams\.0\.qos\.reliability: Input should be"):
        trial.read_record()


def test_a_table_that_says_it_has_more_rows_than_its_bytes_can_hold_is_refused(run: RunFolder) -> None:
    trial = next(run.stored_trials())
    rows = pl.select(pl.repeat(7, 5_000_000, dtype=pl.Int64).alias("x"))
    rows.select(
        pl.lit("a").alias(n) if t == pl.String else pl.col("x").cast(t).alias(n) for n, t in RECEIVED_SCHEMA.items()
    ).write_parquet(trial.received_path, row_group_size=5_000_000)
    for read in (trial.read_received, lambda: trial.reading_samples().__enter__()):
        with pytest.raises(StoreError, match="5000000 rows"):
            read()
