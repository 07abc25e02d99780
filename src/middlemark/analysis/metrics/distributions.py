"""What a trial's messages leave of each distribution of a stream: a sketch in little memory, and its metrics.

A distribution is whole or refused: messages without a sample have no other to stand for them, and those that never
arrived are infinitely slow. `latency` makes the distributions, `trial` adds a stream's rates and losses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from middlemark.analysis.metrics.accounting import StreamRows
from middlemark.analysis.metrics.latency import CLOCK_BOUND, distributions, with_fill
from middlemark.analysis.stats.quantiles import (
    Measured,
    Partial,
    Samples,
    Sketch,
    Value,
    exact_sketch,
    pool_sketches,
    with_clock_bound,
)
from middlemark.analysis.stats.shapes import merge_histograms, moments, sketch_of_histogram
from middlemark.results.histogram_log import FlowHistogram
from middlemark.results.streaming import row_count
from middlemark.suite.metrics import (
    LEVELS,
    Distribution,
    Key,
    metrics_of_distribution,
    moment_metric,
    quantile_metric,
    stream_subject,
)

_OF_PUBLISHERS = (
    Distribution.PUBLISH_CALL,
    Distribution.PACING_ERROR,
    Distribution.FILL,
    Distribution.SERIALISE,
)
_OF_REQUESTS = (
    Distribution.ROUND_TRIP_FROM_INTENDED,
    Distribution.ROUND_TRIP_WITHOUT_SERVER,
    Distribution.SERVER_TIME,
)
"""Made of a response and its request together."""


def distributions_of(
    rows: StreamRows,
    bounds_ns: Mapping[Distribution, int],
    beyond: Sequence[FlowHistogram],
    condense: Callable[[Sketch], Sketch],
) -> tuple[dict[Distribution, Sketch], dict[Key, Value]]:
    """What stays of each distribution of a stream, and the metrics of all; none is reported as whole that is not."""
    subject = stream_subject(rows.stream.name)
    histograms = [histogram for histogram in beyond if histogram.stream == rows.stream.name]
    logged = {
        Distribution.LATENCY_FROM_SEND: [histogram for histogram in histograms if not histogram.answers],
        Distribution.ROUND_TRIP: [histogram for histogram in histograms if histogram.round_trips],
    }
    samples: dict[Distribution, Sketch] = {}
    values: dict[Key, Value] = {}
    for kind, ordered in distributions(rows.received, rows.published, rows.stream).items():
        refused = _not_whole(kind, rows, logged.get(kind, ()))
        if refused is not None:
            values |= {Key(subject, metric): refused for metric in metrics_of_distribution(kind)}
            continue
        every = partial(_every, kind, ordered, bounds_ns.get(kind, 0), rows, logged.get(kind, ()))
        sketch, its_metrics = _looked_at(subject, kind, every, condense)
        if sketch.n_messages:
            samples[kind] = sketch
            values |= its_metrics
    return samples, values


def _looked_at(
    subject: str, kind: Distribution, every: Callable[[], Sketch], condense: Callable[[Sketch], Sketch]
) -> tuple[Sketch, dict[Key, Value]]:
    """What stays of a distribution, and its metrics; it is itself gone when this returns: the next needs its room."""
    samples = every()
    return condense(samples), distribution_metrics(subject, kind, samples)


def _not_whole(kind: Distribution, rows: StreamRows, logged: Sequence[FlowHistogram]) -> Partial | None:
    """That not all messages left what a distribution is made of; none where they did, or where none did.

    Of messages beyond the sample memory a worker logs the latency from the send alone, of answers the round trip: that
    says neither when they were to be sent, nor what came before them.
    """
    if kind in _OF_PUBLISHERS:
        published = with_fill(rows.published) if kind is Distribution.FILL else rows.published
        total, n = sum(publisher.sent + publisher.refused for publisher in rows.publishers), row_count(published)
        return Partial(n, total) if 0 < n < total else None
    flows = rows.flows if kind in _OF_REQUESTS else rows.flows_of(answers=kind is Distribution.ROUND_TRIP)
    unsampled, total = sum(flow.beyond_samples for flow in flows), sum(flow.received + flow.late for flow in flows)
    unsampled -= sum(int(histogram.histogram.get_total_count()) for histogram in logged)
    return Partial(total - unsampled, total) if unsampled > 0 else None


def _every(
    kind: Distribution, ordered: Callable[[], Samples], bound_ns: int, rows: StreamRows, logged: Sequence[FlowHistogram]
) -> Sketch:
    """With those that never arrived, and with the latencies that only a histogram has, to 1.6 %."""
    sketch = exact_sketch(ordered(), bound_ns, _never_arrived(kind, rows))
    if not logged:
        return sketch
    latencies = sketch_of_histogram(merge_histograms(histogram.histogram for histogram in logged))
    in_time = latencies.values <= rows.stream.late_after_ns
    counts = latencies.counts[in_time]
    return pool_sketches([sketch, Sketch(latencies.values[in_time], counts, int(counts.sum()))])


def _never_arrived(kind: Distribution, rows: StreamRows) -> int:
    """How many messages count as infinitely slow: of those sent, or of those due; none for a publisher's own times."""
    if kind is Distribution.LATENCY_FROM_INTENDED:
        return rows.undelivered(answers=False)[0]
    if kind is Distribution.ROUND_TRIP_FROM_INTENDED:
        return rows.undelivered(answers=True)[0]
    of_answers = kind in {Distribution.ROUND_TRIP, Distribution.ROUND_TRIP_WITHOUT_SERVER}
    of_messages = kind in {Distribution.LATENCY_FROM_SEND, Distribution.LATENCY_WITH_SERIALISATION}
    if not of_messages and not of_answers:
        return 0
    return sum(flow.lost + flow.late for flow in rows.flows_of(answers=of_answers))


def clock_bound_metric(subject: str, bounds_ns: Mapping[Distribution, int]) -> dict[Key, Value]:
    """By how much the clocks of different machines may put a stream's or chain's one-way times off, where they may."""
    return {Key(subject, CLOCK_BOUND): Measured(float(max(bounds_ns.values())), 1)} if bounds_ns else {}


def distribution_metrics(subject: str, kind: Distribution, samples: Sketch) -> dict[Key, Value]:
    """Its extremes (of what arrived), quantiles and moments, as far as clocks that may be so far apart measure them."""
    if not samples.n_messages:
        return {}
    named = {name: samples.quantile(level) for name, level in LEVELS.items()}
    if samples.n:
        named |= {name: Measured(float(samples.values[place]), samples.n) for name, place in (("min", 0), ("max", -1))}
    metrics = {quantile_metric(kind, name): with_clock_bound(value, samples.bound_ns) for name, value in named.items()}
    metrics |= {moment_metric(kind, name): value for name, value in moments(samples).items()}
    return {Key(subject, name): value for name, value in metrics.items()}
