"""Contrasts against SciPy's t-tests, and findings at the edges of a margin."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from middlemark.analysis.contrast import Contrast, Finding, NoContrast, contrast, finding

positive = st.floats(1.0, 1e6)


def blocks_of(values: list[float]) -> dict[int, float]:
    return dict(enumerate(values))


@given(st.lists(st.tuples(positive, positive), min_size=2, max_size=12))
def test_a_paired_ratio_is_scipys_paired_test(pairs: list[tuple[float, float]]) -> None:
    first, second = (list(side) for side in zip(*pairs, strict=True))
    found = contrast(blocks_of(first), blocks_of(second), paired=True, as_ratio=True)
    assert isinstance(found, Contrast)
    logarithms = np.log(second) - np.log(first)
    assert found.value == pytest.approx(float(np.exp(np.mean(logarithms))))
    if np.std(logarithms) > 1e-6:
        p = scipy.stats.ttest_rel(np.log(second), np.log(first)).pvalue
        if abs(p - 0.05) > 1e-6:
            assert (found.low > 1 or found.high < 1) == (p < 0.05)


@given(st.lists(positive, min_size=2, max_size=9), st.lists(positive, min_size=2, max_size=9))
def test_an_unpaired_ratio_is_scipys_welch_test(first: list[float], second: list[float]) -> None:
    if np.std(np.log(first)) < 1e-6 or np.std(np.log(second)) < 1e-6:
        return
    found = contrast(blocks_of(first), blocks_of(second), paired=False, as_ratio=True)
    assert isinstance(found, Contrast)
    expected = scipy.stats.ttest_ind(np.log(second), np.log(first), equal_var=False).confidence_interval(0.95)
    assert np.log(found.low) == pytest.approx(max(expected.low, np.log(found.value) - 50), abs=1e-6)
    assert np.log(found.high) == pytest.approx(min(expected.high, np.log(found.value) + 50), abs=1e-6)
    assert (found.n_first, found.n_second) == (len(first), len(second))


def test_shares_that_are_nought_on_both_sides_do_not_differ() -> None:
    nought = blocks_of([0.0, 0.0, 0.0])
    found = contrast(nought, nought, paired=True, as_ratio=False)
    assert finding(found, lower_is_better=True, margin=0.05) is Finding.NO_DIFFERENCE


@pytest.mark.parametrize("paired", [True, False])
def test_one_trial_or_a_nought_in_a_ratio_says_why_there_is_none(*, paired: bool) -> None:
    few = contrast({1: 2.0}, {1: 3.0}, paired=paired, as_ratio=True)
    nought = contrast({1: 2.0, 2: 0.0}, {1: 3.0, 2: 1.0}, paired=paired, as_ratio=True)
    for found, word in ((few, "fewer than two"), (nought, "not positive")):
        assert isinstance(found, NoContrast)
        assert word in found.reason
        assert finding(found, lower_is_better=True, margin=0.05) is Finding.CANNOT_TELL


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.97, 1.04, Finding.NO_DIFFERENCE),
        (1.01, 1.04, Finding.NO_DIFFERENCE),
        (0.97, 1.06, Finding.CANNOT_TELL),
        (1.01, 1.06, Finding.WORSE),
        (0.80, 0.99, Finding.BETTER),
        (0.5, 2.0, Finding.CANNOT_TELL),
    ],
)
def test_an_interval_comes_to_one_finding(low: float, high: float, expected: Finding) -> None:
    found = Contrast((low * high) ** 0.5, low, high, 5, 5, paired=True, is_ratio=True)
    assert finding(found, lower_is_better=True, margin=0.05) is expected
    turned = {Finding.WORSE: Finding.BETTER, Finding.BETTER: Finding.WORSE}
    assert finding(found, lower_is_better=False, margin=0.05) is turned.get(expected, expected)


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("blocks", [3, 8])
def test_equals_are_told_apart_in_at_most_one_case_of_twenty(blocks: int, *, paired: bool) -> None:
    rng = np.random.default_rng([blocks, paired])
    told = 0
    for first, second in rng.lognormal(10, 0.1, (2000, 2, blocks)):
        found = contrast(blocks_of(first.tolist()), blocks_of(second.tolist()), paired=paired, as_ratio=True)
        told += finding(found, lower_is_better=True, margin=0.0) in {Finding.BETTER, Finding.WORSE}
    assert told / 2000 <= 0.05 + 3 * (0.05 * 0.95 / 2000) ** 0.5
