"""Samples in bounded memory: few are kept as they are, of many the shape is kept, and both ends exactly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from middlemark.analysis.condensed import ENDS, KEPT_WHOLE, PARTS, condensed, pooled


@given(st.lists(st.integers(-(10**6), 10**12), min_size=1, max_size=300).map(sorted))
def test_few_samples_are_kept_whole(samples: list[int]) -> None:
    kept = condensed(np.array(samples))
    assert kept.at(np.arange(1, len(samples) + 1)).tolist() == samples


@pytest.mark.parametrize("n", [KEPT_WHOLE + 1, 40_000, 1_000_003])
def test_of_many_every_sample_is_stood_for_once_and_the_ends_are_exact(n: int) -> None:
    samples = np.arange(n)  # a sample is its own rank
    kept = condensed(samples)
    assert kept.counts.sum() == n
    assert kept.counts.min() == 1
    assert len(kept.values) <= PARTS + 2 * ENDS
    ends = np.concatenate([np.arange(1, ENDS + 1), np.arange(n - ENDS + 1, n + 1)])
    assert kept.at(ends).tolist() == (ends - 1).tolist()


@pytest.mark.parametrize(("level", "off"), [(0.5, 1e-4), (0.9, 6e-5), (0.99, 2e-5), (0.999, 7e-6), (0.9999, 3e-6)])
def test_the_share_of_a_quantile_is_off_by_little_and_by_less_in_the_tail(level: float, off: float) -> None:
    n = 2_000_000
    rank = np.array([int(level * n)])
    assert abs(int(condensed(np.arange(n)).at(rank)[0]) - int(rank[0])) / n <= off


def test_pooled_trials_are_those_of_their_samples_together() -> None:
    rng = np.random.default_rng(1)
    trials = [np.sort(rng.lognormal(10, 0.5, n).astype(np.int64)) for n in (200, 500_000, 300_000)]
    whole, found = np.sort(np.concatenate(trials)), pooled([condensed(each) for each in trials])
    assert found.n == len(whole)
    ranks = (np.array([0.5, 0.9, 0.99, 0.999]) * len(whole)).astype(np.int64)
    assert found.at(ranks) == pytest.approx(whole[ranks - 1], rel=2e-3)
    assert (found.values[0], found.values[-1]) == (whole[0], whole[-1])
