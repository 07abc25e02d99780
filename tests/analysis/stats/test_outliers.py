"""Outliers are Tukey's, and none is told where there are too few values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from middlemark.analysis.stats.estimate import OutlierClass, Outliers, count_outliers, median_of_trials, outlier_classes
from middlemark.analysis.stats.quantiles import Measured

SEVEN = [10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0]


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (13.0, OutlierClass.WITHIN),
        (22.0, OutlierClass.MILD_HIGH),
        (40.0, OutlierClass.SEVERE_HIGH),
        (4.0, OutlierClass.MILD_LOW),
        (-20.0, OutlierClass.SEVERE_LOW),
    ],
)
def test_a_value_beyond_a_fence_is_told_by_side_and_severity(value: float, place: OutlierClass) -> None:
    assert outlier_classes([*SEVEN, value])[-1] is place


def test_five_values_are_too_few_for_any_to_be_out() -> None:
    assert count_outliers([1.0, 1.0, 1.0, 1.0, 1000.0]) == Outliers()


def test_an_outlier_is_counted_and_stays_in_the_figure() -> None:
    found = median_of_trials([Measured(value, 1) for value in [*SEVEN, 500.0]])
    assert (found.outliers, found.n_trials, found.value) == (Outliers(severe=1), 8, 13.5)


@pytest.mark.parametrize("values", [[0.0] * 8 + [1.0], [5.0] * 5 + [4.0, 6.0], [1.0] * 9])
def test_where_the_quartiles_are_equal_nothing_says_how_far_out_the_others_are(values: list[float]) -> None:
    assert count_outliers(values) == Outliers()


@given(st.lists(st.floats(-1e6, 1e6), min_size=6, max_size=60))
def test_exactly_what_lies_beyond_the_fences_is_out(values: list[float]) -> None:
    lower, upper = np.quantile(values, [0.25, 0.75])
    reach = upper - lower
    beyond = [max(value - upper, lower - value, 0.0) for value in values]
    assert [place is not OutlierClass.WITHIN for place in outlier_classes(values)] == [
        reach > 0 and each > 1.5 * reach for each in beyond
    ]
