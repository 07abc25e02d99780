"""Trials that follow each other are found and said of; independent ones raise an alarm in no more than 5 % of runs."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from behaviour import Behaviour
from middlemark.analysis.compare.independence import FEWEST_TRIALS, lag_1_test, without_drift
from middlemark.analysis.run import RunFindings, analyse
from middlemark.analysis.verdicts.ranking import holm
from middlemark.plan import WarningKind
from middlemark.report.conclusions.warnings import warned_of
from middlemark.report.elements.labels import series_by_experiment
from run_builder import build_run, write_trial

SUITE = """
suite: neighbours
trials: {trials}
middlewares: [calm, wandering]
workloads: {{workload: imu, windows: {{window: 500 ms}}}}
"""


def autoregressive(rng: np.random.Generator, n: int, lag_1: float) -> NDArray[np.float64]:
    values = rng.normal(size=n)
    for place in range(1, n):
        values[place] = lag_1 * values[place - 1] + np.sqrt(1 - lag_1**2) * values[place]
    return values


def alarm(rng: np.random.Generator, n_experiments: int, n_trials: int, lag_1: float) -> bool:
    """Whether a run of experiments that are all alike has any."""
    own = [dict(enumerate(autoregressive(rng, n_trials, lag_1).tolist())) for _ in range(n_experiments)]
    p_values: Mapping[tuple[int, bool], float] = {
        (number, beside): told[1]
        for number, values in enumerate(own)
        for beside in (False, True)
        if (told := lag_1_test(_looked_at(values, own, beside=beside))) is not None
    }
    return bool(holm(p_values))


def _looked_at(values: dict[int, float], own: list[dict[int, float]], *, beside: bool) -> list[float]:
    others = [each for each in own if each is not values]
    return list((without_drift(values, others) if beside else values).values())


@pytest.mark.parametrize(("n_experiments", "n_trials"), [(1, 10), (1, 25), (4, 10), (4, 25)])
def test_independent_trials_raise_an_alarm_in_at_most_one_run_of_twenty(n_experiments: int, n_trials: int) -> None:
    rng = np.random.default_rng([n_experiments, n_trials])
    found = np.mean([alarm(rng, n_experiments, n_trials, 0.0) for _ in range(400)])
    assert found <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 400)


@pytest.mark.parametrize(("n_trials", "least"), [(20, 0.5), (30, 0.7)])
def test_trials_that_are_half_the_one_before_are_mostly_found(n_trials: int, least: float) -> None:
    rng = np.random.default_rng(n_trials)
    assert np.mean([alarm(rng, 1, n_trials, 0.5) for _ in range(300)]) > least


def test_trials_that_alternate_raise_no_alarm() -> None:
    told = lag_1_test([1.0, 9.0, 2.0, 8.0, 3.0, 7.0, 4.0, 6.0, 5.0, 5.5])
    assert told is not None
    assert told[0] < 0
    assert told[1] > 0.9


def test_nothing_is_said_of_too_few_trials_nor_of_mostly_equal_ones() -> None:
    assert lag_1_test(list(range(FEWEST_TRIALS - 1))) is None
    assert lag_1_test([1.0] * 12 + [2.0, 3.0]) is None
    assert lag_1_test([float(each) for each in range(FEWEST_TRIALS)]) is not None


def test_a_drift_that_all_have_in_common_is_no_ones_own() -> None:
    rng = np.random.default_rng(3)
    drift = np.linspace(0, 5, 24)
    own = [dict(enumerate((drift + rng.normal(size=24)).tolist())) for _ in range(4)]
    left = [without_drift(each, [other for other in own if other is not each]) for each in own]
    told = [lag_1_test(list(each.values())) for each in left]
    assert all(each is not None and each[1] > 0.01 for each in told)
    raw = lag_1_test(list(own[0].values()))
    assert raw is not None
    assert raw[1] < 1e-3


def test_a_block_that_another_lacks_is_left_out_of_what_is_beside_others() -> None:
    assert without_drift({1: 5.0, 2: 6.0}, [{1: 1.0}, {1: 3.0, 2: 9.0}]) == {1: 3.0}
    assert without_drift({1: 5.0}, []) == {}


def analysed(path: Path, trials: int) -> RunFindings:
    """A run in which one middleware grows slower from trial to trial."""
    behaviours = {"calm": Behaviour(drift=0.05), "wandering": Behaviour(drift=0.05)}
    folder = build_run(path, SUITE.format(trials=trials), behaviours)
    for trial in folder.read_manifest().trials:
        if trial.experiment.middleware == "wandering":
            how = Behaviour(latency_ns=50_000 * 1.1**trial.block, drift=0.01)
            write_trial(folder, trial, how, np.random.default_rng(trial.number))
    return analyse(folder)


def test_a_middleware_that_grows_slower_from_trial_to_trial_is_warned_of(tmp_path: Path) -> None:
    found = analysed(tmp_path / "run", 12)
    said = {each.experiment.middleware: [one.kind for one, _ in each.cautions] for each in found.experiments}
    assert WarningKind.DEPENDENT_TRIALS in said["wandering"]
    in_section = {each.experiment.middleware: each.cautions for each in found.comparisons[0].experiments}
    assert any(one.kind is WarningKind.DEPENDENT_TRIALS for one, _ in in_section["wandering"])
    who = series_by_experiment(found.manifest, (each.experiment for each in found.experiments))
    warned = next(each for each in warned_of(found, who) if each.first.kind is WarningKind.DEPENDENT_TRIALS)
    assert "12 trials count as about" in warned.first.text
    assert "too narrow" in warned.first.text


def test_few_trials_have_no_neighbours_to_tell_of(tmp_path: Path) -> None:
    assert analysed(tmp_path / "run", 4).serial_correlations == ()
