"""The geometric mean over all settings: of the ratios that are shown, with what is missing named."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from middlemark.analysis.compare.over_settings import OverSettings, over_settings
from middlemark.analysis.compare.pairing import usually_compared, within_run
from middlemark.analysis.run import analyse
from middlemark.analysis.verdicts.difference import Difference
from middlemark.cli.main import app
from middlemark.plan import NoCommunication
from middlemark.plan.outcome import MissingPath
from middlemark.report.conclusions.digest import mean_words, means_table
from middlemark.results.run_folder import RunFolder
from run_builder import Behaviour, build_run

SUITE = """
suite: s
trials: 6
middlewares: all
workloads:
  - {workload: imu, windows: {window: 1 s}}
  - {workload: imu, size: 4 kB, windows: {window: 1 s}}
  - {workload: imu, size: 16 kB, windows: {window: 1 s}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    how = {"udp": Behaviour(latency_ns=50_000), "tcp": Behaviour(latency_ns=50_000, per_byte_ns=20)}
    return build_run(tmp_path_factory.mktemp("run") / "run", SUITE, how)


def means(folder: RunFolder) -> dict[str, OverSettings]:
    pairs = within_run(analyse(folder).comparable, "middleware", "udp").pairs
    return {each.figure.name: each for each in over_settings(usually_compared(pairs, 0.05))}


def test_it_is_the_geometric_mean_of_the_ratios_that_are_shown(folder: RunFolder) -> None:
    pairs = within_run(analyse(folder).comparable, "middleware", "udp").pairs
    found = usually_compared(pairs, 0.05)
    ratios = [each.difference for each in found if each.figure.name == "median(latency)"]
    logs = [math.log(each.value) for each in ratios if isinstance(each, Difference)]
    assert len(logs) == 3
    mean = means(folder)["median(latency)"]
    assert mean.n_settings == 3
    assert mean.value == pytest.approx(math.exp(sum(logs) / 3))
    assert mean.low is not None
    assert mean.high is not None
    assert mean.low <= mean.value <= mean.high
    assert mean.low > 1


def test_a_share_has_no_ratio_and_no_mean_of_them(folder: RunFolder) -> None:
    assert "loss" not in means(folder)
    assert {"median(latency)", "cpu", "memory", "first_message"} <= means(folder).keys()


def test_where_a_setting_has_no_ratio_it_is_named_and_there_is_no_mean(tmp_path: Path) -> None:
    silent = NoCommunication(missing=(MissingPath(stream="imu", publisher=0, subscriber=0),))
    folder = build_run(tmp_path / "run", SUITE, {"udp": Behaviour(), "tcp": Behaviour(outcome=silent)})
    mean = means(folder)["median(latency)"]
    assert mean.value is None
    assert len(mean.missing) == 3
    assert "workload=imu" in mean.missing[0]
    assert not means_table([mean]).rows
    assert "1 of 3 settings without a ratio (middleware=udp)" in mean_words(replace(mean, missing=("middleware=udp",)))


def test_one_setting_has_no_mean_over_settings(tmp_path: Path) -> None:
    one = "\n".join(SUITE.strip().splitlines()[:5])
    assert not means(build_run(tmp_path / "run", one, {"udp": Behaviour(), "tcp": Behaviour()}))


def test_compare_ends_with_it_in_words_and_data(folder: RunFolder) -> None:
    def compare(*more: str) -> str:
        asked = ["compare", str(folder.path), "--by", "middleware", "--base", "udp", *more]
        return CliRunner().invoke(app, asked, env={"COLUMNS": "160"}).stdout

    assert "Over all settings" in compare()
    assert "no forecast for others" in " ".join(compare().split())
    (said,) = json.loads(compare("--json", "--figure", "median(latency)"))["over_settings"]
    assert said["settings"] == 3
    assert said["geometric_mean"] > 1
    assert said["missing"] == []
