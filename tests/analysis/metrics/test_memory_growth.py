"""Growth that goes on is told from growth that settles, and from noise; a short window tells neither."""

from collections.abc import Callable

import numpy as np
import pytest
import scipy.signal

from middlemark.analysis.metrics.resources import LEAST_SPAN_S, MemoryGrowth, Values, growth

AT_S: Values = np.arange(0, 2 * LEAST_SPAN_S, 0.1)
NOISE: Values = np.random.default_rng(1).normal(0, 4096, len(AT_S))


def of(size_bytes: Values) -> MemoryGrowth:
    found = growth(AT_S, size_bytes)
    assert found is not None
    return found


def test_a_leak_grows_in_both_halves_and_its_slope_is_within_the_interval() -> None:
    found = of(1e7 + 1000 * AT_S + NOISE)
    assert found.lasts
    assert found.slope.low < 1000 < found.slope.high
    assert found.slope.value == pytest.approx(1000, rel=0.05)


def test_memory_that_settles_does_not_grow_on() -> None:
    settling = of(1e7 + 1e6 * (1 - np.exp(-AT_S / 5)) + NOISE)
    assert settling.lasts is False


def test_noise_and_memory_that_never_changes_do_not_grow() -> None:
    assert of(1e7 + NOISE).lasts is False
    still = of(np.full(len(AT_S), 1e7))
    assert still.lasts is False
    assert (still.slope.low, still.slope.value, still.slope.high) == (0, 0, 0)


def random_walk(rng: np.random.Generator) -> Values:
    return 4096 * np.cumsum(rng.normal(size=len(AT_S)))


def phases(rng: np.random.Generator) -> Values:
    """A random walk whose steps go on for seconds."""
    return scipy.signal.lfilter([1], [1, -0.95], rng.normal(0, 4096, len(AT_S))).cumsum()


def slow_noise(rng: np.random.Generator) -> Values:
    """Around one level, and away from it for a minute and more at a time."""
    return scipy.signal.lfilter([1], [1, -0.999], rng.normal(0, 4096, len(AT_S)))


def heavy_steps(rng: np.random.Generator) -> Values:
    return 4096 * np.cumsum(rng.standard_t(2, len(AT_S)))


@pytest.mark.parametrize("course", [random_walk, phases, slow_noise, heavy_steps])
def test_memory_that_goes_up_and_down_by_chance_seldom_grows(course: Callable[[np.random.Generator], Values]) -> None:
    rng = np.random.default_rng(5)
    found = [of(1e9 + course(rng)) for _ in range(80)]
    assert sum(bool(each.lasts) for each in found) <= 4
    assert sum(each.slope.low <= 0 <= each.slope.high for each in found) >= 68


def test_a_leak_beside_as_much_chance_is_found() -> None:
    rng = np.random.default_rng(6)
    found = [of(1e9 + 4096 * 20 * AT_S + random_walk(rng)) for _ in range(40)]
    assert sum(bool(each.lasts) for each in found) >= 36


def test_a_single_jump_does_not_change_the_slope() -> None:
    assert of(np.where(AT_S < 3, 1e7, 5e7)).slope.value == 0


def test_a_short_window_has_a_slope_and_no_verdict() -> None:
    short = AT_S < LEAST_SPAN_S / 2
    found = growth(AT_S[short], 1e7 + 1000 * AT_S[short])
    assert found is not None
    assert found.lasts is None
    assert found.slope.value == pytest.approx(1000)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_so_few_samples_have_no_interval_and_no_growth(n: int) -> None:
    assert growth(AT_S[:n], NOISE[:n]) is None


def test_a_long_window_with_a_handful_of_samples_has_a_slope_and_no_verdict() -> None:
    found = growth(np.arange(4) * LEAST_SPAN_S, np.arange(4) * 600.0)
    assert found is not None
    assert (found.slope.value, found.lasts) == (pytest.approx(10), None)
