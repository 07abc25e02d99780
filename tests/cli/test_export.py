"""`middlemark export` leaves what other tools read, with every valid trial in it, whatever else is damaged."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import jsonschema
import polars as pl
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from typer.testing import CliRunner, Result

from behaviour import Behaviour
from middlemark.analysis.dataframes import LoadedRun
from middlemark.cli.main import app
from middlemark.report.output.data import export
from middlemark.report.output.formats import ExportFormat
from run_builder import build_run

SUITE = "suite: s\ntrials: 3\nmiddlewares: all\nworkloads: [{workload: imu, windows: {window: 1 s}}]\n"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_run(tmp_path_factory.mktemp("built") / "run", SUITE, {"one": Behaviour()}).path


@pytest.fixture
def run(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "run"))


def _export(run: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["export", str(run), *words])


def test_each_distribution_becomes_a_table_of_all_trials(run: Path) -> None:
    answer = _export(run)
    assert answer.exit_code == 0, answer.output
    (latency,) = (run / "hgrm").glob("*.imu.latency_from_send.hgrm")
    text = latency.read_text(encoding="utf-8")
    assert "TotalCount     =      600.000" in text
    assert "#[Unit = ns, Trials = 3, Negative = 0, Lost = 0]" in text
    assert f"{len(list((run / 'hgrm').iterdir()))} percentile tables" in answer.stdout


def test_a_program_reads_which_files_were_written(run: Path) -> None:
    document = json.loads(_export(run, "--format", "csv", "--json").stdout)
    assert document["folder"] == str(run / "csv")
    assert sorted(document["files"]) == sorted(str(path) for path in (run / "csv").iterdir())


def test_parquet_and_csv_hold_the_same_frames(run: Path) -> None:
    for kind in ("parquet", "csv"):
        assert _export(run, "--format", kind).exit_code == 0
    metrics = pl.read_parquet(run / "parquet" / "metrics.parquet")
    again = pl.read_csv(run / "csv" / "metrics.csv", infer_schema_length=None)
    assert again["value"].to_list() == metrics["value"].to_list()
    assert metrics.filter(metric="loss_share")["value"].to_list() == [0.0] * 3
    assert pl.read_csv(run / "csv" / "trials.csv")["outcome"].to_list() == ["valid"] * 3


def test_no_text_of_a_csv_is_computed_and_its_numbers_are_numbers(tmp_path: Path) -> None:
    frame = pl.DataFrame({"name": ["=1+1", "-2", None], "of": [["@a"], ["b", "=c"], []], "value": [-1.5, 2.0, None]})
    run = SimpleNamespace(trials=frame, metrics=frame, estimates=frame, warnings=frame)
    export(cast("LoadedRun", run), ExportFormat.CSV, tmp_path)
    assert (tmp_path / "trials.csv").read_text() == "name,of,value\n'=1+1,'@a,-1.5\n-2,b =c,2.0\n,\"\",\n"


def test_json_is_what_its_schema_says(run: Path) -> None:
    assert _export(run, "--format", "json", "--out", str(run / "elsewhere")).exit_code == 0
    said = json.loads((run / "elsewhere" / "run.json").read_text(encoding="utf-8"))
    schema = json.loads((run / "elsewhere" / said["$schema"]).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(said, schema)
    assert len(said["trials"]) == 3
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**said, "format_version": 2}, schema)


def test_openmetrics_is_read_by_its_own_parser(run: Path) -> None:
    assert _export(run, "--format", "openmetrics").exit_code == 0
    text = (run / "openmetrics" / "estimates.openmetrics.txt").read_text(encoding="utf-8")
    families = {family.name: family for family in text_string_to_metric_families(text)}
    samples = families["middlemark_latency_from_send_p50_ns"].samples
    assert {sample.labels["statistic"] for sample in samples} == {"estimate", "low", "high"}
    assert {sample.labels["subject"] for sample in samples} == {"stream:imu"}
    assert all(float(sample.timestamp or 0) == 1769860800 for sample in samples)


@pytest.mark.parametrize("kind", ["hgrm", "parquet", "csv", "json", "openmetrics"])
def test_a_damaged_trial_is_named_and_the_rest_exported(run: Path, kind: str) -> None:
    broken, unread, _ = sorted((run / "trials").iterdir())
    (broken / "received.parquet").write_bytes(b"PAR1 was here")
    (unread / "trial.json").write_text("{", encoding="utf-8")
    answer = _export(run, "--format", kind)
    assert answer.exit_code == 1
    assert broken.name in str(answer.exception)
    assert unread.name in str(answer.exception)
    assert len(list((run / kind).iterdir())) >= 1
