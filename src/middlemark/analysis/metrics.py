"""The metrics of one trial: a value for each name, with the number of messages that it stands on.

`metric_names` has the names. Accounting that does not add up is an error here; figures over several trials are
`estimate`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import polars as pl

from middlemark.analysis.accounting import Flow, away_meanwhile, breaches, flows, settled
from middlemark.analysis.clocks import CLOCK_BOUND, bounds_of_stream, told
from middlemark.analysis.condensed import Condensed, condensed, pooled, whole
from middlemark.analysis.histogram import merged, recorded
from middlemark.analysis.loss_runs import loss_runs, run_figures
from middlemark.analysis.metric_names import TRIAL, Key, of_flow, of_process, of_stream, quantile_metric
from middlemark.analysis.quantile import LEVELS, Measured, Samples, Value
from middlemark.analysis.recovery import affected_flows, fault_figures
from middlemark.analysis.samples import Distribution, distributions
from middlemark.errors import MiddlemarkError
from middlemark.plan import Experiment
from middlemark.results.histogram_log import Logged
from middlemark.results.record import PublisherCounts, Resources, TrialRecord, Window
from middlemark.results.streaming import Frame, count, highest

OVERLOAD_BELOW = 0.95
"""A publisher that hands over less than this share of its scheduled messages within the window is overloaded.

Less strict than the load generators that ask for all (Aeron's LoadTestRig), so that one late wake-up of the timer at
the end of a short window is no overload: it takes a window's last twentieth.
"""


class AccountingError(MiddlemarkError):
    """A trial's counts contradict each other or its samples: nothing of it can be trusted."""


@dataclass(frozen=True)
class StreamShape:
    """What the metrics must know of a stream beside its samples."""

    name: str
    size_bytes: float
    """The mean where its messages differ."""
    scheduled: bool
    """Whether its pattern has a rate of its own: periodic and burst have, unthrottled and ping-pong have not."""
    late_after_ns: int


def stream_shapes(experiment: Experiment) -> tuple[StreamShape, ...]:
    """What the metrics must know of the experiment's streams."""
    return tuple(
        StreamShape(
            name=stream.name,
            size_bytes=stream.mean_bytes,
            scheduled=stream.pattern.kind in {"periodic", "burst"},
            late_after_ns=experiment.windows.late_after_ns,
        )
        for stream in experiment.streams
    )


@dataclass(frozen=True)
class TrialMetrics:
    """All that is known of one trial in figures."""

    values: Mapping[Key, Value]
    samples: Mapping[tuple[str, Distribution], Condensed]
    """By stream or chain: the distributions in little memory, for what must look at several trials together."""
    flows: tuple[Flow, ...]
    overloaded: tuple[str, ...]
    """The streams that could not be sent at their rate; their latency is that of a queue, not of the path."""


def trial_metrics(
    record: TrialRecord,
    received: Frame,
    published: Frame,
    beyond: Sequence[Logged] = (),
    condense: Callable[[Condensed], Condensed] = condensed,
) -> TrialMetrics:
    """Compute every metric of a trial that was measured; `beyond` are the messages that left no sample.

    One distribution is in memory at a time: what `condense` makes of it stays.
    """
    streams = stream_shapes(record.trial.experiment)
    counts, accounted = settled(record, received)
    found = breaches(counts, accounted, tuple(stream.name for stream in streams))
    if found or record.window is None:
        raise AccountingError("; ".join(found) or "the trial has no window", remedy="run the trial again")
    values: dict[Key, Value] = {**_first_message(record), **_resources(record), **_faults(record, received)}
    window = record.window
    record = record.model_copy(update={"counts": counts})
    samples: dict[tuple[str, Distribution], Condensed] = {}
    for number, stream in enumerate(streams):
        rows = Rows(
            stream,
            received.filter(pl.col("stream") == number),
            published.filter(pl.col("stream") == number),
            window,
        )
        bounds_ns = bounds_of_stream(record, stream.name)
        for kind, ordered in distributions(rows.received, rows.published, stream.late_after_ns).items():
            every = partial(_every, kind, ordered, bounds_ns.get(kind, 0), stream, beyond)
            kept, figures = _looked_at(of_stream(stream.name), kind, every, condense)
            if kept.n:
                samples[stream.name, kind] = kept
                values |= figures
        values |= metric_of_bounds(of_stream(stream.name), bounds_ns)
        for name, value in (*_rates(record, rows), *_shares(record, stream), *_loss_runs(record, rows)):
            values[Key(of_stream(stream.name), name)] = value
    overloaded = tuple(stream.name for stream in streams if _is_overloaded(values, stream))
    return TrialMetrics(values, samples, flows(record.counts), overloaded)


def _looked_at(
    subject: str, kind: Distribution, every: Callable[[], Condensed], condense: Callable[[Condensed], Condensed]
) -> tuple[Condensed, dict[Key, Value]]:
    """What stays of a distribution, and its figures; it is itself gone when this returns: the next needs its room."""
    samples = every()
    return condense(samples), metrics_of_samples(subject, kind, samples)


def _every(
    kind: Distribution, ordered: Callable[[], Samples], bound_ns: int, stream: StreamShape, beyond: Sequence[Logged]
) -> Condensed:
    """With the latencies that only a histogram has, to 1.6 %; answers' are one way, which no round trip is."""
    known = whole(ordered(), bound_ns)
    logged = [each.histogram for each in beyond if each.stream == stream.name and not each.answers]
    if not logged or not known.n or kind is not Distribution.LATENCY_FROM_SEND:
        return known
    latencies = recorded(merged(logged))
    in_time = latencies.values <= stream.late_after_ns
    counts = latencies.counts[in_time]
    return pooled([known, Condensed(latencies.values[in_time], counts, int(counts.sum()))])


@dataclass(frozen=True)
class Rows:
    """The samples of one stream, with the window they belong to."""

    stream: StreamShape
    received: Frame
    published: Frame
    window: Window


Named = list[tuple[str, Value]]


def metric_of_bounds(subject: str, bounds_ns: Mapping[Distribution, int]) -> dict[Key, Value]:
    """By how much the clocks of different machines may put a stream's or chain's one-way times off, where they may."""
    return {Key(subject, CLOCK_BOUND): Measured(float(max(bounds_ns.values())), 1)} if bounds_ns else {}


def metrics_of_samples(subject: str, kind: Distribution, samples: Condensed) -> dict[Key, Value]:
    """The extremes and the quantiles of one distribution, as far as clocks that may be so far apart tell them."""
    if not samples.n:
        return {}
    ends = {name: Measured(float(samples.values[place]), samples.n) for name, place in (("min", 0), ("max", -1))}
    named = ends | {name: samples.quantile(level) for name, level in LEVELS.items()}
    return {Key(subject, quantile_metric(kind, name)): told(value, samples.bound_ns) for name, value in named.items()}


def _rates(record: TrialRecord, rows: Rows) -> Named:
    """Sent and arrived; none where an application was away meanwhile: those that stayed are not the stream."""
    planned = next(each for each in record.trial.experiment.streams if each.name == rows.stream.name)
    away = away_meanwhile(record)
    if away & {*planned.publishers}:
        return []
    arrived = [] if away & {*planned.subscribers} else _arrival_rates(record, rows)
    return [*_publish_rates(record, rows), *arrived]


def _publish_rates(record: TrialRecord, rows: Rows) -> Named:
    """What was sent a second and, by a schedule, what was to be."""
    publishers = [each for each in record.counts.publishers if each.stream == rows.stream.name]
    window_s = (rows.window.end_ns - rows.window.begin_ns) / 1e9
    intended, sent = sum(each.intended for each in publishers), sum(each.sent for each in publishers)
    achieved_hz = sum(_achieved_hz(each, rows) for each in publishers)
    found: Named = [("achieved_rate_hz", Measured(achieved_hz, sent))]
    if rows.stream.scheduled and intended:
        found.append(("intended_rate_hz", Measured(intended / window_s, intended)))
        found.append(("achieved_share", Measured(achieved_hz * window_s / intended, intended)))
    return found


def _arrival_rates(record: TrialRecord, rows: Rows) -> Named:
    """What arrived in time, and goodput, its payload; summed over all subscribers."""
    stream = rows.stream
    received = sum(flow.received for flow in flows(record.counts) if flow.stream == stream.name and not flow.answers)
    span_s = _span_ns(rows) / 1e9
    return [
        ("received_rate_hz", Measured(received / span_s, received)),
        ("goodput_bytes_per_s", Measured(received * stream.size_bytes / span_s, received)),
    ]


def _achieved_hz(publisher: PublisherCounts, rows: Rows) -> float:
    """Messages a second sent: by a schedule those within the window, else all until the last call came back."""
    begin_ns, end_ns = rows.window.begin_ns, rows.window.end_ns
    own = rows.published.filter(pl.col("publisher") == publisher.publisher)
    if rows.stream.scheduled and count(own) == publisher.sent + publisher.refused:
        in_window = own.filter((pl.col("accepted") == 1) & (pl.col("sent_ns") < end_ns))
        return count(in_window) / ((end_ns - begin_ns) / 1e9)
    until_ns = max(publisher.last_returned_ns, end_ns) if rows.stream.scheduled else publisher.last_returned_ns
    return publisher.sent / (max(until_ns - begin_ns, 1) / 1e9)


def _span_ns(rows: Rows) -> int:
    """From the window's opening to the last arrival; by a schedule at least the window, whose pauses belong to it."""
    last_ns = highest(rows.received, "received_ns")
    arrived_ns = 0 if last_ns is None else last_ns - rows.window.begin_ns
    window_ns = rows.window.end_ns - rows.window.begin_ns
    return max(arrived_ns, window_ns) if rows.stream.scheduled or arrived_ns <= 0 else arrived_ns


def _shares(record: TrialRecord, stream: StreamShape) -> Named:
    found: Named = []
    own = [flow for flow in flows(record.counts) if flow.stream == stream.name]
    for answers, name in ((False, "loss_share"), (True, "unanswered_share")):
        asked = [flow for flow in own if flow.answers is answers]
        sent = sum(flow.sent for flow in asked)
        if sent:
            missing = sum(flow.lost + flow.late for flow in asked)  # RFC 7680: what comes after Tmax is lost
            found.append((name, Measured(missing / sent, sent)))
    return found


def _loss_runs(record: TrialRecord, rows: Rows) -> Named:
    own = [flow for flow in flows(record.counts) if flow.stream == rows.stream.name]
    in_time = rows.received.filter(
        (pl.col("answer") == 0) & (pl.col("received_ns") - pl.col("sent_ns") <= rows.stream.late_after_ns)
    )
    found = loss_runs(own, in_time, rows.published)
    return [] if found is None else list(run_figures(found, sum(flow.sent for flow in own)).items())


def _first_message(record: TrialRecord) -> dict[Key, Value]:
    """The last of them; it is from the common start by this machine's clock to a subscriber's host's."""
    subscribers_of = {stream.name: stream.subscribers for stream in record.trial.experiment.streams}
    messages = [each for each in record.first_message if not each.answers]
    if not messages:
        return {}
    last = max(messages, key=lambda each: each.after_ns)
    bound_ns = record.clock_bound_at_ns(subscribers_of[last.stream][last.subscriber])
    return {Key(TRIAL, "first_message_ns"): told(Measured(float(last.after_ns), len(messages)), bound_ns)}


def _faults(record: TrialRecord, received: Frame) -> dict[Key, Value]:
    values: dict[Key, Value] = {}
    for number, stream in enumerate(record.trial.experiment.streams):
        flows = affected_flows(record, number, stream, received)
        together = {of_stream(stream.name): flows}
        single = {of_flow(stream.name, flow.publisher, flow.subscriber): [flow] for flow in flows}
        for subject, own in {**together, **single}.items():
            values |= {Key(subject, name): figure for name, figure in fault_figures(own).items()}
    growth = record.memory_growth_bytes.values()
    if growth:
        values[Key(TRIAL, "memory_growth_bytes")] = Measured(float(max(growth)), len(growth))
    return values


def _resources(record: TrialRecord) -> dict[Key, Value]:
    """Services are charged to the middleware that needs them: the trial's figures are sums over all processes."""
    values: dict[Key, Value] = {}
    for process, spent in record.resources.items():
        for name, value in _of_process(spent):
            values[Key(of_process(process), name)] = Measured(value, 1)
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


def _is_overloaded(values: Mapping[Key, Value], stream: StreamShape) -> bool:
    share = values.get(Key(of_stream(stream.name), "achieved_share"))
    return isinstance(share, Measured) and share.value < OVERLOAD_BELOW
