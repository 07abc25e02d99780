"""Quantiles against NumPy, and the rule of how many samples they take."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from middlemark.analysis.stats.quantiles import Measured, TooFewSamples, needed, quantile, rank
from middlemark.suite.metrics import LEVELS

samples = st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=3000).map(lambda v: np.sort(np.array(v)))


@pytest.mark.parametrize(("level", "least"), [(0.5, 20), (0.9, 100), (0.99, 1000), (0.999, 10_000), (0.1, 100)])
def test_a_quantile_takes_ten_samples_beyond_it(level: float, least: int) -> None:
    assert needed(level) == least
    assert quantile(np.arange(least - 1), level) == TooFewSamples(least - 1)
    assert isinstance(quantile(np.arange(least), level), Measured)


@given(st.integers(20, 5000), st.sampled_from(sorted(LEVELS.values())))
def test_quantiles_are_numpys_inverted_distribution_function(n: int, level: float) -> None:
    values = np.sort(np.random.default_rng(n).integers(0, 10**9, n))
    expected = np.quantile(values, level, method="inverted_cdf")
    assert values[rank(n, level) - 1] == expected


@given(samples)
def test_quantiles_never_fall_with_their_level_and_stay_among_the_samples(values: np.ndarray) -> None:
    found = [quantile(values, level) for level in sorted(LEVELS.values())]
    given_values = [each.value for each in found if isinstance(each, Measured)]
    assert given_values == sorted(given_values)
    assert set(given_values) <= set(values.tolist())


def test_too_few_samples_say_how_many_there_were() -> None:
    assert str(quantile(np.arange(7), 0.5)) == "too few samples (n = 7)"
