"""Cuts the one-way time of single messages at the same points for every middleware, to tell where it goes.

A message's path is followed backwards, from the receive call before its arrival through the packet that the call's
last byte came in (or the wake-up, where memory is shared) to the call that sent it, process by process: a broker's own
time is a part too. All parts are non-negative and add up to the whole, or the message is set aside and counted.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
import polars as pl

from middlemark.analysis.kernel_trace import KernelTrace, Kind, Packet, Take, WakeUp

SAMPLES = 500
# A receive call of another message may lie between a message's own and its arrival; not many do.
_CANDIDATES = 64
_MOST_HOPS = 4


class Part(StrEnum):
    """A part of a message's one-way time, in the order of its path."""

    MIDDLEWARE_SENDER = "middleware_sender"
    """From the hand-over on, all that is outside of system calls."""
    KERNEL_SENDER = "kernel_sender"
    """Within system calls, until its last packet is queued at an interface or, without one, another thread is woken."""
    QUEUE = "queue"
    """In the queueing discipline."""
    WIRE = "wire"
    """From the sender's interface to the receiver's, with all between them."""
    KERNEL_DELIVERY = "kernel_delivery"
    """From the receiver's interface until the receiving thread is woken."""
    SCHEDULER = "scheduler"
    """From its wake-up until it runs."""
    KERNEL_RECEIVER = "kernel_receiver"
    """Within system calls, until the one that brings the last byte comes back."""
    SERVICE = "service"
    """In a process between both (a broker, a router), outside of system calls."""
    MIDDLEWARE_RECEIVER = "middleware_receiver"
    """Outside of system calls, until the arrival."""


class SetAside(StrEnum):
    """Why a message's path isn't told."""

    NO_WAY_FOUND = "no_way_found"
    """No receive call or wake-up leads from the arrival back to the sender after the hand-over."""
    NOT_IN_ORDER = "not_in_order"
    """Some part would be negative."""


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
        "first_queued_ns": pl.Int64(),
        "last_arrived_ns": pl.Int64(),
        "calls": pl.Int64(),
        "wake_ups": pl.Int64(),
        "switches": pl.Int64(),
        "copied_bytes": pl.Int64(),
    }
)
"""One row a message; the counts are of all processes on its path, from its hand-over to its arrival."""


@dataclass(frozen=True)
class Paths:
    """The paths of a trial's sampled messages."""

    parts: pl.DataFrame
    set_aside: Mapping[SetAside, int]


@dataclass(frozen=True)
class _Ends:
    """The processes of a message's sender and receiver; none of the others that publish can be on its way."""

    sender: int
    receiver: int
    strangers: frozenset[int]


@dataclass
class _Path:
    """What has been found of a path, from its end on."""

    parts: Counter[Part] = field(default_factory=Counter)
    processes: list[int] = field(default_factory=list)
    packets: list[Packet] = field(default_factory=list)


def paths(
    trace: KernelTrace, received: pl.DataFrame, ends: Callable[[int, int], tuple[int, int]], samples: int = SAMPLES
) -> Paths:
    """The paths of messages of one stream, evenly chosen; `ends` gives the processes of publisher and subscriber."""
    messages = received.filter(pl.col("answer") == 0).sort("received_ns")
    chosen = np.unique(np.linspace(0, max(len(messages) - 1, 0), min(samples, len(messages))).astype(int))
    pairs = {pair: ends(*pair) for pair in messages.select("publisher", "subscriber").unique().iter_rows()}
    applications = frozenset(process for pair in pairs.values() for process in pair)
    rows, set_aside = [], Counter[SetAside]()
    for message in messages[chosen].iter_rows(named=True):
        sender, receiver = pairs[message["publisher"], message["subscriber"]]
        between = _Ends(sender, receiver, applications - {sender, receiver})
        found = _followed(trace, between, message["sent_ns"], message["received_ns"])
        if found is None:
            set_aside[SetAside.NO_WAY_FOUND] += 1
        elif min(found.parts.values()) < 0:
            set_aside[SetAside.NOT_IN_ORDER] += 1
        else:
            rows.append(_row(trace, message, found))
    return Paths(pl.DataFrame(rows, schema=PARTS_SCHEMA), dict(set_aside))


def _followed(trace: KernelTrace, ends: _Ends, sent_ns: int, received_ns: int) -> _Path | None:
    """Hop by hop from the receiver back to the sender."""
    path = _Path()
    process, until_ns = ends.receiver, received_ns
    for _ in range(_MOST_HOPS):
        beyond = Part.MIDDLEWARE_RECEIVER if process == ends.receiver else Part.SERVICE
        path.processes.append(process)
        hop = _taken(trace, process, ends, sent_ns, until_ns) or _woken(trace, process, ends, sent_ns, until_ns)
        if hop is None:
            return None
        came_from, until_ns = hop(path, beyond)
        process = came_from
        if process == ends.sender:
            path.processes.append(process)
            path.parts[Part.MIDDLEWARE_SENDER] += until_ns - sent_ns
            return path
    return None


_Hop = Callable[[_Path, Part], tuple[int, int]]
"""Adds its parts to a path; gives the process that it comes from, and until when that one's time is still to be cut."""


def _taken(trace: KernelTrace, process: int, ends: _Ends, sent_ns: int, until_ns: int) -> _Hop | None:
    """The last receive call whose bytes come from the message's sender, or from who is neither sender nor receiver."""
    takes = trace.takes.get(process, [])
    last = bisect_right(takes, until_ns, key=lambda take: take.returned_ns)
    for take in reversed(takes[max(last - _CANDIDATES, 0) : last]):
        if take.returned_ns < sent_ns:
            return None
        packet = take.packet
        if packet and packet.queued_ns >= sent_ns and packet.process not in ends.strangers | {process}:
            return lambda path, beyond: _through_packet(trace, ends, sent_ns, until_ns, take, packet, path, beyond)
    return None


def _through_packet(  # noqa: PLR0913, PLR0917 - a path has so many sides
    trace: KernelTrace, ends: _Ends, sent_ns: int, until_ns: int, take: Take, packet: Packet, path: _Path, beyond: Part
) -> tuple[int, int]:
    woken_ns, runs_ns = _woken_and_running(trace, take, packet.arrived_ns)
    thread, parts = trace.thread(take.thread), path.parts
    in_kernel_ns = thread.in_calls_ns(runs_ns, take.returned_ns)
    parts[beyond] += until_ns - runs_ns - in_kernel_ns
    parts[Part.KERNEL_RECEIVER] += in_kernel_ns
    parts[Part.SCHEDULER] += runs_ns - woken_ns
    parts[Part.KERNEL_DELIVERY] += woken_ns - packet.arrived_ns
    parts[Part.WIRE] += packet.arrived_ns - packet.transmitted_ns
    parts[Part.QUEUE] += packet.transmitted_ns - packet.queued_ns
    begin_ns = packet.called_ns
    if packet.process == ends.sender:
        path.packets = trace.sent_with(packet, sent_ns) or [packet]
        begin_ns = max(min(each.called_ns for each in path.packets), sent_ns)
    sender_ns = trace.thread(packet.thread).in_calls_ns(begin_ns, packet.queued_ns)
    parts[Part.KERNEL_SENDER] += sender_ns
    # What the sender does between the calls that send one message is its middleware's.
    between = Part.MIDDLEWARE_SENDER if packet.process == ends.sender else Part.SERVICE
    parts[between] += packet.queued_ns - begin_ns - sender_ns
    return packet.process, begin_ns


def _woken_and_running(trace: KernelTrace, take: Take, arrived_ns: int) -> tuple[int, int]:
    """When the receiving thread was woken for what arrived and when it ran; at once where it ran already."""
    thread = trace.thread(take.thread)
    woken = thread.woken[np.searchsorted(thread.woken, arrived_ns) :]
    woken_ns = int(woken[0]) if len(woken) and woken[0] <= take.returned_ns else arrived_ns
    running = thread.switched_in[np.searchsorted(thread.switched_in, woken_ns) :]
    runs_ns = int(running[0]) if len(running) and running[0] <= take.returned_ns else woken_ns
    return woken_ns, runs_ns


def _woken(trace: KernelTrace, process: int, ends: _Ends, sent_ns: int, until_ns: int) -> _Hop | None:
    """Where memory is shared, or a socket is of this machine only: the last wake-up by another process."""
    wake_ups = trace.wake_ups.get(process, [])
    last = bisect_right(wake_ups, until_ns, key=lambda wake_up: wake_up.at_ns)
    for wake_up in reversed(wake_ups[max(last - _CANDIDATES, 0) : last]):
        if wake_up.at_ns < sent_ns:
            return None
        called_ns = trace.thread(wake_up.waker).called_before(wake_up.at_ns)
        if trace.thread(wake_up.waker).returned_after(wake_up.at_ns) is None:
            continue  # an interrupt woke, while that thread happened to run
        if called_ns is None or called_ns < sent_ns or wake_up.waker_process in ends.strangers | {process}:
            continue
        if _ran(trace, wake_up, until_ns) is not None:
            return lambda path, beyond: _through_wake_up(trace, until_ns, wake_up, called_ns, path, beyond)
    return None


def _ran(trace: KernelTrace, wake_up: WakeUp, until_ns: int) -> int | None:
    running = trace.thread(wake_up.thread).switched_in
    running = running[np.searchsorted(running, wake_up.at_ns) :]
    return int(running[0]) if len(running) and running[0] <= until_ns else None


def _through_wake_up(  # noqa: PLR0913, PLR0917 - a path has so many sides
    trace: KernelTrace, until_ns: int, wake_up: WakeUp, called_ns: int, path: _Path, beyond: Part
) -> tuple[int, int]:
    runs_ns = _ran(trace, wake_up, until_ns) or wake_up.at_ns
    in_kernel_ns = trace.thread(wake_up.thread).in_calls_ns(runs_ns, until_ns)
    path.parts[beyond] += until_ns - runs_ns - in_kernel_ns
    path.parts[Part.KERNEL_RECEIVER] += in_kernel_ns
    path.parts[Part.SCHEDULER] += runs_ns - wake_up.at_ns
    path.parts[Part.KERNEL_SENDER] += wake_up.at_ns - called_ns
    return wake_up.waker_process, called_ns


def _row(trace: KernelTrace, message: Mapping[str, int], path: _Path) -> dict[str, int | None]:
    begin_ns, end_ns = message["sent_ns"], message["received_ns"]
    processes = set(path.processes)
    counted = {
        name: sum(trace.count(process, kind, begin_ns, end_ns) for process in processes)
        for name, kind in (("calls", Kind.CALLED), ("wake_ups", Kind.WOKEN), ("switches", Kind.SWITCHED))
    }
    return {
        **{name: message[name] for name in ("publisher", "subscriber", "sequence", "sent_ns")},
        "whole_ns": end_ns - begin_ns,
        **{f"{part}_ns": path.parts[part] for part in Part},
        "hops": len(path.processes) - 1,
        "packets": sum(each.fragments for each in path.packets),
        "first_queued_ns": min((each.queued_ns for each in path.packets), default=None),
        "last_arrived_ns": max((each.arrived_ns for each in path.packets), default=None),
        **counted,
        "copied_bytes": sum(trace.carried_bytes(process, begin_ns, end_ns) for process in processes),
    }
