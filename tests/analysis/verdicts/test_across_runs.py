"""A run against runs of the base: the interval of a next run, held by simulation where nothing changed."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import scipy.stats

from middlemark.analysis.stats.estimate import Estimate, Method
from middlemark.analysis.verdicts.across_runs import TOO_FEW_RUNS, difference_to_next_run, setbacks_over_runs
from middlemark.analysis.verdicts.bounds import Evidence
from middlemark.analysis.verdicts.difference import Difference, Lacks, NoDifference, difference_of_shares, ratio
from middlemark.analysis.verdicts.judge import NO_SETBACKS, Setbacks
from middlemark.analysis.verdicts.values import BlockValues

REPEATS = 400
MOST_FALSE = 0.025 + 3 * math.sqrt(0.025 * 0.975 / REPEATS)
"""2.5 % on one side, and what chance adds to so many repeats."""


def times(values: list[float], method: Method = Method.MEDIAN_OF_TRIALS) -> Evidence:
    estimate = Estimate(float(np.median(values)), None, None, None, len(values), 1000, method)
    return Evidence(BlockValues(dict(enumerate(values))), estimate=estimate)


def shares(events: list[int], size: int) -> Evidence:
    estimate = Estimate(sum(events) / size / len(events), None, None, None, len(events), 1000, Method.SHARE_OF_ALL)
    counts = {block: (n, size) for block, n in enumerate(events)}
    return Evidence(BlockValues({}), counts, estimate, is_share=True)


def drawn_run(rng: np.random.Generator, between_runs: float, n_trials: int = 8) -> Evidence:
    return times((50_000 * np.exp(rng.normal(0, between_runs) + rng.normal(0, 0.03, n_trials))).tolist())


def drawn_losses(rng: np.random.Generator, share: float, between_runs: float, n_trials: int = 8) -> Evidence:
    own = min(share * math.exp(rng.normal(0, between_runs)), 1)
    return shares(rng.binomial(2000, own, n_trials).tolist(), 2000)


def false_rate(draw: Callable[[np.random.Generator], Evidence], n_runs: int) -> float:
    """How often the interval of a head that is one more run of the base lies wholly above no change."""
    rng, beyond = np.random.default_rng(n_runs), 0
    for _ in range(REPEATS):
        found = difference_to_next_run([draw(rng) for _ in range(n_runs)], draw(rng))
        assert isinstance(found, Difference)
        beyond += found.low > found.equal
    return beyond / REPEATS


def test_of_exact_values_it_is_students_interval_of_a_next_run() -> None:
    base, head = [50.0, 52.0, 49.0, 51.0], 60.0
    found = difference_to_next_run([times([each]) for each in base], times([head]))
    assert isinstance(found, Difference)
    logs = np.log(base)
    reach = scipy.stats.t.ppf(0.975, 3) * np.std(logs, ddof=1) * math.sqrt(1 + 1 / 4)
    middle = math.log(head) - logs.mean()
    assert [math.log(each) for each in (found.low, found.value, found.high)] == pytest.approx(
        [middle - reach, middle, middle + reach]
    )
    assert (found.n_first, found.n_second) == (4, 1)


@pytest.mark.parametrize("n_runs", [3, 8])
@pytest.mark.parametrize("between_runs", [0.0, 0.05, 0.3])
def test_where_nothing_changed_a_time_seems_worse_in_no_more_than_one_of_forty(
    n_runs: int, between_runs: float
) -> None:
    assert false_rate(lambda rng: drawn_run(rng, between_runs), n_runs) <= MOST_FALSE


@pytest.mark.parametrize("n_runs", [3, 8])
@pytest.mark.parametrize(("share", "between_runs"), [(0.0002, 0.0), (0.001, 0.5), (0.01, 0.5), (0.01, 1.0), (0.2, 0.3)])
def test_where_nothing_changed_a_share_seems_worse_in_no_more_than_one_of_forty(
    n_runs: int, share: float, between_runs: float
) -> None:
    assert false_rate(lambda rng: drawn_losses(rng, share, between_runs), n_runs) <= MOST_FALSE


def test_two_runs_compared_by_their_trials_seem_to_differ_though_nothing_changed() -> None:
    """What a run's own trials tell is far too sure: this is why a gate takes several runs."""
    rng, beyond, losses = np.random.default_rng(1), 0, 0
    for _ in range(200):
        base, head = drawn_run(rng, 0.05), drawn_run(rng, 0.05)
        found = ratio(base.block_values, head.block_values, paired=False)
        base, head = drawn_losses(rng, 0.01, 0.5), drawn_losses(rng, 0.01, 0.5)
        lost = difference_of_shares(base.counts, head.counts)
        assert isinstance(found, Difference)
        assert isinstance(lost, Difference)
        beyond += found.low > 1
        losses += lost.low > 0
    assert min(beyond, losses) > 40


def test_a_change_that_is_far_beyond_what_runs_differ_by_is_found() -> None:
    rng = np.random.default_rng(2)
    slow = difference_to_next_run([drawn_run(rng, 0.02) for _ in range(5)], times([65_000.0] * 8))
    lossy = difference_to_next_run([shares([0] * 8, 2000) for _ in range(5)], shares([40] * 8, 2000))
    assert isinstance(slow, Difference)
    assert isinstance(lossy, Difference)
    assert slow.low > 1.05
    assert lossy.low > 0.01


@pytest.mark.parametrize("n_runs", [1, 2])
def test_fewer_than_three_runs_tell_nothing(n_runs: int) -> None:
    found = difference_to_next_run([times([50.0] * 8)] * n_runs, times([100.0] * 8))
    assert found == TOO_FEW_RUNS


def test_a_head_of_fewer_trials_than_the_runs_have_has_a_wider_interval() -> None:
    runs = [times([each] * 8) for each in (50.0, 52.0, 49.0)]
    full, part = difference_to_next_run(runs, times([50.0] * 8)), difference_to_next_run(runs, times([50.0] * 2))
    assert isinstance(full, Difference)
    assert isinstance(part, Difference)
    assert part.high > full.high


def test_a_percentile_of_single_trials_is_not_held_against_one_of_all_messages() -> None:
    runs = [times([each] * 8) for each in (50.0, 52.0, 49.0)]
    assert isinstance(difference_to_next_run(runs, times([50.0] * 8, Method.POOLED)), NoDifference)


def test_an_interval_between_two_values_reaches_from_the_nearest_to_the_farthest() -> None:
    def between(low: float, high: float) -> Evidence:
        return Evidence(BlockValues({1: low}, {1: high}), estimate=times([low]).estimate)

    found = difference_to_next_run([between(100.0, 105.0)] * 3, between(100.0, 105.0))
    assert isinstance(found, Difference)
    assert (found.low, found.high) == pytest.approx((100 / 105, 105 / 100))


def test_the_run_with_most_setbacks_stands_for_the_base() -> None:
    none, some, head = (Setbacks(8, {"overloaded": n}) for n in (0, 2, 3))
    assert setbacks_over_runs([none, some, none], head) == (some, head)
    assert setbacks_over_runs([none], head) == NO_SETBACKS
    never = Setbacks(8, {"no communication": 8})
    assert setbacks_over_runs([none], never) == (none, never)


def test_runs_without_a_value_have_their_reason_and_are_not_taken_for_missing_runs() -> None:
    short = Evidence(BlockValues({}), missing="too few samples in each trial")
    found = difference_to_next_run([*[times([50.0] * 8)] * 2, short, short], times([50.0] * 8))
    assert found == NoDifference(
        "2 of 4 runs of the base have no value (too few samples in each trial), and 3 with one are needed", Lacks.VALUES
    )
    assert isinstance(difference_to_next_run([*[times([50.0] * 8)] * 3, short], times([50.0] * 8)), Difference)
