"""The trials of a campaign: every experiment once a block, and once more for each observation, in a seeded order.

Blocks pair the trials of different experiments, and in a block those that are compared run near each other, so that the
machine changes little between them. Of a capacity search each block has one step, which `analysis.search` chooses. It
runs nothing, and how long trials take `duration` says; a stored plan it makes again from its suite, to hold the stored
one against.
"""

import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType

from middlemark.plan.demand import experiments_of, observed
from middlemark.plan.experiment import Experiment, Search, Sought
from middlemark.plan.factors import Factors, experiment_id, sent_factors, setting_factors
from middlemark.plan.matrix import expand, on_both_sides, only
from middlemark.plan.patterns import Periodic
from middlemark.plan.streams import Stream
from middlemark.plan.trial.trial import SearchStep, Trial
from middlemark.suite import Demand, Observation, Suite, factor_text

Executed = tuple[Experiment, Observation | None]
"""What a trial executes: None where it is not observed."""
SOUGHT = {"no_communication", "failed", "timed_out"}
"""The outcomes of trials whose load was not sustained."""


@dataclass(frozen=True)
class Watched:
    """What is observed, and in which blocks."""

    observations: Sequence[Observation] = ()
    blocks: int | None = None
    """In so many, from the first on; None: in all."""

    def kinds(self, block: int) -> tuple[Observation | None, ...]:
        """The trials that an experiment has in a block: None, the unobserved one, then each observation once."""
        is_watched = self.blocks is None or block <= self.blocks
        return (None, *dict.fromkeys(self.observations if is_watched else ()))


UNWATCHED = Watched()


def watched(requested: Suite | Demand) -> Watched:
    """What a suite, or an application, wants observed."""
    if isinstance(requested, Suite):
        return Watched(requested.observe or (), requested.observed_trials)
    return Watched(observed(requested))


@dataclass(frozen=True)
class Load:
    """What each publisher has to send."""

    rate_hz: float
    size_bytes: int

    @property
    def payload_bytes_per_s(self) -> float:
        """Rate times size."""
        return self.rate_hz * self.size_bytes

    def of(self, sought: Sought) -> float:
        """Its rate or its size."""
        return self.rate_hz if sought is Sought.RATE else float(self.size_bytes)


def load_of(experiment: Experiment) -> Load:
    """The load of an experiment of a search."""
    stream = experiment.streams[0]
    return Load(_periodic(stream).rate_hz, stream.size_bytes)


def load_at(experiment: Experiment, search: Search, step: int) -> Load:
    """The load of the same search at a step."""
    load, value = load_of(experiment), search.value_at(step)
    return Load(value, load.size_bytes) if search.sought is Sought.RATE else Load(load.rate_hz, int(value))


def is_sought(step: SearchStep | None, outcome: str) -> bool:
    """Whether a search came for a trial that ended so: above its lowest load it looks for what fails."""
    return outcome in SOUGHT and step is not None and step.step > 0


def at_step(experiment: Experiment, search: Search, step: int) -> Experiment:
    """The experiment of the same search at another step."""
    load, stream = load_at(experiment, search, step), experiment.streams[0]
    text = factor_text(search.sought, load.of(search.sought))
    factors = {**experiment.factors, search.sought.value: text}
    pattern = _periodic(stream).model_copy(update={"rate_hz": load.rate_hz})
    changed = stream.model_copy(update={"pattern": pattern, "size_bytes": load.size_bytes})
    return experiment.model_copy(
        update={"id": experiment_id(factors), "factors": factors, "streams": (changed, *experiment.streams[1:])}
    )


def _periodic(stream: Stream) -> Periodic:
    if not isinstance(stream.pattern, Periodic):
        raise TypeError(f"a search is of a periodic stream, not {stream.pattern.kind}")
    return stream.pattern


def search_as_one(experiment: Experiment, search: Search) -> Experiment:
    """A search as one experiment: what it searches for is no factor of it."""
    factors = dict(search_key(experiment, search))
    return experiment.model_copy(update={"id": experiment_id(factors), "factors": factors})


def is_search(experiment: Experiment) -> bool:
    """Whether it is a search rather than one of its steps, or given."""
    return experiment.search is not None and experiment.search.sought not in experiment.factors


SearchKey = tuple[tuple[str, str], ...]


def search_key(experiment: Experiment, search: Search) -> SearchKey:
    """What all experiments of one search have in common."""
    return tuple((name, value) for name, value in experiment.factors.items() if name != search.sought)


def plan_trials(
    suite: Suite, *, available: Sequence[str], conditions: Sequence[str] = (), trials: int | None = None
) -> tuple[Trial, ...]:
    """All trials of a suite: for the middlewares available, those that `--only` leaves, as often as `--trials` says."""
    experiments = only(expand(suite, available=available), conditions)
    return order_trials(experiments, blocks=trials or suite.trials, seed=suite.seed, observe=watched(suite))


def order_trials(
    experiments: Sequence[Experiment],
    *,
    blocks: int,
    seed: int,
    observe: Watched = UNWATCHED,
    most_trials: int = 0,
) -> tuple[Trial, ...]:
    """All trials in the order in which they run; the same seed gives the same order.

    Where later ones may follow, `most_trials` says how many there may be in all, so that ids sort in the same order.
    """
    order = [
        (block, *executed)
        for block in range(1, blocks + 1)
        for executed in _shuffled(_of_block(block, experiments), observe.kinds(block), block, seed)
    ]
    digits = len(str(max(len(order), most_trials)))
    begin = {experiment.id: SearchStep(search=1, step=0) for experiment in experiments if experiment.search is not None}
    return tuple(_trial(number, digits, seed, begin, *executed) for number, executed in enumerate(order, start=1))


def _of_block(block: int, experiments: Sequence[Experiment]) -> Sequence[Experiment]:
    """A search begins with one trial; what it came to says which is next."""
    return experiments if block == 1 else [experiment for experiment in experiments if experiment.search is None]


def next_block(
    before: Sequence[Trial],
    experiments: Sequence[Experiment],
    *,
    seed: int,
    observe: Watched = UNWATCHED,
    steps: Mapping[str, SearchStep] = MappingProxyType({}),
) -> tuple[Trial, ...]:
    """One more block, of these experiments alone, after all the trials that there are; of searches with their steps."""
    digits, block = len(before[-1].id.partition("-")[0]), before[-1].block + 1
    executed = _shuffled(experiments, observe.kinds(block), block, seed)
    first = before[-1].number + 1
    return tuple(_trial(number, digits, seed, steps, block, *pair) for number, pair in enumerate(executed, start=first))


def _trial(  # noqa: PLR0913, PLR0917 - as many as a trial has parts
    number: int,
    digits: int,
    seed: int,
    steps: Mapping[str, SearchStep],
    block: int,
    experiment: Experiment,
    observation: Observation | None,
) -> Trial:
    return Trial(
        id=f"{number:0{digits}}-{experiment.id}",
        number=number,
        block=block,
        seed=_derived(seed, block),
        experiment=experiment,
        observation=observation,
        step=None if experiment.search is None else steps[experiment.id],
    )


def _shuffled(
    experiments: Sequence[Experiment], observations: Sequence[Observation | None], block: int, seed: int
) -> list[Executed]:
    """What is sent, for each of it the settings, and in each of these what is compared there, all in random order."""
    # Sorted first, so that the order in which a suite lists its factors does not matter.
    listed = sorted(product(experiments, observations), key=lambda executed: (executed[0].id, executed[1] or ""))
    chance = random.Random(f"order {seed} {block}")  # noqa: S311 - an order, not a secret
    return _nested(listed, (_sent, _setting), chance)


def _sent(experiment: Experiment) -> Factors:
    return sent_factors(_compared(experiment))


def _setting(experiment: Experiment) -> Factors:
    return setting_factors(_compared(experiment))


def _compared(experiment: Experiment) -> Experiment:
    """As searches are compared whatever load each is at, they run near each other."""
    return experiment if experiment.search is None else search_as_one(experiment, experiment.search)


def _nested(
    listed: Sequence[Executed], levels: Sequence[Callable[[Experiment], Factors]], chance: random.Random
) -> list[Executed]:
    """What agrees in the factors of a level stays together."""
    if not levels:
        return chance.sample(listed, len(listed))
    groups: dict[Factors, list[Executed]] = {}
    for executed in listed:
        groups.setdefault(levels[0](executed[0]), []).append(executed)
    order = chance.sample(list(groups.values()), len(groups))
    return [executed for group in order for executed in _nested(group, levels[1:], chance)]


def _derived(seed: int, block: int) -> int:
    return int.from_bytes(hashlib.sha256(f"trial {seed} {block}".encode()).digest()[:6], "big")


def replanned(requested: Suite | Demand, stored: Sequence[Trial]) -> tuple[Trial, ...]:
    """The trials that the suite's plan has in place of the stored ones: the same, unless those are of another plan."""
    if not stored:
        return ()
    by_id = {experiment.id: experiment for experiment in _experiments(requested, stored)}
    steps = {(trial.block, trial.experiment.id): trial.step for trial in stored if trial.step is not None}
    observe = watched(requested)
    blocks = [_block(number, stored, by_id) for number in range(1, stored[-1].block + 1)] if _is_short(stored) else []
    trials: tuple[Trial, ...] = ()
    for number, experiments in enumerate(blocks, start=1):
        if number > 1:
            search_steps = {
                experiment.id: steps[number, experiment.id]
                for experiment in experiments
                if experiment.search is not None
            }
            trials += (
                next_block(trials, experiments, seed=requested.seed, observe=observe, steps=search_steps)
                if trials
                else ()
            )
        else:
            at_least = 10 ** (len(stored[0].id.partition("-")[0]) - 1)
            trials = order_trials(experiments, blocks=1, seed=requested.seed, observe=observe, most_trials=at_least)
    return trials


def _is_short(stored: Sequence[Trial]) -> bool:
    """Each block has a trial at least."""
    return stored[-1].block <= len(stored)


def _experiments(requested: Suite | Demand, stored: Sequence[Trial]) -> Sequence[Experiment]:
    """All of the suite, for the middlewares that the campaign had; of a search the step that it begins at."""
    had: dict[str, set[str]] = {name: set() for choice in requested.middlewares for name in choice.workers}
    for trial in stored:
        for middleware in trial.experiment.middlewares:
            had.setdefault(middleware, set()).add(trial.experiment.profile)
    if isinstance(requested, Demand):
        as_often = requested.model_copy(update={"trials": stored[-1].block})
        return experiments_of(as_often, {name: sorted(profiles) for name, profiles in had.items()})
    experiments = expand(requested, available=sorted(had))
    return on_both_sides(experiments) if any(trial.experiment.side for trial in stored) else experiments


def _block(number: int, stored: Sequence[Trial], by_id: Mapping[str, Experiment]) -> list[Experiment]:
    """The experiments of one block, as the suite has them; what it hasn't is left out, and so missed by the caller."""
    by_experiment = {trial.experiment.id: trial for trial in stored if trial.block == number}
    planned = (by_id.get(name) or _at_its_step(trial, by_id) for name, trial in by_experiment.items())
    return [experiment for experiment in planned if experiment is not None]


def _at_its_step(stored: Trial, by_id: Mapping[str, Experiment]) -> Experiment | None:
    """The step of one of the suite's searches that a stored trial says it is."""
    for first in by_id.values():
        search, experiment = first.search, stored.experiment
        if (
            search is not None
            and search == experiment.search
            and search_key(first, search) == search_key(experiment, search)
        ):
            return None if stored.step is None else at_step(first, search, stored.step.step)
    return None
