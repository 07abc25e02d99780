"""Whether a trial that ran to its end counts, what a reader must know beside its metrics, and its first metrics.

Pure: it judges a record and its samples by the suite's bounds; how metrics are computed is `analysis`'s business.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from middlemark.analysis.experiment.proof import contradiction
from middlemark.analysis.metrics.accounting import accountable, contradictions
from middlemark.analysis.metrics.trial import TrialMetrics
from middlemark.analysis.stats.quantiles import Measured, WithinClocks, bound_words
from middlemark.plan import Caution, InvalidKind, InvalidReason, WarningKind
from middlemark.results.progress import LiveMetrics
from middlemark.results.record import LinkMeasured, TrialRecord
from middlemark.results.streaming import Frame
from middlemark.suite import Disturbance
from middlemark.suite.metrics import TRIAL, Distribution, Key, metrics_of_distribution, quantile_metric, stream_subject
from middlemark.suite.yaml.quantity import plural

LOAD_TOLERANCE_PERCENT = 10


def reasons(record: TrialRecord, received: Frame, bounds: Disturbance, cpus: int) -> tuple[InvalidReason, ...]:
    """Why the trial's metrics don't count; empty where they do."""
    streams = tuple(stream.name for stream in record.trial.experiment.streams)
    reasons_found = [
        InvalidReason(kind=InvalidKind.ACCOUNTING, text=text)
        for text in contradictions(*accountable(record, received), streams)
    ]
    counted = record.counts.subscribers
    for kind, number in (
        (InvalidKind.CORRUPT, sum(counts.corrupt for counts in counted)),
        (InvalidKind.FOREIGN, sum(counts.foreign for counts in counted)),
    ):
        if number:
            reasons_found.append(InvalidReason(kind=kind, text=f"{plural(number, 'message')}; none is allowed"))
    stolen = stolen_share(record, cpus)
    if stolen > bounds.steal:
        text = (
            f"the hypervisor took {100 * stolen:.2f} % of the machine's CPU time; {100 * bounds.steal:g} % is allowed"
        )
        reasons_found.append(InvalidReason(kind=InvalidKind.STEAL, text=text))
    if text := contradiction(record, received):
        reasons_found.append(InvalidReason(kind=InvalidKind.PATH, text=text))
    return (*reasons_found, *unlike(record.links))


def unlike(links: Iterable[LinkMeasured]) -> tuple[InvalidReason, ...]:
    """Links and routes that were not as requested or declared."""
    return tuple(
        InvalidReason(kind=InvalidKind.LINK, text=f"{link.name} {link.when} the trial: {link.problem}")
        for link in links
        if link.problem is not None
    )


def stolen_share(record: TrialRecord, cpus: int) -> float:
    """The share of all CPUs' time over the window that the hypervisor took."""
    shares = [spent.machine_steal_ns / max(spent.wall_ns * cpus, 1) for spent in record.resources.values()]
    return max(shares, default=0.0)


def cautions(record: TrialRecord, metrics: TrialMetrics) -> tuple[Caution, ...]:
    """What a reader must know beside the trial's metrics."""
    counted, sent = record.counts.subscribers, record.counts.publishers
    refusals = [counts.refusal or "no reason given" for counts in sent if counts.refused]
    unsent = sum(counts.unsent for counts in sent)
    texts = {
        WarningKind.OVERLOAD: (
            f"below its intended rate: {', '.join(_rates(metrics))}; its latency is that of a queue"
            + (f"; {plural(unsent, 'message')} not offered within four windows" if unsent else ""),
            "lower the rate or the size",
        )
        if metrics.overloaded
        else None,
        WarningKind.NEGATIVE_LATENCY: _number(
            sum(counts.negative for counts in counted), "received before being sent", "check clock_source"
        ),
        WarningKind.SAMPLES_FULL: _number(
            sum(counts.beyond_samples for counts in counted),
            "only in the histogram",
            "raise `recording: {samples: …}` in the suite",
        ),
        WarningKind.REFUSED_MESSAGES: _number(
            sum(counts.refused for counts in sent),
            f"not accepted: {next(iter(refusals), '')}",
            "lower the rate, or use `congestion: block`",
        ),
        WarningKind.CLOCK_OFFSET: _clocks_apart(record, metrics),
        WarningKind.CPU_LOAD: _load_missed(record),
    }
    return tuple(Caution(kind=kind, text=text[0], remedy=text[1]) for kind, text in texts.items() if text)


def live_metrics(record: TrialRecord, metrics: TrialMetrics) -> LiveMetrics:
    """The first metrics, of the first stream."""
    stream = record.trial.experiment.streams[0]
    round_trip = stream.pattern.has_answers
    kind = Distribution.ROUND_TRIP if round_trip else Distribution.LATENCY_FROM_SEND
    first_message_ns = _value(metrics, TRIAL, "first_message_ns")
    return LiveMetrics(
        first_message_ns=None if first_message_ns is None else int(first_message_ns),
        latency_median_ns=_value(metrics, stream_subject(stream.name), quantile_metric(kind, "p50")),
        round_trip=round_trip,
        sent=sum(flow.sent for flow in metrics.flows),
        received=sum(flow.received for flow in metrics.flows),
    )


def _value(metrics: TrialMetrics, subject: str, metric: str) -> float | None:
    value = metrics.values.get(Key(subject, metric))
    return value.value if isinstance(value, Measured) else None


def _rates(metrics: TrialMetrics) -> Iterator[str]:
    """What each overloaded stream was offered and sent."""
    for name in metrics.overloaded:
        values = (metrics.values.get(Key(stream_subject(name), f"{kind}_rate_hz")) for kind in ("achieved", "intended"))
        rates = [f"{value.value:.3g}" for value in values if isinstance(value, Measured)]
        yield f"{name} ({' of '.join(rates)} messages/s sent)"


def _clocks_apart(record: TrialRecord, metrics: TrialMetrics) -> tuple[str, str] | None:
    """Where hosts have clocks of their own: how well each one-way time is known, and which are not given for it."""
    bounds = {stream.name: record.clock_bound_ns(stream.name) for stream in record.trial.experiment.streams}
    texts = [
        f"one-way times of {name} are known to {bound_words(bound_ns)}{_of_those(name, metrics)}"
        for name, bound_ns in bounds.items()
        if bound_ns
    ]
    return ("; ".join(texts), "run PTP on the hosts (linuxptp), or measure round trips") if texts else None


def _of_those(stream: str, metrics: TrialMetrics) -> str:
    """How many of a stream's one-way metrics are longer than the clocks' bound."""
    kind = Distribution.LATENCY_FROM_SEND
    values = [metrics.values.get(Key(stream_subject(stream), metric)) for metric in metrics_of_distribution(kind)]
    refused = sum(isinstance(value, WithinClocks) for value in values)
    if not refused:
        return ""
    is_any_known = any(isinstance(value, Measured) for value in values)
    return "; those that are not longer are not given" if is_any_known else "; they are shorter, so none is given"


def _load_missed(record: TrialRecord) -> tuple[str, str] | None:
    missed = [
        f"the CPU load of {host} was {load.reached_percent:.0f} %, not {load.asked_percent:g} %"
        for host, load in record.cpu_load.items()
        if abs(load.reached_percent - load.asked_percent) > LOAD_TOLERANCE_PERCENT
    ]
    return ("; ".join(missed), "the applications or other programs used the CPU time") if missed else None


def _number(count: int, text: str, remedy: str) -> tuple[str, str] | None:
    return (f"{plural(count, 'message')} {text}", remedy) if count else None
