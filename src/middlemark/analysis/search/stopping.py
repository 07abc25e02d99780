"""Whether an experiment has had enough trials, by the width of its medians' intervals, and which trials come next.

The rule looks at every fifth trial, from the first interval on, and stops at two narrow looks in a row: an interval
that is narrow once is often wrong (fixed-width intervals by stopping: Chow & Robbins, Ann. Math. Statist. 36, 1965;
Anscombe, Proc. Camb. Phil. Soc. 48, 1952; Simons, Ann. Math. Statist. 39, 1968). All is a pure function of stored
trials: it runs nothing, `campaign` does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count

import numpy as np
from numpy.typing import NDArray

from middlemark.analysis.compare.comparison import criterion_of
from middlemark.analysis.metrics.stored import StoredResult
from middlemark.analysis.search.bisection import next_steps
from middlemark.analysis.stats.estimate import ends_of_median
from middlemark.analysis.stats.intervals import coverage
from middlemark.plan import Experiment, Stream, Trial, next_block, watched
from middlemark.plan.schedule import at_step
from middlemark.results.manifest import Width
from middlemark.suite import Stop, Suite
from middlemark.suite.metrics import Metric, metric_named

BETWEEN_LOOKS = 5
NARROW_LOOKS = 2
Floats = NDArray[np.float64]


def widths(stop: Stop, experiments: Sequence[Experiment], results: Sequence[StoredResult]) -> tuple[Width, ...]:
    """Every metric of the rule for every experiment, by the results of its unobserved trials."""
    by_experiment: dict[str, list[StoredResult]] = {experiment.id: [] for experiment in experiments}
    for stored in sorted(results, key=lambda result: result.trial.number):
        if stored.trial.observation is None and stored.trial.experiment.id in by_experiment:
            by_experiment[stored.trial.experiment.id].append(stored)
    return tuple(
        _width(stop, experiment.id, metric, stream, by_experiment[experiment.id], allowed)
        for experiment in experiments
        for metric, stream, allowed in _metrics_to_settle(stop, experiment)
    )


def open_experiments(all_widths: Sequence[Width], stop: Stop, results: Sequence[StoredResult]) -> set[str]:
    """The ids of those that more trials may still settle."""
    had: dict[str, int] = {}
    for result in results:
        had[result.trial.experiment.id] = had.get(result.trial.experiment.id, 0) + (result.trial.observation is None)
    wide = {width.experiment for width in all_widths if not width.settled and width.n_trials}
    return {name for name in wide if had.get(name, 0) < stop.max_trials}


def _metrics_to_settle(stop: Stop, experiment: Experiment) -> list[tuple[Metric, str | None, float]]:
    """Each metric with its stream and the width it may have; those that a pattern does not have are left out.

    For chains this is the end-to-end latency, by which `comparison` ranks them.
    """
    to_settle: list[tuple[Metric, str | None, float]] = []
    for chain in experiment.chains:
        if stop.figures is None:
            to_settle.append((metric_named("median(end_to_end)"), chain.name, stop.relative_width))
        for wanted in stop.figures or ():
            if metric_named(wanted.figure).of_chain:
                width = wanted.relative_width or stop.relative_width
                to_settle.append((metric_named(wanted.figure), chain.name, width))
    for stream in experiment.streams:
        if stop.figures is None and not experiment.chains:
            to_settle.append((_ranked_by(stream), stream.name, stop.relative_width))
        for wanted in stop.figures or ():
            metric, allowed = metric_named(wanted.figure), wanted.relative_width or stop.relative_width
            if not (metric.of_trial or metric.of_chain) and _has(stream, metric):
                to_settle.append((metric, stream.name, allowed))
    of_trial = [(metric_named(wish.figure), wish.relative_width or stop.relative_width) for wish in stop.figures or ()]
    return to_settle + [(metric, None, allowed) for metric, allowed in of_trial if metric.of_trial]


def _ranked_by(stream: Stream) -> Metric:
    names = {"round_trip_p50_ns": "median(round_trip)", "goodput_bytes_per_s": "goodput"}
    return metric_named(names.get(criterion_of(stream).metric, "median(latency)"))


def _has(stream: Stream, metric: Metric) -> bool:
    """A round trip is of ping-pongs alone."""
    return "round_trip" not in metric.stored_name or stream.pattern.has_answers


def _width(  # noqa: PLR0913, PLR0917 - one metric of one stream of one experiment
    stop: Stop, experiment: str, metric: Metric, stream: str | None, results: Sequence[StoredResult], allowed: float
) -> Width:
    key = metric.key(stream or "")
    refused = [result.refused[key] for result in results if key in result.refused]  # one is enough, as in `aggregate`
    values = np.array([] if refused else [result.values[key] for result in results if key in result.values])
    confidence = stop.confidence
    reach = relative_width(values, confidence)
    done = narrow_after(values, allowed, confidence) is not None
    return Width(
        experiment=experiment,
        stream=stream,
        figure=metric.name,
        n_trials=len(values),
        relative_width=None if reach == math.inf else reach,
        allowed=allowed,
        confidence=confidence,
        settled=done,
        reason="" if done else refused[0] if refused else _why(len(values), reach, allowed, results),
    )


def _why(n: int, reach: float | None, allowed: float, results: Sequence[StoredResult]) -> str:
    if not n:
        kinds: Mapping[str, None] = dict.fromkeys(result.outcome.replace("_", " ") for result in results)
        return f"no trial has it ({', '.join(kinds) or 'none was run'})"
    if reach is None:
        return "too few trials for an interval"
    if reach == math.inf:
        return "so many messages never arrived that the interval has no upper end"
    return "still too wide" if reach > allowed else "narrow, but not yet in two successive checks"


def narrow_after(values: Floats, allowed: float, confidence: float) -> int | None:
    """After how many values, looking at each fifth as they came, the interval was narrow at two looks in a row."""
    narrow = 0
    for n in range(first_look(confidence), len(values) + 1, BETWEEN_LOOKS):
        reach = relative_width(values[:n], confidence)
        narrow = narrow + 1 if reach is not None and reach <= allowed else 0
        if narrow == NARROW_LOOKS:
            return n
    return None


@cache
def first_look(confidence: float) -> int:
    """The fewest trials whose range has the requested coverage: six for 95 %."""
    return next(n for n in count(2) if coverage(n, confidence) >= confidence)


def relative_width(values: Floats, confidence: float) -> float | None:
    """Half of the interval of the median as a share of the median; None with too few values.

    Infinite where the interval reaches to values that are.
    """
    if len(values) < first_look(confidence):
        return None
    low, high = ends_of_median(values, confidence)
    if high == math.inf:
        return math.inf
    middle = float(np.median(values))
    if high == low:
        return 0.0
    return (high - low) / 2 / abs(middle) if middle else None


@dataclass(frozen=True)
class NextTrials:
    """What is decided after all trials so far."""

    trials: tuple[Trial, ...]
    """Empty where the campaign is at its end."""
    widths: tuple[Width, ...]
    why: str
    """In words for the eye."""


def asks_for_more(suite: Suite, trials: Sequence[Trial]) -> bool:
    """Whether the suite leaves to the results how many trials there are."""
    return suite.stop is not None or any(trial.experiment.search for trial in trials)


def next_trials(suite: Suite, trials: Sequence[Trial], results: Sequence[StoredResult]) -> NextTrials:
    """The next block, or none: what is still too wide, and the next step of each search."""
    experiments = list({t.experiment.id: t.experiment for t in trials if t.experiment.search is None}.values())
    all_widths: tuple[Width, ...] = ()
    wide: list[Experiment] = []
    if suite.stop is not None:
        all_widths = widths(suite.stop, experiments, results)
        names = open_experiments(all_widths, suite.stop, results)
        wide = [experiment for experiment in experiments if experiment.id in names]
    in_order = sorted(results, key=lambda result: result.trial.number)
    planned = [
        (at_step(experiment, search, search_step.step), search_step)
        for experiment, search, search_step in next_steps(in_order)
    ]
    steps = [experiment for experiment, _ in planned]
    why = [f"{len(wide)} of {len(experiments)} experiments are still too wide"] if wide else []
    why += ["one search continues" if len(steps) == 1 else f"{len(steps)} searches continue"] if steps else []
    chosen = [*wide, *steps]
    at_steps = {experiment.id: search_step for experiment, search_step in planned}
    block = next_block(trials, chosen, seed=suite.seed, observe=watched(suite), steps=at_steps) if chosen else ()
    return NextTrials(block, all_widths, ", ".join(why))
