"""Differences against SciPy's tests, and intervals that hold what is true as often as they claim."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from middlemark.analysis.stats.intervals import share_interval
from middlemark.analysis.verdicts.difference import Difference, NoDifference, Test, difference_of_shares, ratio
from middlemark.analysis.verdicts.values import BlockValues, with_bound
from populations import drawn_events

positive = st.floats(1.0, 1e6)


def known(values: list[float]) -> BlockValues:
    return BlockValues(dict(enumerate(values)))


def shares(events: list[int], size: int) -> dict[int, tuple[int, int]]:
    return {block: (n, size) for block, n in enumerate(events)}


@given(st.lists(st.tuples(positive, positive), min_size=3, max_size=5))
def test_of_three_to_five_blocks_a_paired_ratio_is_scipys_paired_test(pairs: list[tuple[float, float]]) -> None:
    first, second = (list(side) for side in zip(*pairs, strict=True))
    found = ratio(known(first), known(second), paired=True)
    assert isinstance(found, Difference)
    assert found.test is Test.PAIRED_T
    changes = np.log(second) - np.log(first)
    if np.std(changes) > 1e-6:
        expected = scipy.stats.ttest_rel(np.log(second), np.log(first))
        assert found.p_value == pytest.approx(float(expected.pvalue), abs=1e-9)
        assert math.log(found.value) == pytest.approx(float(np.mean(changes)))
        assert math.log(found.low) == pytest.approx(max(expected.confidence_interval().low, -50), abs=1e-6)


@given(st.lists(st.tuples(positive, positive), min_size=6, max_size=25, unique_by=lambda pair: pair[1] / pair[0]))
def test_from_six_blocks_on_it_is_scipys_signed_rank_test(pairs: list[tuple[float, float]]) -> None:
    first, second = (list(side) for side in zip(*pairs, strict=True))
    found = ratio(known(first), known(second), paired=True)
    assert isinstance(found, Difference)
    assert found.test is Test.SIGNED_RANKS
    changes = np.log(second) - np.log(first)
    assert found.low <= found.value <= found.high
    if len(set(np.abs(changes))) == len(changes) and changes.all():
        p_value = float(scipy.stats.wilcoxon(changes, method="exact").pvalue)
        assert found.p_value == pytest.approx(p_value)
        if abs(p_value - 0.05) > 1e-9:
            assert (found.low > 1 or found.high < 1) == (p_value < 0.05)


@given(st.lists(positive, min_size=3, max_size=9), st.lists(positive, min_size=3, max_size=9))
def test_an_unpaired_ratio_is_scipys_welch_test(first: list[float], second: list[float]) -> None:
    if np.std(np.log(first)) < 1e-6 or np.std(np.log(second)) < 1e-6:
        return
    found = ratio(known(first), known(second), paired=False)
    assert isinstance(found, Difference)
    expected = scipy.stats.ttest_ind(np.log(second), np.log(first), equal_var=False)
    span = expected.confidence_interval(0.95)
    assert math.log(found.low) == pytest.approx(max(span.low, -50), abs=1e-6)
    assert math.log(found.high) == pytest.approx(min(span.high, 50), abs=1e-6)
    assert found.p_value == pytest.approx(float(expected.pvalue), abs=1e-9)


@pytest.mark.parametrize("n_blocks", [1, 2])
@pytest.mark.parametrize("paired", [True, False])
def test_two_blocks_are_not_enough_for_a_verdict(n_blocks: int, *, paired: bool) -> None:
    found = ratio(known([10.0, 10.1][:n_blocks]), known([20.0, 20.2][:n_blocks]), paired=paired)
    assert isinstance(found, NoDifference)
    assert "fewer than 3" in found.reason


def test_only_blocks_that_both_have_are_paired() -> None:
    found = ratio(
        BlockValues({1: 2.0, 2: 4.0, 3: 6.0, 4: 99.0}), BlockValues({1: 1.0, 2: 2.0, 3: 3.0, 5: 7.0}), paired=True
    )
    assert isinstance(found, Difference)
    assert (found.value, found.n_first) == (pytest.approx(0.5), 3)


def test_drift_that_hits_a_block_alike_hides_no_difference() -> None:
    drift = [math.exp(block) for block in range(6)]
    slower = [1.1 * value * (1 + block / 1000) for block, value in enumerate(drift)]
    found = ratio(known(drift), known(slower), paired=True)
    assert isinstance(found, Difference)
    assert found.low > 1.09


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("blocks", [3, 5, 6, 10])
def test_equals_differ_in_at_most_one_case_of_twenty(blocks: int, *, paired: bool) -> None:
    rng = np.random.default_rng([blocks, paired])
    told = 0
    for first, second in rng.lognormal(10, 0.1, (2000, 2, blocks)):
        found = ratio(known(first.tolist()), known(second.tolist()), paired=paired)
        assert isinstance(found, Difference)
        told += not found.low <= 1 <= found.high
    assert told / 2000 <= 0.05 + 3 * (0.05 * 0.95 / 2000) ** 0.5


def test_one_trial_gone_wrong_does_not_hide_a_difference() -> None:
    """Of twelve blocks one has a trial that took twice as long; Student's t would hardly ever find what the others say."""
    rng = np.random.default_rng(5)
    found = {"ranks": 0, "student": 0}
    for _ in range(200):
        first, second = rng.lognormal(0, 0.03, 12), 1.1 * rng.lognormal(0, 0.03, 12)
        first[rng.integers(12)] *= 2
        ours = ratio(known(first.tolist()), known(second.tolist()), paired=True)
        assert isinstance(ours, Difference)
        found["ranks"] += ours.low > 1
        found["student"] += bool(scipy.stats.ttest_rel(np.log(second), np.log(first)).pvalue < 0.05)
    assert found["ranks"] > 150
    assert found["student"] < found["ranks"] / 4


def test_no_loss_in_few_messages_does_not_show_that_there_is_none() -> None:
    found = difference_of_shares(shares([0, 0, 0], 100), shares([0, 0, 0], 100))
    assert isinstance(found, Difference)
    assert found.value == 0
    assert found.low < -0.01
    assert found.high > 0.01


def test_one_message_lost_in_each_of_three_trials_is_not_surely_worse() -> None:
    found = difference_of_shares(shares([0, 0, 0], 300), shares([1, 1, 1], 300))
    assert isinstance(found, Difference)
    assert found.value == pytest.approx(1 / 300)
    assert found.low < 0


def test_a_loss_that_many_messages_show_is_found() -> None:
    found = difference_of_shares(shares([0, 1, 0], 10_000), shares([200, 190, 210], 10_000))
    assert isinstance(found, Difference)
    assert 0.015 < found.low < found.value < found.high < 0.025


@given(st.lists(st.integers(0, 200), min_size=3, max_size=8), st.lists(st.integers(0, 200), min_size=3, max_size=8))
def test_it_is_never_narrower_than_independent_messages_allow(first: list[int], second: list[int]) -> None:
    found = difference_of_shares(shares(first, 200), shares(second, 200))
    assert isinstance(found, Difference)
    ends = []
    for events in (first, second):
        alike = [sum(events) // len(events)] * len(events)
        low, high = share_interval(np.array(alike), np.full(len(alike), 200), max_weight=1)
        ends.append(float(high - low))
    assert found.high - found.low >= 0.98 * max(ends)
    assert -1 <= found.low <= found.value <= found.high <= 1


@pytest.mark.parametrize("variation", [0.0, 0.5])
@pytest.mark.parametrize("share", [0.001, 0.02])
@pytest.mark.parametrize("trials", [3, 6, 10])
def test_equal_losses_differ_in_at_most_one_case_of_twenty(trials: int, share: float, variation: float) -> None:
    rng = np.random.default_rng([trials, int(1000 * share), int(10 * variation)])
    told = 0
    for _ in range(500):
        sides = [shares(drawn_events(rng, share, variation, trials, 1000).tolist(), 1000) for _ in range(2)]
        found = difference_of_shares(*sides)
        assert isinstance(found, Difference)
        told += not found.low <= 0 <= found.high
    assert told / 500 <= 0.05 + 3 * (0.05 * 0.95 / 500) ** 0.5


def test_what_the_clocks_leave_open_widens_a_ratio() -> None:
    first, second = [100e3, 101e3, 99e3], [120e3, 121e3, 119e3]
    exact = ratio(known(first), known(second), paired=True)
    open_ = ratio(with_bound(dict(enumerate(first)), 15_000), with_bound(dict(enumerate(second)), 15_000), paired=True)
    assert isinstance(exact, Difference)
    assert isinstance(open_, Difference)
    assert exact.low > 1
    assert open_.low < 1 < open_.high
    assert open_.p_value == 1


def test_the_smallest_detectable_difference_is_found_in_four_cases_of_five() -> None:
    rng = np.random.default_rng(9)
    spread, blocks = 0.05, 10
    least = []
    for _ in range(200):
        found = ratio(*(known(rng.lognormal(0, spread, blocks).tolist()) for _ in range(2)), paired=True)
        assert isinstance(found, Difference)
        assert found.detectable is not None
        least.append(found.detectable)
    shift, told = 1 + float(np.median(least)), 0
    for _ in range(500):
        first, second = rng.lognormal(0, spread, blocks), shift * rng.lognormal(0, spread, blocks)
        found = ratio(known(first.tolist()), known(second.tolist()), paired=True)
        assert isinstance(found, Difference)
        told += found.low > 1
    assert 0.7 < told / 500 < 0.9


@pytest.mark.parametrize("blocks", [4, 8])
def test_trials_that_do_not_differ_leave_open_what_would_have_been_found(blocks: int) -> None:
    same = known([3.7] * blocks)
    found = ratio(same, same, paired=True)
    assert isinstance(found, Difference)
    assert not found.has_width
    assert found.detectable == math.inf
