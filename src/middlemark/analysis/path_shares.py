"""The metrics of where a trial's messages spent their time: each part of a typical message's way and of a slow one's.

A typical message is the mean of the middle fifth of all by one-way time, a slow one that of the slowest hundredth, so
that the parts add up to a whole as medians of parts would not. `kernel_path` cuts the single messages.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from middlemark.analysis.kernel_path import Part, Paths, paths
from middlemark.analysis.kernel_trace import KernelTrace
from middlemark.analysis.metrics import Key, of_stream
from middlemark.analysis.quantile import Measured, Value
from middlemark.analysis.record import KernelRecording, TrialRecord
from middlemark.plan import Stream

_COUNTS = ("packets", "calls", "wake_ups", "switches", "copied_bytes")
# Below, the slowest hundredth is a message or two.
_SLOW_NEED = 200


def kernel_path_values(record: TrialRecord, events: pl.DataFrame, received: pl.DataFrame) -> dict[Key, Value]:
    """For each stream the parts of its messages, what they took of the kernel, and how many were set aside."""
    if record.kernel_path is None or not len(events):
        return {}
    trace = KernelTrace(events)
    values: dict[Key, Value] = {}
    for number, stream in enumerate(record.trial.experiment.streams):
        of_this = received.filter(pl.col("stream") == number)
        found = paths(trace, of_this, _ends(record.kernel_path, stream))
        values |= {Key(of_stream(stream.name), name): value for name, value in _values(found).items()}
    return values


def _ends(recording: KernelRecording, stream: Stream) -> Callable[[int, int], tuple[int, int]]:
    """The processes of a publisher and a subscriber by their indices: of an application, its first."""

    def ends(publisher: int, subscriber: int) -> tuple[int, int]:
        sender, receiver = stream.publishers[publisher], stream.subscribers[subscriber]
        return recording.processes.get(sender, 0), recording.processes.get(receiver, 0)

    return ends


def _values(found: Paths) -> dict[str, Value]:
    aside, told = sum(found.set_aside.values()), len(found.parts)
    if not aside + told:
        return {}
    values: dict[str, Value] = {"path_set_aside_share": Measured(aside / (aside + told), aside + told)}
    if not told:
        return values
    ordered = found.parts.sort("whole_ns")
    middle = ordered.slice(2 * told // 5, told // 5 + 1)
    values |= _parts("path_typical", middle) | {f"path_{name}_per_message": _mean(ordered, name) for name in _COUNTS}
    return values | (_parts("path_slow", ordered.tail(told // 100)) if told >= _SLOW_NEED else {})


def _parts(name: str, messages: pl.DataFrame) -> dict[str, Value]:
    return {f"{name}_{part}_ns": _mean(messages, f"{part}_ns") for part in (*Part, "whole")}


def _mean(messages: pl.DataFrame, column: str) -> Value:
    return Measured(float(messages[column].to_numpy().mean()), len(messages))
