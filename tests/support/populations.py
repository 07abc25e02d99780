"""Populations of trials whose quantiles and shares are known, to draw trials from: what simulations of intervals need.

A trial differs from others of its kind by a factor on all its times, by a tail that only some trials have, or by its own
share of events. What is true is of
the population of all trials together: the quantile of all their messages, the mean of their shares. It knows no
interval.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy.optimize
import scipy.special
import scipy.stats
from numpy.typing import NDArray

Floats = NDArray[np.float64]
LOG_NORMAL_SPREAD = 0.4
TAIL_INDEX = 3.0
UNIT_NS = 1e6
STALLING_TRIALS, STALLED_MESSAGES, STALLED_TIMES = 0.2, 0.01, 30
"""One trial in five has one message in a hundred that takes thirty times as long."""


@dataclass(frozen=True)
class Shape:
    """How the messages of one trial are distributed: the time beyond which a share lies, and that share of a time."""

    beyond: Callable[[Floats], Floats]
    share: Callable[[Floats], Floats]


SHAPES = {
    "exponential": Shape(lambda share: -np.log(share), lambda time: np.exp(-time)),
    "log-normal": Shape(
        lambda share: np.exp(-LOG_NORMAL_SPREAD * scipy.special.ndtri(share)),
        lambda time: scipy.special.ndtr(-np.log(time) / LOG_NORMAL_SPREAD),
    ),
    "heavy-tailed": Shape(lambda share: share ** (-1 / TAIL_INDEX), lambda time: np.minimum(time**-TAIL_INDEX, 1.0)),
}


@cache
def true_quantile_ns(shape: str, spread: float, level: float) -> float:
    """Of all messages of all trials, whose factors are log-normal: the mean share beyond it over the factors."""
    normal = np.linspace(-8, 8, 4001)
    weights = scipy.stats.norm.pdf(normal)

    def excess(log_time: float) -> float:
        beyond = SHAPES[shape].share(np.exp(log_time - spread * normal))
        return float(np.average(beyond, weights=weights)) - (1 - level)

    return UNIT_NS * float(np.exp(scipy.optimize.brentq(excess, -10, 10)))


@cache
def true_stalling_quantile_ns(shape: str, level: float) -> float:
    """The same of trials that are alike but that some of them stall now and then."""
    share, stalled = SHAPES[shape].share, STALLING_TRIALS * STALLED_MESSAGES

    def excess(log_time: float) -> float:
        time, in_a_stall = np.exp(log_time), np.exp(log_time) / STALLED_TIMES
        return float((1 - stalled) * share(time) + stalled * share(in_a_stall)) - (1 - level)

    return UNIT_NS * float(np.exp(scipy.optimize.brentq(excess, -10, 10)))


def drawn_stalling_times_ns(
    rng: np.random.Generator, shape: str, n_trials: int, messages: int
) -> list[NDArray[np.int64]]:
    """The ordered times of each trial."""
    stalls = rng.random((n_trials, 1)) < STALLING_TRIALS
    stalled = stalls & (rng.random((n_trials, messages)) < STALLED_MESSAGES)
    times = UNIT_NS * np.where(stalled, STALLED_TIMES, 1) * SHAPES[shape].beyond(1 - rng.random((n_trials, messages)))
    return list(np.sort(times.astype(np.int64), axis=1))


def drawn_times_ns(
    rng: np.random.Generator, shape: str, spread: float, n_trials: int, messages: int
) -> list[NDArray[np.int64]]:
    """The ordered times of each trial."""
    factors = np.exp(spread * rng.normal(size=(n_trials, 1)))
    times = UNIT_NS * factors * SHAPES[shape].beyond(1 - rng.random((n_trials, messages)))
    return list(np.sort(times.astype(np.int64), axis=1))


def drawn_events(
    rng: np.random.Generator, share: float, variation: float, n_trials: int, messages: int
) -> NDArray[np.int64]:
    """How many events each trial has, whose own shares are beta distributed with this coefficient of variation."""
    if not variation:
        return rng.binomial(messages, share, n_trials)
    both = (1 - share) / (share * variation**2) - 1
    return rng.binomial(messages, rng.beta(share * both, (1 - share) * both, n_trials))
