"""Which trials come next in a campaign whose trials are all stored: a pure function of what they came to.

It runs nothing; `campaign` asks it after every block that it decided on, and a campaign that goes on asks it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from middlemark.analysis.record import Width
from middlemark.analysis.result import Result
from middlemark.analysis.stopping import open_experiments, widths
from middlemark.plan import Experiment, Trial, next_block
from middlemark.suite import Suite


@dataclass(frozen=True)
class Further:
    """What is decided after all trials so far."""

    trials: tuple[Trial, ...]
    """Empty where the campaign is at its end."""
    widths: tuple[Width, ...]
    why: str
    """In words for the eye."""


def asks_for_more(suite: Suite) -> bool:
    """Whether the suite leaves to the results how many trials there are."""
    return suite.stop is not None


def further(suite: Suite, trials: Sequence[Trial], results: Sequence[Result]) -> Further:
    """The next block, or none."""
    experiments = list({trial.experiment.id: trial.experiment for trial in trials}.values())
    found: tuple[Width, ...] = ()
    wide: list[Experiment] = []
    if suite.stop is not None:
        found = widths(suite.stop, experiments, results)
        names = open_experiments(found, suite.stop, results)
        wide = [each for each in experiments if each.id in names]
    block = next_block(trials, wide, seed=suite.seed, observe=suite.observe or ()) if wide else ()
    return Further(block, found, f"{len(wide)} of {len(experiments)} experiments are still too wide")
