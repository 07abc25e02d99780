"""Cuts the one-way time of messages at the same points for every middleware, to tell where it goes.

`path_following` follows each message backwards, process by process: a broker's own time is a part too. All parts are
non-negative and add up to the whole, or the message is set aside and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from middlemark.analysis.kernel_event import Kind
from middlemark.analysis.kernel_packets import Cuts
from middlemark.analysis.kernel_trace import KernelTrace
from middlemark.analysis.path_following import Ends, path
from middlemark.analysis.path_parts import MessagePath, Part, SetAside, Side

CUTS = ("queued", "transmitted", "arrived")
"""Where packets pass, as `Cuts` has them."""
PARTS_SCHEMA = pl.Schema(
    {
        "publisher": pl.UInt16(),
        "subscriber": pl.UInt16(),
        "sequence": pl.UInt32(),
        "sent_ns": pl.Int64(),
        "whole_ns": pl.Int64(),
        **{f"{part}_ns": pl.Int64() for part in Part},
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


@dataclass(frozen=True)
class Paths:
    """The paths of a trial's sampled messages."""

    parts: pl.DataFrame
    set_aside: Mapping[SetAside, int]
    calls: Mapping[tuple[Side, int], float]
    """How many system calls of each number a message takes on each side."""


def paths(trace: KernelTrace, messages: pl.DataFrame, ends: Callable[[int, int], Ends], samples: int) -> Paths:
    """The paths of messages of one stream, evenly chosen; `ends` gives the processes of publisher and subscriber."""
    messages = messages.sort("received_ns")
    chosen = np.unique(np.linspace(0, max(len(messages) - 1, 0), min(samples, len(messages))).astype(int))
    pairs = {pair: ends(*pair) for pair in messages.select("publisher", "subscriber").unique().iter_rows()}
    applications = frozenset(process for pair in pairs.values() for process in (pair.sender, pair.receiver))
    rows, set_aside, calls = [], Counter[SetAside](), Counter[tuple[Side, int]]()
    for message in messages[chosen].iter_rows(named=True):
        found = path(trace, message, pairs[message["publisher"], message["subscriber"]], applications)
        if isinstance(found, SetAside):
            set_aside[found] += 1
        else:
            rows.append(_row(trace, message, found))
            calls.update((call.side, call.number) for call in found.calls)
    per_message = {key: count / len(rows) for key, count in calls.items()}
    return Paths(pl.DataFrame(rows, schema=PARTS_SCHEMA), dict(set_aside), per_message)


def _row(trace: KernelTrace, message: Mapping[str, int], path: MessagePath) -> dict[str, int | None]:
    span = path.sent_ns, path.received_ns
    processes = set(path.processes)
    return {
        **{name: message[name] for name in ("publisher", "subscriber", "sequence", "sent_ns")},
        "whole_ns": path.whole_ns,
        **{f"{part}_ns": value_ns for part, value_ns in path.parts_ns().items()},
        "hops": len(path.processes) - 1,
        "packets": sum(each.packets for each in path.crossings),
        **_cuts("first", path.crossings[0].first if path.crossings else None),
        **_cuts("last", path.crossings[-1].last if path.crossings else None),
        "calls": len(path.calls),
        "wake_ups": sum(trace.count(process, Kind.WOKEN, *span) for process in processes),
        "switches": sum(trace.count(process, Kind.SWITCHED, *span) for process in processes),
        "copied_bytes": sum(trace.carried_bytes(process, *span) for process in processes),
    }


def _cuts(end: str, passed: Cuts | None) -> dict[str, int | None]:
    return {f"{end}_{cut}_ns": at_ns for cut, at_ns in zip(CUTS, passed or [None] * len(CUTS), strict=True)}
