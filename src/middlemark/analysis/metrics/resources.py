"""The metrics of a trial's sampled resources: what each process used over the window and per message, and its growth.

Totals become rates between the first and the last sample within the window, amounts are medians of its samples. Memory
growth is the slope by Theil and Sen (Sen, JASA 63, 1968) with an interval from blocks of the window, as neighbouring
samples depend on each other; `stored` joins these metrics with the trial's others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl
import scipy

from middlemark.analysis.stats.estimate import theil_sen
from middlemark.analysis.stats.intervals import CONFIDENCE
from middlemark.analysis.stats.quantiles import Measured, Value
from middlemark.results.record import TrialRecord, Window
from middlemark.suite.metrics import TRIAL, Key, host_subject, process_subject

Values: TypeAlias = npt.NDArray[np.float64]
POINTS = 60
"""Of the slope: many samples count as one, their median."""
BLOCKS = 12
"""Of the whole window; each half has half as many. Long ones, so that what they grow by is independent."""
FEWEST_BLOCKS = 3
"""Two differences, without which there is no variance."""
WORKING = 1.5
"""By how much the variance of a mean is larger where neighbours are correlated by 1/4, as the differences between
averages of a random walk are (Working, "Note on the correlation of first differences of averages in a random chain",
Econometrica 28, 1960); those of independent samples are correlated negatively, and the interval is on the safe side."""
OF_HALF = 0.8
"""The confidence of each half's interval: one in ten is wholly above nothing by chance, so both are in one of a
hundred."""
LEAST_SPAN_S = 60.0
"""Allocators and queues take seconds to settle: growth over less than this says nothing of a leak."""
RATES = {
    "voluntary_switches": "voluntary_switches_hz",
    "involuntary_switches": "involuntary_switches_hz",
    "minor_faults": "minor_faults_hz",
    "major_faults": "major_faults_hz",
}
SHARES = {
    "cpu_ns": "sampled_cpu_percent_of_core",
    "cpu_user_ns": "cpu_user_percent_of_core",
    "cpu_system_ns": "cpu_system_percent_of_core",
    "cgroup_cpu_ns": "cgroup_cpu_percent_of_core",
    "cgroup_throttled_ns": "cgroup_throttled_percent",
}
AMOUNTS = (
    "resident_bytes",
    "proportional_bytes",
    "unique_bytes",
    "anonymous_bytes",
    "shared_resident_bytes",
    "dev_shm_bytes",
    "cgroup_memory_bytes",
    "threads",
    "descriptors",
)
PRESSURES = ("cpu", "memory", "io")
DISCOVERY_CPU = "discovery_cpu_ns"


@dataclass(frozen=True)
class Slope:
    """In bytes a second, with its interval of 95 %."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class MemoryGrowth:
    """How memory went over a window."""

    slope: Slope
    lasts: bool | None
    """Whether it grew in the window's first half and in its second; None where the window is too short."""


def growth(at_s: Values, size_bytes: Values) -> MemoryGrowth | None:
    """Of samples in the order of time; None where there are too few for an interval."""
    if len(at_s) < FEWEST_BLOCKS:
        return None
    span_s = float(at_s[-1] - at_s[0])
    whole = _slope(at_s, size_bytes, BLOCKS, CONFIDENCE)
    is_early = at_s < at_s[0] + span_s / 2
    if span_s < LEAST_SPAN_S or min(is_early.sum(), (~is_early).sum()) < FEWEST_BLOCKS:
        return MemoryGrowth(whole, None)
    halves = [_slope(at_s[half], size_bytes[half], BLOCKS // 2, OF_HALF) for half in (is_early, ~is_early)]
    return MemoryGrowth(whole, all(half.low > 0 for half in halves))


def _slope(at_s: Values, size_bytes: Values, n_blocks: int, confidence: float) -> Slope:
    value = theil_sen(*_middles(at_s, size_bytes, POINTS))[0]
    sizes, instants = _middles(at_s, size_bytes, n_blocks)
    rates = np.diff(sizes) / np.diff(instants)
    student = float(scipy.special.stdtrit(len(rates) - 1, (1 + confidence) / 2))
    reach = student * math.sqrt(WORKING * float(np.var(rates, ddof=1)) / len(rates))
    return Slope(value, value - reach, value + reach)


def _middles(at_s: Values, size_bytes: Values, n_parts: int) -> tuple[Values, Values]:
    """The medians of equally many samples each: sizes, instants."""
    parts = np.array_split(np.arange(len(at_s)), min(n_parts, len(at_s)))
    return (
        np.array([float(np.median(size_bytes[part])) for part in parts]),
        np.array([float(np.median(at_s[part])) for part in parts]),
    )


@dataclass(frozen=True)
class MemorySeries:
    """The memory of one process over a trial."""

    process: str
    at_s: tuple[float, ...]
    """From the window's start."""
    resident_bytes: tuple[int, ...]


def resource_values(record: TrialRecord, processes: pl.DataFrame, machine: pl.DataFrame) -> dict[Key, Value]:
    """All metrics of the samples within the window; none where there are no two of them."""
    window = record.window
    if window is None:
        return {}
    values: dict[Key, Value] = _discovery_cpu(record, window, processes)
    total_ns_per_s = 0.0
    delivered_hz = _delivered(record) / ((window.end_ns - window.begin_ns) / 1e9)
    handled_hz = _handled_hz(record, window)
    applications = {application.name for application in record.trial.experiment.applications}
    for name in processes["process"].unique(maintain_order=True):
        rows = _within(processes.filter(pl.col("process") == name), window)
        if len(rows) < 2:
            continue
        for metric, value in (*_rates(rows), *_amounts(rows), *_growth(rows)):
            values[Key(process_subject(name), metric)] = Measured(value, len(rows))
        cpu_ns_per_s = _per_s(rows, "cpu_ns") or 0.0
        total_ns_per_s += cpu_ns_per_s
        application = str(name).partition("#")[0]
        # A service sends and receives no message of its own: it serves all that are delivered.
        messages_hz = handled_hz.get(application) if application in applications else delivered_hz
        if messages_hz:
            values[Key(process_subject(name), "cpu_per_message_ns")] = Measured(cpu_ns_per_s / messages_hz, len(rows))
    is_whole = not record.resources.keys() - set(processes["process"])
    if total_ns_per_s and delivered_hz and is_whole:
        values[Key(TRIAL, "cpu_per_message_ns")] = Measured(total_ns_per_s / delivered_hz, _delivered(record))
    for host in machine["host"].unique(maintain_order=True):
        of_it = machine.filter(pl.col("host").eq_missing(pl.lit(host, pl.String())))
        values |= _of_machine(TRIAL if host is None else host_subject(host), _within(of_it, window))
    return values


def _discovery_cpu(record: TrialRecord, window: Window, processes: pl.DataFrame) -> dict[Key, Value]:
    """What all processes spent from the start until the first sample at which everyone had heard everyone.

    None where a process has no sample before the start, or none from that end to the window's.
    """
    complete = [message.full_after_ns for message in record.first_message if message.full_after_ns is not None]
    if not complete:
        return {}
    ended_ns = window.t0_ns + max(complete)
    spent = processes.group_by("process").agg(
        before=pl.col("cpu_ns").filter(pl.col("at_ns") <= window.t0_ns).last(),
        after=pl.col("cpu_ns").filter(pl.col("at_ns").is_between(ended_ns, window.end_ns)).first(),
    )
    on_time = {*record.initialised_after_ns, *record.services}
    whole = spent.filter(pl.col("process").is_in(list(on_time))).drop_nulls()
    if whole.height < len(on_time):
        return {}
    return {Key(TRIAL, DISCOVERY_CPU): Measured(float((whole["after"] - whole["before"]).sum()), len(complete))}


def memory_series(record: TrialRecord, processes: pl.DataFrame, most_points: int = 200) -> tuple[MemorySeries, ...]:
    """The resident memory of each process over time, with so many points at most."""
    if record.window is None:
        return ()
    series = []
    for name in processes["process"].unique(maintain_order=True):
        rows = _thinned(processes.filter(pl.col("process") == name), most_points)
        at_s = ((rows["at_ns"] - record.window.begin_ns) / 1e9).to_list()
        series.append(MemorySeries(str(name), tuple(at_s), tuple(rows["resident_bytes"].to_list())))
    return tuple(series)


def _within(rows: pl.DataFrame, window: Window) -> pl.DataFrame:
    return rows.filter(pl.col("at_ns").is_between(window.begin_ns, window.end_ns)).sort("at_ns")


def _thinned(rows: pl.DataFrame, most: int) -> pl.DataFrame:
    return rows.gather_every(-(-len(rows) // most)) if len(rows) > most else rows


def _per_s(rows: pl.DataFrame, column: str) -> float | None:
    samples = rows.filter(pl.col(column).is_not_null())
    if len(samples) < 2:
        return None
    span_s = float(samples["at_ns"][-1] - samples["at_ns"][0]) / 1e9
    return float(samples[column][-1] - samples[column][0]) / span_s


def _rates(rows: pl.DataFrame) -> Iterator[tuple[str, float]]:
    for column, metric in RATES.items():
        if (rate := _per_s(rows, column)) is not None:
            yield metric, rate
    for column, metric in SHARES.items():
        if (rate := _per_s(rows, column)) is not None:
            yield metric, 100 * rate / 1e9


def _amounts(rows: pl.DataFrame) -> Iterator[tuple[str, float]]:
    for column in AMOUNTS:
        values = rows[column].drop_nulls().to_numpy()
        if len(values):
            yield column, float(np.median(values))
    yield "peak_resident_bytes", float(rows["peak_resident_bytes"].to_numpy().max())


def _growth(rows: pl.DataFrame) -> Iterator[tuple[str, float]]:
    samples = rows.filter(pl.col("unique_bytes").is_not_null())
    trend = growth((samples["at_ns"] / 1e9).to_numpy(), samples["unique_bytes"].to_numpy())
    if trend is not None:
        yield "memory_slope_bytes_per_s", trend.slope.value
        yield "memory_slope_low_bytes_per_s", trend.slope.low
        yield "memory_slope_high_bytes_per_s", trend.slope.high
        if trend.lasts is not None:
            yield "memory_grows", float(trend.lasts)


def _handled_hz(record: TrialRecord, window: Window) -> Mapping[str, float]:
    """By application: the messages a second that it sent and received, answers among them."""
    holders = {stream.name: stream for stream in record.trial.experiment.streams}
    handled: dict[str, int] = {}
    for publisher in record.counts.publishers:
        name = holders[publisher.stream].publishers[publisher.publisher]
        handled[name] = handled.get(name, 0) + publisher.sent
    for subscriber in record.counts.subscribers:
        stream = holders[subscriber.stream]
        name = (
            stream.publishers[subscriber.publisher] if subscriber.answers else stream.subscribers[subscriber.subscriber]
        )
        handled[name] = handled.get(name, 0) + subscriber.received
    window_s = (window.end_ns - window.begin_ns) / 1e9
    return {name: count / window_s for name, count in handled.items()}


def _delivered(record: TrialRecord) -> int:
    """Messages and answers that arrived in time, over all subscribers."""
    return sum(subscriber.received for subscriber in record.counts.subscribers)


def _of_machine(subject: str, rows: pl.DataFrame) -> dict[Key, Value]:
    values: dict[Key, Value] = {}
    for name, column in (
        *((f"{text}_pressure_percent", f"{text}_pressure_ns") for text in PRESSURES),
        ("observer_cpu_percent_of_core", "observer_cpu_ns"),
    ):
        if (rate := _per_s(rows, column)) is not None:
            values[Key(subject, name)] = Measured(100 * rate / 1e9, len(rows))
    return values
