"""The metrics that are stored of a trial are those of its samples, and whatever contradicts itself is refused."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import polars as pl
import pytest

from behaviour import Behaviour
from middlemark.analysis.dataframes import summary_table
from middlemark.analysis.experiment.findings import MeasuredTrial
from middlemark.analysis.metrics import stored as module
from middlemark.analysis.metrics.stored import load_or_measure, measure, read_stored, stored_form
from middlemark.analysis.metrics.trial import TrialMetrics
from middlemark.analysis.run import analyse
from middlemark.analysis.stats.quantiles import Value
from middlemark.errors import StoreError
from middlemark.results.record import is_valid
from middlemark.results.run_folder import RunFolder
from middlemark.results.trial_folder import TrialFolder
from middlemark.suite.metrics import TRIAL, Key
from shared_runs import GOLDEN, SharedRuns

STORED = sorted(GOLDEN.glob("run-*"))
SUITE = """
suite: small
trials: 2
middlewares: all
workloads: [{workload: imu, windows: {window: 200 ms}}]
"""
BEHAVIOURS = {"one": Behaviour(), "two": Behaviour(latency_ns=90_000)}


@pytest.fixture
def run(runs: SharedRuns, tmp_path: Path) -> RunFolder:
    return runs.copy(tmp_path / "run", SUITE, BEHAVIOURS)


@pytest.fixture(scope="module")
def kept(runs: SharedRuns, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """The same, with the metrics of the first trial."""
    run = runs.copy(tmp_path_factory.mktemp("kept") / "run", SUITE, BEHAVIOURS)
    keep(next(run.stored_trials()))
    return run


@pytest.fixture
def trial(kept: RunFolder, tmp_path: Path) -> TrialFolder:
    return next(RunFolder(shutil.copytree(kept.path, tmp_path / "run")).stored_trials())


def keep(folder: TrialFolder) -> None:
    folder.write_metrics(*stored_form(measure(folder, folder.read_record())))


def keep_all(run: RunFolder) -> None:
    for folder in run.stored_trials():
        if is_valid(folder.read_record()):
            keep(folder)


def assert_same(found: MeasuredTrial | None, expected: MeasuredTrial) -> None:
    assert found is not None
    assert dict(found.metrics.values) == dict(expected.metrics.values)
    assert (found.metrics.flows, found.metrics.overloaded) == (expected.metrics.flows, expected.metrics.overloaded)
    assert list(found.distributions) == list(expected.distributions)
    for key, sketch in expected.distributions.items():
        own = found.distributions[key]
        assert np.array_equal(own.values, sketch.values)
        assert np.array_equal(own.counts, sketch.counts)
        assert replace(own, values=sketch.values, counts=sketch.counts) == sketch
    assert (found.time_series, found.settling) == (expected.time_series, expected.settling)
    assert (found.memory, found.example_messages) == (expected.memory, expected.example_messages)


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.name)
def test_what_is_stored_is_what_is_computed_of_the_samples(path: Path, tmp_path: Path) -> None:
    run = RunFolder(shutil.copytree(path, tmp_path / "run"))
    for folder in run.stored_trials():
        record = folder.read_record()
        if is_valid(record):
            expected = measure(folder, record)
            folder.write_metrics(*stored_form(expected))
            assert_same(read_stored(folder, record), expected)


def test_a_change_of_what_a_metric_means_raises_the_version() -> None:
    """Where this fails: raise `METRICS_VERSION`, and store the trial's metrics anew as `report --recompute` does."""
    (path,) = (path.parent for golden in STORED for path in golden.glob("trials/*/metrics.json"))
    folder = TrialFolder(path)
    kept = read_stored(folder, folder.read_record())
    assert kept is not None, "what is stored is of another version"
    assert_same(kept, measure(folder, folder.read_record()))


def test_every_kind_of_value_is_read_back_as_it_was(trial: TrialFolder) -> None:
    record = trial.read_record()
    whole = measure(trial, record)
    fields = {"value": 1.5, "n": 7, "bound_ns": 3}
    values: dict[Key, Value] = {}
    for kind in get_args(Value):
        own = {name: fields.get(name, 2) for name in kind.__dataclass_fields__ if name != "kind"}
        values[Key(TRIAL, kind.__name__)] = kind(**own)
    metrics = TrialMetrics(values, whole.metrics.samples, whole.metrics.flows, ())
    trial.write_metrics(*stored_form(replace(whole, metrics=metrics)))
    found = read_stored(trial, record)
    assert found is not None
    assert found.metrics.values == values


def test_a_report_needs_no_samples_where_metrics_are_stored(run: RunFolder) -> None:
    expected = summary_table(analyse(run))
    keep_all(run)
    for folder in run.stored_trials():
        folder.received_path.unlink()
        folder.published_path.unlink()
    found = analyse(run)
    assert found.damaged == ()
    assert summary_table(found).equals(expected)


def test_what_another_version_computed_is_computed_again(trial: TrialFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "METRICS_VERSION", module.METRICS_VERSION + 1)
    record = trial.read_record()
    assert read_stored(trial, record) is None
    assert_same(load_or_measure(trial, record), measure(trial, record))


def test_a_trial_without_stored_metrics_is_measured_and_its_folder_left_as_it_is(run: RunFolder) -> None:
    folder = next(run.stored_trials())
    before = {path.name for path in folder.path.iterdir()}
    assert_same(load_or_measure(folder, folder.read_record()), measure(folder, folder.read_record()))
    assert {path.name for path in folder.path.iterdir()} == before


def _first_sketch(said: dict[str, Any], **changed: object) -> None:
    said["sketches"][0] |= changed


ALTERED: dict[str, Callable[[dict[str, Any]], object]] = {
    "unknown key": lambda said: said.update(more=1),
    "key of a value": lambda said: said["values"]["trial"]["first_message_ns"].update(more=1),
    "kind of a value": lambda said: said["values"]["trial"]["first_message_ns"].update(kind="guessed"),
    "a value that is none": lambda said: said["values"]["trial"]["first_message_ns"].update(value=None),
    "unknown stream": lambda said: said["overloaded"].append("nobody"),
    "a course of nobody": lambda said: said["courses"].update(nobody=said["courses"]["imu"]),
    "a course without parts": lambda said: said["courses"]["imu"].update(received=[], latency_p50_ns=[]),
    "a course with too many parts": lambda said: said["courses"]["imu"].update(received=[1] * 121),
    "parts of no length": lambda said: said["courses"]["imu"].update(part_ns=0),
    "a distribution of nothing": lambda said: _first_sketch(said, distribution="guess"),
    "a distribution of a stream that is not": lambda said: _first_sketch(said, name="nobody"),
    "a distribution twice": lambda said: _first_sketch(said, distribution=said["sketches"][1]["distribution"]),
    "more messages than values stand for": lambda said: _first_sketch(said, n=41),
    "fewer values": lambda said: _first_sketch(said, n_values=39),
    "values without end": lambda said: _first_sketch(said, n_values=10**25),
    "more values than memory has room for": lambda said: (
        said["sketches"].extend([said["sketches"][0]] * 1100) or _first_sketch(said, n_values=16_384, n=16_384)
    ),
    "no messages": lambda said: _first_sketch(said, n=0),
    "no sketches": lambda said: said.pop("sketches"),
}


@pytest.mark.parametrize("alter", ALTERED.values(), ids=ALTERED)
def test_a_document_that_says_what_can_not_be_is_refused(
    trial: TrialFolder, alter: Callable[[dict[str, Any]], object]
) -> None:
    said = json.loads(trial.metrics_path.read_bytes())
    alter(said)
    trial.metrics_path.write_text(json.dumps(said), encoding="utf-8")
    with pytest.raises(StoreError):
        read_stored(trial, trial.read_record())


@pytest.mark.parametrize("text", ["", "[", "1", "[]", '{"computed_by": 1, "values": NaN}', "[" * 100_000])
def test_an_invalid_document_is_refused(trial: TrialFolder, text: str) -> None:
    trial.metrics_path.write_text(text, encoding="utf-8")
    with pytest.raises(StoreError, match=r"metrics\.json"):
        read_stored(trial, trial.read_record())


def test_a_document_larger_than_any_trial_makes_is_not_read(trial: TrialFolder) -> None:
    with trial.metrics_path.open("ab") as file:
        file.truncate(65 << 20)
    with pytest.raises(StoreError, match="at most"):
        read_stored(trial, trial.read_record())


TABLES: dict[str, pl.Expr] = {
    "descending": pl.col("step_ns") * pl.when(pl.int_range(pl.len()) == 5).then(-1).otherwise(1),
    "beyond what a number holds": pl.col("step_ns") + 2**62,
    "a count of nought": pl.col("count") * 0,
    "counts that sum up to less": pl.col("count") - pl.col("count") * 2,
    "counts that run over": pl.col("count") + 2**62,
    "another distribution": pl.col("sketch") + 1,
    "nulls": pl.when(pl.int_range(pl.len()) != 3).then(pl.col("step_ns")),
    "other columns": pl.col("step_ns").alias("value_ns"),
    "other types": pl.col("step_ns").cast(pl.Float64),
}


@pytest.mark.parametrize("altered", TABLES.values(), ids=TABLES)
def test_values_that_are_not_a_distribution_are_refused(trial: TrialFolder, altered: pl.Expr) -> None:
    pl.read_parquet(trial.sketches_path).with_columns(altered).write_parquet(trial.sketches_path)
    with pytest.raises(StoreError):
        read_stored(trial, trial.read_record())


@pytest.mark.parametrize("rows", [0, 1, 10_000])
def test_a_table_of_another_length_is_refused(trial: TrialFolder, rows: int) -> None:
    table = pl.read_parquet(trial.sketches_path)
    pl.concat([table] * 50).head(rows).write_parquet(trial.sketches_path)
    with pytest.raises(StoreError):
        read_stored(trial, trial.read_record())


@pytest.mark.parametrize("content", [None, b"", b"PAR1 and no more"])
def test_a_table_that_is_cut_or_missing_makes_the_trial_a_damaged_one(run: RunFolder, content: bytes | None) -> None:
    keep_all(run)
    folder = next(run.stored_trials())
    folder.sketches_path.unlink()
    if content is not None:
        folder.sketches_path.write_bytes(content)
    (damage,) = analyse(run).damaged
    assert damage.trial == folder.id
    assert folder.sketches_path.name in damage.problem


def test_more_messages_than_the_record_counts_are_refused(trial: TrialFolder) -> None:
    record = trial.read_record()
    fewer = tuple(each.model_copy(update={"received": each.received - 1}) for each in record.counts.subscribers)
    changed = record.model_copy(update={"counts": record.counts.model_copy(update={"subscribers": fewer})})
    with pytest.raises(StoreError, match="more than the trial counts"):
        read_stored(trial, changed)


def test_a_quantile_that_is_missing_beside_the_others_is_told(trial: TrialFolder) -> None:
    document = json.loads(trial.metrics_path.read_text())
    own = document["values"]["stream:imu"]
    own["latency_from_send_p98_ns"] = own.pop("latency_from_send_p99_ns")
    trial.metrics_path.write_text(json.dumps(document))
    with pytest.raises(StoreError, match="stream:imu has some quantiles of latency_from_send and not others"):
        read_stored(trial, trial.read_record())


def test_distributions_that_say_they_have_no_value_contradict_their_messages(trial: TrialFolder) -> None:
    document = json.loads(trial.metrics_path.read_text())
    for sketch in document["sketches"]:
        sketch["n_values"] = 0
    trial.metrics_path.write_text(json.dumps(document))
    with pytest.raises(StoreError, match="in ascending order"):
        read_stored(trial, trial.read_record())
