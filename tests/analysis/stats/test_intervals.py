"""Intervals against SciPy's order statistics, and by simulation: nominal 95 % must cover 93 to 97 %."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from middlemark.analysis.stats.intervals import coverage, median_interval, pooled_quantile_ranks, share_interval
from middlemark.analysis.stats.quantiles import exact_sketch, pool_sketches, sketch_of
from middlemark.analysis.verdicts.difference import Difference, ratio
from middlemark.analysis.verdicts.values import BlockValues
from middlemark.errors import InternalError
from populations import drawn_events, drawn_times_ns, true_quantile_ns

REPEATS = 4000
POOLED_REPEATS = 400
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


def _error(repeats: int) -> float:
    """Three times that of a simulation: what chance makes of it in one seed of four hundred."""
    return 3 * math.sqrt(0.05 * 0.95 / repeats)


@pytest.mark.parametrize("n_trials", [3, 6, 10, 20, 30])
@pytest.mark.parametrize("share", [0.001, 0.01, 0.1, 0.5])
@pytest.mark.parametrize("variation", [0.0, 0.2, 0.5])
def test_the_interval_of_a_share_covers_93_to_97_percent(n_trials: int, share: float, variation: float) -> None:
    rng, messages = np.random.default_rng([n_trials, 7]), round(20 / share)
    events = np.array([drawn_events(rng, share, variation, n_trials, messages) for _ in range(REPEATS)]).T
    low, high = share_interval(events, np.full(n_trials, messages))
    assert 0.93 - _error(REPEATS) <= np.mean((low <= share) & (share <= high)) <= 0.97 + _error(REPEATS)


@pytest.mark.parametrize("n_trials", [3, 6, 10])
@pytest.mark.parametrize("variation", [0.0, 1.0])
def test_the_interval_of_a_share_of_few_events_covers_at_least_93_percent(n_trials: int, variation: float) -> None:
    rng = np.random.default_rng([n_trials, 8])
    events = np.array([drawn_events(rng, 0.01, variation, n_trials, 100) for _ in range(REPEATS)]).T
    low, high = share_interval(events, np.full(n_trials, 100))
    assert np.mean((low <= 0.01) & (high >= 0.01)) >= 0.93 - _error(REPEATS)  # whole events can't hit 95 %


def test_no_event_gives_the_exact_interval_of_independent_messages() -> None:
    low, high = share_interval(np.array([0, 0, 0]), np.array([1000, 1000, 2000]))
    exact = scipy.stats.binomtest(0, 4000).proportion_ci(0.95, method="exact")
    assert (low, high) == pytest.approx((exact.low, exact.high))
    low, high = share_interval(np.array([5, 5]), np.array([5, 5]))
    assert (low, high) == pytest.approx((0.025**0.1, 1))


def test_trials_alike_by_chance_keep_half_the_width_of_independent_messages() -> None:
    low, high = share_interval(np.array([400, 400, 400]), np.array([4000, 4000, 4000]))
    exact = scipy.stats.binomtest(1200, 12_000).proportion_ci(0.95, method="exact")
    assert (high - low) / (exact.high - exact.low) == pytest.approx(0.5, abs=0.01)


def test_shares_along_further_axes_are_each_as_alone() -> None:
    events, sizes = np.array([[1, 7, 0], [3, 8, 0], [2, 30, 0]]), np.array([90, 100, 110])
    low, high = share_interval(events, sizes)
    alone = np.array([share_interval(column, sizes) for column in events.T])
    assert pytest.approx(alone) == np.array([low, high]).T


@pytest.mark.parametrize(
    ("level", "n_trials", "messages"), [(0.9, 10, 30), (0.99, 6, 300), (0.99, 10, 150), (0.999, 20, 700)]
)
@pytest.mark.parametrize("spread", [0.0, 0.05])
def test_the_interval_of_a_pooled_quantile_covers_93_to_97_percent(
    level: float, n_trials: int, messages: int, spread: float
) -> None:
    held = _held("exponential", level, n_trials, messages, spread)
    assert 0.93 - _error(POOLED_REPEATS) <= held <= 0.97 + _error(POOLED_REPEATS)


@pytest.mark.parametrize("shape", ["exponential", "heavy-tailed"])
def test_where_trials_spread_by_20_percent_too(shape: str) -> None:
    held = _held(shape, 0.99, 10, 300, 0.2)
    assert 0.93 - _error(POOLED_REPEATS) <= held <= 0.97 + _error(POOLED_REPEATS)


def test_of_three_trials_it_covers_at_least_that() -> None:
    assert _held("exponential", 0.99, 3, 500, 0.05) >= 0.95


def _held(shape: str, level: float, n_trials: int, messages: int, spread: float) -> float:
    rng = np.random.default_rng([n_trials, messages, 8])
    true_ns, held = true_quantile_ns(shape, spread, level), 0
    for _ in range(POOLED_REPEATS):
        trials = [sketch_of(exact_sketch(times)) for times in drawn_times_ns(rng, shape, spread, n_trials, messages)]
        together = pool_sketches(trials)
        low, high = together.at(np.array(pooled_quantile_ranks(trials, together, level)))
        held += low <= true_ns <= high
    return held / POOLED_REPEATS


def test_a_quantile_of_trials_that_measure_the_same_every_time_is_that() -> None:
    trials = [sketch_of(exact_sketch(np.full(300, 7))) for _ in range(5)]
    low, high = pooled_quantile_ranks(trials, pool_sketches(trials), 0.99)
    assert 1 <= low <= 1485 <= high <= 1500


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
        found = ratio(BlockValues(dict(enumerate(second))), BlockValues(dict(enumerate(first))), paired=True)
        assert isinstance(found, Difference)
        covers += found.low <= 1.3 <= found.high
    assert 0.93 <= covers / REPEATS <= 0.97


@pytest.mark.parametrize(
    ("events", "sizes"),
    [([-1, 2], [10, 10]), ([3, 11], [10, 10]), ([0, 0], [0, 0]), ([1], [10]), ([1, 1], [10, -10])],
)
def test_counts_that_can_not_be_have_no_interval(events: list[int], sizes: list[int]) -> None:
    with pytest.raises(InternalError):
        share_interval(np.array(events), np.array(sizes))


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=2, max_size=12))
def test_the_interval_of_a_share_holds_it_and_lies_within_0_and_1(
    counts: list[tuple[int, int]],
) -> None:
    events = np.array([own for own, _ in counts])
    sizes = np.array([own + others for own, others in counts])
    if not sizes.sum():
        return
    low, high = share_interval(events, sizes)
    assert 0 <= low <= events.sum() / sizes.sum() <= high <= 1
