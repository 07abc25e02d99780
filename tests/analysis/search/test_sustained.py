"""A trial sustained its load within all bounds or not; a disturbed one says nothing of it."""

import math

import pytest

from middlemark.analysis.search.bisection import Limit, judge_load
from middlemark.plan.experiment import Search
from middlemark.suite.metrics import Key

SEARCH = Search(
    lowest_hz=100, highest_hz=1e5, precision=0.05, loss_share=0.001, latency_ns=10_000_000, confirm=3, max_trials=60
)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"least_achieved_share": 1.0, "undelivered_share": 0.0, "latency_from_intended_p99_ns": 9e6}, True),
        ({"least_achieved_share": 0.9, "undelivered_share": 0.0}, Limit.OVERLOAD),
        ({"least_achieved_share": 1.0, "undelivered_share": 0.01, "latency_from_intended_p99_ns": 9e6}, Limit.LOSS),
        ({"least_achieved_share": 1.0, "undelivered_share": 0.0, "latency_from_intended_p99_ns": 2e7}, Limit.LATENCY),
        ({"least_achieved_share": 1.0, "undelivered_share": 0.0, "latency_from_intended_p50_ns": 2e7}, Limit.LATENCY),
        ({"undelivered_share": 0.0, "latency_from_intended_p99_ns": math.inf}, Limit.LATENCY),
        ({"undelivered_share": 0.04, "loss_share": 0.0, "latency_from_intended_p99_ns": 9e6}, Limit.LOSS),
    ],
)
def test_a_rate_is_carried_within_all_bounds(values: dict[str, float], said: object) -> None:
    keyed = {Key("stream:s", name): value for name, value in values.items()}
    assert judge_load(SEARCH, "s", "valid", keyed) is said


def test_a_disturbed_trial_says_nothing_and_a_silent_one_did_not_carry() -> None:
    assert judge_load(SEARCH, "s", "invalid", {}) is None
    assert judge_load(SEARCH, "s", "no_communication", {}) is Limit.NO_COMMUNICATION


def test_without_messages_enough_for_a_quantile_the_slowest_counts() -> None:
    told = {
        Key("stream:s", name): value for name, value in {"least_achieved_share": 1.0, "undelivered_share": 0.0}.items()
    }
    slowest = Key("stream:s", "latency_from_intended_max_ns")
    assert judge_load(SEARCH, "s", "valid", {**told, slowest: 2e7}) is Limit.LATENCY
    assert judge_load(SEARCH, "s", "valid", {**told, slowest: 9e6}) is True
