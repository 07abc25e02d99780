"""The capacity of a middleware: the highest rate or size of a ladder that it carries within bounds of loss and latency.

Octaves bracket it, bisection narrows the bracket to neighbouring steps, and both ends are then confirmed: the majority
of `confirm` trials decides, so that one disturbed trial decides nothing. Each choice is a pure function of outcomes.
The knee of latency over load is Kneedle's (Satopää et al., "Finding a Kneedle in a haystack", ICDCSW 2011).
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from middlemark.analysis.clocks import CLOCK_BOUND
from middlemark.analysis.compare import Block
from middlemark.analysis.experiment import ExperimentFindings, TrialOutcome
from middlemark.analysis.metric_names import Key, of_stream, quantile_metric
from middlemark.analysis.metrics import OVERLOAD_BELOW
from middlemark.analysis.result import Result
from middlemark.analysis.samples import Distribution
from middlemark.plan import Experiment
from middlemark.plan.experiment import Search, Sought
from middlemark.plan.search import Load, SearchKey, last_step, load_at, load_of, octave, search_key, step_of

JUDGED_BY = Distribution.LATENCY_FROM_INTENDED
LEVELS = ("p99", "p90", "p50", "max")
"""Few messages in a window support no p99: the highest that they do support is held, or else the slowest."""
FEWEST_FOR_A_KNEE = 5


class Limit(StrEnum):
    """Why a rate or a size is not carried."""

    OVERLOAD = "overload"
    LOSS = "loss"
    LATENCY = "latency"
    CLOCKS = "clocks"
    """Clocks of different machines don't tell whether the latency is within its bound."""
    NO_COMMUNICATION = "no_communication"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    SIZE = "size"
    """The middleware takes no message of this size."""


class State(StrEnum):
    """What became of a search."""

    FOUND = "found"
    """Both ends of the bracket are confirmed neighbours."""
    AT_LEAST = "at_least"
    """The highest is carried."""
    BELOW = "below"
    """Not even the lowest is."""
    OPEN = "open"
    """It is under way, or had its most trials."""
    NOT_APPLICABLE = "not_applicable"


@dataclass
class Tried:
    """What the trials at one step came to."""

    carried: int = 0
    limits: Counter[Limit] = field(default_factory=Counter)

    @property
    def refused(self) -> int:
        """How many did not carry it."""
        return self.limits.total()

    @property
    def holds(self) -> bool:
        """The majority so far; a tie is none."""
        return self.carried > self.refused

    def decided(self, confirm: int) -> bool:
        """Whether no further trial of `confirm` could turn it."""
        return 2 * max(self.carried, self.refused) > confirm


Steps = Mapping[int, Tried]


@dataclass(frozen=True)
class Point:
    """One load of the curve, medians over its trials."""

    load: Load
    trials: int
    carried: int
    median_ns: float | None
    p99_ns: float | None
    loss_share: float | None


@dataclass(frozen=True)
class Bracket:
    """What one search came to."""

    state: State
    carried: Load | None
    not_carried: Load | None
    limits: tuple[Limit, ...]
    """Why the load above is not carried, the most frequent first."""


@dataclass(frozen=True)
class Capacity:
    """What the search of an experiment came to, or its searches where it has several."""

    experiment: Experiment
    """At the lowest rate, or the smallest size, that was tried."""
    search: Search
    searches: tuple[Bracket, ...]
    """In the order in which they ran."""
    middle: Bracket
    """What is told first: of several that which has as many above as below."""
    points: tuple[Point, ...]
    knee: Load | None
    outcomes: tuple[TrialOutcome, ...]
    """Of the trials of all searches, in the order in which they ran."""
    reason: str = ""
    """Why it is not applicable."""

    @property
    def state(self) -> State:
        """That of the middle search."""
        return State.NOT_APPLICABLE if self.reason else self.middle.state

    @property
    def carried(self) -> Load | None:
        """What is carried by the middle search."""
        return self.middle.carried

    @property
    def not_carried(self) -> Load | None:
        """What is not."""
        return self.middle.not_carried

    @property
    def limits(self) -> tuple[Limit, ...]:
        """Why not."""
        return self.middle.limits

    @property
    def n_trials(self) -> int:
        """Of all searches."""
        return len(self.outcomes)

    @property
    def sought(self) -> Sought:
        """What was searched for; the other is given."""
        return self.search.sought

    @property
    def given(self) -> float:
        """The size whose rate was searched for, or the rate whose size was."""
        return load_of(self.experiment).of(Sought.SIZE if self.sought is Sought.RATE else Sought.RATE)


def judged(search: Search, stream: str, outcome: str, values: Mapping[Key, float]) -> Limit | bool | None:
    """True where a trial carried its load, its limit where it did not; None where it says nothing of it."""
    if outcome == "not_applicable" and search.sought is Sought.SIZE:
        return Limit.SIZE
    if outcome in {Limit.NO_COMMUNICATION, Limit.FAILED, Limit.TIMED_OUT}:
        return Limit(outcome)
    if outcome != "valid":
        return None
    subject = of_stream(stream)
    if values.get(Key(subject, "achieved_share"), 1.0) < OVERLOAD_BELOW:
        return Limit.OVERLOAD
    if values.get(Key(subject, "loss_share"), 1.0) > search.loss_share:
        return Limit.LOSS
    return _too_slow(search, subject, values) or True


def _too_slow(search: Search, subject: str, values: Mapping[Key, float]) -> Limit | None:
    took_ns = next((values[key] for level in LEVELS if (key := _latency(subject, level)) in values), None)
    if took_ns is not None:
        return Limit.LATENCY if took_ns > search.latency_ns else None
    # Read as no more than the clocks' bound, it is truly no more than twice that.
    return Limit.CLOCKS if 2 * values.get(Key(subject, CLOCK_BOUND), 0.0) > search.latency_ns else None


def _latency(subject: str, level: str) -> Key:
    return Key(subject, quantile_metric(JUDGED_BY, level))


def steps_of(search: Search, results: Iterable[Told]) -> dict[int, Tried]:
    """The outcomes of a search by step; trials that say nothing are not there."""
    found: dict[int, Tried] = {}
    for experiment, outcome, values in results:
        said = judged(search, experiment.streams[0].name, outcome, values)
        if said is None:
            continue
        tried = found.setdefault(step_of(experiment, search), Tried())
        if isinstance(said, Limit):
            tried.limits[said] += 1
        else:
            tried.carried += 1
    return found


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


Told = tuple[Experiment, str, Mapping[Key, float]]
"""A trial's experiment, outcome and values."""


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
            each.outcome == "not_applicable" and _is_refused_at_all(each.trial.experiment, search) for each in group
        ):
            continue
        step = next_of(search, [(each.trial.experiment, each.outcome, each.values) for each in group])
        if step is not None:
            found.append((experiment, search, step))
    return found


def _is_refused_at_all(experiment: Experiment, search: Search) -> bool:
    """A refusal above the smallest size is one of that size."""
    return search.sought is Sought.RATE or step_of(experiment, search) == 0


def capacities(findings: Iterable[ExperimentFindings]) -> tuple[Capacity, ...]:
    """What each search of a run came to."""
    groups: dict[SearchKey, list[ExperimentFindings]] = {}
    for each in findings:
        if each.experiment.search is not None:
            groups.setdefault(search_key(each.experiment, each.experiment.search), []).append(each)
    return tuple(_capacity(own, search) for own in groups.values() if (search := own[0].experiment.search) is not None)


def _capacity(group: Sequence[ExperimentFindings], search: Search) -> Capacity:
    ordered = sorted(group, key=lambda each: step_of(each.experiment, search))
    by_block = sorted(((each, outcome) for each in ordered for outcome in each.outcomes), key=lambda own: own[1].block)
    results = [(each.experiment, outcome.kind, _of_block(each, outcome.block)) for each, outcome in by_block]
    steps = steps_of(search, results)
    refused = [
        each.not_applicable for each in ordered if each.not_applicable and _is_refused_at_all(each.experiment, search)
    ]
    experiment = ordered[0].experiment
    points = tuple(_point(each, steps.get(step_of(each.experiment, search), Tried())) for each in ordered)
    searches = tuple(_bracket(experiment, search, steps_of(search, own)) for own in one_by_one(search, results))
    middle = _middle(searches)
    return Capacity(
        experiment=experiment,
        search=search,
        searches=searches,
        middle=middle,
        points=points,
        knee=knee(points, middle.carried, search.sought),
        outcomes=tuple(outcome for _, outcome in by_block),
        reason=refused[0] if refused else "",
    )


def _bracket(experiment: Experiment, search: Search, steps: Steps) -> Bracket:
    below, above = bracket(steps)
    return Bracket(
        state=_state(search, steps),
        carried=None if below is None else load_at(experiment, search, below),
        not_carried=None if above is None else load_at(experiment, search, above),
        limits=() if above is None else tuple(limit for limit, _ in steps[above].limits.most_common()),
    )


def _middle(searches: Sequence[Bracket]) -> Bracket:
    """Of those at their end where any is; the lower one of an even number."""
    ended = [each for each in searches if each.state is not State.OPEN] or searches
    ordered = sorted(ended, key=lambda each: each.carried.payload_bytes_per_s if each.carried else 0.0)
    return ordered[(len(ordered) - 1) // 2]


def _of_block(each: ExperimentFindings, block: Block) -> dict[Key, float]:
    return {key: values[block] for key, values in each.by_block.items() if block in values}


def _state(search: Search, steps: Steps) -> State:
    if next_step(search, steps, 0) is not None:
        return State.OPEN
    below, above = bracket(steps)
    if above is None:
        return State.AT_LEAST
    return State.BELOW if below is None else State.FOUND


def _point(each: ExperimentFindings, tried: Tried) -> Point:
    subject = of_stream(each.experiment.streams[0].name)

    def middle(metric: str) -> float | None:
        values = each.by_block.get(Key(subject, metric))
        return float(np.median(list(values.values()))) if values else None

    return Point(
        load=load_of(each.experiment),
        trials=len(each.outcomes),
        carried=tried.carried,
        median_ns=middle(quantile_metric(JUDGED_BY, "p50")),
        p99_ns=middle(quantile_metric(JUDGED_BY, "p99")),
        loss_share=middle("loss_share"),
    )


def knee(points: Sequence[Point], carried: Load | None, sought: Sought) -> Load | None:
    """The load from which on latency grows steeply, up to what is carried; None where the curve has none.

    Above that some loads were carried in a single trial, which others then overturned.
    """
    most = 0.0 if carried is None else carried.of(sought)
    within = [each for each in points if each.carried and each.load.of(sought) <= most]
    curve = [(each.load, each.median_ns) for each in within if each.median_ns is not None]
    if len(curve) < FEWEST_FOR_A_KNEE:
        return None
    from kneed import KneeLocator  # noqa: PLC0415 - it brings a second of imports, which no other run needs

    loads = {load.of(sought): load for load, _ in curve}
    values, latencies = list(loads), [latency_ns for _, latency_ns in curve]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is none is an answer
        found = KneeLocator(values, latencies, S=1.0, curve="convex", direction="increasing").knee
    return None if found is None or found >= values[-1] else loads[found]  # an end is no bend
