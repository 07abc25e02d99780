"""Intervals against SciPy's order statistics, and by simulation: nominal 95 % must cover 93 to 97 %."""

from collections.abc import Callable

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from middlemark.analysis.compare import paired_ratio
from middlemark.analysis.condensed import condensed, whole
from middlemark.analysis.estimate import quantile_of_trials, share_of_trials
from middlemark.analysis.interval import coverage, median_interval, tails
from middlemark.analysis.quantile import Measured, quantile

REPEATS = 4000
DRAWS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "log-normal": lambda rng, n: rng.lognormal(0, 0.2, n),
    "skewed": lambda rng, n: rng.exponential(1, n) / np.log(2),
    "heavy-tailed": lambda rng, n: 1 + 0.1 * rng.standard_t(3, n),
}
"""Populations with the median 1."""


@given(st.lists(st.floats(1, 1e9), min_size=6, max_size=40, unique=True))
def test_a_median_lies_within_and_the_interval_within_the_exact_one(values: list[float]) -> None:
    low, high = median_interval(np.array(values))
    exact = scipy.stats.quantile_test(values, p=0.5).confidence_interval(0.95)
    hair = 1e-9 * max(values)
    assert exact.low - hair <= low <= np.median(values) <= high <= exact.high + hair


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS.keys())
@pytest.mark.parametrize("n", [6, 7, 8, 10, 15, 30])
def test_the_interval_of_a_median_covers_93_to_97_percent(
    n: int, draw: Callable[[np.random.Generator, int], np.ndarray]
) -> None:
    rng = np.random.default_rng([n, 5])
    found = (median_interval(draw(rng, n)) for _ in range(REPEATS))
    assert 0.93 <= sum(low <= 1 <= high for low, high in found) / REPEATS <= 0.97


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_too_few_values_give_their_range_which_covers_what_is_said(n: int) -> None:
    rng = np.random.default_rng([n, 6])
    drawn = rng.lognormal(0, 0.2, (REPEATS, n))
    found = [median_interval(row) for row in drawn]
    assert found == [(row.min(), row.max()) for row in drawn]
    assert sum(low <= 1 <= high for low, high in found) / REPEATS == pytest.approx(coverage(n), abs=0.02)


@pytest.mark.parametrize(("n", "least"), [(6, 0.92), (7, 0.93), (8, 0.93), (10, 0.93), (20, 0.93)])
def test_the_interval_of_a_share_covers_93_to_97_percent_and_a_little_less_of_six_trials(n: int, least: float) -> None:
    rng = np.random.default_rng([n, 7])
    shares = rng.beta(20, 180, (2000, n))  # what a trial loses differs by more than chance among its messages
    lost = rng.binomial(2000, shares) / 2000
    found = [share_of_trials([Measured(float(share), 2000) for share in row]) for row in lost]
    covers = sum(each.low <= 0.1 <= each.high for each in found if each.low is not None and each.high is not None)
    assert least <= covers / len(found) <= 0.97


@pytest.mark.parametrize(("n_trials", "messages"), [(10, 150), (20, 80)])
@pytest.mark.parametrize("drift", [0.0, 0.05])
def test_the_interval_of_a_pooled_quantile_covers_93_to_98_percent(n_trials: int, messages: int, drift: float) -> None:
    rng = np.random.default_rng([n_trials, messages, 8])
    true_ns = np.quantile(1e6 * rng.exponential(1, 2_000_000) * np.exp(rng.normal(0, drift, 2_000_000)), 0.99)
    covers, repeats = 0, 1000
    for _ in range(repeats):
        drawn = 1e6 * rng.exponential(1, (n_trials, messages)) * np.exp(rng.normal(0, drift, (n_trials, 1)))
        trials = [np.sort(row.astype(np.int64)) for row in drawn]
        own = [quantile(samples, 0.99) for samples in trials]
        found = quantile_of_trials(own, [condensed(whole(samples)) for samples in trials], 0.99)
        assert found.low is not None
        assert found.high is not None
        covers += found.low <= true_ns <= found.high
    assert 0.93 <= covers / repeats <= 0.98  # ranks are whole: a dozen messages beyond can't hit 95 % exactly


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS.keys())
@pytest.mark.parametrize("blocks", [3, 5, 10])
def test_the_interval_of_a_paired_ratio_covers_93_to_97_percent(
    blocks: int, draw: Callable[[np.random.Generator, int], np.ndarray]
) -> None:
    rng = np.random.default_rng([blocks, 9])
    covers = 0
    for _ in range(REPEATS):
        drift = np.exp(rng.normal(0, 0.5, blocks))
        first, second = np.abs(1.3 * drift * draw(rng, blocks)), np.abs(drift * draw(rng, blocks))
        ratio = paired_ratio(dict(enumerate(first)), dict(enumerate(second)))
        assert ratio is not None
        covers += ratio.low <= 1.3 <= ratio.high
    assert 0.93 <= covers / REPEATS <= 0.97


def test_tails_are_those_of_the_percentile_bootstrap_where_trials_are_many() -> None:
    assert tails(100_000) == pytest.approx((0.025, 0.975), abs=1e-4)
    assert tails(5)[0] < 0.005
