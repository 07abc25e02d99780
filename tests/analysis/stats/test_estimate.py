"""Figures over trials against SciPy, and what they honestly say with few trials."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from middlemark.analysis.stats.estimate import (
    Estimate,
    Method,
    ends_of_median,
    median_of_trials,
    quantile_of_trials,
    share_of_trials,
)
from middlemark.analysis.stats.intervals import coverage
from middlemark.analysis.stats.quantiles import (
    Lost,
    Measured,
    Partial,
    Samples,
    Value,
    exact_sketch,
    quantile,
    sketch_of,
)
from populations import drawn_stalling_times_ns, drawn_times_ns

values = st.lists(st.integers(1, 10**9).map(float), min_size=2, max_size=12)


def _quantile(trials: list[Samples], level: float) -> Estimate:
    own = [quantile(samples, level) for samples in trials]
    return quantile_of_trials(own, [sketch_of(exact_sketch(samples)) for samples in trials], level)


@given(values)
def test_finite_values_have_an_interval_with_an_end(trials: list[float]) -> None:
    assert math.isfinite(ends_of_median(np.array(trials) / 3)[1])


@given(values)
def test_the_interval_holds_the_estimate_and_stays_within_the_trials(trials: list[float]) -> None:
    found = median_of_trials([Measured(each, 10) for each in trials])
    assert found.value == np.median(trials)
    assert found.low is not None
    assert found.high is not None
    hair = 1e-9 * max(trials)  # SciPy interpolates between resampled medians
    assert min(trials) - hair <= found.low <= found.value <= found.high <= max(trials) + hair
    assert (found.n_trials, found.n_messages) == (len(trials), 10 * len(trials))


def test_three_trials_give_their_range_and_say_that_it_covers_three_quarters() -> None:
    found = median_of_trials([Measured(each, 1) for each in (5.0, 3.0, 9.0)])
    assert (found.value, found.low, found.high, found.coverage) == (5.0, 3.0, 9.0, 0.75)


@pytest.mark.parametrize(("n", "expected"), [(2, 0.5), (3, 0.75), (5, 0.9375), (6, 0.95), (30, 0.95)])
def test_coverage_is_that_of_the_sign_test_and_at_most_the_requested_one(n: int, expected: float) -> None:
    assert coverage(n) == expected


def test_the_range_of_three_trials_covers_the_median_in_three_of_four_cases() -> None:
    drawn = np.random.default_rng(4).lognormal(size=(4000, 3))
    holds = (drawn.min(axis=1) < 1) & (drawn.max(axis=1) > 1)
    assert holds.mean() == pytest.approx(coverage(3), abs=0.02)


def test_one_trial_has_a_value_and_no_interval() -> None:
    found = median_of_trials([Measured(5.0, 7)])
    assert (found.value, found.low, found.high, found.coverage, found.n_trials) == (5.0, None, None, None, 1)


def test_no_trial_has_no_value_but_a_reason() -> None:
    assert median_of_trials([]).reason == "no valid trial measured it"


def test_the_same_trials_give_the_same_interval() -> None:
    trials = [Measured(float(each), 1) for each in np.random.default_rng(1).normal(100, 10, 9)]
    assert median_of_trials(trials) == median_of_trials(trials)


def test_a_quantile_that_each_trial_supports_is_the_median_of_theirs() -> None:
    trials = [np.arange(1000) + shift for shift in (0, 50, 10)]
    found = _quantile(trials, 0.99)
    assert (found.value, found.method) == (999.0, Method.MEDIAN_OF_TRIALS)


def test_a_quantile_that_only_all_trials_together_support_is_pooled_and_marked() -> None:
    rng = np.random.default_rng(3)
    trials = [np.sort(rng.integers(0, 10**6, 400)) for _ in range(3)]
    found = _quantile(trials, 0.99)
    assert found.method is Method.POOLED
    assert found.value == np.quantile(np.concatenate(trials), 0.99, method="inverted_cdf")
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.value <= found.high


def test_the_pooled_interval_is_wider_where_trials_differ() -> None:
    rng = np.random.default_rng(5)
    own = rng.lognormal(10, 0.3, (6, 300))
    alike, apart = (
        _quantile([np.sort((row * scale).astype(np.int64)) for row, scale in zip(own, scales, strict=True)], 0.99)
        for scales in ([1.0] * 6, [0.7, 0.8, 0.9, 1.1, 1.25, 1.4])
    )
    assert None not in {alike.low, alike.high, apart.low, apart.high}
    assert (apart.high or 0) / (apart.low or 1) > 1.2 * (alike.high or 0) / (alike.low or 1)
    assert (alike.is_rough, alike.coverage) == (False, 0.95)
    assert (apart.is_rough, apart.coverage) == (True, None)


@pytest.mark.parametrize(("spread", "least", "most"), [(0.0, 0.0, 0.01), (0.05, 0.0, 0.05), (0.2, 0.85, 1.0)])
def test_pooled_intervals_are_called_rough_where_trials_differ(spread: float, least: float, most: float) -> None:
    rng = np.random.default_rng(9)
    drawn = [drawn_times_ns(rng, "log-normal", spread, 6, 400) for _ in range(200)]
    found = [_quantile(trials, 0.99).is_rough for trials in drawn]
    assert least <= np.mean(found) <= most


@pytest.mark.parametrize("n_trials", [6, 10])
def test_pooled_intervals_are_called_rough_where_the_tail_is_that_of_a_few_trials(n_trials: int) -> None:
    """One trial in five has a message in a hundred that takes thirty times as long; all medians are alike."""
    rng = np.random.default_rng(11)
    drawn = [drawn_stalling_times_ns(rng, "log-normal", n_trials, 4000) for _ in range(60)]
    stalls = [any(trial[-1] > 10 * np.median(trial) for trial in trials) for trials in drawn]
    found = [_quantile(trials, 0.999) for trials in drawn]
    assert np.mean([each.is_rough for each, some in zip(found, stalls, strict=True) if some]) > 0.95
    assert np.mean([each.is_rough for each, some in zip(found, stalls, strict=True) if not some]) < 0.1


def test_trials_of_which_all_messages_take_the_same_time_are_alike() -> None:
    trials = [np.full(400, 7, dtype=np.int64) for _ in range(3)]
    found = _quantile(trials, 0.99)
    assert (found.low, found.value, found.high, found.is_rough) == (7, 7, 7, False)


@given(st.lists(st.lists(st.integers(1, 1000), min_size=34, max_size=60), min_size=3, max_size=8))
def test_whatever_trials_are_pooled_the_interval_holds_the_quantile(trials: list[list[int]]) -> None:
    found = _quantile([np.sort(np.array(each, dtype=np.int64)) for each in trials], 0.9)
    if found.method is Method.POOLED:
        assert found.low is not None
        assert found.value is not None
        assert found.high is not None
        assert found.low <= found.value <= found.high
        assert found.coverage in {None, 0.95}


def test_a_quantile_that_nothing_supports_says_how_many_samples_there_were() -> None:
    found = _quantile([np.arange(100), np.arange(120)], 0.99)
    assert (found.value, found.method, found.reason) == (None, Method.NONE, "too few samples (n = 220)")


def test_a_trial_without_samples_does_not_break_the_pooled_interval() -> None:
    found = _quantile([np.arange(900), np.arange(0), np.arange(200)], 0.99)
    assert found.method is Method.POOLED
    assert found.low is not None


def test_a_loss_that_one_trial_of_three_has_is_not_hidden_by_a_median() -> None:
    found = share_of_trials([Measured(0.0, 100), Measured(0.0, 100), Measured(0.3, 200)])
    assert (found.value, found.method, found.n_messages) == (pytest.approx(0.15), Method.SHARE_OF_ALL, 400)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.001
    assert found.high > 0.3


def test_no_loss_among_few_messages_is_not_proof_of_none() -> None:
    found = share_of_trials([Measured(0.0, 100)] * 3)
    assert (found.value, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(1 - 0.025 ** (1 / 300))


def test_a_share_of_nothing_has_no_value() -> None:
    assert share_of_trials([]).reason == "no valid trial measured it"


def test_where_most_trials_lost_so_many_there_is_no_median_and_it_says_why() -> None:
    trials = [Measured(5.0, 1000), Measured(6.0, 1000), *[Lost(1000, 20)] * 4]
    found = median_of_trials(trials)
    assert (found.value, found.low, found.high) == (None, None, None)
    assert found.reason == "2 % of messages never arrived in 4 of 6 trials"
    assert median_of_trials([Lost(1000, 20)]).reason == "2 % of 1000 messages never arrived"


@pytest.mark.parametrize("n", [3, 6, 12])
def test_one_trial_that_lost_many_leaves_an_interval_without_an_upper_end(n: int) -> None:
    found = median_of_trials([Lost(1000, 20), *(Measured(float(each), 1000) for each in range(1, n))])
    assert found.value == np.median([math.inf, *range(1, n)])
    assert found.low is not None
    assert found.low >= 1
    assert (found.high == math.inf) == (n <= 6)
    assert found.n_trials == n


def test_the_lost_of_all_trials_are_in_their_pooled_quantile() -> None:
    samples = [np.arange(1, 291) + trial for trial in range(4)]

    def pooled_p99(*lost: int) -> Estimate:
        trials = [exact_sketch(each, lost=n) for each, n in zip(samples, lost, strict=True)]
        return quantile_of_trials([each.quantile(0.99) for each in trials], trials, 0.99)

    none_lost, few_lost, many_lost = pooled_p99(0, 0, 0, 0), pooled_p99(0, 0, 3, 5), pooled_p99(10, 10, 10, 10)
    assert none_lost.value is not None
    assert few_lost.value is not None
    assert none_lost.value < few_lost.value
    assert few_lost.high == math.inf
    assert (many_lost.value, many_lost.reason) == (None, "3.3 % of 1200 messages never arrived")


def test_one_trial_without_all_its_samples_refuses_the_figure() -> None:
    own: list[Value] = [Measured(5.0, 100), Partial(60, 90)]
    found = quantile_of_trials(own, [exact_sketch(np.arange(1, 101))], 0.5)
    assert (found.value, found.method) == (None, Method.PARTIAL)
    assert found.reason == "only the first 60 of 90 messages left a sample"
