"""The metrics of a stored trial: read where they were stored at its end, else computed from its files.

What is read is checked as if a stranger had written it; what contradicts itself or the trial's record makes the trial a
damaged one. `results.metrics_file` reads and writes files; `trial`, `chains` and their neighbours compute.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Annotated, Final, Literal

import numpy as np
import polars as pl
from pydantic import ConfigDict, Field, NonNegativeInt, PositiveInt

from middlemark.analysis.experiment.findings import MeasuredTrial
from middlemark.analysis.kernel.breakdown import ExampleMessage, PathFindings, path_findings, transport_values
from middlemark.analysis.metrics.accounting import AccountingError, accountable, flows
from middlemark.analysis.metrics.chain_trace import Rows
from middlemark.analysis.metrics.chains import chain_metrics
from middlemark.analysis.metrics.resources import MemorySeries, memory_series, resource_values
from middlemark.analysis.metrics.timeseries import PARTS_DRAWN, Settling, TimeSeries, settling_by_stream, time_series
from middlemark.analysis.metrics.traffic import wire_values
from middlemark.analysis.metrics.trial import TrialMetrics, trial_metrics, values_without_queues
from middlemark.analysis.stats.quantiles import KEPT_WHOLE, Partial, Sketch, Value, WithinClocks, sketch_of
from middlemark.errors import StoreError
from middlemark.installation import VERSION
from middlemark.plan import Experiment, Trial
from middlemark.results.metrics_file import REMEDY, SketchPoints, read_metrics, read_sketches, sketches_table
from middlemark.results.record import FORMAT_VERSION, TrialRecord, is_valid
from middlemark.results.streaming import lazy_rows
from middlemark.results.tables import RECEIVED_SCHEMA
from middlemark.results.trial_folder import Samples, TrialFolder
from middlemark.suite import Model
from middlemark.suite.metrics import LEVELS, Distribution, Key, distribution_subject, quantile_metric

METRICS_VERSION: Final = 7
"""Raised with each change of what a metric means or of how it is computed: what is stored by another is not read."""
MOST_SAMPLES: Final = 1 << 48
_NO_ROWS = pl.DataFrame(schema=RECEIVED_SCHEMA)
Name = Annotated[str, Field(min_length=1, max_length=400)]


class SketchForm(Model):
    """What is said of a distribution beside its values."""

    name: Name
    """Of its stream or chain."""
    distribution: Distribution
    n_values: Annotated[int, Field(ge=0, le=KEPT_WHOLE)]
    n: Annotated[int, Field(ge=0, le=MOST_SAMPLES)]
    """The number of messages that the values represent."""
    bound_ns: NonNegativeInt = 0
    lost: Annotated[int, Field(ge=0, le=MOST_SAMPLES)] = 0
    """Messages that never arrived."""


class StoredMetrics(Model):
    """What is stored of a valid trial's metrics: `metrics.json`."""

    model_config = ConfigDict(allow_inf_nan=False)

    format_version: Literal[1] = FORMAT_VERSION
    computed_by: PositiveInt = METRICS_VERSION
    middlemark_version: Name = VERSION
    values: dict[Name, dict[Name, Annotated[Value, Field(discriminator="kind")]]]
    """By subject and metric."""
    overloaded: tuple[Name, ...]
    sketches: tuple[SketchForm, ...]
    """In the order of `sketches.parquet`."""
    courses: dict[Name, TimeSeries]
    settling: dict[Name, Settling]
    memory: tuple[MemorySeries, ...]
    messages: dict[Name, tuple[ExampleMessage, ...]]


def stored_form(measured: MeasuredTrial) -> tuple[StoredMetrics, pl.DataFrame]:
    """What is to be stored of a trial: the document, and the values of its distributions."""
    values: dict[str, dict[str, Value]] = {}
    for key, value in measured.metrics.values.items():
        values.setdefault(key.subject, {})[key.metric] = value
    sketches = measured.metrics.samples
    document = StoredMetrics.model_construct(
        values=values,
        overloaded=measured.metrics.overloaded,
        sketches=tuple(_form(name, kind, sketch) for (name, kind), sketch in sketches.items()),
        courses=dict(measured.time_series),
        settling=dict(measured.settling),
        memory=measured.memory,
        messages=dict(measured.example_messages),
    )
    return document, sketches_table([(sketch.values, sketch.counts) for sketch in sketches.values()])


def _form(name: str, kind: Distribution, sketch: Sketch) -> SketchForm:
    return SketchForm(
        name=name,
        distribution=kind,
        n_values=len(sketch.values),
        n=sketch.n,
        bound_ns=sketch.bound_ns,
        lost=sketch.lost,
    )


def read_stored(folder: TrialFolder, record: TrialRecord) -> MeasuredTrial | None:
    """The metrics of a valid trial as they were stored; None where there are none, or another version's."""
    document = read_metrics(folder, StoredMetrics, METRICS_VERSION)
    if document is None:
        return None
    points = read_sketches(folder, [sketch.n_values for sketch in document.sketches])
    problem = next(_contradictions(document, points, record), None)
    if problem is not None:
        raise StoreError(folder.metrics_path, problem, REMEDY)
    sketches = {
        (form.name, form.distribution): Sketch(values, counts, form.n, form.bound_ns, form.lost)
        for form, (values, counts) in zip(document.sketches, points, strict=True)
    }
    counts, _ = accountable(record, _NO_ROWS)
    values = {Key(subject, name): value for subject, named in document.values.items() for name, value in named.items()}
    return MeasuredTrial(
        record,
        TrialMetrics(values, sketches, flows(counts), document.overloaded),
        document.courses,
        memory=document.memory,
        example_messages=document.messages,
        settling=document.settling,
    )


def _contradictions(document: StoredMetrics, points: Sequence[SketchPoints], record: TrialRecord) -> Iterator[str]:
    """What can't be as it says."""
    streams = {stream.name for stream in record.trial.experiment.streams}
    named = {*document.overloaded, *document.courses, *document.settling, *document.messages}
    of_sketches = [(form.name, form.distribution) for form in document.sketches]
    named |= {name for name, _ in of_sketches} - _chains(record.trial.experiment)
    yield from (f"the trial has no stream {name}" for name in sorted(named - streams))
    if len(set(of_sketches)) < len(of_sketches):
        yield "it has a distribution twice"
    for form, (values, counts) in zip(document.sketches, points, strict=True):
        if not (_ascends(values) and (counts >= 1).all() and (counts <= form.n).all() and counts.sum() == form.n):
            yield f"the values of {form.distribution} of {form.name} are not {form.n} in ascending order"
        if form.n > _most(record, form):
            yield f"{form.n} messages of {form.name} have a {form.distribution}, more than the trial counts"
        if form.n + form.lost == 0 or form.lost > _most_lost(record, form):
            yield f"{form.lost} messages of {form.name} have no {form.distribution}, which is not what the trial counts"
    yield from (
        f"{subject} has some quantiles of {kind} and not others" for subject, kind in _incomplete(document, record)
    )
    yield from (f"the time series of {name} has gaps" for name, series in document.courses.items() if _gaps(series))


def _incomplete(document: StoredMetrics, record: TrialRecord) -> Iterator[tuple[str, Distribution]]:
    """Whoever finds the median of a distribution looks for all its quantiles."""
    names = [stream.name for stream in record.trial.experiment.streams] + sorted(_chains(record.trial.experiment))
    for name, kind in product(names, Distribution):
        subject = distribution_subject(name, kind)
        if len({quantile_metric(kind, level) in document.values.get(subject, {}) for level in LEVELS}) > 1:
            yield subject, kind


def _chains(experiment: Experiment) -> set[str]:
    return {chain.name for chain in experiment.chains}


def _ascends(values: np.ndarray) -> bool:
    """A sum of steps that ran over begins again below."""
    return bool((values[1:] >= values[:-1]).all())


def _most(record: TrialRecord, form: SketchForm) -> float:
    """How many messages a distribution may be of, by the trial's own counts."""
    answers = {Distribution.LATENCY_FROM_SEND: False, Distribution.ROUND_TRIP: True}.get(form.distribution)
    subscribers = [
        subscriber
        for subscriber in record.counts.subscribers
        if subscriber.stream == form.name and subscriber.answers is answers
    ]
    return math.inf if answers is None else sum(counts.received for counts in subscribers)


def _most_lost(record: TrialRecord, form: SketchForm) -> float:
    """How many messages may have none."""
    counted = [flow for flow in flows(record.counts) if flow.stream == form.name]
    return sum(flow.intended for flow in counted) if form.name not in _chains(record.trial.experiment) else math.inf


def _gaps(series: TimeSeries) -> bool:
    """Whether the parts don't follow each other."""
    n, part_ns, longer_ns = len(series.received), series.part_ns, series.latency_part_ns
    if not (
        0 < n <= PARTS_DRAWN and 0 < part_ns <= longer_ns and longer_ns % part_ns == 0 and min(series.received) >= 0
    ):
        return True
    return len(series.latency_p50_ns) != -(-n // (longer_ns // part_ns))


def load_or_measure(
    folder: TrialFolder, record: TrialRecord, on_measuring: Callable[[], None] | None = None
) -> MeasuredTrial:
    """The metrics of a valid trial; raises where its files can't be read or contradict each other.

    Before it computes them from the samples, which takes a while, it calls `on_measuring`.
    """
    stored = read_stored(folder, record)
    if stored is not None:
        return stored
    if on_measuring is not None:
        on_measuring()
    return measure(folder, record)


def measure(folder: TrialFolder, record: TrialRecord) -> MeasuredTrial:
    """The same from its samples, whatever is stored of them."""
    with folder.reading_samples() as samples:
        measured = MeasuredTrial(
            record,
            metrics_from_samples(folder, record, samples),
            time_series(record, samples.received),
            settling=settling_by_stream(record, samples.received),
        )
    return measured if record.trial.observation is None else _with_observed(measured, folder)


def metrics_from_samples(
    folder: TrialFolder,
    record: TrialRecord,
    samples: Samples,
    condense: Callable[[Sketch], Sketch] = sketch_of,
) -> TrialMetrics:
    """All of a trial but what its observer saw; accounting that does not add up is an error."""
    metrics = trial_metrics(record, samples.received, samples.published, folder.read_overflow(), condense)
    if not record.nodes or record.window is None:
        return metrics
    rows = Rows(*folder.scan_nodes(), lazy_rows(samples.received), record.window.end_ns)
    of_chains = chain_metrics(record, rows, condense)
    return replace(
        metrics, values={**metrics.values, **of_chains.values}, samples={**metrics.samples, **of_chains.samples}
    )


def _with_observed(measured: MeasuredTrial, folder: TrialFolder) -> MeasuredTrial:
    """With what the trial's observer saw."""
    record = measured.record
    processes, machine = folder.read_processes(), folder.read_machine()
    path, sent_by = PathFindings({}, {}), {}
    if record.kernel_path is not None:
        events = folder.read_kernel_events()
        path, sent_by = path_findings(record, events, folder.read_received()), transport_values(record, events)
    observed = {
        **resource_values(record, processes, machine),
        **wire_values(record),
        **path.values,
        **sent_by,
    }
    metrics = replace(measured.metrics, values={**measured.metrics.values, **observed})
    return replace(measured, metrics=metrics, memory=memory_series(record, processes), example_messages=path.messages)


@dataclass(frozen=True)
class StoredResult:
    """One trial's outcome and values."""

    trial: Trial
    outcome: str
    """Its kind."""
    detail: str = ""
    values: Mapping[Key, float] = field(default_factory=dict)
    """Without what it has too few samples for, and without the latency of an overloaded stream."""
    refused: Mapping[Key, str] = field(default_factory=dict)
    """What clocks of different machines can't measure, and what not all messages left a sample of, with the reason."""


def read_result(folder: TrialFolder) -> StoredResult:
    """Read what a stored trial came to; accounting that does not add up leaves it without values."""
    record = folder.read_record()
    if not is_valid(record):
        return StoredResult(record.trial, record.outcome.kind, record.outcome.detail)
    try:
        metrics = load_or_measure(folder, record).metrics
    except AccountingError as error:
        return StoredResult(record.trial, "invalid", str(error))
    refused = {key: str(value) for key, value in metrics.values.items() if isinstance(value, WithinClocks | Partial)}
    return StoredResult(record.trial, "valid", values=values_without_queues(metrics), refused=refused)
