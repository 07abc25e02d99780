"""What trials warn of stands before the figures wherever those are read, each kind once with whose trials had it."""

import json
from io import StringIO
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from rich.console import Console
from typer.testing import CliRunner

import middlemark
from behaviour import Behaviour
from known_suites import CAPACITY_SEARCH
from middlemark.analysis.run import RunFindings, analyse
from middlemark.cli.main import app
from middlemark.plan import Caution, WarningKind
from middlemark.report.conclusions.warnings import warned_of, warnings_data
from middlemark.report.elements.labels import series_by_experiment
from middlemark.report.output.html import render
from middlemark.report.output.terminal import print_summary
from middlemark.results.run_folder import RunFolder
from run_builder import build_run

SUITE = """
suite: warned
trials: 3
middlewares: all
workloads: {workload: imu, windows: {window: 2 s}}
"""
NEVER = "Never settled in 3 trials (growing 3)"
LATE = "Settled late in 3 trials (warming 3)"


def slower_at_first(share: np.ndarray) -> np.ndarray:
    return np.where(share < 0.3, 3.0, 1.0)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """One whose latency grows to the window's end, one that is slow at first, and one that is steady."""
    behaviours = {
        "growing": Behaviour(course=lambda share: np.power(100.0, share)),
        "warming": Behaviour(course=slower_at_first),
        "steady": Behaviour(),
    }
    return build_run(tmp_path_factory.mktemp("warned") / "run", SUITE, behaviours)


@pytest.fixture(scope="module")
def findings(run: RunFolder) -> RunFindings:
    return analyse(run)


def test_the_page_says_before_the_first_ranking_whose_latency_never_settled(findings: RunFindings) -> None:
    page = render(findings)
    opening = page[page.index('id="answer"') : page.index('id="conditions"')]
    assert NEVER in opening
    assert LATE in opening
    assert "steady 3" not in opening


def test_the_terminal_and_json_have_the_same_list(findings: RunFindings) -> None:
    console = Console(file=StringIO(), width=200)
    print_summary(findings, console)
    assert isinstance(console.file, StringIO)
    text = console.file.getvalue()
    assert NEVER.lower() in text.lower()
    assert LATE.lower() in text.lower()
    answer = CliRunner().invoke(app, ["report", str(findings.folder.path), "--json"])
    warnings = json.loads(answer.stdout)["warnings"]
    assert {each["kind"]: each["n_trials"] for each in warnings["trials"]} == {
        "never_settled": {"growing": 3},
        "settled_late": {"warming": 3},
    }
    assert warnings["machine"][0]["kind"] == "governor"


def test_exports_have_a_row_for_each_experiment_and_kind(run: RunFolder, tmp_path: Path) -> None:
    assert CliRunner().invoke(app, ["export", str(run.path), "--format", "csv", "--out", str(tmp_path)]).exit_code == 0
    rows = pl.read_csv(tmp_path / "warnings.csv").select("middleware", "kind", "n_trials").rows()
    assert sorted(rows) == [("growing", "never_settled", 3), ("warming", "settled_late", 3)]
    assert middlemark.load(run.path).warnings["text"].str.contains("imu").all()


def test_an_overload_is_no_warning_where_it_is_searched_for(tmp_path: Path) -> None:
    def warned(path: Path, suite: str) -> list[dict[str, object]]:
        run = build_run(path, suite, {"one": Behaviour()})
        for trial in run.stored_trials():
            overload = Caution(kind=WarningKind.OVERLOAD, text="half the rate", remedy="a lower rate")
            trial.write_record(trial.read_record().model_copy(update={"warnings": (overload,)}))
        found = analyse(run)
        who = series_by_experiment(found.manifest, (each.experiment for each in found.experiments))
        assert len(warned_of(found, who)) == len(warnings_data(found, who)["trials"])
        return warnings_data(found, who)["trials"]

    assert warned(tmp_path / "searched", CAPACITY_SEARCH) == []
    (told,) = warned(tmp_path / "asked", SUITE)
    assert (told["kind"], told["n_trials"]) == ("overload", {"one": 3})
