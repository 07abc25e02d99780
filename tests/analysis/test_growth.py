"""Growth that goes on is told from growth that settles, and from noise; a short window tells neither."""

import numpy as np
import pytest

from middlemark.analysis.growth import LEAST_SPAN_S, Growth, Values, growth

AT_S: Values = np.arange(0, 2 * LEAST_SPAN_S, 0.1)
NOISE: Values = np.random.default_rng(1).normal(0, 4096, len(AT_S))


def of(size_bytes: Values) -> Growth:
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


def test_a_leap_bends_nothing() -> None:
    assert of(np.where(AT_S < 3, 1e7, 5e7)).slope.value == 0


def test_a_short_window_has_a_slope_and_no_verdict() -> None:
    short = AT_S < LEAST_SPAN_S / 2
    found = growth(AT_S[short], 1e7 + 1000 * AT_S[short])
    assert found is not None
    assert found.lasts is None
    assert found.slope.value == pytest.approx(1000)
    assert growth(AT_S[:1], NOISE[:1]) is None
