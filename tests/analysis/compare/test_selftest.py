"""A/A campaigns: every trial is dealt once, and the rate found is that of a test at 95 %."""

from pathlib import Path

import numpy as np
import pytest

from behaviour import Behaviour
from middlemark.analysis.compare.selftest import ChanceRate, campaigns, chance_rates
from middlemark.analysis.run import analyse
from middlemark.analysis.verdicts.difference import Difference, Test, ratio
from middlemark.analysis.verdicts.values import BlockValues
from middlemark.suite.metrics import metric_named
from run_builder import build_run


def test_every_trial_is_assigned_once_and_successive_ones_share_a_block() -> None:
    values = {block: float(block) for block in range(1, 25)}
    dealt = campaigns(values, {}, 4, seed=1)
    assert len(dealt) == 3
    used = [value for first, second, _ in dealt for side in (first, second) for value in side.values()]
    assert sorted(used) == sorted(values.values())
    assert all(abs(first[block] - second[block]) == 1 for first, second, _ in dealt for block in first)


def test_what_does_not_fill_a_campaign_stays_out() -> None:
    assert len(campaigns(dict.fromkeys(range(19), 1.0), {}, 5, seed=1)) == 1
    assert campaigns({1: 1.0}, {}, 5, seed=1) == []


def test_drift_over_the_campaign_makes_no_differences() -> None:
    rng = np.random.default_rng(2)
    drifting = {n: float(1000 * np.exp(n / 500 + rng.normal(0, 0.02))) for n in range(5000)}
    found = [ratio(*map(BlockValues, sides), paired=True) for *sides, _ in campaigns(drifting, {}, 5, seed=3)]
    told = sum(isinstance(each, Difference) and not each.low <= 1 <= each.high for each in found)
    assert told / len(found) == pytest.approx(0.05, abs=0.03)


def test_on_a_fleet_the_trials_of_a_pair_are_of_one_machine() -> None:
    machines = {block: "abc"[block % 3] for block in range(60)}
    speeds = {"a": 1.0, "b": 10.0, "c": 100.0}
    values = {block: speeds[name] for block, name in machines.items()}
    for first, second, names in campaigns(values, machines, 6, seed=1):
        assert first == second == {pair: speeds[name] for pair, name in names.items()}
        assert sorted(names.values()) == ["a", "a", "b", "b", "c", "c"]


def test_equal_test_beds_find_differences_as_seldom_as_chance_does() -> None:
    rng = np.random.default_rng(4)
    machines = {block: f"bed{block % 4}" for block in range(8000)}
    values = {block: (1 + block % 4) * float(np.exp(rng.normal(0, 0.02))) for block in machines}
    compared = [
        ratio(BlockValues(first, machines=names), BlockValues(second, machines=names), paired=True)
        for first, second, names in campaigns(values, machines, 8, seed=5)
    ]
    told = sum(isinstance(each, Difference) and not each.low <= 1 <= each.high for each in compared)
    assert len(compared) == 500
    assert {each.test for each in compared if isinstance(each, Difference)} == {Test.MACHINES}
    assert told / len(compared) == pytest.approx(0.05, abs=0.03)


@pytest.mark.parametrize(("found", "of", "holds"), [(0, 40, True), (4, 40, True), (9, 40, False), (30, 1000, True)])
def test_a_rate_that_is_surely_above_the_bound_breaks_it(found: int, of: int, *, holds: bool) -> None:
    assert ChanceRate("e", "imu", "cpu", None, found, of).holds is holds


def test_what_does_not_vary_is_no_test_of_chance(tmp_path: Path) -> None:
    suite = "suite: s\ntrials: 20\nmiddlewares: all\nworkloads: [{workload: imu, windows: {window: 200 ms}}]\n"
    experiments = analyse(build_run(tmp_path / "run", suite, {"one": Behaviour()})).experiments
    rates = chance_rates(experiments, [metric_named("loss"), metric_named("median(latency)")], blocks=5, seed=1)
    assert [each.metric for each in rates] == ["median(latency)"]


def test_a_workload_names_an_experiment_where_no_other_has_it(tmp_path: Path) -> None:
    workloads = "[{workload: imu, size: [64 B, 1 kB]}, {workload: camera}]"
    suite = f"suite: s\ntrials: 20\nmiddlewares: all\nwindows: {{window: 1 s}}\nworkloads: {workloads}\n"
    experiments = analyse(build_run(tmp_path / "run", suite, {"one": Behaviour()})).experiments
    rates = chance_rates(experiments, [metric_named("median(latency)")], blocks=5, seed=1)
    labels = [each.label for each in rates]
    assert labels.count("camera") == 1
    assert [label.startswith("one-imu-") for label in labels if label != "camera"] == [True, True]
