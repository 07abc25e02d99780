"""The metrics of where a trial's messages spent their time: each part of a typical message's way and of a slow one's.

A typical message is the mean of the middle fifth of all by one-way time, a slow one that of the slowest hundredth, so
that the parts add up to a whole as medians of parts would not. `kernel_path` cuts the single messages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import polars as pl

from middlemark.analysis.clocks import can_tell, told
from middlemark.analysis.kernel_path import CUTS, Paths, paths
from middlemark.analysis.kernel_trace import KernelTrace
from middlemark.analysis.message_path import ToldMessage, told_messages
from middlemark.analysis.metric_names import Key, of_stream
from middlemark.analysis.path_following import Ends
from middlemark.analysis.path_parts import Part, SetAside, Side
from middlemark.analysis.quantile import Measured, Value
from middlemark.plan import Experiment, Stream
from middlemark.results.record import KernelRecording, TrialRecord

_CALLS_METRIC = re.compile(rf"path_(?P<side>{'|'.join(Side)})_(?P<call>\w+)_calls_per_message")
_COUNTS = ("packets", "calls", "wake_ups", "switches", "copied_bytes")
PACKET_INSTANTS = tuple(f"{end}_{cut}_ns" for end in ("first", "last") for cut in CUTS)
# Below, the slowest hundredth is a message or two.
_SLOW_NEED = 200


@dataclass(frozen=True)
class PathFindings:
    """What a trial's kernel recording says of its messages."""

    values: Mapping[Key, Value]
    messages: Mapping[str, tuple[ToldMessage, ...]]
    """By stream: single messages to be drawn."""


def path_findings(record: TrialRecord, events: pl.DataFrame, received: pl.DataFrame) -> PathFindings:
    """For each stream the parts of its messages, what they took of the kernel, and how many were set aside."""
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
        found = _values(paths(trace, of_this, ends, samples), names)
        bound_ns = record.clock_bound_ns(stream.name)
        for name, value in found.items():
            values[Key(of_stream(stream.name), name)] = told(value, bound_ns) if name.endswith("_ns") else value
        drawn = told_messages(trace, of_this, ends, names)
        messages[stream.name] = tuple(each for each in drawn if can_tell(each.path.whole_ns, bound_ns))
    return PathFindings(values, messages)


def calls_metric(side: Side, call: str) -> str:
    """The name of the metric that says how often a message takes a system call on one side."""
    return f"path_{side}_{call}_calls_per_message"


def call_of_metric(metric: str) -> tuple[Side, str] | None:
    """The side and the call of a name that `calls_metric` made; None for any other name."""
    found = _CALLS_METRIC.fullmatch(metric)
    return (Side(found["side"]), found["call"]) if found else None


def messages_of(received: pl.DataFrame, number: int, stream: Stream) -> pl.DataFrame:
    """The messages of one stream with their sizes, without answers."""
    sizes_bytes = pl.col("sequence").map_elements(stream.message_bytes, return_dtype=pl.Int64())
    own = received.filter((pl.col("stream") == number) & (pl.col("answer") == 0))
    return own.with_columns(size_bytes=sizes_bytes)


def ends_of(experiment: Experiment, recording: KernelRecording, stream: Stream) -> Callable[[int, int], Ends]:
    """The processes of a publisher and a subscriber by their indices: of an application, its first."""
    host_of = {application.name: application.host for application in experiment.applications}

    def ends(publisher: int, subscriber: int) -> Ends:
        sender, receiver = stream.publishers[publisher], stream.subscribers[subscriber]
        apart = host_of[sender] != host_of[receiver]
        return Ends(recording.processes.get(sender, 0), recording.processes.get(receiver, 0), apart)

    return ends


def _values(found: Paths, names: Mapping[int, str]) -> dict[str, Value]:
    aside, told = sum(found.set_aside.values()), len(found.parts)
    if not aside + told:
        return {}
    values: dict[str, Value] = {
        "path_set_aside_share": Measured(aside / (aside + told), aside + told),
        "path_sampled_messages": Measured(aside + told, aside + told),
        **{f"path_{reason}_messages": Measured(found.set_aside.get(reason, 0), aside + told) for reason in SetAside},
    }
    if not told:
        return values
    for (side, number), per_message in found.calls.items():
        values[calls_metric(side, names.get(number, f"call_{number}"))] = Measured(per_message, told)
    ordered = found.parts.sort("whole_ns")
    middle = ordered.slice(2 * told // 5, told // 5 + 1)
    values |= _parts("path_typical", middle) | _packet_instants(middle)
    values |= {f"path_{name}_per_message": _mean(ordered, name) for name in _COUNTS}
    return values | (_parts("path_slow", ordered.tail(told // 100)) if told >= _SLOW_NEED else {})


def _parts(name: str, messages: pl.DataFrame) -> dict[str, Value]:
    return {f"{name}_{part}_ns": _mean(messages, f"{part}_ns") for part in (*Part, "whole")}


def _packet_instants(messages: pl.DataFrame) -> dict[str, Value]:
    """When the first packet and the last pass each cut, from the hand-over on; none where memory is shared."""
    carried = messages.filter(pl.col("first_queued_ns").is_not_null())
    if not len(carried):
        return {}
    since = carried.with_columns(pl.col(PACKET_INSTANTS) - pl.col("sent_ns"))
    return {f"path_typical_{name}": _mean(since, name) for name in PACKET_INSTANTS}


def _mean(messages: pl.DataFrame, column: str) -> Value:
    return Measured(float(messages[column].to_numpy().mean()), len(messages))
