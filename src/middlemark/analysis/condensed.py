"""A trial's distribution in little memory, so that an experiment's trials fit beside each other however long they ran.

Few samples are all kept. Of many, order statistics stand for their neighbours, the denser the nearer to either end, and
the ends are kept whole (a t-digest's scale: Dunning & Ertl, "Computing extremely accurate quantiles using t-digests",
arXiv:1902.04023, 2019, here over samples that are in order already). A trial's own quantiles are taken before, of all
samples; these are for what must look at several trials together. A message that never arrived has taken for ever (RFC
7679, §5.1): it has no sample, and counts in every quantile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from middlemark.analysis.quantile import Lost, Measured, Samples, TooFewSamples, Value, needed, rank

KEPT_WHOLE = 16_384
"""Samples of a trial up to which all are kept."""
PARTS = 8_192
"""Of more, each with one that stands for it: the median's share is off by 1/10 000 at most, of 99.9 % by 1/160 000."""
NEVER_NS = 1 << 62
"""What stands for a time without end, 146 years."""
ENDS = 64
"""Samples at either end that are kept one by one: more than a curve draws."""


@dataclass(frozen=True)
class Condensed:
    """Ascending values, and how many samples each stands for."""

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
        """The quantile of all messages, where there are enough of them; whether clocks tell it is not asked here."""
        if self.n_messages < needed(level):
            return TooFewSamples(self.n_messages)
        place = rank(self.n_messages, level)
        if place > self.n:
            return Lost(self.n_messages, self.lost)
        return Measured(float(self.at(np.array([place]))[0]), self.n_messages)

    def with_lost(self) -> Condensed:
        """All messages as values, those that never arrived as `NEVER_NS`."""
        if not self.lost:
            return self
        values, counts = np.append(self.values, NEVER_NS), np.append(self.counts, self.lost)
        return Condensed(values, counts, self.n_messages, self.bound_ns)


def whole(samples: Samples, bound_ns: int = 0, lost: int = 0) -> Condensed:
    """Ordered samples, each of which stands for itself."""
    return Condensed(samples, np.broadcast_to(np.int64(1), len(samples)), len(samples), bound_ns, lost)


def condensed(samples: Condensed) -> Condensed:
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


def pooled(parts: Sequence[Condensed]) -> Condensed:
    """All samples together, be they of several trials or of one."""
    values = np.concatenate([each.values for each in parts])
    order = np.argsort(values, kind="stable")
    counts = np.concatenate([each.counts for each in parts])
    bound_ns = max(each.bound_ns for each in parts)
    n, lost = sum(each.n for each in parts), sum(each.lost for each in parts)
    return Condensed(values[order], counts[order], n, bound_ns, lost)
