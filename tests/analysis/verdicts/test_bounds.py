"""Bounds are decided by intervals that cover what they claim, by nobody's survivors, and by one message of a maximum."""

import math

import numpy as np
import pytest

from middlemark.analysis.stats.estimate import Estimate, Method
from middlemark.analysis.verdicts.bounds import BoundTest, Evidence, judge_against_bound
from middlemark.analysis.verdicts.judge import Judgement, Setbacks
from middlemark.analysis.verdicts.values import BlockValues, with_bound

HOLDS, REFUTED, UNDECIDED = Judgement.HOLDS, Judgement.REFUTED, Judgement.UNDECIDED


def of(*values: float, setbacks: Setbacks | None = None, n_lost: int = 0, is_maximum: bool = False) -> Evidence:
    known = BlockValues(dict(enumerate(values)))
    return Evidence(
        block_values=known, setbacks=setbacks or Setbacks(len(values)), n_lost=n_lost, is_maximum=is_maximum
    )


def judged(found: Evidence, bound: float, *, above: bool = False) -> Judgement:
    return judge_against_bound(found, bound, above=above).result.judgement


def pooled(low: float, high: float, coverage: float | None, trials: int = 6) -> Evidence:
    estimate = Estimate(math.sqrt(low * high), low, high, coverage, trials, 10_000, Method.POOLED)
    return Evidence(block_values=BlockValues({}), estimate=estimate, setbacks=Setbacks(trials))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([10.0, 10.1], UNDECIDED),
        ([10.0, 10.1, 9.9], HOLDS),
        ([14.0, 10.0, 12.0], UNDECIDED),  # all below, but their interval is not
        ([30.0, 30.1, 29.9], REFUTED),
        ([10.0, 10.2, 9.8, 10.1, 10.3, 14.9], HOLDS),
        ([10.0, 10.2, 9.8, 10.1, 10.3, 60.0], UNDECIDED),
    ],
)
def test_few_trials_decide_only_what_is_far_from_the_bound(values: list[float], expected: Judgement) -> None:
    assert judged(of(*values), 15.0) is expected


@pytest.mark.parametrize("trials", [3, 4, 6, 10])
def test_a_bound_that_is_the_true_value_is_decided_in_one_case_of_twenty(trials: int) -> None:
    """Two trials fell on one side in half of all cases, three in a quarter."""
    rng = np.random.default_rng(trials)
    decided = sum(judged(of(*rng.lognormal(0, 0.1, trials)), 1.0) is not UNDECIDED for _ in range(1000))
    assert decided / 1000 <= 0.05 + 3 * (0.05 * 0.95 / 1000) ** 0.5


def test_a_rough_interval_decides_nothing() -> None:
    assert judged(pooled(10.0, 12.0, 0.95), 15.0) is HOLDS
    found = judge_against_bound(pooled(10.0, 12.0, None), 15.0, above=False)
    assert found.result.judgement is UNDECIDED
    assert "differ too much" in found.result.reason


def test_one_message_beyond_a_maximum_refutes_whatever_the_median_of_trials_says() -> None:
    found = of(0.5, 0.6, 2.16, 0.5, 0.6, is_maximum=True)
    assert judged(found, 1.0) is REFUTED
    assert judged(of(0.5, 0.6, 0.7, is_maximum=True), 1.0) is HOLDS
    assert judged(of(0.5, 0.6, is_maximum=True), 1.0) is UNDECIDED


def test_a_lost_message_is_beyond_every_maximum() -> None:
    found = judge_against_bound(of(0.5, 0.6, 0.7, n_lost=2, is_maximum=True), 1.0, above=False)
    assert (found.result.judgement, found.result.reason) == (REFUTED, "2 messages never arrived")


@pytest.mark.parametrize(("n", "expected"), [(0, HOLDS), (1, UNDECIDED), (7, REFUTED)])
def test_trials_that_could_not_keep_up_let_nothing_good_hold(n: int, expected: Judgement) -> None:
    left = [10.0 + k / 100 for k in range(10 - n)]
    assert judged(of(*left, setbacks=Setbacks(10, {"overloaded": n})), 15.0) is expected


def test_they_speak_against_nothing_bad() -> None:
    assert judged(of(30.0, 30.1, 29.9, setbacks=Setbacks(4, {"failed": 1})), 15.0) is REFUTED
    assert judged(of(30.0, 30.1, 29.9, setbacks=Setbacks(4, {"failed": 1})), 15.0, above=True) is HOLDS


def test_what_the_clocks_leave_open_is_undecided() -> None:
    values = {n: 10.0 + n / 10 for n in range(6)}
    assert judged(Evidence(block_values=with_bound(values, 2), setbacks=Setbacks(6)), 15.0) is HOLDS
    assert judged(Evidence(block_values=with_bound(values, 6), setbacks=Setbacks(6)), 15.0) is UNDECIDED


def test_a_percentile_beyond_what_was_lost_keeps_no_bound() -> None:
    found = Evidence(
        block_values=BlockValues(dict.fromkeys(range(6), math.inf)), setbacks=Setbacks(6, {"too much lost": 6})
    )
    assert judged(found, 15.0) is REFUTED
    some = {0: math.inf, **{n: 10.0 + n / 100 for n in range(1, 6)}}
    assert (
        judged(Evidence(block_values=BlockValues(some), setbacks=Setbacks(6, {"too much lost": 1})), 15.0) is UNDECIDED
    )


def test_it_says_by_which_test() -> None:
    assert judge_against_bound(of(10.0, 10.1, 9.9), 15.0, above=False).test is BoundTest.VALUES
    assert judge_against_bound(of(*[10.0] * 6), 15.0, above=False).test is BoundTest.MEDIAN
    assert judge_against_bound(pooled(10.0, 12.0, 0.95), 15.0, above=False).test is BoundTest.POOLED
