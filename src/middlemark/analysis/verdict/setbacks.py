"""The trials in which a side could not keep up, so that those that are left flatter it.

A trial that never communicated, failed, was overloaded, or lost so much that a percentile has no value (RFC 7679: a
lost message has taken for ever) is a result of its middleware. What the machine disturbed, or can't do at all, is none.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import scipy

from middlemark.analysis.interval import CONFIDENCE
from middlemark.analysis.verdict.difference import FEWEST_BLOCKS
from middlemark.analysis.verdict.known import Known

FAILURES = {"no_communication": "no communication", "failed": "failed", "timed_out": "timed out"}
"""Outcomes that are the middleware's own, in words."""


@dataclass(frozen=True)
class Setbacks:
    """How many trials of one side can't speak for a figure, and why."""

    n_trials: int = 0
    """All that the machine did not disturb."""
    reasons: Mapping[str, int] = field(default_factory=dict)
    n_disturbed: int = 0
    """Trials that the machine disturbed, which speak against nobody; many more of one side are a selection though."""

    @property
    def n(self) -> int:
        """How many there were."""
        return min(sum(self.reasons.values()), self.n_trials)

    @property
    def share(self) -> float:
        """Of all its trials."""
        return self.n / self.n_trials if self.n_trials else 0.0

    @property
    def is_majority(self) -> bool:
        """Whether fewer trials count than don't."""
        return 2 * self.n > self.n_trials

    def __str__(self) -> str:
        """`overloaded in 7 of 10 trials`."""
        words = [f"{reason} in {n}" for reason, n in self.reasons.items() if n]
        return f"{', '.join(words)} of {self.n_trials} trials" if words else f"none of {self.n_trials} trials"


def setbacks(kinds: Counter[str], known: Known, n_overloaded: int = 0) -> Setbacks:
    """Of a figure's values, and how the trials ended; overloaded ones are valid, but have no value of the path."""
    reasons = {words: kinds[kind] for kind, words in FAILURES.items() if kinds[kind]}
    endless = sum(value == math.inf for value in known.low.values())
    reasons |= {"overloaded": n_overloaded} if n_overloaded else {}
    reasons |= {"too much lost for this percentile": endless} if endless else {}
    return Setbacks(kinds["valid"] + sum(kinds[kind] for kind in FAILURES), reasons, kinds["invalid"])


def surely_more(one: Setbacks, other: Setbacks) -> bool:
    """Whether the first has more of them than chance explains (Fisher's exact test), or all where the other none."""
    if min(one.n_trials, other.n_trials) < FEWEST_BLOCKS or one.share <= other.share:
        return False
    if one.share == 1 and other.share == 0:
        return True
    return _differ([(side.n, side.n_trials - side.n) for side in (one, other)])


def disturbed_apart(one: Setbacks, other: Setbacks) -> str:
    """Why what is left of two sides may be a selection: the machine disturbed surely more trials of one of them."""
    disturbed = [(side.n_disturbed, side.n_trials) for side in (one, other)]
    if not (one.n_disturbed or other.n_disturbed) or not _differ(disturbed):  # the test is slow, and mostly not needed
        return ""
    counts = [f"{side.n_disturbed} of {side.n_trials + side.n_disturbed}" for side in (one, other)]
    return (
        f"the machine disturbed {counts[0]} trials of one side, {counts[1]} of the other: what is left is a selection"
    )


def _differ(table: list[tuple[int, int]]) -> bool:
    return float(scipy.stats.fisher_exact(table).pvalue) < 1 - CONFIDENCE
