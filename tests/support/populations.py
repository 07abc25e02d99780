"""Populations of trials whose quantiles and shares are known, to draw trials from: what simulations of intervals need.

A trial differs from others of its kind by a factor on all its times, by a tail that only some trials have, or by its own
share of events. What is true is of the population of all trials together: the quantile of all their messages, the mean
of their shares. Of capacity searches it is the load that half of the trials sustain. It knows no interval.
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

from middlemark.analysis.search.bisection import Limit, StepTrials, next_step
from middlemark.plan.experiment import Search

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


SEARCH = Search(
    lowest_hz=100, highest_hz=1e5, precision=0.05, loss_share=0.001, latency_ns=10_000_000, confirm=3, max_trials=60
)
WRONG = 0.05
"""The share of trials whose result has nothing to do with their load, where there are such."""
CURVES: dict[str, Callable[[float], float]] = {
    "logistic": lambda x: float(scipy.special.expit(-1.9892 * x)),
    "normal": lambda x: float(scipy.special.ndtr(-1.2256 * x)),
    "steeper above": lambda x: float(np.exp(-np.log(2) * np.exp(1.4249 * x))),
    "steeper below": lambda x: float(-np.expm1(-np.log(2) * np.exp(-1.4249 * x))),
    "heavy tails": lambda x: float(0.5 - np.arctan(1.7647 * x) / np.pi),
    "one in twenty wrong": lambda x: float(WRONG + (1 - 2 * WRONG) * scipy.special.expit(-2.2406 * x)),
}
"""The share of trials that sustain a load: half at 0, and a fall from 73 to 27 % over a length of 1."""


def drawn_searches(
    rng: np.random.Generator, curve: str, true_hz: float, n_steps: float, n_searches: int
) -> list[tuple[float, bool]]:
    """The trials of searches; the share that sustains falls from 73 to 27 % over so many steps."""
    trials = []
    length = n_steps * np.log1p(SEARCH.precision)
    for _ in range(n_searches):
        steps: dict[int, StepTrials] = {}
        n = 0
        while (step := next_step(SEARCH, steps, n)) is not None:
            load = SEARCH.value_at(step)
            sustained = bool(rng.random() < CURVES[curve](np.log(load / true_hz) / length))
            tried = steps.setdefault(step, StepTrials())
            tried.sustained += sustained
            tried.limits[Limit.LOSS] += not sustained
            trials.append((load, sustained))
            n += 1
    return trials
