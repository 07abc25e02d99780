"""`middlemark history` and `runs`: a metric over many runs, the runs that are meant, and the base of a gate."""

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner, Result

from behaviour import Behaviour
from middlemark.analysis.run import analyse
from middlemark.cli.history import runs_before
from middlemark.cli.main import app
from middlemark.errors import UsageError
from middlemark.report.output.data import recompute_metrics, write_summary
from middlemark.results.run_folder import RunFolder
from shared_runs import SharedRuns

SUITE = "suite: s\ntrials: 3\nmiddlewares: all\nworkloads: [{workload: imu, windows: {window: 200 ms}}]\n"


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)], env={"COLUMNS": "200"})


@pytest.fixture(scope="module")
def folder(runs: SharedRuns, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seven runs a day apart: from the fourth on twice as slow, with another version of `one`'s library."""
    path = tmp_path_factory.mktemp("history")
    for day in range(1, 8):
        run = runs.copy(path / f"run-{day}", SUITE, {"one": Behaviour(), "two": Behaviour()})
        recompute_metrics(run)
        write_summary(analyse(run))
        _on_day(run, day, is_newer=day >= 4)
    return path


def _on_day(run: RunFolder, day: int, *, is_newer: bool) -> None:
    manifest = run.read_manifest()
    library = manifest.middlewares["one"].library.model_copy(update={"version": "2.0" if is_newer else "1.9"})
    of_day = {
        "started_at": f"2026-01-{day:02}T12:00:00+00:00",
        "seed": day,
        "tags": ("nightly",) if day % 2 else (),
        "middlewares": manifest.middlewares
        | {"one": manifest.middlewares["one"].model_copy(update={"library": library})},
    }
    run.write_manifest(manifest.model_copy(update=of_day))
    if is_newer:
        table = pl.read_parquet(run.summary_path)
        twice = pl.when(pl.col("middleware") == "one").then(2).otherwise(1)
        table.with_columns(pl.col("estimate", "low", "high") * twice).write_parquet(run.summary_path)


def test_a_change_of_level_is_told_with_the_version_that_brought_it(folder: Path) -> None:
    shown = invoke("history", "median(latency)", folder)
    assert shown.exit_code == 0, shown.output
    assert "× 2.0 from run-4 on, 2026-01-04 (library 1.9 → 2.0)" in shown.stdout
    assert "1 change of level in 1 setting" in shown.stdout


def test_json_has_every_value_and_change(folder: Path) -> None:
    document = json.loads(invoke("history", "median(latency)", folder, "--middleware", "one", "--json").stdout)
    (series,) = document["series"]
    assert [point["run"] for point in series["points"]] == [f"run-{day}" for day in range(1, 8)]
    (change,) = series["changes"]
    assert (change["last_before"], change["first"]) == ("run-3", "run-4")
    assert change["library_versions"] == ["1.9", "2.0"]


def test_runs_and_settings_are_selected(folder: Path) -> None:
    listed = json.loads(invoke("runs", folder, "--version", "2", "--tag", "nightly", "--json").stdout)
    assert [Path(run["run"]).name for run in listed] == ["run-5", "run-7"]
    assert "run-3" in invoke("runs", folder, "--until", "2026-01-03").stdout
    assert "run-4" not in invoke("runs", folder, "--until", "2026-01-03").stdout
    document = json.loads(
        invoke("history", "median(latency)", folder, "--since", "2026-01-06", "--setting", "IMU", "--json").stdout
    )
    assert {len(series["points"]) for series in document["series"]} == {2}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("history", "median(round_trip)"), "no run has median(round_trip)"),
        (("history", "median(latency)", "--setting", "nowhere"), "in a setting with 'nowhere'"),
        (("history", "speed"), "is no metric"),
        (("runs", "--tag", "weekly"), "none of 7 runs has tag weekly"),
        (("runs", "--since", "March"), "which is no day"),
    ],
)
def test_what_there_is_not_is_told(folder: Path, arguments: tuple[str, ...], told: str) -> None:
    command, *others = arguments
    metric = others[:1] if command == "history" else []
    refused = invoke(command, *metric, folder, *others[len(metric) :])
    assert isinstance(refused.exception, UsageError)
    assert told in str(refused.exception)


def test_a_folder_without_runs_is_told(tmp_path: Path) -> None:
    refused = invoke("runs", tmp_path)
    assert isinstance(refused.exception, UsageError)
    assert "there is no run in" in str(refused.exception)


def test_the_base_of_a_gate_are_the_last_runs_before_its_head(folder: Path) -> None:
    before = runs_before(folder / "run-6", folder, 3, across_machines=False, trust=False)
    assert [path.name for path in before] == ["run-3", "run-4", "run-5"]
    with pytest.raises(UsageError, match="began before"):
        runs_before(folder / "run-1", folder, 3, across_machines=False, trust=False)


def test_runs_of_other_suites_and_machines_are_no_base(folder: Path, runs: SharedRuns, tmp_path: Path) -> None:
    head = runs.copy(tmp_path / "head", SUITE, {"one": Behaviour()})
    elsewhere = {"started_at": "2026-02-01T12:00:00+00:00", "machine": {"cpu_model": "another"}}
    head.write_manifest(head.read_manifest().model_copy(update=elsewhere))
    with pytest.raises(UsageError, match="on another"):
        runs_before(head.path, folder, 10, across_machines=False, trust=False)
    assert len(runs_before(head.path, folder, 10, across_machines=True, trust=False)) == 7


def test_a_gate_judges_against_the_history(folder: Path) -> None:
    answer = invoke("gate", folder / "run-3", "--history", folder, "--last", 2, "--fail-if", "median(latency) > +5 %")
    assert "2 base runs" in answer.stdout
    both = invoke("gate", folder / "run-2", folder / "run-3", "--history", folder, "--fail-if", "loss > 1 %")
    assert isinstance(both.exception, UsageError)
    assert "the head alone is named" in str(both.exception)
