"""The trials of a campaign: every experiment once a block, each block in an order of its own drawn from the seed.

Blocks pair the trials of different experiments, so that drift of the machine hits all alike. It runs nothing.
"""

import hashlib
import random
from collections.abc import Sequence

from middlemark.plan.expand import expand
from middlemark.plan.experiment import Experiment
from middlemark.plan.only import only
from middlemark.suite import Model, Suite


class Trial(Model):
    """One execution of an experiment, from a cold start, in fresh processes."""

    id: str
    """The name of its folder; sorts in the order of running."""
    number: int
    """Its place in the campaign's order, from 1."""
    block: int
    """From 1; each block holds each experiment once."""
    seed: int
    """For the payload and for random schedules; the same for all experiments of a block."""
    experiment: Experiment


def plan_trials(
    suite: Suite, *, available: Sequence[str], conditions: Sequence[str] = (), trials: int | None = None
) -> tuple[Trial, ...]:
    """All trials of a suite: for the middlewares available, those that `--only` leaves, as often as `--trials` says."""
    experiments = only(expand(suite, available=available), conditions)
    return order_trials(experiments, blocks=trials or suite.trials, seed=suite.seed)


def order_trials(experiments: Sequence[Experiment], *, blocks: int, seed: int) -> tuple[Trial, ...]:
    """All trials in the order in which they run; the same seed gives the same order."""
    order = [
        (block, experiment) for block in range(1, blocks + 1) for experiment in _shuffled(experiments, block, seed)
    ]
    digits = len(str(len(order)))
    return tuple(
        Trial(
            id=f"{number:0{digits}}-{experiment.id}",
            number=number,
            block=block,
            seed=_derived(seed, block),
            experiment=experiment,
        )
        for number, (block, experiment) in enumerate(order, start=1)
    )


def _shuffled(experiments: Sequence[Experiment], block: int, seed: int) -> list[Experiment]:
    # Sorted first, so that the order in which a suite lists its factors does not matter.
    shuffled = sorted(experiments, key=lambda experiment: experiment.id)
    random.Random(f"order {seed} {block}").shuffle(shuffled)  # noqa: S311 - an order, not a secret
    return shuffled


def _derived(seed: int, block: int) -> int:
    return int.from_bytes(hashlib.sha256(f"trial {seed} {block}".encode()).digest()[:6], "big")
