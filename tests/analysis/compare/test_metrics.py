"""The geometric mean over all settings: of the ratios that are shown, with what is missing named."""

import json
import math
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from behaviour import Behaviour
from middlemark.analysis.compare.metrics import MetricComparison, OverSettings, compare_usual_metrics, over_settings
from middlemark.analysis.compare.pairing import pair_within_run
from middlemark.analysis.run import RunFindings
from middlemark.analysis.stats.estimate import Method
from middlemark.analysis.verdicts.difference import Difference, Test
from middlemark.cli.main import app
from middlemark.plan import NoCommunication
from middlemark.plan.trial.outcome import MissingPath
from middlemark.report.conclusions.over_settings import mean_words, means_table
from shared_runs import SharedRuns

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
def findings(runs: SharedRuns) -> RunFindings:
    how = {"udp": Behaviour(latency_ns=50_000), "tcp": Behaviour(latency_ns=50_000, per_byte_ns=20)}
    return runs.findings(SUITE, how)


def compared(findings: RunFindings) -> tuple[MetricComparison, ...]:
    return compare_usual_metrics(pair_within_run(findings.comparable, "middleware", "udp").pairs, 0.05)


def means(findings: RunFindings) -> dict[str, OverSettings]:
    return {each.metric.name: each for each in over_settings(compared(findings))}


def test_it_is_the_geometric_mean_of_the_ratios_that_are_shown(findings: RunFindings) -> None:
    ratios = [each.difference for each in compared(findings) if each.metric.name == "median(latency)"]
    logs = [math.log(each.value) for each in ratios if isinstance(each, Difference)]
    assert len(logs) == 3
    mean = means(findings)["median(latency)"]
    assert mean.n_settings == 3
    assert mean.value == pytest.approx(math.exp(sum(logs) / 3))
    assert mean.low is not None
    assert mean.high is not None
    assert mean.low <= mean.value <= mean.high
    assert mean.low > 1


def test_the_ratio_of_a_pooled_percentile_is_of_the_very_values_that_are_shown(findings: RunFindings) -> None:
    pooled = [
        each
        for each in compared(findings)
        if isinstance(each.difference, Difference) and each.difference.test is Test.INTERVALS
    ]
    assert {each.metric.name for each in pooled} >= {"p99(latency)"}
    for each in pooled:
        base, head = each.estimates
        assert base is not None
        assert head is not None
        assert {base.method, head.method} == {Method.POOLED}
        assert each.difference.value == pytest.approx(head.value / base.value), each.metric.name


def test_a_share_has_no_ratio_and_no_mean_of_them(findings: RunFindings) -> None:
    assert "loss" not in means(findings)
    assert {"median(latency)", "cpu", "memory", "first_message"} <= means(findings).keys()


def test_where_a_setting_has_no_ratio_it_is_named_and_there_is_no_mean(runs: SharedRuns) -> None:
    silent = NoCommunication(missing=(MissingPath(stream="imu", publisher=0, subscriber=0),))
    mean = means(runs.findings(SUITE, {"udp": Behaviour(), "tcp": Behaviour(outcome=silent)}))["median(latency)"]
    assert mean.value is None
    assert len(mean.missing) == 3
    assert "workload=imu" in mean.missing[0]
    assert not means_table([mean]).rows
    assert "1 of 3 settings without a ratio (middleware=udp)" in mean_words(replace(mean, missing=("middleware=udp",)))


def test_one_setting_has_no_mean_over_settings(runs: SharedRuns) -> None:
    one = "\n".join(SUITE.strip().splitlines()[:5])
    assert not means(runs.findings(one, {"udp": Behaviour(), "tcp": Behaviour()}))


def test_compare_ends_with_it_in_words_and_data(findings: RunFindings) -> None:
    def compare(*more: str) -> str:
        asked = ["compare", str(findings.folder.path), "--by", "middleware", "--base", "udp", *more]
        return CliRunner().invoke(app, asked, env={"COLUMNS": "160"}).stdout

    words = compare()
    assert "Over all settings" in words
    assert "no prediction for others" in " ".join(words.split())
    (said,) = json.loads(compare("--json", "--figure", "median(latency)"))["over_settings"]
    assert said["settings"] == 3
    assert said["geometric_mean"] > 1
    assert said["missing"] == []
