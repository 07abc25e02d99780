"""Follows one message backwards through a kernel's trace, from its arrival to the call that sent it.

From the receive call before the arrival it follows the packet that held the call's last byte (or the wake-up, where
memory is shared) to the process that sent it, process by process. `breakdown` chooses the messages.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from middlemark.analysis.kernel.events import Thread
from middlemark.analysis.kernel.packets import Cuts, Packet
from middlemark.analysis.kernel.segments import (
    OUTSIDE,
    Call,
    Crossing,
    PathPart,
    PathSide,
    Segment,
    SetAside,
    TracedPath,
)
from middlemark.analysis.kernel.trace import KernelTrace, Take, WakeUp

# Between a message's own receive call and its arrival may be receive calls of other messages, but few.
_CANDIDATES = 64
_MOST_HOPS = 4


class Ends(NamedTuple):
    """The processes of a message's sender and its receiver."""

    sender: int
    receiver: int
    apart: bool = False
    """Whether they are on different hosts."""


@dataclass(frozen=True)
class _Message:
    """The message that is followed, with the processes of its sender and its receiver."""

    sender: int
    receiver: int
    apart: bool
    strangers: frozenset[int]
    """All other publishers and subscribers: none of them can be on its path."""
    sent_ns: int
    received_ns: int
    size_bytes: int

    def side(self, process: int) -> PathSide:
        """Whether a process is the sender, a service or the receiver."""
        if process == self.sender:
            return PathSide.SENDER
        return PathSide.RECEIVER if process == self.receiver else PathSide.SERVICE


@dataclass
class _Path:
    """The segments of a path that were found so far, from its end backwards."""

    segments: list[Segment] = field(default_factory=list)
    processes: list[int] = field(default_factory=list)
    packets: list[Packet] = field(default_factory=list)
    """The last packet of each crossing."""

    def goes_back_to(self, part: PathPart, side: PathSide | None, begin_ns: int, end_ns: int) -> None:
        """Adds a segment before all earlier ones."""
        if begin_ns != end_ns:
            self.segments.append(Segment(part, side, begin_ns, end_ns))

    def goes_back_through(self, thread: Thread, span: tuple[int, int], within: PathPart, side: PathSide) -> None:
        """Adds an interval of a thread, divided at the start and end of each system call."""
        for in_call, begin_ns, end_ns in reversed(list(thread.cut(*span))):
            self.goes_back_to(within if in_call else OUTSIDE[side], side, begin_ns, end_ns)


def follow_message(
    trace: KernelTrace, message: Mapping[str, int], ends: Ends, applications: frozenset[int]
) -> TracedPath | SetAside:
    """The path of one message between two processes; `applications` are all that publish or subscribe."""
    instants = message["sent_ns"], message["received_ns"]
    sought = _Message(*ends, applications - {ends.sender, ends.receiver}, *instants, message["size_bytes"])
    path = _followed(trace, sought)
    if path is None:
        return SetAside.NO_WAY_FOUND
    if any(segment.end_ns < segment.begin_ns for segment in path.segments):
        return SetAside.NOT_IN_ORDER
    crossings = _crossings(trace, path, sought)
    if crossings is None:
        return SetAside.AMBIGUOUS
    return TracedPath(
        sent_ns=sought.sent_ns,
        received_ns=sought.received_ns,
        segments=tuple(reversed(path.segments)),
        crossings=crossings,
        calls=tuple(_calls(trace, path, sought)),
        processes=tuple(reversed(path.processes)),
    )


def _crossings(trace: KernelTrace, path: _Path, message: _Message) -> tuple[Crossing, ...] | None:
    """The crossings in order from the sender.

    What a process between sender and receiver had sent before the message reached it belongs to another message. None
    where packets that left before then hold this message's bytes.
    """
    begin_ns, crossings = message.sent_ns, []
    for last in reversed(path.packets):
        whole = trace.brings(last, message.sent_ns, message.size_bytes)
        if whole and not trace.brings(last, begin_ns, message.size_bytes):
            return None
        packets = trace.sent_with(last, begin_ns, message.size_bytes) or [last]
        first = Cuts(*map(min, zip(*(packet.first for packet in packets), strict=True)))
        passed = Cuts(last.queued_ns, last.transmitted_ns, last.arrived_ns)
        crossings.append(Crossing(sum(packet.fragments for packet in packets), first, passed))
        begin_ns = first.arrived_ns
    return tuple(crossings)


def _calls(trace: KernelTrace, path: _Path, message: _Message) -> Iterator[Call]:
    for process in dict.fromkeys(reversed(path.processes)):
        for begin_ns, end_ns, number in trace.calls(process, message.sent_ns, message.received_ns):
            yield Call(message.side(process), number, begin_ns, end_ns)


def _followed(trace: KernelTrace, message: _Message) -> _Path | None:
    """Goes from process to process, from the receiver back to the sender."""
    path = _Path()
    process, until_ns = message.receiver, message.received_ns
    for _ in range(_MOST_HOPS):
        path.processes.append(process)
        hop = _last_receive(trace, process, message, until_ns) or _woken(trace, process, message, until_ns)
        if hop is None:
            return None
        process, until_ns = hop(path, message.side(process))
        if process == message.sender:
            path.processes.append(process)
            path.goes_back_to(PathPart.MIDDLEWARE_SENDER, PathSide.SENDER, message.sent_ns, until_ns)
            return path
    return None


_Hop = Callable[[_Path, PathSide], tuple[int, int]]
"""Adds a hop's segments to a path; gives the process before it, and the instant up to which time is not yet divided."""


def _last_receive(trace: KernelTrace, process: int, message: _Message, until_ns: int) -> _Hop | None:
    """The last receive call that completes the message, from its sender or a service.

    Where no call completes it, the packets only announced a message in shared memory: then the last call of all.
    """
    candidates: list[tuple[Take, Packet]] = []
    for take, packet in _candidates(trace, process, message, until_ns):
        candidates.append((take, packet))
        if trace.brings(packet, message.sent_ns, message.size_bytes):
            return lambda path, side: _through_packet(trace, message, until_ns, take, packet, path, side)
    if not candidates:
        return None
    return lambda path, side: _through_packet(trace, message, until_ns, *candidates[0], path, side)


def _candidates(trace: KernelTrace, process: int, message: _Message, until_ns: int) -> Iterator[tuple[Take, Packet]]:
    """The receive calls that may belong to the message, the last first."""
    takes = trace.takes.get(process, [])
    last = bisect_right(takes, until_ns, key=lambda take: take.returned_ns)
    for take in reversed(takes[max(last - _CANDIDATES, 0) : last]):
        if take.returned_ns < message.sent_ns:
            return
        for packet in take.packets:
            if packet.queued_ns >= message.sent_ns and packet.process not in message.strangers | {process}:
                yield take, packet


def _through_packet(  # noqa: PLR0913, PLR0917 - a path has so many sides
    trace: KernelTrace, message: _Message, until_ns: int, take: Take, packet: Packet, path: _Path, side: PathSide
) -> tuple[int, int]:
    woken_ns, runs_ns = _woken_and_running(trace, take, packet.arrived_ns)
    path.goes_back_to(OUTSIDE[side], side, take.returned_ns, until_ns)
    path.goes_back_through(trace.thread(take.thread), (runs_ns, take.returned_ns), PathPart.KERNEL_RECEIVER, side)
    path.goes_back_to(PathPart.SCHEDULER, side, woken_ns, runs_ns)
    path.goes_back_to(PathPart.KERNEL_DELIVERY, side, packet.arrived_ns, woken_ns)
    path.goes_back_to(PathPart.WIRE, None, packet.transmitted_ns, packet.arrived_ns)
    path.goes_back_to(PathPart.QUEUE, None, packet.queued_ns, packet.transmitted_ns)
    path.packets.append(packet)
    begin_ns = packet.called_ns
    if packet.process == message.sender:
        packets = trace.sent_with(packet, message.sent_ns, message.size_bytes)
        begin_ns = max(min((other.called_ns for other in packets), default=begin_ns), message.sent_ns)
    # Time between the calls that send one message is the middleware's; time in which the kernel holds data back after
    # the call has returned, until the receiver has room for it, is the kernel's.
    sender, side = trace.thread(packet.thread), message.side(packet.process)
    returned_ns = sender.returned_after(packet.called_ns) or packet.queued_ns
    left_ns = min(max(returned_ns, begin_ns), packet.queued_ns)
    path.goes_back_to(PathPart.KERNEL_SENDER, side, left_ns, packet.queued_ns)
    path.goes_back_through(sender, (begin_ns, left_ns), PathPart.KERNEL_SENDER, side)
    return packet.process, begin_ns


def _woken_and_running(trace: KernelTrace, take: Take, arrived_ns: int) -> tuple[int, int]:
    """When the receiving thread was woken for the arrival, and when it ran; both at once where it already ran."""
    thread = trace.thread(take.thread)
    woken = thread.woken[np.searchsorted(thread.woken, arrived_ns) :]
    woken_ns = int(woken[0]) if len(woken) and woken[0] <= take.returned_ns else arrived_ns
    running = thread.switched_in[np.searchsorted(thread.switched_in, woken_ns) :]
    runs_ns = int(running[0]) if len(running) and running[0] <= take.returned_ns else woken_ns
    return woken_ns, runs_ns


def _woken(trace: KernelTrace, process: int, message: _Message, until_ns: int) -> _Hop | None:
    """For shared memory and local sockets: the last wake-up by another process.

    Between hosts a message always comes in a packet; where none was found, it was missed, and no wake-up replaces it.
    """
    wake_ups = trace.wake_ups.get(process, [])
    last = bisect_right(wake_ups, until_ns, key=lambda wake_up: wake_up.at_ns)
    for wake_up in reversed(wake_ups[max(last - _CANDIDATES, 0) : last]):
        if wake_up.at_ns < message.sent_ns:
            return None
        called_ns = trace.thread(wake_up.waker).called_before(wake_up.at_ns)
        if trace.thread(wake_up.waker).returned_after(wake_up.at_ns) is None:
            continue  # an interrupt woke it; the recorded waker only happened to be running
        if called_ns is None or called_ns < message.sent_ns:
            continue
        if wake_up.waker_process in message.strangers | {process}:
            continue
        if message.apart and not trace.are_together(wake_up.waker_process, process):
            continue
        if _ran(trace, wake_up, until_ns) is not None:
            return lambda path, side: _through_wake_up(trace, message, (called_ns, until_ns), wake_up, path, side)
    return None


def _ran(trace: KernelTrace, wake_up: WakeUp, until_ns: int) -> int | None:
    running = trace.thread(wake_up.thread).switched_in
    running = running[np.searchsorted(running, wake_up.at_ns) :]
    return int(running[0]) if len(running) and running[0] <= until_ns else None


def _through_wake_up(  # noqa: PLR0913, PLR0917 - a path has so many sides
    trace: KernelTrace, message: _Message, span: tuple[int, int], wake_up: WakeUp, path: _Path, side: PathSide
) -> tuple[int, int]:
    called_ns, until_ns = span
    runs_ns = _ran(trace, wake_up, until_ns) or wake_up.at_ns
    path.goes_back_through(trace.thread(wake_up.thread), (runs_ns, until_ns), PathPart.KERNEL_RECEIVER, side)
    path.goes_back_to(PathPart.SCHEDULER, side, wake_up.at_ns, runs_ns)
    path.goes_back_to(PathPart.KERNEL_SENDER, message.side(wake_up.waker_process), called_ns, wake_up.at_ns)
    return wake_up.waker_process, called_ns
