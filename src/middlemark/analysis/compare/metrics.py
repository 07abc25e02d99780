"""Every metric of a pair compared, and the geometric mean of its ratios over all settings, as benchstat reports it.

A geometric mean is the same whichever is the base (Fleming & Wallace, CACM 29, 1986); its interval is over blocks, as
settings were chosen and all settings of a block share what the machine did. `pairing` makes the pairs, `verdicts` has
the statistics and judges.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from middlemark.analysis.compare.pairing import Pair
from middlemark.analysis.stats.estimate import Estimate
from middlemark.analysis.stats.intervals import CONFIDENCE
from middlemark.analysis.verdicts.across_runs import difference_to_next_run, estimate_over_runs, setbacks_over_runs
from middlemark.analysis.verdicts.bounds import Evidence
from middlemark.analysis.verdicts.difference import (
    Difference,
    Lacks,
    NoDifference,
    difference_of_shares,
    ratio,
    ratio_of_pooled,
)
from middlemark.analysis.verdicts.judge import Decision, SetbacksPair, judge_difference
from middlemark.analysis.verdicts.values import Block, BlockValues, PooledValue, Values
from middlemark.plan import Experiment
from middlemark.plan.schedule import is_search
from middlemark.suite.metrics import Metric, metric_named, usual_metrics


@dataclass(frozen=True)
class MetricComparison:
    """One metric of one stream, base and head."""

    pair: Pair
    metric: Metric
    stream: str | None
    """None where the metric is of the trial."""
    estimates: tuple[Estimate | None, Estimate | None]
    difference: Difference | NoDifference
    decided: Decision
    setbacks: SetbacksPair
    """Trials of either side that could not keep up."""


def compare_metrics(pairs: Sequence[Pair], metrics: Sequence[Metric], margin: float) -> tuple[MetricComparison, ...]:
    """Every metric that a pair has, of every stream."""
    return tuple(
        _compare_metric(pair, metric, stream, margin)
        for pair in pairs
        for metric in metrics
        for stream in _streams(pair, metric)
    )


def compare_usual_metrics(
    pairs: Sequence[Pair], margin: float, *, streams: bool = False
) -> tuple[MetricComparison, ...]:
    """What is worth comparing where no metric is named: of a pipeline its chains, and its streams on demand."""
    return tuple(
        comparison
        for pair in pairs
        for comparison in compare_metrics([pair], usual_metrics_of(pair.sides[0].experiment, streams=streams), margin)
    )


def usual_metrics_of(experiment: Experiment, *, streams: bool = False) -> list[Metric]:
    """Those of one experiment: a pipeline is judged by its chains, its streams are reported only on demand."""
    if is_search(experiment):
        return [metric_named("capacity")]
    return [
        usual_metric
        for usual_metric in usual_metrics()
        if streams or not experiment.chains or usual_metric.of_trial or usual_metric.of_chain
    ]


def names_of(metric: Metric, experiment: Experiment) -> list[str | None]:
    """The streams or chains that a metric may be of; `None` for the trial as a whole."""
    if metric.of_trial:
        return [None]
    return [flow.name for flow in (experiment.chains if metric.of_chain else experiment.streams)]


def _streams(pair: Pair, metric: Metric) -> list[str | None]:
    """The streams of which at least one of the pair has the metric; `None` for the trial as a whole."""
    names = names_of(metric, pair.sides[0].experiment)
    return [
        name for name in names if any(metric.key(name or "") in side.having(metric).estimates for side in pair.sides)
    ]


def _compare_metric(pair: Pair, metric: Metric, stream: str | None, margin: float) -> MetricComparison:
    runs = [candidate.evidence(metric, stream) for candidate in pair.base_runs or pair.sides[:1]]
    second = pair.sides[1].evidence(metric, stream)
    setbacks = runs[-1].setbacks, second.setbacks
    if pair.base_runs:
        setbacks = setbacks_over_runs([run.setbacks for run in runs], second.setbacks)
    difference = _difference(pair, runs, second)
    return MetricComparison(
        pair=pair,
        metric=metric,
        stream=stream,
        estimates=(estimate_over_runs(runs), second.estimate),
        difference=difference,
        decided=judge_difference(difference, lower_is_better=metric.lower_is_better, margin=margin, setbacks=setbacks),
        setbacks=setbacks,
    )


def _difference(pair: Pair, runs: Sequence[Evidence], second: Evidence) -> Difference | NoDifference:
    with_values = [run for run in runs if run.has_values]
    missing = {} if with_values else {pair.names[0]: runs[-1].missing}
    missing |= {} if second.has_values else {pair.names[1]: second.missing}
    if missing:
        return NoDifference(_said_once(missing), Lacks.VALUES)
    return (
        difference_to_next_run(runs, second)
        if pair.base_runs
        else difference_of(with_values[-1], second, paired=pair.paired)
    )


def difference_of(
    first: Evidence, second: Evidence, *, paired: bool, confidence: float = CONFIDENCE
) -> Difference | NoDifference:
    """The second against the first: by the trials that have a value; shares, and what no trial has, by all messages."""
    if first.is_share:
        of_machines = first.of_machines and second.of_machines
        return difference_of_shares(first.counts, second.counts, of_machines=of_machines, confidence=confidence)
    difference = ratio(first.block_values.finite, second.block_values.finite, paired=paired, confidence=confidence)
    wholes = first.whole, second.whole
    if (
        isinstance(difference, NoDifference)
        and isinstance(wholes[0], PooledValue)
        and isinstance(wholes[1], PooledValue)
    ):
        return ratio_of_pooled(wholes[0], wholes[1], confidence=confidence)
    return difference


def _said_once(missing: Mapping[str, str]) -> str:
    """What either side lacks; once where both lack the same."""
    if len(missing) == 2 and len(set(missing.values())) == 1:
        return f"both: {next(iter(missing.values()))}"
    return "; ".join(f"{name}: {why}" for name, why in missing.items())


@dataclass(frozen=True)
class OverSettings:
    """One metric of the same two names over all settings that have it, a stream of an experiment being one."""

    names: tuple[str, str]
    metric: Metric
    n_settings: int
    value: float | None
    """The geometric mean of the second side's ratios to the first; None where a setting has no ratio."""
    low: float | None = None
    """None where there is no interval: no block has all values."""
    high: float | None = None
    missing: tuple[str, ...] = ()
    """The settings without a ratio, or with one that trials which could not keep up flatter; `Compared` has why."""


def over_settings(all_compared: Iterable[MetricComparison]) -> tuple[OverSettings, ...]:
    """Of every metric that has ratios, where two settings or more have been compared."""
    groups: dict[tuple[tuple[str, str], Metric], list[MetricComparison]] = {}
    for comparison in all_compared:
        if not comparison.metric.is_share:
            groups.setdefault((comparison.pair.names, comparison.metric), []).append(comparison)
    return tuple(_over(names, metric, compared) for (names, metric), compared in groups.items() if len(compared) > 1)


def _over(names: tuple[str, str], metric: Metric, compared: Sequence[MetricComparison]) -> OverSettings:
    missing = tuple(_setting(comparison) for comparison in compared if comparison.decided.reason)
    ratios = [comparison.difference for comparison in compared if isinstance(comparison.difference, Difference)]
    if missing or len(ratios) < len(compared):
        return OverSettings(names, metric, len(compared), None, missing=missing)
    value = geometric_mean([difference.value for difference in ratios])
    first, second = (
        _of_blocks(
            [comparison.pair.sides[n].evidence(metric, comparison.stream).block_values for comparison in compared]
        )
        for n in (0, 1)
    )
    overall = ratio(first, second, paired=compared[0].pair.paired)
    if not isinstance(overall, Difference):
        return OverSettings(names, metric, len(compared), value)
    # Of medians over blocks, the mean and the median of means differ a little.
    return OverSettings(names, metric, len(compared), value, min(overall.low, value), max(overall.high, value))


def _setting(comparison: MetricComparison) -> str:
    return f"{comparison.pair.setting} {comparison.stream or ''}".strip()


def _of_blocks(settings: Sequence[BlockValues]) -> BlockValues:
    """By block the geometric mean over all settings, of the blocks that have a value in each."""
    finite = [setting.finite for setting in settings]
    blocks = sorted(set.intersection(*(set(values.low) for values in finite)))
    low = _means([values.low for values in finite], blocks)
    high = None if all(values.is_exact for values in finite) else _means([values.upper for values in finite], blocks)
    return replace(finite[0], low=low, high=high)


def _means(settings: Sequence[Values], blocks: Sequence[Block]) -> Values:
    return {block: geometric_mean([setting[block] for setting in settings]) for block in blocks}


def geometric_mean(values: Sequence[float]) -> float:
    """The geometric mean; 0 where a value is 0."""
    return math.exp(sum(map(math.log, values)) / len(values)) if min(values) > 0 else 0.0
