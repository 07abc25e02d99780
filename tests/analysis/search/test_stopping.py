"""Enough and not more: where trials go on, where they end, and what stopping does to the intervals' coverage."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from behaviour import Behaviour
from middlemark.analysis.metrics.stored import read_result
from middlemark.analysis.search.stopping import NextTrials, first_look, narrow_after, next_trials, relative_width
from middlemark.analysis.stats.intervals import median_interval
from middlemark.plan import NotApplicable
from middlemark.results.run_folder import RunFolder
from middlemark.suite import Suite, parse_suite
from run_builder import build_run, write_trial

SUITE = """
suite: sure
trials: 6
middlewares: [calm, wild, unable]
workloads: [{workload: imu, rate: 1 kHz}, {workload: ping_pong}]
windows: {window: 100 ms}
stop: {relative_width: 5 %, max_trials: 12}
"""
BEHAVIOURS = {
    "calm": Behaviour(drift=0.002, spread=0.02),
    "wild": Behaviour(drift=0.4, spread=0.02),
    "unable": Behaviour(outcome=NotApplicable(capability="payload", reason="too large")),
}


def decided(folder: RunFolder, suite: Suite) -> NextTrials:
    return next_trials(suite, folder.read_manifest().trials, [read_result(each) for each in folder.stored_trials()])


def run_to_the_end(folder: RunFolder, suite: Suite) -> list[NextTrials]:
    """Executes what is decided, as a campaign does; every decision, the last one having no trials."""
    known = {each.id: read_result(each) for each in folder.stored_trials()}
    decisions = [next_trials(suite, folder.read_manifest().trials, list(known.values()))]
    while decisions[-1].trials:
        for trial in decisions[-1].trials:
            write_trial(folder, trial, BEHAVIOURS[trial.experiment.middleware], np.random.default_rng(trial.number))
            known[trial.id] = read_result(folder.trial(trial.id))
        manifest = folder.read_manifest()
        trials = (*manifest.trials, *decisions[-1].trials)
        folder.write_manifest(manifest.model_copy(update={"trials": trials, "widths": decisions[-1].widths}))
        decisions.append(next_trials(suite, trials, list(known.values())))
    return decisions


def test_trials_go_to_what_is_still_open_until_it_is_narrow_or_had_its_most(tmp_path: Path) -> None:
    suite = parse_suite(SUITE, file="sure.yaml")
    folder = build_run(tmp_path / "run", SUITE, BEHAVIOURS)
    decisions = run_to_the_end(folder, suite)
    trials = folder.read_manifest().trials
    had = {name: [t.block for t in trials if t.experiment.middleware == name] for name in BEHAVIOURS}
    assert had["calm"] == [block for block in range(1, 12) for _ in range(2)]  # narrow at six and eleven: two looks
    assert had["wild"] == [block for block in range(1, 13) for _ in range(2)]
    assert had["unable"] == [block for block in range(1, 7) for _ in range(2)]
    first = {(each.experiment.split("-")[0], each.stream): each for each in decisions[0].widths}
    assert first["calm", "imu"].reason == "narrow, but not yet in two successive checks"
    last = {(each.experiment.split("-")[0], each.stream): each for each in decisions[-1].widths}
    assert last["calm", "imu"].settled
    assert last["calm", "ping_pong"].figure == "median(round_trip)"
    wild = last["wild", "imu"]
    assert (wild.settled, wild.n_trials, wild.reason) == (False, 12, "still too wide")
    assert wild.relative_width is not None
    assert wild.relative_width > 0.05
    assert last["unable", "imu"].reason == "no trial has it (not applicable)"


def test_the_same_stored_results_decide_the_same_in_whatever_order_they_are_read(tmp_path: Path) -> None:
    suite = parse_suite(SUITE, file="sure.yaml")
    folder = build_run(tmp_path / "run", SUITE, BEHAVIOURS)
    first = decided(folder, suite)
    results = [read_result(each) for each in folder.stored_trials()]
    assert next_trials(suite, folder.read_manifest().trials, results[::-1]) == first
    assert {trial.block for trial in first.trials} == {7}
    assert [trial.number for trial in first.trials] == list(range(37, 37 + len(first.trials)))


@given(st.integers(1, 4))
def test_a_rule_can_name_its_figures_and_their_widths(blocks: int) -> None:
    text = SUITE.replace(
        "max_trials: 12", "max_trials: 12, figures: [goodput, {figure: p99(latency), relative_width: 20 %}]"
    )
    suite = parse_suite(text.replace("trials: 6", f"trials: {blocks}"), file="sure.yaml")
    assert suite.stop is not None
    assert [(each.figure, each.relative_width) for each in suite.stop.figures or ()] == [
        ("goodput", None),
        ("p99(latency)", 0.2),
    ]


@pytest.mark.parametrize(("confidence", "trials"), [(0.95, 6), (0.99, 8), (0.5, 2)])
def test_there_is_no_width_before_an_interval_has_the_requested_coverage(confidence: float, trials: int) -> None:
    values = np.linspace(1, 1.01, trials)
    assert first_look(confidence) == trials
    assert relative_width(values[:-1], confidence) is None
    assert relative_width(values, confidence) is not None


def test_one_narrow_look_is_not_enough() -> None:
    lucky = np.array([1.0, 1.01, 1.0, 0.99, 1.0, 1.0])
    unlucky = np.append(lucky, [1.5, 0.6, 1.4, 0.7, 1.2])
    assert relative_width(lucky, 0.95) == pytest.approx(0.0064, abs=1e-4)
    assert narrow_after(lucky, 0.05, 0.95) is None
    assert narrow_after(unlucky, 0.05, 0.95) is None
    assert narrow_after(np.append(lucky, [1.0, 1.01, 0.99, 1.0, 1.02]), 0.05, 0.95) == 11


@pytest.mark.parametrize("spread", [0.05, 0.1, 0.2])
def test_an_interval_after_stopping_covers_93_to_97_percent(spread: float) -> None:
    rng = np.random.default_rng([int(100 * spread), 1])
    drawn = rng.lognormal(0, spread, (3000, 30))
    found = [median_interval(row[: narrow_after(row, 0.05, 0.95)]) for row in drawn]
    assert 0.93 <= sum(low <= 1 <= high for low, high in found) / len(found) <= 0.97


def test_values_without_end_are_never_narrow_and_raise_no_warning() -> None:
    steady = np.full(20, 5.0)
    lossy = np.where(np.arange(20) % 2, 5.0, math.inf)
    assert relative_width(steady, 0.95) == 0
    assert relative_width(lossy, 0.95) == math.inf
    assert narrow_after(steady, 0.05, 0.95) == 11
    assert narrow_after(lossy, 0.05, 0.95) is None
