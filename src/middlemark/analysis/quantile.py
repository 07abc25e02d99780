"""Quantiles of a trial's samples, and whether there are samples enough to speak of them.

A quantile is one of the samples (the inverse of the empirical distribution function: Hyndman & Fan, "Sample quantiles
in statistical packages", The American Statistician 50, 1996, definition 1), as HdrHistogram gives it; nothing is
interpolated. Why there is none of a trial is one of a closed set. It knows no trial; `metrics` and `estimate` ask it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import NonNegativeInt, PositiveInt

from middlemark.suite.quantity import DURATION

Samples = NDArray[np.int64]
"""Values in ascending order."""

LEVELS = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999, "p9999": 0.9999}
"""The quantiles that are given, by the name that a metric carries."""

SAMPLES_BEYOND = 10
"""How many samples must lie beyond a quantile: with fewer, its own spread is as large as what it says."""


@dataclass(frozen=True)
class Measured:
    """A value, and the number of messages (or readings) that it stands on."""

    value: float
    n: int
    bound_ns: int = 0
    """By how much the clocks of different machines may put it off."""
    kind: Literal["measured"] = field(default="measured", kw_only=True, repr=False)


@dataclass(frozen=True)
class TooFewSamples:
    """No value: fewer samples than it would take."""

    n: int
    kind: Literal["too_few_samples"] = field(default="too_few_samples", kw_only=True, repr=False)

    def __str__(self) -> str:
        """As it is shown in the value's place."""
        return f"too few samples (n = {self.n})"


@dataclass(frozen=True)
class WithinClocks:
    """No value: a one-way time no longer than the clocks of its ends may be apart."""

    n: int
    bound_ns: int
    kind: Literal["within_clocks"] = field(default="within_clocks", kw_only=True, repr=False)

    def __str__(self) -> str:
        """As it is shown in the value's place."""
        return f"one-way: within the clocks' {bound_words(self.bound_ns)}"


@dataclass(frozen=True)
class Lost:
    """No value: a message that never arrived has taken for ever, and the quantile is that of such a message."""

    n: PositiveInt
    """All messages, whether or not they arrived."""
    lost: NonNegativeInt
    kind: Literal["lost"] = field(default="lost", kw_only=True, repr=False)

    def __str__(self) -> str:
        """As it is shown in the value's place."""
        return f"{percent(self.lost / self.n)} of {self.n} messages never arrived"


@dataclass(frozen=True)
class Partial:
    """No value: of some messages there is no sample, and those that have one don't stand for all."""

    n: NonNegativeInt
    """Messages that left a sample."""
    of: PositiveInt
    kind: Literal["partial"] = field(default="partial", kw_only=True, repr=False)

    def __str__(self) -> str:
        """As it is shown in the value's place."""
        return f"only the first {self.n} of {self.of} messages left a sample"


@dataclass(frozen=True)
class NoSchedule:
    """No value: when messages were to be sent can't be rebuilt, so that nobody knows how many are missing."""

    n: NonNegativeInt
    """Messages that arrived."""
    kind: Literal["no_schedule"] = field(default="no_schedule", kw_only=True, repr=False)

    def __str__(self) -> str:
        """As it is shown in the value's place."""
        return "the worker's random gaps can't be rebuilt"


Value = Measured | TooFewSamples | WithinClocks | Lost | Partial | NoSchedule
"""What a metric may come to; `kind` tells a stored one from another (`stored`)."""


def percent(share: float) -> str:
    """`2 %`: two digits where it is less than ten."""
    return f"{100 * share:.{2 if share < 0.1 else 3}g} %"


def bound_words(bound_ns: int) -> str:
    """`± 93.5 µs`: three digits, rounded up as a bound must be."""
    step_ns = 10 ** max(len(str(bound_ns)) - 3, 0)
    return f"± {DURATION.text(math.ceil(bound_ns / step_ns) * step_ns)}"


def needed(level: float) -> int:
    """How many samples the quantile takes: n·(1−p) ≥ 10, and n·p ≥ 10 below the median."""
    return math.ceil(round(SAMPLES_BEYOND / min(level, 1 - level), 6))


def rank(n: int, level: float) -> int:
    """Which of `n` ordered samples, from 1, is the quantile: the smallest with at least the share `level` up to it."""
    return max(1, math.ceil(round(level * n, 6)))  # rounded: 0.9 · 10 must be 9, not a hair more


def quantile(samples: Samples, level: float) -> Value:
    """The quantile of ordered samples, where there are enough of them."""
    if len(samples) < needed(level):
        return TooFewSamples(len(samples))
    return Measured(float(samples[rank(len(samples), level) - 1]), len(samples))
