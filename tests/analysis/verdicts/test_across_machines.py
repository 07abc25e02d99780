"""Over several machines the machine is the unit: what one of them does by itself is no difference of the two sides."""

import math

import numpy as np
import pytest
import scipy.stats

from middlemark.analysis.compare.metrics import difference_of
from middlemark.analysis.verdicts.bounds import BoundTest, Evidence, judge_against_bound
from middlemark.analysis.verdicts.difference import NO_MACHINE, Difference, NoDifference, Test, ratio
from middlemark.analysis.verdicts.judge import Judgement, direction
from middlemark.analysis.verdicts.values import BlockValues, counts_by_machine

SPREAD = 0.02


def sides(ratios: dict[str, list[float]]) -> tuple[BlockValues, BlockValues]:
    """By machine the ratio of each of its blocks; machines are of different speeds."""
    names = [name for name, own in ratios.items() for _ in own]
    machines = dict(enumerate(names))
    first = {block: 100.0 * (1 + sorted(ratios).index(name)) for block, name in machines.items()}
    changes = [value for own in ratios.values() for value in own]
    second = {block: first[block] * changes[block] for block in first}
    return BlockValues(first, machines=machines), BlockValues(second, machines=machines)


def found(first: BlockValues, second: BlockValues, *, paired: bool = True) -> Difference:
    difference = ratio(first, second, paired=paired)
    assert isinstance(difference, Difference)
    return difference


def test_of_machines_with_equally_many_blocks_it_is_students_test_of_their_means() -> None:
    logs = {"a": [0.10, 0.14, 0.12], "b": [0.31, 0.29, 0.27], "c": [0.02, 0.04, 0.09]}
    difference = found(*sides({name: np.exp(own).tolist() for name, own in logs.items()}))
    means = scipy.stats.ttest_1samp([float(np.mean(own)) for own in logs.values()], 0)
    low, high = means.confidence_interval()
    assert difference.test is Test.MACHINES
    assert (difference.low, difference.high) == pytest.approx((math.exp(low), math.exp(high)))
    assert difference.p_value == pytest.approx(means.pvalue)


def test_one_more_machine_lies_within_students_prediction_interval() -> None:
    rng, held, repeats = np.random.default_rng(3), 0, 400
    for _ in range(repeats):
        *own, another = np.exp(rng.normal(0.1, 0.05, 5))
        ratios = {name: (at * np.exp(rng.normal(0, SPREAD, 4))).tolist() for name, at in zip("abcd", own, strict=True)}
        across = found(*sides(ratios)).across
        assert across is not None
        assert across.next_low is not None
        assert across.next_high is not None
        held += across.next_low <= another * math.exp(rng.normal(0, SPREAD / 2)) <= across.next_high
    assert held / repeats == pytest.approx(0.95, abs=0.03)


def test_two_machines_say_nothing_of_one_more() -> None:
    across = found(*sides({name: [1.2, 1.3] for name in "ab"})).across
    assert across is not None
    assert across.next_low is None
    assert across.next_high is None


def test_a_machine_that_is_slower_in_all_is_no_difference_of_the_sides() -> None:
    rng = np.random.default_rng(5)
    difference = found(*sides({name: np.exp(rng.normal(0, SPREAD, 4)).tolist() for name in "abcd"}))
    assert direction(difference) == 0
    assert difference.across is not None
    assert difference.across.i_squared is not None
    assert difference.across.i_squared < 0.75
    assert not difference.across.disagree


def test_many_blocks_on_few_machines_that_differ_do_not_speak_for_other_machines() -> None:
    rng = np.random.default_rng(6)
    own = {
        name: (at * np.exp(rng.normal(0, SPREAD, 20))).tolist() for name, at in {"a": 1.3, "b": 0.9, "c": 1.1}.items()
    }
    first, second = sides(own)
    difference = found(first, second)
    as_one = found(BlockValues(first.low), BlockValues(second.low))
    assert direction(as_one) == 1
    assert direction(difference) == 0


def test_machines_that_disagree_on_the_order_say_so() -> None:
    rng = np.random.default_rng(7)
    own = {name: (at * np.exp(rng.normal(0, SPREAD, 5))).tolist() for name, at in {"a": 1.3, "b": 0.7}.items()}
    across = found(*sides(own)).across
    assert across is not None
    assert across.disagree
    assert [round(each.value, 1) for each in across.ratios] == [1.3, 0.7]
    assert across.p_value is not None
    assert across.p_value < 0.001


def test_a_block_is_no_pair_where_each_side_was_measured_on_another_machine() -> None:
    first, second = sides({"a": [1.5] * 4, "b": [1.5, 1.4, 1.6]})
    moved = BlockValues(second.low, machines={**second.machines, 0: "b"})
    across = found(first, moved).across
    assert across is not None
    assert [each.n_blocks for each in across.ratios] == [3, 3]


def test_machines_with_a_block_each_are_compared_as_blocks() -> None:
    difference = found(*sides({name: [1.2 + 0.01 * n] for n, name in enumerate("abcde")}))
    assert direction(difference) == 1
    assert difference.across is not None
    assert difference.across.i_squared is None
    assert {each.high for each in difference.across.ratios} == {math.inf}


def test_two_runs_are_compared_by_the_machines_that_both_have() -> None:
    rng = np.random.default_rng(8)
    speeds, before, after = {"a": 1.0, "b": 5.0, "c": 2.0}, "aaaabb", "aabbbbc"
    first, second = (
        BlockValues(
            {n: speeds[name] * times * math.exp(rng.normal(0, SPREAD)) for n, name in enumerate(names)},
            machines=dict(enumerate(names)),
        )
        for names, times in ((before, 1.0), (after, 1.4))
    )
    difference = found(first, second, paired=False)
    assert difference.value == pytest.approx(1.4, rel=0.05)
    assert difference.across is not None
    assert {each.machine for each in difference.across.ratios} == {"a", "b"}


def test_runs_without_a_common_machine_are_not_compared() -> None:
    first, second = (BlockValues(dict.fromkeys(range(4), 1.0), machines=dict.fromkeys(range(4), name)) for name in "ab")
    assert ratio(first, second, paired=False) == NoDifference(NO_MACHINE)


def test_a_share_has_machines_for_trials_as_those_of_one_machine_are_alike() -> None:
    machines = {block: "ab"[block // 5] for block in range(10)}
    counts = {block: (10 if machines[block] == "a" else 0, 1000) for block in range(10)}
    assert counts_by_machine(counts, machines) == {0: (50, 5000), 1: (0, 5000)}
    lossy, clean = (
        Evidence(BlockValues({}, machines=machines), counts_by_machine(own, machines), is_share=True)
        for own in (counts, dict.fromkeys(range(10), (0, 1000)))
    )
    difference = difference_of(clean, lossy, paired=True)
    assert isinstance(difference, Difference)
    assert difference.low <= 0 < difference.high


def test_a_bound_is_decided_by_machines_and_not_by_their_trials() -> None:
    machines = {block: "abc"[block % 3] for block in range(30)}
    values = {block: {"a": 70.0, "b": 90.0, "c": 100.0}[name] for block, name in machines.items()}
    result = judge_against_bound(Evidence(BlockValues(values, machines=machines)), 102.0, above=False)
    assert result.test is BoundTest.MACHINES
    assert result.result.judgement is Judgement.UNDECIDED
    alone = judge_against_bound(Evidence(BlockValues(values)), 102.0, above=False)
    assert alone.result.judgement is Judgement.HOLDS


@pytest.mark.parametrize(
    ("blocks", "apart"), [((3, 3, 3, 3), 0.0), ((3, 3, 3, 3), 0.1), ((6, 4, 2), 0.05), ((30, 2, 2, 2), 0.02)]
)
def test_equal_sides_differ_in_five_percent_of_fleets(blocks: tuple[int, ...], apart: float) -> None:
    rng, errors, repeats = np.random.default_rng(9), 0, 300
    for _ in range(repeats):
        own = np.exp(rng.normal(0, apart, len(blocks)))
        drawn = {f"m{n}": (at * np.exp(rng.normal(0, SPREAD, blocks[n]))).tolist() for n, at in enumerate(own)}
        errors += direction(found(*sides(drawn))) != 0
    assert errors <= scipy.stats.binom(repeats, 0.07).ppf(0.99)
