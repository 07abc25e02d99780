"""Which load a capacity search tries next, and whether a trial sustained its load, or which bound it broke.

Octaves bracket the capacity, bisection narrows the bracket to neighbouring steps, and at both ends the majority of
`confirm` trials decides, so that one disturbed trial decides nothing. All is a pure function of outcomes; `capacity`
reports what a search came to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from middlemark.analysis.metrics.latency import CLOCK_BOUND
from middlemark.analysis.metrics.stored import StoredResult
from middlemark.analysis.metrics.traffic import LEAST_ACHIEVED, OVERLOAD_BELOW
from middlemark.plan import Experiment, SearchStep
from middlemark.plan.experiment import Search, Sought
from middlemark.plan.schedule import SearchKey, search_key
from middlemark.suite.metrics import Distribution, Key, quantile_metric, stream_subject

JUDGED_BY = Distribution.LATENCY_FROM_INTENDED
JUDGED_LEVELS = ("p99", "p90", "p50", "max")
"""Few messages in a window support no p99: the highest that they do support is held, or else the slowest."""


@dataclass(frozen=True)
class StepResult:
    """The result of one trial of a search."""

    experiment: Experiment
    at: SearchStep
    outcome: str
    """Its kind."""
    values: Mapping[Key, float]


class Limit(StrEnum):
    """Why a rate or a size is not sustained."""

    OVERLOAD = "overload"
    LOSS = "loss"
    """Too many messages were lost, or not even taken by the middleware."""
    LATENCY = "latency"
    CLOCKS = "clocks"
    """Clocks of different machines can't measure whether the latency is within its bound."""
    NO_COMMUNICATION = "no_communication"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    SIZE = "size"
    """The middleware takes no message of this size."""


@dataclass
class StepTrials:
    """The results of the trials at one step."""

    sustained: int = 0
    limits: Counter[Limit] = field(default_factory=Counter)

    @property
    def refused(self) -> int:
        """How many did not sustain it."""
        return self.limits.total()

    @property
    def holds(self) -> bool:
        """The majority so far; a tie is none."""
        return self.sustained > self.refused

    def decided(self, confirm: int) -> bool:
        """Whether no more trial of `confirm` could turn it."""
        return 2 * max(self.sustained, self.refused) > confirm


def judge_load(search: Search, stream: str, outcome: str, values: Mapping[Key, float]) -> Limit | bool | None:
    """True where a trial sustained its load, its limit where it did not; None where it says nothing of it."""
    if outcome == "not_applicable" and search.sought is Sought.SIZE:
        return Limit.SIZE
    if outcome in {Limit.NO_COMMUNICATION, Limit.FAILED, Limit.TIMED_OUT}:
        return Limit(outcome)
    if outcome != "valid":
        return None
    subject = stream_subject(stream)
    if values.get(Key(subject, LEAST_ACHIEVED), 1.0) < OVERLOAD_BELOW:
        return Limit.OVERLOAD
    if values.get(Key(subject, "undelivered_share"), 1.0) > search.loss_share:
        return Limit.LOSS
    return _too_slow(search, subject, values) or True


def _too_slow(search: Search, subject: str, values: Mapping[Key, float]) -> Limit | None:
    took_ns = next((values[key] for level in JUDGED_LEVELS if (key := _latency(subject, level)) in values), None)
    if took_ns is not None:
        return Limit.LATENCY if took_ns > search.latency_ns else None
    # Read as no more than the clocks' bound, it is truly no more than twice that.
    return Limit.CLOCKS if 2 * values.get(Key(subject, CLOCK_BOUND), 0.0) > search.latency_ns else None


def _latency(subject: str, level: str) -> Key:
    return Key(subject, quantile_metric(JUDGED_BY, level))


def steps_of(search: Search, results: Iterable[StepResult]) -> dict[int, StepTrials]:
    """The outcomes of a search by step; trials that say nothing are not there."""
    steps: dict[int, StepTrials] = {}
    for result in results:
        held = judge_load(search, result.experiment.streams[0].name, result.outcome, result.values)
        if held is None:
            continue
        tried = steps.setdefault(result.at.step, StepTrials())
        if isinstance(held, Limit):
            tried.limits[held] += 1
        else:
            tried.sustained += 1
    return steps


Steps = Mapping[int, StepTrials]


def bracket(steps: Steps) -> tuple[int | None, int | None]:
    """The highest step that is sustained below the lowest that is not."""
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
    if above is None and below is not None and below < search.last_step:
        return min(below + search.octave, search.last_step)
    if below is None and above is not None and above > 0:
        return max(above - search.octave, 0)
    if below is not None and above is not None and above - below > 1:
        return (below + above) // 2
    ends = [step for step in (above, below) if step is not None]
    return next((step for step in ends if not steps[step].decided(search.confirm)), None)


def trials_by_search(search: Search, results: Iterable[StepResult]) -> dict[int, list[StepResult]]:
    """The trials of each search, by its number.

    Where the number was not stored, a search begins where the one before it was at its end, from the lowest load again.
    """
    trials: dict[int, list[StepResult]] = {1: []}
    for result in results:
        trials.setdefault(result.at.search or _number_after(search, trials), []).append(result)
    return dict(sorted(trials.items()))


def _number_after(search: Search, trials: Mapping[int, Sequence[StepResult]]) -> int:
    last = max(trials)
    is_over = next_step(search, steps_of(search, trials[last]), len(trials[last])) is None
    return last + 1 if is_over and last < search.searches else last


def next_step_of_searches(search: Search, results: Iterable[StepResult]) -> SearchStep | None:
    """The step to try next, of the search under way or of the next one; None where the last is at its end."""
    number, trials = list(trials_by_search(search, results).items())[-1]
    step = next_step(search, steps_of(search, trials), len(trials))
    if step is not None:
        return SearchStep(search=number, step=step)
    return SearchStep(search=number + 1, step=0) if number < search.searches else None


def next_steps(results: Sequence[StoredResult]) -> list[tuple[Experiment, Search, SearchStep]]:
    """For each search that goes on: one of its experiments, and the step to try next."""
    groups: dict[SearchKey, list[StepResult]] = {}
    for result in results:
        experiment, step = result.trial.experiment, result.trial.step
        if experiment.search is not None and step is not None:
            of_search = groups.setdefault(search_key(experiment, experiment.search), [])
            of_search.append(StepResult(experiment, step, result.outcome, result.values))
    steps = []
    for group in groups.values():
        experiment = group[0].experiment
        search = experiment.search
        if search is None or any(
            step_result.outcome == "not_applicable" and is_refused_at_all(search, step_result.at.step)
            for step_result in group
        ):
            continue
        step = next_step_of_searches(search, group)
        if step is not None:
            steps.append((experiment, search, step))
    return steps


def is_refused_at_all(search: Search, step: int | None) -> bool:
    """A refusal above the smallest size is one of that size."""
    return search.sought is Sought.RATE or step == 0
