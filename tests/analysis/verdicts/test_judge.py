"""Verdicts at the edges of a margin, and where one side is flattered by the trials that it has not."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from middlemark.analysis.verdicts.difference import Difference, NoDifference, Test
from middlemark.analysis.verdicts.judge import (
    Judgement,
    Setbacks,
    Verdict,
    count_setbacks,
    judge_change,
    judge_difference,
    judge_interval,
    significantly_more,
)
from middlemark.analysis.verdicts.values import BlockValues


def of_ratio(low: float, high: float) -> Difference:
    return Difference((low * high) ** 0.5, low, high, 5, 5, is_ratio=True, test=Test.PAIRED_T)


NONE = Setbacks(10)
SOME, MOST, ALL = (Setbacks(10, {"overloaded": n}) for n in (1, 7, 10))


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.97, 1.04, Verdict.NO_DIFFERENCE),
        (1.01, 1.04, Verdict.NO_DIFFERENCE),
        (0.97, 1.06, Verdict.UNDECIDED),
        (1.01, 1.06, Verdict.WORSE),
        (0.80, 0.99, Verdict.BETTER),
        (0.5, 2.0, Verdict.UNDECIDED),
    ],
)
def test_an_interval_comes_to_one_verdict(low: float, high: float, expected: Verdict) -> None:
    found = of_ratio(low, high)
    assert judge_difference(found, lower_is_better=True, margin=0.05).verdict is expected
    assert judge_difference(found, lower_is_better=False, margin=0.05).verdict is expected.inverse


@pytest.mark.parametrize(
    ("sides", "expected"),
    [
        ((NONE, NONE), Verdict.BETTER),
        ((NONE, SOME), Verdict.UNDECIDED),  # the second is better in the trials that are left
        ((SOME, NONE), Verdict.BETTER),
        ((SOME, SOME), Verdict.BETTER),
        ((NONE, MOST), Verdict.WORSE),
        ((ALL, NONE), Verdict.BETTER),
    ],
)
def test_survivors_win_nothing(sides: tuple[Setbacks, Setbacks], expected: Verdict) -> None:
    found = judge_difference(of_ratio(0.5, 0.6), lower_is_better=True, setbacks=sides)
    assert found.verdict is expected
    if expected is not Verdict.BETTER:
        assert "overloaded" in found.reason


def test_a_side_that_could_not_keep_up_is_not_equal_to_one_that_could() -> None:
    assert (
        judge_difference(of_ratio(0.99, 1.01), lower_is_better=True, setbacks=(NONE, SOME)).verdict is Verdict.UNDECIDED
    )


def test_what_is_worse_though_flattered_is_worse() -> None:
    assert judge_difference(of_ratio(1.5, 1.6), lower_is_better=True, setbacks=(NONE, SOME)).verdict is Verdict.WORSE


def test_without_a_difference_the_reason_is_kept() -> None:
    found = judge_difference(NoDifference("too few"), lower_is_better=True)
    assert (found.verdict, found.reason) == (Verdict.UNDECIDED, "too few")


@pytest.mark.parametrize(
    ("low", "high", "sides", "expected"),
    [
        (1.06, 1.2, (NONE, NONE), Judgement.REFUTED),
        (0.9, 1.04, (NONE, NONE), Judgement.HOLDS),
        (0.9, 1.06, (NONE, NONE), Judgement.UNDECIDED),
        (0.9, 1.04, (NONE, SOME), Judgement.UNDECIDED),  # head passes on the trials that are left
        (0.9, 1.04, (NONE, MOST), Judgement.REFUTED),
        (1.06, 1.2, (NONE, SOME), Judgement.REFUTED),
        (1.06, 1.2, (SOME, NONE), Judgement.UNDECIDED),  # the base is flattered
        (0.9, 1.04, (SOME, NONE), Judgement.HOLDS),
    ],
)
def test_a_change_stays_within_a_bound_only_where_the_trials_carry_it(
    low: float, high: float, sides: tuple[Setbacks, Setbacks], expected: Judgement
) -> None:
    found = judge_change(of_ratio(low, high), 1.05, above=True, lower_is_better=True, setbacks=sides)
    assert found.judgement is expected
    more = judge_change(of_ratio(1 / high, 1 / low), 1 / 1.05, above=False, lower_is_better=False, setbacks=sides)
    assert more.judgement is expected


@given(st.floats(0.1, 10), st.floats(1, 3), st.floats(0.1, 10), st.booleans())
def test_only_an_interval_wholly_on_one_side_decides(low: float, wide: float, bound: float, above: bool) -> None:  # noqa: FBT001
    high = low * wide
    found = judge_interval(low, high, bound, above=above)
    if low <= bound < high:
        assert found is Judgement.UNDECIDED
    elif found is Judgement.HOLDS:
        assert (low > bound) if above else (high <= bound)
    else:
        assert (high <= bound) if above else (low > bound)


def test_setbacks_are_the_middlewares_own_and_the_machines_are_none() -> None:
    kinds = Counter({"valid": 6, "invalid": 3, "failed": 1, "no_communication": 2, "not_applicable": 4})
    found = count_setbacks(kinds, BlockValues({1: 5.0, 2: float("inf")}), n_overloaded=1)
    assert (found.n_trials, found.n) == (9, 5)
    assert "failed in 1" in str(found)
    assert str(found).endswith("of 9 trials")


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [(7, 0, True), (2, 0, False), (10, 5, True), (0, 0, False), (0, 7, False)],
)
def test_only_what_chance_does_not_explain_is_surely_more(one: int, other: int, *, expected: bool) -> None:
    assert significantly_more(Setbacks(10, {"failed": one}), Setbacks(10, {"failed": other})) is expected


def test_what_the_machine_left_of_one_side_alone_is_a_selection() -> None:
    sides = (Setbacks(10), Setbacks(3, n_disturbed=7))
    found = judge_difference(of_ratio(0.5, 0.6), lower_is_better=True, setbacks=sides)
    assert found.verdict is Verdict.UNDECIDED
    assert "7 of 10" in found.reason
    few = (Setbacks(10), Setbacks(9, n_disturbed=1))
    assert judge_difference(of_ratio(0.5, 0.6), lower_is_better=True, setbacks=few).verdict is Verdict.BETTER


def test_three_of_three_against_none_of_three_is_no_chance() -> None:
    assert significantly_more(Setbacks(3, {"failed": 3}), Setbacks(3))
    assert not significantly_more(Setbacks(2, {"failed": 2}), Setbacks(2))
