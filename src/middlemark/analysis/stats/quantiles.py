"""Quantiles of a trial's samples, with the reason where there is none, and the sketch that keeps a distribution small.

A quantile is one of the samples (the inverse of the empirical distribution function: Hyndman & Fan, The American
Statistician 50, 1996, definition 1), as HdrHistogram gives it; a lost message counts as one that takes for ever (RFC
7679, §5.1), and a one-way time within the clocks' bound is not reported. It knows no trial; `estimate` and the
`metrics` modules use it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import NonNegativeInt, PositiveInt

from middlemark.suite.yaml.quantity import DURATION

Samples = NDArray[np.int64]
"""Values in ascending order."""
SAMPLES_BEYOND = 10
"""How many samples must lie beyond a quantile: with fewer, its own spread is as large as what it says."""
KEPT_WHOLE = 16_384
"""Samples of a trial up to which all are kept."""
PARTS = 8_192
"""Of more samples, representatives are kept: the median's share is off by 1/10 000 at most, of 99.9 % by 1/160 000."""
NEVER_NS = 1 << 62
"""The value of an infinite time, 146 years."""
ENDS = 64
"""Samples at either end that are kept one by one: more than a curve draws."""


@dataclass(frozen=True)
class Measured:
    """A value, and the number of messages (or readings) from which it was computed."""

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
    """No value: the quantile is that of a message that never arrived, which counts as infinitely slow."""

    n: PositiveInt
    """All messages, whether or not they arrived."""
    lost: NonNegativeInt
    kind: Literal["lost"] = field(default="lost", kw_only=True, repr=False)

    def __str__(self) -> str:
        """As it is shown in the value's place."""
        return f"{percent(self.lost / self.n)} of {self.n} messages never arrived"


@dataclass(frozen=True)
class Partial:
    """No value: some messages left no sample, and the others don't represent all."""

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


def is_measurable(time_ns: float, bound_ns: float) -> bool:
    """Whether a time is long enough to be known by clocks that may be so far apart; always by a single clock."""
    return not bound_ns or time_ns > bound_ns


def with_clock_bound(value: Value, bound_ns: int, time_ns: float | None = None) -> Value:
    """A value with its bound, or that there is none; `time_ns` is what a value rests on that is no time itself."""
    if not bound_ns or not isinstance(value, Measured):
        return value
    if is_measurable(value.value if time_ns is None else time_ns, bound_ns):
        return Measured(value.value, value.n, bound_ns if time_ns is None else 0)
    return WithinClocks(value.n, bound_ns)


def widest_refusal(values: Iterable[Value]) -> WithinClocks | None:
    """The refusal with the widest bound; None where each value is measurable.

    One is enough to refuse an estimate over trials: those left would be the ones that took longer.
    """
    refused = [value for value in values if isinstance(value, WithinClocks)]
    return max(refused, key=lambda clocks: clocks.bound_ns) if refused else None


@cache
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


@dataclass(frozen=True)
class Sketch:
    """Ascending values, and the number of samples that each represents."""

    values: Samples
    counts: NDArray[np.int64]
    n: int
    """Of those that arrived."""
    bound_ns: int = 0
    """By how much the clocks of different machines may put each off."""
    lost: int = 0
    """Messages that never arrived, or later than Tmax (RFC 7680): beyond every value."""

    @property
    def n_messages(self) -> int:
        """All messages, whether or not they arrived."""
        return self.n + self.lost

    def at(self, ranks: NDArray[np.int64]) -> Samples:
        """The ordered samples of these ranks, from 1, or their representatives."""
        if self.n == len(self.values):
            return self.values[ranks - 1]
        return self.values[np.searchsorted(np.cumsum(self.counts), ranks)]

    def below(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many samples are below each of these."""
        places = np.searchsorted(self.values, values)
        if self.n == len(self.values):
            return places
        return np.concatenate([[0], np.cumsum(self.counts)])[places]

    def quantile(self, level: float) -> Value:
        """The quantile of all messages, where there are enough of them; clocks are not considered here."""
        if self.n_messages < needed(level):
            return TooFewSamples(self.n_messages)
        place = rank(self.n_messages, level)
        if place > self.n:
            return Lost(self.n_messages, self.lost)
        return Measured(float(self.at(np.array([place]))[0]), self.n_messages)

    def with_lost(self) -> Sketch:
        """All messages as values, those that never arrived as `NEVER_NS`."""
        if not self.lost:
            return self
        values, counts = np.append(self.values, NEVER_NS), np.append(self.counts, self.lost)
        return Sketch(values, counts, self.n_messages, self.bound_ns)


def exact_sketch(samples: Samples, bound_ns: int = 0, lost: int = 0) -> Sketch:
    """Ordered samples, each of which represents only itself."""
    return Sketch(samples, np.broadcast_to(np.int64(1), len(samples)), len(samples), bound_ns, lost)


def sketch_of(samples: Sketch) -> Sketch:
    """The same in bounded memory; nothing of it refers to the samples any more."""
    if len(samples.values) <= KEPT_WHOLE:
        return replace(samples, values=samples.values.copy())
    edges = _edges(samples.n)
    middles = (edges[:-1] + edges[1:] - 1) // 2
    return replace(samples, values=samples.at(middles + 1), counts=np.diff(edges))


def _edges(n: int) -> NDArray[np.int64]:
    """The ranks, from 0, at which parts begin, and n."""
    inner = n - 2 * ENDS
    shares = np.sin(np.linspace(0, np.pi / 2, PARTS + 1)) ** 2
    return np.concatenate(
        [np.arange(ENDS), np.unique(ENDS + np.rint(shares * inner).astype(np.int64)), np.arange(n - ENDS + 1, n + 1)]
    )


def pool_sketches(parts: Sequence[Sketch]) -> Sketch:
    """All samples together, be they of several trials or of one."""
    values = np.concatenate([part.values for part in parts])
    order = np.argsort(values, kind="stable")
    counts = np.concatenate([part.counts for part in parts])
    bound_ns = max(part.bound_ns for part in parts)
    n, lost = sum(part.n for part in parts), sum(part.lost for part in parts)
    return Sketch(values[order], counts[order], n, bound_ns, lost)
