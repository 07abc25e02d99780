"""Ratios are of values of the same block, and a goal is met or missed only by their whole interval."""

import pytest

from peer import Cores, Metric
from ratios import Goal, Spread, compared, judged

ANY = Spread(0.0, -1.0, 1.0, 0.95)


def test_each_value_is_compared_with_that_of_its_own_block() -> None:
    found = compared(Metric.MEDIAN, Cores.TWO, [10.0, 20.0, 30.0], [10.0, 10.0, 10.0])
    assert (found.ratio.median, found.ratio.low, found.ratio.high) == (2.0, 1.0, 3.0)
    assert (found.beyond.median, found.beyond.low, found.beyond.high) == (10.0, 0.0, 20.0)


def test_few_blocks_say_how_little_their_interval_covers() -> None:
    found = compared(Metric.MEDIAN, Cores.TWO, [10.0, 20.0, 30.0], [10.0, 10.0, 10.0])
    assert found.ratio.coverage == 0.75


def test_few_blocks_decide_no_goal() -> None:
    goals = {blocks: compared(Metric.MEDIAN, Cores.TWO, [1.0] * blocks, [2.0] * blocks).goal for blocks in (4, 5)}
    assert goals == {4: Goal.OPEN, 5: Goal.MET}


@pytest.mark.parametrize(("ours", "peers"), [([], []), ([1.0], [1.0, 2.0])])
def test_values_without_a_partner_are_no_comparison(ours: list[float], peers: list[float]) -> None:
    with pytest.raises(ValueError, match="beside"):
        compared(Metric.RATE, Cores.TWO, ours, peers)


@pytest.mark.parametrize(
    ("metric", "low", "high", "goal"),
    [
        (Metric.MEDIAN, 0.99, 1.03, Goal.MET),
        (Metric.P99, 1.02, 1.04, Goal.OPEN),
        (Metric.P99, 1.04, 1.05, Goal.MISSED),
        (Metric.RATE, 0.97, 1.50, Goal.MET),
        (Metric.RATE, 0.90, 0.98, Goal.OPEN),
        (Metric.RATE, 0.90, 0.96, Goal.MISSED),
        (Metric.UNFILLED, 0.10, 0.20, Goal.NONE),
        (Metric.CPU, 2.00, 3.00, Goal.NONE),
    ],
)
def test_between_two_cores_the_ratio_decides(metric: Metric, low: float, high: float, goal: Goal) -> None:
    assert judged(metric, Cores.TWO, Spread(1.0, low, high, 0.95), ANY) is goal


@pytest.mark.parametrize(
    ("low_ns", "high_ns", "goal"),
    [(-500.0, 1000.0, Goal.MET), (900.0, 1100.0, Goal.OPEN), (1100.0, 1200.0, Goal.MISSED)],
)
def test_on_one_core_the_difference_decides(low_ns: float, high_ns: float, goal: Goal) -> None:
    assert judged(Metric.MEDIAN, Cores.ONE, ANY, Spread(0.0, low_ns, high_ns, 0.95)) is goal
