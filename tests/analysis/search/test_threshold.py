"""The load that half of the trials carry: its interval holds what is true, and an end that no trial tells is open."""

import math

import numpy as np

from middlemark.analysis.search.bisection import Limit, StepTrials, next_step
from middlemark.analysis.search.threshold import NoThreshold, Threshold, fit_threshold
from middlemark.plan.experiment import Search

SEARCH = Search(
    lowest_hz=100, highest_hz=1e5, precision=0.05, loss_share=0.001, latency_ns=10_000_000, confirm=3, max_trials=60
)


def searches(rng: np.random.Generator, true_hz: float, steepness: float, n_searches: int) -> list[tuple[float, bool]]:
    """The trials of searches whose share that is carried falls as a logistic curve."""
    trials = []
    for _ in range(n_searches):
        steps: dict[int, StepTrials] = {}
        n = 0
        while (step := next_step(SEARCH, steps, n)) is not None:
            load = SEARCH.value_at(step)
            carried = rng.random() < 1 / (1 + (load / true_hz) ** steepness)
            tried = steps.setdefault(step, StepTrials())
            tried.sustained += carried
            tried.limits[Limit.LOSS] += not carried
            trials.append((load, bool(carried)))
            n += 1
    return trials


def test_the_interval_of_several_searches_holds_the_true_load() -> None:
    rng = np.random.default_rng(11)
    held = []
    for steepness in (5.0, 10.0, 40.0):
        for _ in range(15):
            true_hz = 100 * 1.05 ** rng.uniform(40, 100)
            found = fit_threshold(searches(rng, true_hz, steepness, 4), 4)
            assert isinstance(found, Threshold)
            held.append(found.low <= true_hz <= found.high)
    assert np.mean(held) > 0.85


def test_where_all_agree_the_interval_is_at_least_the_bracket() -> None:
    found = fit_threshold([(1000.0, True)] * 30 + [(1050.0, False)] * 30, 10)
    assert isinstance(found, Threshold)
    assert found.low <= 1000.001
    assert found.high >= 1049.999
    assert 1000 < found.value < 1050
    assert found.high / found.low < 1.2


def test_more_searches_narrow_it() -> None:
    few, many = (fit_threshold(searches(np.random.default_rng(2), 1000.0, 10.0, n), n) for n in (3, 30))
    assert isinstance(few, Threshold)
    assert isinstance(many, Threshold)
    assert many.high / many.low < few.high / few.low


def test_an_end_that_no_trial_tells_is_open() -> None:
    found = fit_threshold([(1000.0, True), (2000.0, True), (1000.0, False), (2000.0, True)], 3)
    assert isinstance(found, Threshold)
    assert found.low == 0 or found.high == math.inf


def test_one_sided_searches_and_too_few_have_a_reason_in_its_place() -> None:
    assert fit_threshold([(1000.0, True)] * 9, 3) == NoThreshold("every load that was tried is sustained")
    assert fit_threshold([(1000.0, False)] * 9, 3) == NoThreshold("no load that was tried is sustained")
    assert fit_threshold([(1000.0, True), (2000.0, False)] * 9, 2) == NoThreshold("needs 3 searches")
