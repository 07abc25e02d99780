"""A trial's distribution in little memory, so that an experiment's trials fit beside each other however long they ran.

Few samples are all kept. Of many, order statistics stand for their neighbours, the denser the nearer to either end, and
the ends are kept whole (a t-digest's scale: Dunning & Ertl, "Computing extremely accurate quantiles using t-digests",
arXiv:1902.04023, 2019, here over samples that are in order already). A trial's own quantiles are taken before, of all
samples; these are for what must look at several trials together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from middlemark.analysis.quantile import Measured, Samples, TooFewSamples, Value, needed, rank

KEPT_WHOLE = 16_384
"""Samples of a trial up to which all are kept."""
PARTS = 8_192
"""Of more, each with one that stands for it: the median's share is off by 1/10 000 at most, of 99.9 % by 1/160 000."""
ENDS = 64
"""Samples at either end that are kept one by one: more than a curve draws."""


@dataclass(frozen=True)
class Condensed:
    """Ascending values, and how many samples each stands for."""

    values: Samples
    counts: NDArray[np.int64]
    n: int
    bound_ns: int = 0
    """By how much the clocks of different machines may put each off."""

    def at(self, ranks: NDArray[np.int64]) -> Samples:
        """The ordered samples of these ranks, from 1, or those that stand for them."""
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
        """The quantile, where there are enough samples of it; whether clocks tell it is not asked here."""
        if self.n < needed(level):
            return TooFewSamples(self.n)
        return Measured(float(self.at(np.array([rank(self.n, level)]))[0]), self.n)


def whole(samples: Samples, bound_ns: int = 0) -> Condensed:
    """Ordered samples, each of which stands for itself."""
    return Condensed(samples, np.broadcast_to(np.int64(1), len(samples)), len(samples), bound_ns)


def condensed(samples: Condensed) -> Condensed:
    """The same in bounded memory; nothing of it refers to the samples any more."""
    if len(samples.values) <= KEPT_WHOLE:
        return replace(samples, values=samples.values.copy())
    edges = _edges(samples.n)
    middles = (edges[:-1] + edges[1:] - 1) // 2
    return Condensed(samples.at(middles + 1), np.diff(edges), samples.n, samples.bound_ns)


def _edges(n: int) -> NDArray[np.int64]:
    """The ranks, from 0, at which parts begin, and n."""
    inner = n - 2 * ENDS
    shares = np.sin(np.linspace(0, np.pi / 2, PARTS + 1)) ** 2
    return np.concatenate(
        [np.arange(ENDS), np.unique(ENDS + np.rint(shares * inner).astype(np.int64)), np.arange(n - ENDS + 1, n + 1)]
    )


def pooled(parts: Sequence[Condensed]) -> Condensed:
    """All samples together, be they of several trials or of one."""
    values = np.concatenate([each.values for each in parts])
    order = np.argsort(values, kind="stable")
    counts = np.concatenate([each.counts for each in parts])
    bound_ns = max(each.bound_ns for each in parts)
    return Condensed(values[order], counts[order], sum(each.n for each in parts), bound_ns)
