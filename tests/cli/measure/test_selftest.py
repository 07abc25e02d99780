"""`middlemark selftest`: equal sides are told apart as seldom as chance does, and a broken test is noticed."""

import json
from functools import partial

import pytest
from typer.testing import CliRunner

from behaviour import Behaviour
from middlemark.analysis.verdicts.difference import ratio
from middlemark.cli.main import app
from middlemark.errors import ResultsNotAccepted, UsageError
from middlemark.report.output.data import recompute_metrics
from middlemark.results.run_folder import RunFolder
from shared_runs import SharedRuns

SUITE = "suite: s\ntrials: {trials}\nmiddlewares: all\nworkloads: [{{workload: imu, windows: {{window: 200 ms}}}}]\n"
RUNNER = CliRunner()


@pytest.fixture(scope="module")
def run(runs: SharedRuns, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """Of equal trials, whose metrics are stored as a campaign stores them."""
    folder = runs.copy(
        tmp_path_factory.mktemp("equal") / "run", SUITE.format(trials=120), {"one": Behaviour(drift=0.05)}
    )
    recompute_metrics(folder)
    return folder


def test_a_stored_run_is_split_into_equal_sides_and_the_rate_is_stated(run: RunFolder) -> None:
    answer = RUNNER.invoke(app, ["selftest", "--from", str(run.path), "--blocks", "3", "--json"])
    assert answer.exit_code == 0, answer.exception
    figures = {each["figure"]: each for each in json.loads(answer.stdout)["figures"]}
    assert figures["median(latency)"]["comparisons"] == 20
    assert figures["median(latency)"]["holds"]
    table = RUNNER.invoke(app, ["selftest", "--from", str(run.path), "--blocks", "3"], env={"COLUMNS": "160"})
    assert "At most 5 % may" in table.stdout


def test_differences_that_are_not_there_end_it_with_an_error(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("middlemark.analysis.compare.selftest.ratio", partial(ratio, confidence=0.3))
    answer = RUNNER.invoke(app, ["selftest", "--from", str(run.path), "--blocks", "3"])
    assert isinstance(answer.exception, ResultsNotAccepted)
    assert "imu median(latency)" in answer.exception.text


def test_a_run_with_too_few_trials_says_how_many_it_takes(runs: SharedRuns) -> None:
    run = runs.run(SUITE.format(trials=3), {"one": Behaviour()})
    answer = RUNNER.invoke(app, ["selftest", "--from", str(run.path)])
    assert isinstance(answer.exception, UsageError)
    assert "10 valid trials" in answer.exception.text
