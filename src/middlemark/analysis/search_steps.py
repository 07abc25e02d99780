"""Which load a capacity search tries next, after all its trials so far.

Octaves bracket the capacity, bisection narrows the bracket to neighbouring steps, and both ends are then confirmed: the
majority of `confirm` trials decides, so that one disturbed trial decides nothing. Each choice is a pure function of
outcomes (`carried`); `capacity` tells what they came to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from middlemark.analysis.carried import Told, Tried, steps_of
from middlemark.analysis.result import Result
from middlemark.plan import Experiment
from middlemark.plan.experiment import Search, Sought
from middlemark.plan.search import SearchKey, last_step, octave, search_key, step_of

Steps = Mapping[int, Tried]


def bracket(steps: Steps) -> tuple[int | None, int | None]:
    """The highest step that is carried below the lowest that is not."""
    above = min((step for step, tried in steps.items() if not tried.holds), default=None)
    held = [step for step, tried in steps.items() if tried.holds and (above is None or step < above)]
    return max(held, default=None), above


def next_step(search: Search, steps: Steps, n_trials: int) -> int | None:
    """The step to try next; None where the search is at its end."""
    if n_trials >= search.max_trials:
        return None
    below, above = bracket(steps)
    if below is None and above is None:
        return 0
    if above is None and below is not None and below < last_step(search):
        return min(below + octave(search), last_step(search))
    if below is None and above is not None and above > 0:
        return max(above - octave(search), 0)
    if below is not None and above is not None and above - below > 1:
        return (below + above) // 2
    ends = [step for step in (above, below) if step is not None]
    return next((step for step in ends if not steps[step].decided(search.confirm)), None)


def one_by_one(search: Search, results: Sequence[Told]) -> list[list[Told]]:
    """The trials of each search: one begins where the one before it was at its end, from the lowest again."""
    found: list[list[Told]] = [[]]
    for each in results:
        if len(found) < search.searches and _is_over(search, found[-1]):
            found.append([])
        found[-1].append(each)
    return found


def _is_over(search: Search, own: Sequence[Told]) -> bool:
    return next_step(search, steps_of(search, own), len(own)) is None


def next_of(search: Search, results: Sequence[Told]) -> int | None:
    """The step to try next, of the search under way or of the next one; None where the last is at its end."""
    searches = one_by_one(search, results)
    step = next_step(search, steps_of(search, searches[-1]), len(searches[-1]))
    return 0 if step is None and len(searches) < search.searches else step


def next_steps(results: Sequence[Result]) -> list[tuple[Experiment, Search, int]]:
    """For each search that goes on: one of its experiments, and the step to try next."""
    groups: dict[SearchKey, list[Result]] = {}
    for each in results:
        if each.trial.experiment.search is not None:
            groups.setdefault(search_key(each.trial.experiment, each.trial.experiment.search), []).append(each)
    found = []
    for group in groups.values():
        experiment = group[0].trial.experiment
        search = experiment.search
        if search is None or any(
            each.outcome == "not_applicable" and is_refused_at_all(each.trial.experiment, search) for each in group
        ):
            continue
        step = next_of(search, [(each.trial.experiment, each.outcome, each.values) for each in group])
        if step is not None:
            found.append((experiment, search, step))
    return found


def is_refused_at_all(experiment: Experiment, search: Search) -> bool:
    """A refusal above the smallest size is one of that size."""
    return search.sought is Sought.RATE or step_of(experiment, search) == 0
