"""Samples in bounded memory: few are kept as they are, of many the shape is kept, and both ends exactly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from middlemark.analysis.stats.quantiles import (
    ENDS,
    KEPT_WHOLE,
    NEVER_NS,
    PARTS,
    Lost,
    Measured,
    Sketch,
    TooFewSamples,
    exact_sketch,
    pool_sketches,
    quantile,
    sketch_of,
)
from middlemark.suite.metrics import LEVELS


@given(st.lists(st.integers(-(10**6), 10**12), min_size=1, max_size=300).map(sorted))
def test_few_samples_are_kept_whole(samples: list[int]) -> None:
    kept = sketch_of(exact_sketch(np.array(samples)))
    assert kept.at(np.arange(1, len(samples) + 1)).tolist() == samples


@pytest.mark.parametrize("n", [KEPT_WHOLE + 1, 40_000, 1_000_003])
def test_of_many_every_sample_is_stood_for_once_and_the_ends_are_exact(n: int) -> None:
    samples = np.arange(n)  # a sample is its own rank
    kept = sketch_of(exact_sketch(samples))
    assert kept.counts.sum() == n
    assert kept.counts.min() == 1
    assert len(kept.values) <= PARTS + 2 * ENDS
    ends = np.concatenate([np.arange(1, ENDS + 1), np.arange(n - ENDS + 1, n + 1)])
    assert kept.at(ends).tolist() == (ends - 1).tolist()


@pytest.mark.parametrize(("level", "off"), [(0.5, 1e-4), (0.9, 6e-5), (0.99, 2e-5), (0.999, 7e-6), (0.9999, 3e-6)])
def test_the_share_of_a_quantile_is_off_by_little_and_by_less_in_the_tail(level: float, off: float) -> None:
    n = 2_000_000
    rank = np.array([int(level * n)])
    assert abs(int(sketch_of(exact_sketch(np.arange(n))).at(rank)[0]) - int(rank[0])) / n <= off


def test_pooled_trials_are_those_of_their_samples_together() -> None:
    rng = np.random.default_rng(1)
    trials = [np.sort(rng.lognormal(10, 0.5, n).astype(np.int64)) for n in (200, 500_000, 300_000)]
    together, found = np.sort(np.concatenate(trials)), pool_sketches([sketch_of(exact_sketch(each)) for each in trials])
    assert found.n == len(together)
    ranks = (np.array([0.5, 0.9, 0.99, 0.999]) * len(together)).astype(np.int64)
    assert found.at(ranks) == pytest.approx(together[ranks - 1], rel=2e-3)
    assert (found.values[0], found.values[-1]) == (together[0], together[-1])


def test_a_lost_message_counts_as_infinitely_slow() -> None:
    samples = np.arange(1, 981)
    found = exact_sketch(samples, lost=20)
    assert found.quantile(0.5) == Measured(500.0, 1000)
    assert found.quantile(0.98) == Measured(980.0, 1000)
    assert found.quantile(0.99) == Lost(1000, 20)
    assert str(found.quantile(0.99)) == "2 % of 1000 messages never arrived"
    assert found.quantile(0.999) == TooFewSamples(1000)
    assert (exact_sketch(samples[:0], lost=30).quantile(0.5)) == Lost(30, 30)


@pytest.mark.parametrize("n", [500, KEPT_WHOLE + 1])
def test_the_lost_go_with_the_samples_whatever_is_made_of_them(n: int) -> None:
    kept = sketch_of(exact_sketch(np.arange(n), lost=7))
    both = pool_sketches([kept, sketch_of(exact_sketch(np.arange(3), lost=1))])
    assert (kept.n, kept.lost, both.n, both.lost) == (n, 7, n + 3, 8)
    every = both.with_lost()
    assert (every.n, every.lost) == (n + 11, 0)
    assert every.at(np.array([n + 3, n + 4, n + 11])).tolist() == [n - 1, NEVER_NS, NEVER_NS]


def test_by_how_much_clocks_put_them_off_goes_with_them() -> None:
    few, many = (exact_sketch(np.arange(n), bound_ns) for n, bound_ns in ((10, 3), (KEPT_WHOLE + 1, 7)))
    assert [sketch_of(each).bound_ns for each in (few, many)] == [3, 7]
    assert pool_sketches([sketch_of(few), sketch_of(many)]).bound_ns == 7


@given(st.lists(st.integers(-100, 100), min_size=1, max_size=300).map(sorted))
def test_values_that_stand_for_others_have_the_quantiles_of_all(samples: list[int]) -> None:
    ordered = np.array(samples)
    values, counts = np.unique(ordered, return_counts=True)
    for found in (exact_sketch(ordered), Sketch(values, counts, len(ordered))):
        assert [found.quantile(level) for level in LEVELS.values()] == [
            quantile(ordered, level) for level in LEVELS.values()
        ]
        assert found.below(np.arange(-101, 102)).tolist() == [sum(x < at for x in samples) for at in range(-101, 102)]
