"""Mean, deviation and kurtosis are those of other implementations, and there are none where messages were lost."""

import numpy as np
import pytest
import scipy.stats

from middlemark.analysis.stats.moments import moments
from middlemark.analysis.stats.quantiles import Lost, Measured, Sketch, TooFewSamples, WithinClocks, exact_sketch

RANDOM = np.random.default_rng(7)
TAILED = np.sort((1e6 * RANDOM.lognormal(sigma=0.8, size=200_000)).astype(np.int64))


def value(found: object) -> float:
    assert isinstance(found, Measured)
    return found.value


def test_the_moments_are_those_of_numpy_and_scipy() -> None:
    found = moments(exact_sketch(TAILED))
    assert value(found["mean"]) == pytest.approx(TAILED.mean())
    assert value(found["deviation"]) == pytest.approx(TAILED.std())
    assert value(found["kurtosis"]) == pytest.approx(scipy.stats.kurtosis(TAILED, fisher=False))


def test_a_normal_distribution_has_a_kurtosis_of_three() -> None:
    drawn = np.sort((1e9 + 1e6 * RANDOM.normal(size=200_000)).astype(np.int64))
    assert value(moments(exact_sketch(drawn))["kurtosis"]) == pytest.approx(3, abs=0.1)


def test_a_value_counts_as_often_as_the_samples_that_it_represents() -> None:
    values, counts = np.array([1_000, 2_000, 9_000]), np.array([100, 70, 30])
    weighted = moments(Sketch(values, counts, 200))
    assert weighted == pytest.approx(moments(exact_sketch(np.repeat(values, counts))))


def test_one_lost_message_leaves_no_moment() -> None:
    assert set(moments(exact_sketch(TAILED, lost=1)).values()) == {Lost(len(TAILED) + 1, 1)}


def test_few_samples_have_no_mean_and_some_more_no_kurtosis() -> None:
    assert set(moments(exact_sketch(TAILED[:19])).values()) == {TooFewSamples(19)}
    some = moments(exact_sketch(TAILED[:99]))
    assert isinstance(some["deviation"], Measured)
    assert some["kurtosis"] == TooFewSamples(99)


def test_equal_samples_have_no_kurtosis() -> None:
    assert moments(exact_sketch(np.full(200, 5_000))).keys() == {"mean", "deviation"}


def test_clocks_that_may_be_further_apart_than_the_mean_measure_none() -> None:
    mean = value(moments(exact_sketch(TAILED))["mean"])
    found = moments(exact_sketch(TAILED, bound_ns=round(2 * mean)))
    assert all(isinstance(each, WithinClocks) for each in found.values())
