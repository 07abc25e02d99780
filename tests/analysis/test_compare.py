"""Comparisons against SciPy's paired test, and rankings whose answer is known."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from middlemark.analysis.compare import Verdict, paired_ratio, ranking, verdict_of

positive = st.floats(1.0, 1e6)
blocks = st.dictionaries(st.integers(1, 12), st.tuples(positive, positive), min_size=2)


@given(blocks)
def test_the_interval_leaves_out_one_exactly_where_the_paired_t_test_rejects(
    pairs: dict[int, tuple[float, float]],
) -> None:
    first = {block: a for block, (a, _) in pairs.items()}
    second = {block: b for block, (_, b) in pairs.items()}
    found = paired_ratio(first, second)
    assert found is not None
    assert found.low <= found.value <= found.high
    logarithms = np.log([a / b for a, b in pairs.values()])
    if np.std(logarithms) > 1e-6:
        p = scipy.stats.ttest_1samp(logarithms, 0).pvalue
        if abs(p - 0.05) > 1e-6:
            assert (found.verdict is not Verdict.CANNOT_TELL) == (p < 0.05)


@given(blocks)
def test_seen_from_the_other_side_a_comparison_says_the_same(pairs: dict[int, tuple[float, float]]) -> None:
    first = {block: a for block, (a, _) in pairs.items()}
    second = {block: b for block, (_, b) in pairs.items()}
    there, back = paired_ratio(first, second), paired_ratio(second, first)
    assert there is not None
    assert back is not None
    assert back.value == pytest.approx(there.inverse.value)
    assert {there.verdict, back.verdict} in ({Verdict.LESS, Verdict.MORE}, {Verdict.CANNOT_TELL})


def test_only_blocks_that_both_have_are_paired() -> None:
    found = paired_ratio({1: 2.0, 2: 4.0, 3: 100.0}, {1: 1.0, 2: 2.0, 4: 7.0})
    assert found is not None
    assert (found.value, found.n_blocks) == (pytest.approx(2.0), 2)


@pytest.mark.parametrize(("first", "second"), [({1: 2.0}, {1: 1.0}), ({1: 2.0, 2: 0.0}, {1: 1.0, 2: 1.0}), ({}, {})])
def test_without_two_blocks_or_with_nought_nothing_can_be_told(
    first: dict[int, float], second: dict[int, float]
) -> None:
    assert paired_ratio(first, second) is None
    assert verdict_of(first, second) is Verdict.CANNOT_TELL


def test_drift_that_hits_a_block_alike_does_not_hide_a_difference() -> None:
    drift = {block: math.exp(block) for block in range(1, 6)}
    slower = {block: 1.1 * value * (1 + block / 1000) for block, value in drift.items()}
    assert verdict_of(drift, slower) is Verdict.LESS


def test_the_same_against_the_same_is_told_apart_in_one_case_of_twenty() -> None:
    rng = np.random.default_rng(7)
    told = 0
    for _ in range(2000):
        first, second = rng.lognormal(10, 0.1, (2, 3))
        verdict = verdict_of(dict(enumerate(first)), dict(enumerate(second)))
        told += verdict is not Verdict.CANNOT_TELL
    assert told / 2000 == pytest.approx(0.05, abs=0.015)


def blocks_of(*values: float) -> dict[int, float]:
    return dict(enumerate(values, start=1))


def test_ties_are_ranked_as_ties_and_name_each_other() -> None:
    places = ranking(
        {"c": blocks_of(30.0, 30.3, 29.9), "a": blocks_of(10.0, 10.1, 9.9), "b": blocks_of(10.1, 9.9, 10.0)},
        lower_is_better=True,
    )
    assert [(place.key, place.rank, place.tied_with) for place in places] == [
        ("a", 1, ("b",)),
        ("b", 1, ("a",)),
        ("c", 3, ()),
    ]


def test_more_is_better_where_it_is_said_so() -> None:
    places = ranking({"a": blocks_of(10.0, 10.1), "b": blocks_of(50.0, 50.6)}, lower_is_better=False)
    assert [place.key for place in places] == ["b", "a"]


@given(
    st.dictionaries(st.text(min_size=1, max_size=3), st.lists(positive, min_size=3, max_size=3), min_size=1, max_size=6)
)
def test_a_rank_is_one_more_than_the_number_of_those_certainly_better(trials: dict[str, list[float]]) -> None:
    values = {name: blocks_of(*each) for name, each in trials.items()}
    for place in ranking(values, lower_is_better=True):
        better = [o for o in values if verdict_of(values[o], values[place.key]) is Verdict.LESS and o != place.key]
        assert place.rank == 1 + len(better)
        assert place.key not in place.tied_with
