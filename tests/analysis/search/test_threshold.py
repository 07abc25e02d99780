"""The load that half of the trials sustain: its interval holds what is true, and an end that no trial tells is open."""

import math

import numpy as np
import scipy

from middlemark.analysis.search.threshold import (
    SPREAD_OF_STEEPNESS,
    STEEPNESS,
    TYPICAL_STEEPNESS,
    NoThreshold,
    Threshold,
    fit_threshold,
)
from populations import drawn_searches


def test_the_interval_of_several_searches_covers_the_true_load() -> None:
    held = []
    for seed, (curve, n_steps) in enumerate((("logistic", 4), ("normal", 8), ("steeper above", 8))):
        rng = np.random.default_rng([seed, 10])
        for _ in range(40):
            true_hz = 100 * 1.05 ** rng.uniform(40, 100)
            found = fit_threshold(drawn_searches(rng, curve, true_hz, n_steps, 10), 10)
            assert isinstance(found, Threshold)
            held.append(found.low <= true_hz <= found.high)
    assert 0.88 < np.mean(held) < 1.0  # a standard error of 2 points


def test_an_end_lies_beyond_the_last_load_that_is_likely() -> None:
    trials = drawn_searches(np.random.default_rng(3), "logistic", 1000.0, 8, 10)
    found = fit_threshold(trials, 10)
    assert isinstance(found, Threshold)
    loads = np.log(np.array([load for load, _ in trials]))
    sustained = np.array([held for _, held in trials])

    def unlikeliness(load: float) -> float:
        """By how much less likely it is than the best, of a fine grid of steepnesses."""
        above = np.multiply.outer(loads - np.log(load), STEEPNESS)
        fit = -np.where(sustained[:, None], np.logaddexp(0, above), np.logaddexp(0, -above)).sum(axis=0)
        return -float((fit - 0.5 * (np.log(STEEPNESS / TYPICAL_STEEPNESS) / SPREAD_OF_STEEPNESS) ** 2).max())

    allowed = scipy.stats.t.ppf(0.975, 20) ** 2 / 2
    best = unlikeliness(found.value)
    for end, inside in ((found.low, found.low * 1.01), (found.high, found.high / 1.01)):
        assert unlikeliness(inside) - best < allowed <= unlikeliness(end) - best + 1e-3


def test_where_all_agree_the_interval_is_at_least_the_bracket() -> None:
    found = fit_threshold([(1000.0, True)] * 30 + [(1050.0, False)] * 30, 10)
    assert isinstance(found, Threshold)
    assert found.low <= 1000.001
    assert found.high >= 1049.999
    assert 1000 < found.value < 1050
    assert found.high / found.low < 1.2


def test_more_searches_narrow_it() -> None:
    few, many = (fit_threshold(drawn_searches(np.random.default_rng(2), "logistic", 1000.0, 4, n), n) for n in (3, 30))
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
