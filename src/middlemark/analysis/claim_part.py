"""What a part of a claim is: what became of it at one experiment or pair, by which test, and how large the effect is.

`claim_parts` finds the parts, `claim_judgement` decides each of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from middlemark.analysis.experiment import ExperimentFindings
from middlemark.analysis.verdict.difference import Test
from middlemark.analysis.verdict.evidence import BoundTest
from middlemark.analysis.verdict.verdict import Judgement
from middlemark.suite import Dimension


class ClaimTest(StrEnum):
    """How a part that is about neither two sides nor a bound was judged, in the words that a reader is shown."""

    OUTCOMES = "outcomes of trials, Clopper and Pearson's interval"
    STEPS = "ends certainly differ, and no step goes back by more than 5 % (shares: 0.1 pp); paired by block"
    NONE = "none"


JudgedBy = Test | BoundTest | ClaimTest


class Scale(StrEnum):
    """What an effect is a number of."""

    TIMES = "times"
    """How many times as large the first side is as the second."""
    DIFFERENCE = "difference"
    """By how much a share is larger."""
    VALUE = "value"
    """The figure itself, in the unit that its metric's name ends in."""
    TRIALS = "trials"
    """A share of trials."""


@dataclass(frozen=True)
class Effect:
    """How large it is, with its interval at 95 % or at what was asked for."""

    scale: Scale
    value: float
    low: float
    high: float
    dimension: Dimension | None = None
    """Of a value."""


@dataclass(frozen=True)
class Part:
    """A claim at one experiment or pair."""

    subjects: tuple[ExperimentFindings, ...]
    stream: str | None
    judgement: Judgement
    test: JudgedBy
    effect: Effect | None
    n_trials: int
    """Blocks or trials that the effect rests on."""
    reason: str = ""
    """Why it is undecided, or what the effect does not say."""
