"""A plan made again from its suite, to hold a stored one against: of that only which experiments a block has is taken.

With `--only`, `--trials`, `stop` and searches the suite alone doesn't say which experiments a block has. All else, each
experiment itself, the order within a block, ids and seeds, is planned anew.
"""

from collections.abc import Mapping, Sequence

from middlemark.plan.demand import experiments_of, observed
from middlemark.plan.expand import expand
from middlemark.plan.experiment import Experiment
from middlemark.plan.search import at_step, last_step, search_key, step_of
from middlemark.plan.side import sided
from middlemark.plan.trial import Trial, next_block, order_trials
from middlemark.suite import ALL_MIDDLEWARES, Demand, Suite


def replanned(given: Suite | Demand, stored: Sequence[Trial]) -> tuple[Trial, ...]:
    """The trials that the suite's plan has in place of the stored ones: the same, unless those are of another plan."""
    if not stored:
        return ()
    known = {each.id: each for each in _experiments(given, stored)}
    observe = (given.observe or ()) if isinstance(given, Suite) else observed(given)
    blocks = [_block(number, stored, known) for number in range(1, stored[-1].block + 1)] if _is_short(stored) else []
    trials: tuple[Trial, ...] = ()
    for number, own in enumerate(blocks, start=1):
        if number > 1:
            trials += next_block(trials, own, seed=given.seed, observe=observe) if trials else ()
        else:
            at_least = 10 ** (len(stored[0].id.partition("-")[0]) - 1)
            trials = order_trials(own, blocks=1, seed=given.seed, observe=observe, most_trials=at_least)
    return trials


def _is_short(stored: Sequence[Trial]) -> bool:
    """Each block has a trial at least."""
    return stored[-1].block <= len(stored)


def _experiments(given: Suite | Demand, stored: Sequence[Trial]) -> Sequence[Experiment]:
    """All of the suite, for the middlewares that the campaign had; of a search the step that it begins at."""
    had: dict[str, set[str]] = {
        choice.middleware: set() for choice in given.middlewares if choice.middleware != ALL_MIDDLEWARES
    }
    for trial in stored:
        had.setdefault(trial.experiment.middleware, set()).add(trial.experiment.profile)
    if isinstance(given, Demand):
        as_often = given.model_copy(update={"trials": stored[-1].block})
        return experiments_of(as_often, {name: sorted(profiles) for name, profiles in had.items()})
    whole = expand(given, available=sorted(had))
    return sided(whole) if any(trial.experiment.side for trial in stored) else whole


def _block(number: int, stored: Sequence[Trial], known: Mapping[str, Experiment]) -> list[Experiment]:
    """The experiments of one block, as the suite has them; what it hasn't is left out, and so missed by the caller."""
    own = {trial.experiment.id: trial.experiment for trial in stored if trial.block == number}
    return [found for each in own.values() if (found := known.get(each.id) or _step(each, known)) is not None]


def _step(stored: Experiment, known: Mapping[str, Experiment]) -> Experiment | None:
    """The step of a search that a stored experiment says it is."""
    for first in known.values():
        search = first.search
        if search is not None and search == stored.search and search_key(first, search) == search_key(stored, search):
            step = step_of(stored, search)
            return at_step(first, search, step) if 0 <= step <= last_step(search) else None
    return None
