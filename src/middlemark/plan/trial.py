"""The trials of a campaign: every experiment once a block, and once more for each observation, in a seeded order.

Blocks pair the trials of different experiments, so that drift of the machine hits all alike. It runs nothing.
"""

import hashlib
import random
from collections.abc import Sequence
from itertools import product
from typing import Annotated, Self

from pydantic import Field, model_validator

from middlemark.plan.expand import expand
from middlemark.plan.experiment import Experiment
from middlemark.plan.only import only
from middlemark.suite import Model, Observation, Suite
from middlemark.suite.bounds import TrialId


class Trial(Model):
    """One execution of an experiment, from a cold start, in fresh processes."""

    id: TrialId
    """The name of its folder; sorts in the order of running."""
    number: Annotated[int, Field(ge=1, lt=10**9)]
    """Its place in the campaign's order, from 1."""
    block: Annotated[int, Field(ge=1, lt=10**9)]
    """From 1; each block holds each experiment once that has trials left, and once more for each observation."""
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    """For the payload and for random schedules; the same for all experiments of a block."""
    experiment: Experiment
    observation: Observation | None = None
    """What watches it; None for the trials that latency, loss and rates are taken from."""

    @model_validator(mode="after")
    def _is_named_by_what_it_is(self) -> Self:
        number, _, experiment = self.id.partition("-")
        if int(number) != self.number or experiment != self.experiment.id:
            raise ValueError(f"{self.id} is no name of trial {self.number} of {self.experiment.id}")
        return self


def plan_trials(
    suite: Suite, *, available: Sequence[str], conditions: Sequence[str] = (), trials: int | None = None
) -> tuple[Trial, ...]:
    """All trials of a suite: for the middlewares available, those that `--only` leaves, as often as `--trials` says."""
    experiments = only(expand(suite, available=available), conditions)
    return order_trials(experiments, blocks=trials or suite.trials, seed=suite.seed, observe=suite.observe or ())


def order_trials(
    experiments: Sequence[Experiment],
    *,
    blocks: int,
    seed: int,
    observe: Sequence[Observation] = (),
    most_trials: int = 0,
) -> tuple[Trial, ...]:
    """All trials in the order in which they run; the same seed gives the same order.

    Where later ones may follow, `most_trials` says how many there may be in all, so that ids sort in the same order.
    """
    order = [
        (block, *executed)
        for block in range(1, blocks + 1)
        for executed in _shuffled(_of_block(block, experiments), (None, *dict.fromkeys(observe)), block, seed)
    ]
    digits = len(str(max(len(order), most_trials)))
    return tuple(_trial(number, digits, seed, *executed) for number, executed in enumerate(order, start=1))


def _of_block(block: int, experiments: Sequence[Experiment]) -> Sequence[Experiment]:
    """A search begins with one trial; what it came to says which is next."""
    return experiments if block == 1 else [each for each in experiments if each.search is None]


def next_block(
    before: Sequence[Trial], experiments: Sequence[Experiment], *, seed: int, observe: Sequence[Observation] = ()
) -> tuple[Trial, ...]:
    """One more block, of these experiments alone, after all the trials that there are."""
    digits, block = len(before[-1].id.partition("-")[0]), before[-1].block + 1
    executed = _shuffled(experiments, (None, *dict.fromkeys(observe)), block, seed)
    return tuple(
        _trial(number, digits, seed, block, *each) for number, each in enumerate(executed, start=before[-1].number + 1)
    )


def _trial(  # noqa: PLR0913, PLR0917 - as many as a trial has parts
    number: int, digits: int, seed: int, block: int, experiment: Experiment, observation: Observation | None
) -> Trial:
    return Trial(
        id=f"{number:0{digits}}-{experiment.id}",
        number=number,
        block=block,
        seed=_derived(seed, block),
        experiment=experiment,
        observation=observation,
    )


def _shuffled(
    experiments: Sequence[Experiment], observations: Sequence[Observation | None], block: int, seed: int
) -> list[tuple[Experiment, Observation | None]]:
    # Sorted first, so that the order in which a suite lists its factors does not matter.
    shuffled = sorted(product(experiments, observations), key=lambda pair: (pair[0].id, pair[1] or ""))
    random.Random(f"order {seed} {block}").shuffle(shuffled)  # noqa: S311 - an order, not a secret
    return shuffled


def _derived(seed: int, block: int) -> int:
    return int.from_bytes(hashlib.sha256(f"trial {seed} {block}".encode()).digest()[:6], "big")
