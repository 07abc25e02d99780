"""The metrics of one trial: a value for each name, with the number of messages that it rests on.

Accounting that does not add up is an error here. Where publishers could not keep their rate latency is that of a queue,
and such values can be left out; `suite.metrics` has the names, estimates over several trials are `stats.estimate`'s.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from middlemark.analysis.metrics.accounting import (
    AccountingError,
    Flow,
    StreamRows,
    accountable,
    contradictions,
    flows,
    loss_run_metrics,
    loss_runs,
    stream_shapes,
)
from middlemark.analysis.metrics.distributions import clock_bound_metric, distributions_of
from middlemark.analysis.metrics.latency import (
    bounds_of_stream,
    first_message_values,
)
from middlemark.analysis.metrics.recovery import affected_flows, fault_metrics
from middlemark.analysis.metrics.traffic import Named, is_overloaded, rates, shares
from middlemark.analysis.stats.quantiles import (
    Lost,
    Measured,
    Sketch,
    Value,
    sketch_of,
)
from middlemark.results.counts import Resources
from middlemark.results.histogram_log import FlowHistogram
from middlemark.results.record import TrialRecord
from middlemark.results.streaming import Frame
from middlemark.suite.metrics import (
    TRIAL,
    Distribution,
    Key,
    flow_subject,
    metrics_of_distribution,
    process_subject,
    stream_subject,
)

PATH_DISTRIBUTIONS = (
    Distribution.LATENCY_FROM_SEND,
    Distribution.LATENCY_FROM_INTENDED,
    Distribution.LATENCY_WITH_SERIALISATION,
    Distribution.ROUND_TRIP,
    Distribution.ROUND_TRIP_FROM_INTENDED,
    Distribution.ROUND_TRIP_WITHOUT_SERVER,
    Distribution.JITTER,
)
"""The distributions that an overload turns into those of a queue."""


@dataclass(frozen=True)
class TrialMetrics:
    """All metrics of one trial."""

    values: Mapping[Key, Value]
    samples: Mapping[tuple[str, Distribution], Sketch]
    """By stream or chain: the distributions in little memory, for what must look at several trials together."""
    flows: tuple[Flow, ...]
    overloaded: tuple[str, ...]
    """The streams that could not be sent at their rate; their latency is that of a queue, not of the path."""


def trial_metrics(
    record: TrialRecord,
    received: Frame,
    published: Frame,
    beyond: Sequence[FlowHistogram] = (),
    condense: Callable[[Sketch], Sketch] = sketch_of,
) -> TrialMetrics:
    """Compute every metric of a trial that was measured; `beyond` are the messages that left no sample.

    One distribution is in memory at a time: what `condense` makes of it stays.
    """
    streams = stream_shapes(record.trial.experiment)
    counts, accounted = accountable(record, received)
    problems = contradictions(counts, accounted, tuple(stream.name for stream in streams))
    if problems or record.window is None:
        raise AccountingError("; ".join(problems) or "the trial has no window", remedy="run the trial again")
    values: dict[Key, Value] = {**first_message_values(record), **_resources(record), **_faults(record, received)}
    samples: dict[tuple[str, Distribution], Sketch] = {}
    overloaded = []
    for number, stream in enumerate(streams):
        rows = StreamRows(
            stream=stream,
            received=received.filter(pl.col("stream") == number),
            published=published.filter(pl.col("stream") == number),
            window=record.window,
            publishers=tuple(publisher for publisher in counts.publishers if publisher.stream == stream.name),
            flows=tuple(flow for flow in flows(counts) if flow.stream == stream.name),
        )
        bounds_ns = bounds_of_stream(record, stream.name)
        sketches, own_values = distributions_of(rows, bounds_ns, beyond, condense)
        of_messages = [*rates(record, rows), *shares(rows), *_loss_runs(rows)]
        samples |= {(stream.name, kind): sketch for kind, sketch in sketches.items()}
        values |= own_values | clock_bound_metric(stream_subject(stream.name), bounds_ns)
        values |= {Key(stream_subject(stream.name), name): value for name, value in of_messages}
        overloaded += [stream.name] if is_overloaded(of_messages) else []
    return TrialMetrics(values, samples, flows(counts), tuple(overloaded))


def _loss_runs(rows: StreamRows) -> Named:
    in_time = rows.received.filter(
        (pl.col("answer") == 0) & (pl.col("received_ns") - pl.col("sent_ns") <= rows.stream.late_after_ns)
    )
    lengths = loss_runs(rows.flows, in_time, rows.published)
    return [] if lengths is None else list(loss_run_metrics(lengths, sum(flow.sent for flow in rows.flows)).items())


def _faults(record: TrialRecord, received: Frame) -> dict[Key, Value]:
    values: dict[Key, Value] = {}
    for number, stream in enumerate(record.trial.experiment.streams):
        flows = affected_flows(record, number, stream, received)
        together = {stream_subject(stream.name): flows}
        single = {flow_subject(stream.name, flow.publisher, flow.subscriber): [flow] for flow in flows}
        for subject, affected in {**together, **single}.items():
            values |= {Key(subject, name): value for name, value in fault_metrics(affected).items()}
    growth = record.memory_growth_bytes.values()
    if growth:
        values[Key(TRIAL, "memory_growth_bytes")] = Measured(float(max(growth)), len(growth))
    return values


def _resources(record: TrialRecord) -> dict[Key, Value]:
    """Services are charged to the middleware that needs them: the trial's metrics are sums over all processes."""
    values: dict[Key, Value] = {}
    for process, spent in record.resources.items():
        for name, value in _of_process(spent):
            values[Key(process_subject(process), name)] = Measured(value, 1)
            total = values.get(Key(TRIAL, name), Measured(0.0, 0))
            if isinstance(total, Measured):
                values[Key(TRIAL, name)] = Measured(total.value + value, total.n + 1)
    steal = [spent.machine_steal_ns for spent in record.resources.values()]
    if steal:
        values[Key(TRIAL, "machine_steal_ns")] = Measured(float(max(steal)), len(steal))
    return values


def _of_process(spent: Resources) -> list[tuple[str, float]]:
    wall_ns = max(spent.wall_ns, 1)
    return [
        ("cpu_percent_of_core", 100 * (spent.cpu_user_ns + spent.cpu_system_ns) / wall_ns),
        ("peak_memory_bytes", float(spent.peak_resident_bytes)),
        ("voluntary_switches_hz", spent.voluntary_switches / (wall_ns / 1e9)),
        ("involuntary_switches_hz", spent.involuntary_switches / (wall_ns / 1e9)),
        ("major_faults", float(spent.major_faults)),
    ]


def values_without_queues(metrics: TrialMetrics) -> dict[Key, float]:
    """The values of a trial, without those that an overload made the queue's; infinite where messages were lost."""
    queues = _of_a_queue(metrics)
    return {
        key: math.inf if isinstance(value, Lost) else value.value
        for key, value in metrics.values.items()
        if isinstance(value, Measured | Lost) and key not in queues
    }


def _of_a_queue(metrics: TrialMetrics) -> set[Key]:
    """The metrics that an overload turned into those of a queue."""
    return {
        Key(stream_subject(stream), metric)
        for stream in metrics.overloaded
        for kind in PATH_DISTRIBUTIONS
        for metric in metrics_of_distribution(kind)
    }
