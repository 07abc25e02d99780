"""Puts together what the trials of one experiment say, each metric by its own rule: pooled, summed, or by medians.

It reads no file, as `metrics.stored` has done that, and compares nothing; what it makes is an `ExperimentFindings`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import fields

from middlemark.analysis.experiment.findings import (
    Accounting,
    Configuration,
    Examples,
    ExperimentFindings,
    MeasuredTrial,
    Shapes,
    Totals,
    TrialOutcome,
)
from middlemark.analysis.experiment.variance import NoVarianceComponents, VarianceComponents, variance_components
from middlemark.analysis.kernel.breakdown import ExampleMessage
from middlemark.analysis.metrics.accounting import Flow
from middlemark.analysis.metrics.latency import CLOCK_BOUND
from middlemark.analysis.metrics.timeseries import TimeSeries, median_trial, steadiness_cautions
from middlemark.analysis.metrics.trial import PATH_DISTRIBUTIONS, values_without_queues
from middlemark.analysis.stats.estimate import (
    Estimate,
    Method,
    median_of_trials,
    no_estimate,
    quantile_of_trials,
    refusal,
    share_of_trials,
)
from middlemark.analysis.stats.quantiles import Lost, Measured, TooFewSamples, Value, pool_sketches
from middlemark.analysis.stats.shapes import box, curve
from middlemark.analysis.verdicts.values import Block
from middlemark.plan import Caution, Experiment, Invalid, NotApplicable, WarningKind
from middlemark.results.record import TrialRecord
from middlemark.suite.metrics import (
    LEVELS,
    SHARES_OF_MESSAGES,
    Distribution,
    Key,
    distribution_subject,
    metrics_of_distribution,
    quantile_metric,
    stream_subject,
)


def experiment_findings(
    experiment: Experiment, records: Sequence[TrialRecord], measured: Sequence[MeasuredTrial]
) -> ExperimentFindings:
    """Put together what an experiment's trials say; `measured` are those of `records` that count."""
    of_records = [caution for record in records for caution in _once_a_trial(record)]
    estimates = _estimates(measured)
    refused = {key for key, estimate in estimates.items() if estimate.method in {Method.WITHIN_CLOCKS, Method.PARTIAL}}
    of_trials = [caution for trial in measured for caution in steadiness_cautions(trial.settling)]
    return ExperimentFindings(
        experiment=experiment,
        outcomes=tuple(_outcome(record) for record in records),
        estimates=estimates,
        by_block=_by_block(measured, refused),
        counted=_counted(measured),
        machines={record.trial.block: record.testbed for record in records if record.testbed is not None},
        shapes=_shapes(measured),
        accounting=_accounting(experiment, measured),
        configuration=Configuration(
            effective=next((trial.record.effective for trial in measured if trial.record.effective), {}),
            services=next((trial.record.services for trial in measured if trial.record.services), {}),
            path=next((trial.record.path for trial in measured if trial.record.path), {}),
        ),
        examples=Examples(
            time_series=_median_time_series(measured),
            memory=measured[0].memory if measured else (),
            messages=_median_messages(measured),
        ),
        variance=_variance(experiment, measured),
        cautions=_cautions([*of_trials, *of_records]),
        records=tuple(trial.record for trial in measured),
    )


def _accounting(experiment: Experiment, measured: Sequence[MeasuredTrial]) -> Accounting:
    return Accounting(
        totals=_totals(flow for trial in measured for flow in trial.metrics.flows),
        overloaded={
            stream.name: sum(stream.name in trial.metrics.overloaded for trial in measured)
            for stream in experiment.streams
        },
    )


def _median_messages(measured: Sequence[MeasuredTrial]) -> dict[str, tuple[ExampleMessage, ...]]:
    messages = {}
    for stream in dict.fromkeys(name for trial in measured for name in trial.example_messages):
        values = [trial.metrics.values.get(Key(stream_subject(stream), "path_typical_whole_ns")) for trial in measured]
        middle = median_trial([value if isinstance(value, Measured) else None for value in values])
        messages[stream] = measured[middle].example_messages.get(stream, ())
    return messages


def _variance(
    experiment: Experiment, measured: Sequence[MeasuredTrial]
) -> dict[str, VarianceComponents | NoVarianceComponents]:
    """Without the trials that are overloaded, as their latency is no path's."""
    components = {}
    for stream in experiment.streams:
        of_received = stream.pattern.kind == "unthrottled"
        counting = (trial for trial in measured if of_received or stream.name not in trial.metrics.overloaded)
        series = [trial.time_series[stream.name] for trial in counting if stream.name in trial.time_series]
        components[stream.name] = variance_components(experiment, series, of_received=of_received)
    return components


def _median_time_series(measured: Sequence[MeasuredTrial]) -> dict[str, TimeSeries]:
    series = {}
    for stream in dict.fromkeys(name for trial in measured for name in trial.time_series):
        for metric in ("recovery_ns", quantile_metric(Distribution.LATENCY_FROM_SEND, "p50")):
            key = Key(stream_subject(stream), metric)
            values = [trial.metrics.values.get(key) for trial in measured]
            measurements = [value if isinstance(value, Measured) else None for value in values]
            if any(measurements) or metric != "recovery_ns":
                series[stream] = measured[median_trial(measurements)].time_series[stream]
                break
    return series


def _outcome(record: TrialRecord) -> TrialOutcome:
    outcome = record.outcome
    detail = outcome.reason if isinstance(outcome, NotApplicable) else outcome.detail
    reason = outcome.reasons[0].kind.value if isinstance(outcome, Invalid) else ""
    trial = record.trial
    return TrialOutcome(
        trial.id, trial.block, record.attempt, outcome.kind, detail, reason, trial.step, record.testbed or ""
    )


def _counting(measured: Sequence[MeasuredTrial], stream: str, kind: Distribution) -> list[MeasuredTrial]:
    """The trials that say something of the path by a kind of samples, be it that not all messages left one."""
    median = Key(distribution_subject(stream, kind), quantile_metric(kind, "p50"))
    return [
        trial
        for trial in measured
        if median in trial.metrics.values and not (kind in PATH_DISTRIBUTIONS and stream in trial.metrics.overloaded)
    ]


def _kinds(measured: Sequence[MeasuredTrial]) -> list[tuple[str, Distribution]]:
    return sorted({key for trial in measured for key in trial.distributions})


def _estimates(measured: Sequence[MeasuredTrial]) -> dict[Key, Estimate]:
    """Quantiles by their own rule, losses of all messages, all else by medians; a queue's latency is no path's."""
    estimates: dict[Key, Estimate] = {}
    for stream, kind in _kinds(measured):
        counting = _counting(measured, stream, kind)
        overload = f"overloaded in all {len(measured)} valid trials"
        for name, level in LEVELS.items():
            key = Key(distribution_subject(stream, kind), quantile_metric(kind, name))
            quantiles = [trial.metrics.values[key] for trial in counting]
            samples = [trial.distributions[stream, kind] for trial in counting if (stream, kind) in trial.distributions]
            estimates[key] = quantile_of_trials(quantiles, samples, level) if counting else no_estimate(overload)
        for metric in metrics_of_distribution(kind):
            key = Key(distribution_subject(stream, kind), metric)
            if key in estimates:
                continue
            values = [trial.metrics.values[key] for trial in counting if key in trial.metrics.values]
            nothing = no_estimate("nothing arrived in time" if counting else overload)
            estimates[key] = _over_trials(key.metric, values) if values else nothing
    for key in sorted({key for trial in measured for key in trial.metrics.values} - estimates.keys()):
        values = [trial.metrics.values[key] for trial in measured if key in trial.metrics.values]
        estimates[key] = _over_trials(key.metric, values)
    return estimates


def _over_trials(metric: str, values: Sequence[Value]) -> Estimate:
    refused = refusal(values)
    if refused is not None:
        return refused
    measurements = [value for value in values if isinstance(value, Measured)]
    if metric == CLOCK_BOUND:
        return median_of_trials([max(measurements, key=lambda measured: measured.value)])
    if metric in SHARES_OF_MESSAGES:
        return share_of_trials(measurements)
    fewest = [value for value in values if isinstance(value, TooFewSamples)]
    if len(fewest) == len(values) and fewest:
        return no_estimate(str(min(fewest, key=lambda samples: samples.n)))
    return median_of_trials([value for value in values if isinstance(value, Measured | Lost)])


def _by_block(measured: Sequence[MeasuredTrial], refused: set[Key]) -> dict[Key, dict[Block, float]]:
    by_key: dict[Key, dict[Block, float]] = {}
    for trial in measured:
        for key, value in values_without_queues(trial.metrics).items():
            if key not in refused:
                by_key.setdefault(key, {})[trial.record.trial.block] = value
    return by_key


def _counted(measured: Sequence[MeasuredTrial]) -> dict[Key, dict[Block, tuple[int, int]]]:
    by_key: dict[Key, dict[Block, tuple[int, int]]] = {}
    for trial in measured:
        for key, value in trial.metrics.values.items():
            if key.metric in SHARES_OF_MESSAGES and isinstance(value, Measured) and value.n:
                counts = round(value.n * value.value), value.n
                by_key.setdefault(key, {})[trial.record.trial.block] = counts
    return by_key


def _shapes(measured: Sequence[MeasuredTrial]) -> Shapes:
    curves, boxes = {}, {}
    for stream, kind in _kinds(measured):
        whole = [trial.distributions.get((stream, kind)) for trial in _counting(measured, stream, kind)]
        sketches = [sketch for sketch in whole if sketch is not None]
        if len(sketches) < len(whole) or not any(sketch.n for sketch in sketches):
            continue
        samples = pool_sketches(sketches)
        drawn = curve(samples)
        if drawn.value_ns:
            curves[stream, kind], boxes[stream, kind] = drawn, box(samples)
    return Shapes(curves, boxes)


def _totals(flows: Iterable[Flow]) -> dict[tuple[str, bool], Totals]:
    totals: dict[tuple[str, bool], Totals] = {}
    for flow in flows:
        before = totals.get((flow.stream, flow.answers), Totals())
        summed = {field.name: getattr(before, field.name) + getattr(flow, field.name) for field in fields(Totals)}
        totals[flow.stream, flow.answers] = Totals(**summed)
    return totals


def _once_a_trial(record: TrialRecord) -> list[Caution]:
    return list({caution.kind: caution for caution in reversed(record.warnings)}.values())


def _cautions(cautions: Sequence[Caution]) -> tuple[tuple[Caution, int], ...]:
    """Each kind in the words of its first trial, with the number of trials; a trial has each kind once at most."""
    first: dict[WarningKind, Caution] = {}
    for caution in cautions:
        first.setdefault(caution.kind, caution)
    count = Counter(caution.kind for caution in cautions)
    return tuple((first[kind], count[kind]) for kind in sorted(first))
