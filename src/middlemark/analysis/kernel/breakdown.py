"""Where the one-way time of messages goes: the parts of typical and slow messages, and single messages as examples.

The one-way time of every middleware is divided at the same events. Parts are never negative and add up to the whole; so
do the means of the middle fifth and of the slowest hundredth, as medians would not. A message that can't be divided is
set aside and counted; `follow` finds the path of each message. Beside that, the share of calls that sent by TCP.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from middlemark.analysis.kernel.events import Kind
from middlemark.analysis.kernel.follow import Ends, follow_message
from middlemark.analysis.kernel.packets import Cuts
from middlemark.analysis.kernel.segments import OUTSIDE, PathPart, PathSide, SetAside, TracedPath
from middlemark.analysis.kernel.trace import KernelTrace
from middlemark.analysis.stats.quantiles import Measured, Value, is_measurable, with_clock_bound
from middlemark.plan import Experiment, Stream
from middlemark.results.record import KernelRecording, TrialRecord
from middlemark.suite.metrics import TRIAL, Key, stream_subject

CUTS = ("queued", "transmitted", "arrived")
"""The instants of a packet, as `Cuts` names them."""
TCP, UDP = 6, 17
"""As IP numbers them."""


PARTS_SCHEMA = pl.Schema(
    {
        "publisher": pl.UInt16(),
        "subscriber": pl.UInt16(),
        "sequence": pl.UInt32(),
        "sent_ns": pl.Int64(),
        "whole_ns": pl.Int64(),
        **{f"{part}_ns": pl.Int64() for part in PathPart},
        "hops": pl.Int64(),
        "packets": pl.Int64(),
        **{f"{end}_{cut}_ns": pl.Int64() for end in ("first", "last") for cut in CUTS},
        "calls": pl.Int64(),
        "wake_ups": pl.Int64(),
        "switches": pl.Int64(),
        "copied_bytes": pl.Int64(),
    }
)
"""One row a message; the counts are of all processes on its path, from its hand-over to its arrival.

The first packet is that of the first crossing, the last that of the last one; null where no packets were.
"""
SHARES = (0.5, 0.99)
"""The median message and the one that 99 % of all are no slower than."""
# With fewer messages the 99th percentile is the slowest one, which says little.
_SHOWN_SLOW_NEED = 100
# How far in rank from the sought message its substitute may be, where the path of that message isn't found.
_NEIGHBOURS = 25
_CALLS_METRIC = re.compile(rf"path_(?P<side>{'|'.join(PathSide)})_(?P<call>\w+)_calls_per_message")
_COUNTS = ("packets", "calls", "wake_ups", "switches", "copied_bytes")
PACKET_INSTANTS = tuple(f"{end}_{cut}_ns" for end in ("first", "last") for cut in CUTS)
# With fewer, the slowest hundredth is only one or two messages.
_SLOW_NEED = 200


@dataclass(frozen=True)
class SampledPaths:
    """The paths of a trial's sampled messages."""

    parts: pl.DataFrame
    set_aside: Mapping[SetAside, int]
    calls: Mapping[tuple[PathSide, int], float]
    """How many calls of each system call number a message takes, by process: sender, service or receiver."""


def sample_paths(
    trace: KernelTrace, messages: pl.DataFrame, ends: Callable[[int, int], Ends], samples: int
) -> SampledPaths:
    """The paths of evenly chosen messages of one stream; `ends` gives the processes of a publisher and a subscriber."""
    messages = messages.sort("received_ns")
    chosen = np.unique(np.linspace(0, max(len(messages) - 1, 0), min(samples, len(messages))).astype(int))
    pairs = {pair: ends(*pair) for pair in messages.select("publisher", "subscriber").unique().iter_rows()}
    applications = frozenset(process for pair in pairs.values() for process in (pair.sender, pair.receiver))
    rows, set_aside, calls = [], Counter[SetAside](), Counter[tuple[PathSide, int]]()
    for message in messages[chosen].iter_rows(named=True):
        path = follow_message(trace, message, pairs[message["publisher"], message["subscriber"]], applications)
        if isinstance(path, SetAside):
            set_aside[path] += 1
        else:
            rows.append(_row(trace, message, path))
            calls.update((call.side, call.number) for call in path.calls)
    per_message = {key: count / len(rows) for key, count in calls.items()}
    return SampledPaths(pl.DataFrame(rows, schema=PARTS_SCHEMA), dict(set_aside), per_message)


def _row(trace: KernelTrace, message: Mapping[str, int], path: TracedPath) -> dict[str, int | None]:
    span = path.sent_ns, path.received_ns
    processes = set(path.processes)
    return {
        **{name: message[name] for name in ("publisher", "subscriber", "sequence", "sent_ns")},
        "whole_ns": path.whole_ns,
        **{f"{part}_ns": value_ns for part, value_ns in path.parts_ns().items()},
        "hops": len(path.processes) - 1,
        "packets": sum(crossing.packets for crossing in path.crossings),
        **_cuts("first", path.crossings[0].first if path.crossings else None),
        **_cuts("last", path.crossings[-1].last if path.crossings else None),
        "calls": len(path.calls),
        "wake_ups": sum(trace.count(process, Kind.WOKEN, *span) for process in processes),
        "switches": sum(trace.count(process, Kind.SWITCHED, *span) for process in processes),
        "copied_bytes": sum(trace.copied_bytes(process, *span) for process in processes),
    }


def _cuts(end: str, passed: Cuts | None) -> dict[str, int | None]:
    return {f"{end}_{cut}_ns": at_ns for cut, at_ns in zip(CUTS, passed or [None] * len(CUTS), strict=True)}


@dataclass(frozen=True)
class ExampleMessage:
    """One message with its path, and its rank among all messages of its stream."""

    share: float
    """The share of all messages of its stream that were no slower."""
    n: int
    """How many there were."""
    path: TracedPath
    call_names: Mapping[int, str]


def example_messages(
    trace: KernelTrace,
    messages: pl.DataFrame,
    ends: Callable[[int, int], Ends],
    call_names: Mapping[int, str],
) -> tuple[ExampleMessage, ...]:
    """The messages of one stream at each of `SHARES`; where no path is found, the nearest message by one-way time."""
    messages = messages.sort(pl.col("received_ns") - pl.col("sent_ns"))
    pairs = [ends(*pair) for pair in messages.select("publisher", "subscriber").unique().iter_rows()]
    applications = frozenset(process for pair in pairs for process in (pair.sender, pair.receiver))
    n = len(messages)
    examples = []
    for share in SHARES:
        if n and (share <= 0.5 or n >= _SHOWN_SLOW_NEED):
            rank = int(share * (n - 1))
            for place in _outwards(rank, n):
                message = messages.row(place, named=True)
                path = follow_message(trace, message, ends(message["publisher"], message["subscriber"]), applications)
                if not isinstance(path, SetAside):
                    examples.append(ExampleMessage((place + 1) / n if place != rank else share, n, path, call_names))
                    break
    return tuple(examples)


def _outwards(rank: int, n: int) -> list[int]:
    """The ranks around one, nearest first."""
    steps = [0, *(sign * step for step in range(1, _NEIGHBOURS + 1) for sign in (-1, 1))]
    return [rank + step for step in steps if 0 <= rank + step < n]


@dataclass(frozen=True)
class PathFindings:
    """What a trial's kernel recording shows about its messages."""

    values: Mapping[Key, Value]
    messages: Mapping[str, tuple[ExampleMessage, ...]]
    """By stream: single messages to draw."""


def path_findings(record: TrialRecord, events: pl.DataFrame, received: pl.DataFrame) -> PathFindings:
    """For each stream: the parts of its messages, the kernel operations that they took, and how many were set aside."""
    if record.kernel_path is None or not len(events):
        return PathFindings({}, {})
    trace = KernelTrace(events, record.kernel_path.forwarders)
    samples = record.trial.experiment.path_messages
    names = record.kernel_path.calls
    values: dict[Key, Value] = {}
    messages = {}
    for number, stream in enumerate(record.trial.experiment.streams):
        of_this = messages_of(received, number, stream)
        ends = ends_of(record.trial.experiment, record.kernel_path, stream)
        stream_values = _values(sample_paths(trace, of_this, ends, samples), names)
        bound_ns = record.clock_bound_ns(stream.name)
        for name, value in stream_values.items():
            values[Key(stream_subject(stream.name), name)] = (
                with_clock_bound(value, bound_ns) if name.endswith("_ns") else value
            )
        drawn = example_messages(trace, of_this, ends, names)
        messages[stream.name] = tuple(message for message in drawn if is_measurable(message.path.whole_ns, bound_ns))
    return PathFindings(values, messages)


def calls_metric(side: PathSide, call: str) -> str:
    """The name of the metric for calls of one system call per message, in the sender, service or receiver."""
    return f"path_{side}_{call}_calls_per_message"


def call_of_metric(metric: str) -> tuple[PathSide, str] | None:
    """The process and the system call of a name that `calls_metric` made; None for any other name."""
    matched = _CALLS_METRIC.fullmatch(metric)
    return (PathSide(matched["side"]), matched["call"]) if matched else None


def messages_of(received: pl.DataFrame, number: int, stream: Stream) -> pl.DataFrame:
    """The messages of one stream with their sizes, without answers."""
    sizes_bytes = pl.col("sequence").map_elements(stream.message_bytes, return_dtype=pl.Int64())
    messages = received.filter((pl.col("stream") == number) & (pl.col("answer") == 0))
    return messages.with_columns(size_bytes=sizes_bytes)


def ends_of(experiment: Experiment, recording: KernelRecording, stream: Stream) -> Callable[[int, int], Ends]:
    """The processes of a publisher and a subscriber by index; of a restarted application, its first one."""
    host_of = {application.name: application.host for application in experiment.applications}

    def ends(publisher: int, subscriber: int) -> Ends:
        sender, receiver = stream.publishers[publisher], stream.subscribers[subscriber]
        apart = host_of[sender] != host_of[receiver]
        return Ends(recording.processes.get(sender, 0), recording.processes.get(receiver, 0), apart)

    return ends


def _values(paths: SampledPaths, names: Mapping[int, str]) -> dict[str, Value]:
    aside, n = sum(paths.set_aside.values()), len(paths.parts)
    if not aside + n:
        return {}
    values: dict[str, Value] = {
        "path_set_aside_share": Measured(aside / (aside + n), aside + n),
        "path_sampled_messages": Measured(aside + n, aside + n),
        **{f"path_{reason}_messages": Measured(paths.set_aside.get(reason, 0), aside + n) for reason in SetAside},
    }
    if not n:
        return values
    for (side, number), per_message in paths.calls.items():
        values[calls_metric(side, names.get(number, f"call_{number}"))] = Measured(per_message, n)
    ordered = paths.parts.sort("whole_ns")
    middle = ordered.slice(2 * n // 5, n // 5 + 1)
    values |= _parts("path_typical", middle) | _packet_instants(middle)
    values["path_typical_kernel_share"] = _kernel_share(middle)
    values |= {f"path_{name}_per_message": _mean(ordered, name) for name in _COUNTS}
    return values | (_parts("path_slow", ordered.tail(n // 100)) if n >= _SLOW_NEED else {})


def _parts(name: str, messages: pl.DataFrame) -> dict[str, Value]:
    return {f"{name}_{part}_ns": _mean(messages, f"{part}_ns") for part in (*PathPart, "whole")}


def _kernel_share(messages: pl.DataFrame) -> Value:
    """Of the one-way time, what is spent outside the processes' own code: in the kernel and on the network."""
    outside_ns = messages.select(pl.sum_horizontal(f"{part}_ns" for part in OUTSIDE.values())).to_series().to_numpy()
    return Measured(1 - float(outside_ns.sum() / messages["whole_ns"].to_numpy().sum()), len(messages))


def _packet_instants(messages: pl.DataFrame) -> dict[str, Value]:
    """When the first and last packet were queued, transmitted and received, since the hand-over.

    None without packets.
    """
    in_packets = messages.filter(pl.col("first_queued_ns").is_not_null())
    if not len(in_packets):
        return {}
    since = in_packets.with_columns(pl.col(PACKET_INSTANTS) - pl.col("sent_ns"))
    return {f"path_typical_{name}": _mean(since, name) for name in PACKET_INSTANTS}


def _mean(messages: pl.DataFrame, column: str) -> Value:
    return Measured(float(messages[column].to_numpy().mean()), len(messages))


def transport_values(record: TrialRecord, events: pl.DataFrame) -> dict[Key, Value]:
    """Of all applications and services within the window; nothing where none sent through the network."""
    if record.kernel_path is None or record.window is None:
        return {}
    sent = events.filter(
        (pl.col("kind") == Kind.SENT)
        & pl.col("mark").is_in([TCP, UDP])
        & pl.col("process").is_in(list(record.kernel_path.processes.values()))
        & pl.col("at_ns").is_between(record.window.begin_ns, record.window.end_ns)
    )
    if not len(sent):
        return {}
    by_tcp = sent.filter(pl.col("mark") == TCP)
    return {Key(TRIAL, "tcp_share"): Measured(len(by_tcp) / len(sent), len(sent))}
