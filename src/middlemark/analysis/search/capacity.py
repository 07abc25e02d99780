"""The capacity of a middleware: the highest rate or size of a ladder sustained within bounds of loss and latency.

It reports what each search of a run came to, the curve of latency over load, its knee by Kneedle (Satopää et al.,
ICDCSW 2011), and makes findings of searches that can be compared. `bisection` judges the trials and chose their loads.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from middlemark.analysis.experiment.findings import ExperimentFindings, TrialOutcome, machines_of_searches
from middlemark.analysis.search.bisection import (
    JUDGED_BY,
    Limit,
    StepResult,
    Steps,
    StepTrials,
    bracket,
    is_refused_at_all,
    judge_load,
    next_step,
    steps_of,
    trials_by_search,
)
from middlemark.analysis.search.threshold import NoThreshold, Threshold, fit_threshold
from middlemark.analysis.stats.estimate import Estimate, Method, no_estimate
from middlemark.analysis.stats.intervals import coverage, median_interval
from middlemark.analysis.verdicts.values import Block
from middlemark.plan import Experiment
from middlemark.plan.experiment import Search, Sought
from middlemark.plan.schedule import Load, SearchKey, load_at, load_of, search_as_one, search_key
from middlemark.suite.metrics import CAPACITY, TRIAL, Key, quantile_metric, stream_subject

FEWEST_FOR_A_KNEE = 5
CAPACITY_KEY = Key(TRIAL, CAPACITY)


class State(StrEnum):
    """The state of a search."""

    FOUND = "found"
    """Both ends of the bracket are confirmed neighbours."""
    AT_LEAST = "at_least"
    """The highest is sustained."""
    BELOW = "below"
    """Not even the lowest is."""
    OPEN = "open"
    """It is under way, or had its most trials."""
    NOT_APPLICABLE = "not_applicable"


@dataclass(frozen=True)
class LoadPoint:
    """One load of the curve, medians over its trials; None where there is none, or so much never arrived."""

    load: Load
    trials: int
    sustained: int
    median_ns: float | None
    p99_ns: float | None
    loss_share: float | None


@dataclass(frozen=True)
class Bracket:
    """The result of one search."""

    state: State
    sustained: Load | None
    not_sustained: Load | None
    limits: tuple[Limit, ...]
    """Why the load above is not sustained, the most frequent first."""


@dataclass(frozen=True)
class Capacity:
    """What the search of an experiment came to, or its searches where it has several."""

    experiment: Experiment
    """At the lowest rate, or the smallest size, that was tried."""
    search: Search
    searches: tuple[Bracket, ...]
    """In the order in which they ran."""
    middle: Bracket
    """What is reported first: of several that which has as many above as below."""
    points: tuple[LoadPoint, ...]
    knee: Load | None
    outcomes: tuple[TrialOutcome, ...]
    """Of the trials of all searches, in the order in which they ran."""
    half_sustained: Threshold | NoThreshold
    """The rate or size that half of the trials sustain, from all trials of all searches."""
    delivery: str | None
    """Who called the applications with messages; None where no valid trial recorded it."""
    reason: str = ""
    """Why it is not applicable."""

    @property
    def state(self) -> State:
        """That of the middle search."""
        return State.NOT_APPLICABLE if self.reason else self.middle.state

    @property
    def sustained(self) -> Load | None:
        """What is sustained by the middle search."""
        return self.middle.sustained

    @property
    def not_sustained(self) -> Load | None:
        """What is not."""
        return self.middle.not_sustained

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


def capacities(findings: Iterable[ExperimentFindings]) -> tuple[Capacity, ...]:
    """What each search of a run came to."""
    groups: dict[SearchKey, list[ExperimentFindings]] = {}
    for candidate in findings:
        if candidate.experiment.search is not None:
            groups.setdefault(search_key(candidate.experiment, candidate.experiment.search), []).append(candidate)
    searched = ((group, group[0].experiment.search) for group in groups.values())
    return tuple(_capacity(group, search) for group, search in searched if search is not None)


def _capacity(group: Sequence[ExperimentFindings], search: Search) -> Capacity:
    ordered = sorted(group, key=lambda load: load.experiment.searched_value)
    outcomes = ((load, outcome) for load in ordered for outcome in load.outcomes)
    by_block = sorted(outcomes, key=lambda pair: pair[1].block)
    results = [
        StepResult(load.experiment, outcome.step, outcome.kind, _of_block(load, outcome.block))
        for load, outcome in by_block
        if outcome.step is not None
    ]
    steps = steps_of(search, results)
    refused = [
        load.not_applicable for load in ordered if load.not_applicable and is_refused_at_all(search, _step(load))
    ]
    experiment = ordered[0].experiment
    points = tuple(_point(load, steps) for load in ordered)
    searches = tuple(
        _bracket(experiment, search, steps_of(search, trials)) for trials in trials_by_search(search, results).values()
    )
    middle, n_ended = _middle(searches), sum(end.state is not State.OPEN for end in searches)
    return Capacity(
        experiment=experiment,
        search=search,
        searches=searches,
        middle=middle,
        points=points,
        knee=knee(points, middle.sustained, search.sought),
        outcomes=tuple(outcome for _, outcome in by_block),
        half_sustained=fit_threshold(_judged_loads(search, results), n_ended),
        delivery=next((load.configuration.delivery for load in ordered if load.configuration.delivery), None),
        reason=refused[0] if refused else "",
    )


def _step(candidate: ExperimentFindings) -> int | None:
    """The step that an experiment of a search is at; None where none of its trials could be read."""
    return next((outcome.step.step for outcome in candidate.outcomes if outcome.step is not None), None)


def _judged_loads(search: Search, results: Sequence[StepResult]) -> list[tuple[float, bool]]:
    """Of each trial that says anything its load, and whether it sustained it."""
    judged = (
        (result.experiment, judge_load(search, result.experiment.streams[0].name, result.outcome, result.values))
        for result in results
    )
    return [(load_of(experiment).of(search.sought), held is True) for experiment, held in judged if held is not None]


def _bracket(experiment: Experiment, search: Search, steps: Steps) -> Bracket:
    below, above = bracket(steps)
    return Bracket(
        state=_state(search, steps),
        sustained=None if below is None else load_at(experiment, search, below),
        not_sustained=None if above is None else load_at(experiment, search, above),
        limits=() if above is None else tuple(limit for limit, _ in steps[above].limits.most_common()),
    )


def _middle(searches: Sequence[Bracket]) -> Bracket:
    """Of those at their end where any is; the lower one of an even number."""
    ended = [search for search in searches if search.state is not State.OPEN] or searches
    ordered = sorted(ended, key=lambda search: search.sustained.payload_bytes_per_s if search.sustained else 0.0)
    return ordered[(len(ordered) - 1) // 2]


def _of_block(candidate: ExperimentFindings, block: Block) -> dict[Key, float]:
    return {key: values[block] for key, values in candidate.by_block.items() if block in values}


def _state(search: Search, steps: Steps) -> State:
    if next_step(search, steps, 0) is not None:
        return State.OPEN
    below, above = bracket(steps)
    if above is None:
        return State.AT_LEAST
    return State.BELOW if below is None else State.FOUND


def _point(candidate: ExperimentFindings, steps: Mapping[int, StepTrials]) -> LoadPoint:
    subject, step = stream_subject(candidate.experiment.streams[0].name), _step(candidate)
    tried = StepTrials() if step is None else steps.get(step, StepTrials())

    def middle(metric: str) -> float | None:
        values = candidate.by_block.get(Key(subject, metric))
        median = float(np.median(list(values.values()))) if values else math.inf
        return median if median < math.inf else None

    return LoadPoint(
        load=load_of(candidate.experiment),
        trials=len(candidate.outcomes),
        sustained=tried.sustained,
        median_ns=middle(quantile_metric(JUDGED_BY, "p50")),
        p99_ns=middle(quantile_metric(JUDGED_BY, "p99")),
        loss_share=middle("loss_share"),
    )


def knee(points: Sequence[LoadPoint], sustained: Load | None, sought: Sought) -> Load | None:
    """The load from which on latency grows steeply, up to what is sustained; None where the curve has none.

    Above that some loads were sustained in a single trial, which others then overturned.
    """
    most = 0.0 if sustained is None else sustained.of(sought)
    within = [point for point in points if point.sustained and point.load.of(sought) <= most]
    curve = [(point.load, point.median_ns) for point in within if point.median_ns is not None]
    if len(curve) < FEWEST_FOR_A_KNEE:
        return None
    from kneed import KneeLocator  # noqa: PLC0415 - it brings a second of imports, which no other run needs

    loads = {load.of(sought): load for load, _ in curve}
    values, latencies = list(loads), [latency_ns for _, latency_ns in curve]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is none is an answer
        bend = KneeLocator(values, latencies, S=1.0, curve="convex", direction="increasing").knee
    return None if bend is None or bend >= values[-1] else loads[bend]  # an end is no bend


def capacity_findings(capacity: Capacity) -> ExperimentFindings:
    """The search, or the searches, of an experiment as one, the number of a search in the place of a block."""
    ended = {number: end for number, end in enumerate(capacity.searches, 1) if end.sustained or end.not_sustained}
    sustained = {number: _sustained_bytes_per_s(search) for number, search in ended.items()}
    not_applicable = no_estimate(f"not applicable: {capacity.reason}") if capacity.reason else None
    return ExperimentFindings(
        experiment=search_as_one(capacity.experiment, capacity.search),
        outcomes=capacity.outcomes,
        estimates={CAPACITY_KEY: not_applicable or _estimate(list(ended.values()))},
        by_block={} if not_applicable else {CAPACITY_KEY: sustained},
        above={CAPACITY_KEY: {number: _not_sustained_bytes_per_s(search) for number, search in ended.items()}},
        machines=machines_of_searches(capacity.outcomes),
    )


def _sustained_bytes_per_s(search: Bracket) -> float:
    """Where not even the lowest is sustained, nothing is known to be."""
    return search.sustained.payload_bytes_per_s if search.sustained else 0.0


def _not_sustained_bytes_per_s(search: Bracket) -> float:
    """Where the highest is sustained, nothing is known to be too much."""
    return search.not_sustained.payload_bytes_per_s if search.not_sustained else math.inf


def _estimate(searches: Sequence[Bracket]) -> Estimate:
    """The middle of what was sustained; its interval reaches up to what was not."""
    if not searches:
        return no_estimate("no trial of the search is conclusive")
    lows = np.array([_sustained_bytes_per_s(search) for search in searches])
    highs = np.array([_not_sustained_bytes_per_s(search) for search in searches])
    value, n = float(np.median(lows)), len(searches)
    if n == 1:
        return Estimate(value, None, None, None, 1, 0, Method.MEDIAN_OF_TRIALS)
    high = median_interval(highs)[1] if np.isfinite(highs).all() else math.inf
    return Estimate(value, median_interval(lows)[0], high, coverage(n), n, 0, Method.MEDIAN_OF_TRIALS)
