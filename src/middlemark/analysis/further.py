"""Which trials come next in a campaign whose trials are all stored: a pure function of what they came to.

It runs nothing; `campaign` asks it after every block that it decided on, and a campaign that goes on asks it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from middlemark.analysis.result import Result
from middlemark.analysis.search_steps import next_steps
from middlemark.analysis.stopping import open_experiments, widths
from middlemark.plan import Experiment, Trial, next_block
from middlemark.plan.search import at_step
from middlemark.results.manifest import Width
from middlemark.suite import Suite


@dataclass(frozen=True)
class Further:
    """What is decided after all trials so far."""

    trials: tuple[Trial, ...]
    """Empty where the campaign is at its end."""
    widths: tuple[Width, ...]
    why: str
    """In words for the eye."""


def asks_for_more(suite: Suite, trials: Sequence[Trial]) -> bool:
    """Whether the suite leaves to the results how many trials there are."""
    return suite.stop is not None or any(trial.experiment.search for trial in trials)


def further(suite: Suite, trials: Sequence[Trial], results: Sequence[Result]) -> Further:
    """The next block, or none: what is still too wide, and the next step of each search."""
    experiments = list({t.experiment.id: t.experiment for t in trials if t.experiment.search is None}.values())
    found: tuple[Width, ...] = ()
    wide: list[Experiment] = []
    if suite.stop is not None:
        found = widths(suite.stop, experiments, results)
        names = open_experiments(found, suite.stop, results)
        wide = [each for each in experiments if each.id in names]
    in_order = sorted(results, key=lambda each: each.trial.number)
    steps = [at_step(each, search, step) for each, search, step in next_steps(in_order)]
    why = [f"{len(wide)} of {len(experiments)} experiments are still too wide"] if wide else []
    why += ["one search goes on" if len(steps) == 1 else f"{len(steps)} searches go on"] if steps else []
    chosen = [*wide, *steps]
    block = next_block(trials, chosen, seed=suite.seed, observe=suite.observe or ()) if chosen else ()
    return Further(block, found, ", ".join(why))
