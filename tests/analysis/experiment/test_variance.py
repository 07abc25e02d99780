"""Of two-level populations the share between trials is found, and what pays follows Kalibera and Jones's optimum."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from middlemark.analysis.experiment.variance import (
    Pays,
    VarianceComponents,
    advise,
    components_of_stretches,
    long_stretches,
)

S = 10**9


def drawn(rng: np.random.Generator, n_trials: int, ratio: float, lag_1: float = 0.0) -> NDArray[np.float64]:
    """Sixty parts a trial, whose mean has the variance 1, or nearly, within trials and `ratio` between them."""
    parts = rng.normal(size=(n_trials, 60))
    for place in range(1, 60):
        parts[:, place] = lag_1 * parts[:, place - 1] + math.sqrt(1 - lag_1**2) * parts[:, place]
    own = (1 + lag_1) / (1 - lag_1)
    return parts * math.sqrt(60 / own) + math.sqrt(ratio) * rng.normal(size=(n_trials, 1))


@pytest.mark.parametrize("ratio", [0.0, 1.0, 10.0])
@pytest.mark.parametrize("lag_1", [0.0, 0.5])
def test_the_interval_holds_the_true_ratio(ratio: float, lag_1: float) -> None:
    rng = np.random.default_rng([round(ratio), round(10 * lag_1)])
    found = [long_stretches(drawn(rng, 10, ratio, lag_1)) for _ in range(200)]
    told = [components_of_stretches(each, 2 * S) for each in found if each is not None]
    assert len(told) > 150
    assert np.mean([each.ratio[0] <= ratio <= each.ratio[2] for each in told]) > 0.88


def test_a_window_that_wanders_as_a_whole_tells_nothing() -> None:
    rng = np.random.default_rng(4)
    found = [long_stretches(drawn(rng, 10, 1.0, 0.98)) for _ in range(20)]
    assert sum(each is None for each in found) >= 18


def test_what_all_trials_have_in_common_within_the_window_is_no_variance() -> None:
    parts = drawn(np.random.default_rng(5), 12, 2.0)
    warm_up = np.linspace(50, 0, 60)
    assert components_of_stretches(parts + warm_up, S).within == pytest.approx(components_of_stretches(parts, S).within)


def test_the_best_window_takes_the_least_time_for_a_variance() -> None:
    found = VarianceComponents(20, 60, 2 * S, 1.0, (3.0, 4.0, 5.0))
    best = advise(found, 8 * S).best_window_ns
    windows = np.linspace(0.1, 20, 4000) * S
    time = (8 * S + windows) * (4.0 + 2 * S / windows)
    assert best == pytest.approx(windows[np.argmin(time)], rel=0.01)
    assert advise(found, 8 * S).time_share == pytest.approx(time.min() / (10 * S * 5), rel=0.001)


def test_something_pays_only_where_the_whole_interval_says_so() -> None:
    within, between, unsure = (0.0, 0.0, 0.1), (20.0, 40.0, 80.0), (0.0, 0.5, 50.0)
    said = [advise(VarianceComponents(20, 60, 2 * S, 1.0, ratio), 3 * S).pays for ratio in (within, between, unsure)]
    assert said == [Pays.LONGER_WINDOWS, Pays.MORE_TRIALS, Pays.UNDECIDED]
    assert advise(VarianceComponents(20, 60, 2 * S, 1.0, (1.0, 1.5, 2.0)), 3 * S).pays is Pays.AS_IT_IS
