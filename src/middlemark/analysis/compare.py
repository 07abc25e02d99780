"""Comparisons of experiments that differ in one thing: which is better, by how much, and whether that can be told.

Trials of one block ran close in time, so they are compared with each other: the interval is Student's over the
logarithms of the blocks' ratios (paired observations: Jain, "The art of computer systems performance analysis", 1991,
§13.4.1; ratios by their logarithms: Fleming & Wallace, CACM 29, 1986). A bootstrap of three blocks could never reach
95 % (see `interval.coverage`), hence Student's here; it takes the logarithms of trials' medians to be near normal.
Each comparison stands for itself at 95 %: over many, some of the smaller differences will be chance.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

import numpy as np
import scipy

from middlemark.analysis.interval import CONFIDENCE

K = TypeVar("K", bound=Hashable)
Block = int
"""The number of the round in which every experiment was tried once."""


class Verdict(StrEnum):
    """What a comparison came to, seen from its first side."""

    LESS = "less"
    MORE = "more"
    CANNOT_TELL = "cannot_tell"


@dataclass(frozen=True)
class Ratio:
    """How many times as large the first is as the second: the geometric mean over blocks, with its interval."""

    value: float
    low: float
    high: float
    n_blocks: int

    @property
    def verdict(self) -> Verdict:
        """Only an interval without 1 tells the two apart."""
        if self.high < 1:
            return Verdict.LESS
        return Verdict.MORE if self.low > 1 else Verdict.CANNOT_TELL

    @property
    def inverse(self) -> Ratio:
        """The same, seen from the other side."""
        return Ratio(1 / self.value, 1 / self.high, 1 / self.low, self.n_blocks)


def paired_ratio(first: Mapping[Block, float], second: Mapping[Block, float]) -> Ratio | None:
    """The ratio over the blocks that both have; None where fewer than two do, or a value is nought or infinite."""
    pairs = [(first[block], second[block]) for block in sorted(first.keys() & second.keys())]
    if len(pairs) < 2 or not all(0 < value < math.inf for pair in pairs for value in pair):
        return None
    logarithms = np.log([a / b for a, b in pairs])
    n = len(logarithms)
    mean, deviation = float(np.mean(logarithms)), float(np.std(logarithms, ddof=1))
    reach = float(scipy.stats.t.ppf((1 + CONFIDENCE) / 2, n - 1)) * deviation / math.sqrt(n)
    reach = min(reach, 50.0)  # e^50: "anything"; beyond, the exponential would overflow
    return Ratio(math.exp(mean), math.exp(mean - reach), math.exp(mean + reach), n)


@dataclass(frozen=True)
class Place(Generic[K]):
    """A place in a ranking."""

    key: K
    rank: int
    """One more than the number of those that are certainly better; equal numbers are ties."""
    tied_with: tuple[K, ...]
    """Those that can't be told from it."""


def ranking(values: Mapping[K, Mapping[Block, float]], *, lower_is_better: bool) -> list[Place[K]]:
    """Rank by certain differences alone (the lower bound of the rank: Goldstein & Spiegelhalter, JRSS A 159, 1996).

    Among equals in rank the better median comes first, which is an order of lines, not a verdict.
    """
    better = Verdict.MORE if lower_is_better else Verdict.LESS
    places = []
    for key in values:
        verdicts = {other: verdict_of(values[key], values[other]) for other in values if other != key}
        rank = 1 + sum(verdict is better for verdict in verdicts.values())
        tied = tuple(other for other, verdict in verdicts.items() if verdict is Verdict.CANNOT_TELL)
        places.append(Place(key, rank, tied))
    sign = 1 if lower_is_better else -1
    return sorted(places, key=lambda place: (place.rank, sign * float(np.median(list(values[place.key].values())))))


def verdict_of(first: Mapping[Block, float], second: Mapping[Block, float]) -> Verdict:
    """Whether the first is less, more, or not to be told from the second."""
    ratio = paired_ratio(first, second)
    return Verdict.CANNOT_TELL if ratio is None else ratio.verdict
