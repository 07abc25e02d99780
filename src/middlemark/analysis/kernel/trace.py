"""What the kernel did for the processes of a trial, ordered so that a message's path can be looked up in it.

It answers questions about single threads and packets (when was this thread in a system call, where did the bytes of
this receive call come from); which of the answers make up a message's path, `follow` knows.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from middlemark.analysis.kernel.events import NO_THREAD, Kind, Thread, threads
from middlemark.analysis.kernel.packets import SEQUENCE_NUMBERS, Packet, arrived, packets

_UDP, _TCP = 17, 6
SAME_TIME_NS = 5_000
"""Between a packet's arrival and its place in a socket's queue, where another CPU's packet may overtake it."""


@dataclass(frozen=True, slots=True)
class Take:
    """A receive call that brought bytes."""

    thread: int
    called_ns: int
    returned_ns: int
    packets: tuple[Packet, ...]
    """The one that its last byte came in, then those in whose place it may stand; none where none was seen."""


@dataclass(frozen=True, slots=True)
class WakeUp:
    """A thread that another one woke."""

    at_ns: int
    thread: int
    waker: int
    waker_process: int


class KernelTrace:
    """All events of a recording, by thread, by packet and by receive call."""

    def __init__(self, events: pl.DataFrame, forwarders: Collection[int] = ()) -> None:
        """`forwarders` are processes that forward others' packets."""
        events = events.sort("at_ns", maintain_order=True)
        self._threads: Mapping[int, Thread] = threads(events)
        self._threads_of = _threads_of(events)
        self.packets = packets(events, self.thread, forwarders)
        self._outgoing = _outgoing(self.packets)
        self.takes = self._takes(events)
        """By process, in the order of time."""
        self.wake_ups = _wake_ups(events)
        """By process, in the order of time."""
        self._namespaces = _namespaces(events)
        self._instants = {
            (int(process), int(kind)): frame["at_ns"].to_numpy()
            for (process, kind), frame in events.group_by(["process", "kind"], maintain_order=True)
        }
        copied = events.filter(pl.col("kind").is_in([Kind.SENT, Kind.TAKEN]) & (pl.col("value") > 0))
        self._copied = {
            int(process): (frame["at_ns"].to_numpy(), frame["value"].cum_sum().to_numpy())
            for (process,), frame in copied.group_by(["process"], maintain_order=True)
        }

    def thread(self, number: int) -> Thread:
        """A thread; one without events where nothing was seen of it."""
        return self._threads.get(number, NO_THREAD)

    def calls(self, process: int, begin_ns: int, end_ns: int) -> Iterator[tuple[int, int, int]]:
        """The system calls that a process's threads entered or left within a span: begin, end and number of each."""
        for thread in self._threads_of.get(process, ()):
            yield from self.thread(thread).calls_within(begin_ns, end_ns)

    def count(self, process: int, kind: Kind, begin_ns: int, end_ns: int) -> int:
        """How many events of a kind a process had within a span."""
        instants = self._instants.get((process, kind))
        if instants is None:
            return 0
        return int(np.searchsorted(instants, end_ns, side="right") - np.searchsorted(instants, begin_ns))

    def copied_bytes(self, process: int, begin_ns: int, end_ns: int) -> int:
        """How many bytes a process's sockets took from it and gave to it within a span: each is copied once."""
        if process not in self._copied:
            return 0
        instants, totals = self._copied[process]
        totals = np.concatenate(([0], totals))
        return int(
            totals[np.searchsorted(instants, end_ns, side="right")] - totals[np.searchsorted(instants, begin_ns)]
        )

    def sent_with(self, last: Packet, begin_ns: int, size_bytes: int) -> list[Packet]:
        """The packets of a message, back from its last: so many that its bytes are in them, or all from an instant on.

        Fewer bytes than its own are in all of them where packets only tell of a message that memory holds.
        """
        return self._outgoing[_route(last)].back_from(last, begin_ns, size_bytes)

    def brings(self, last: Packet, begin_ns: int, size_bytes: int) -> bool:
        """Whether a message's bytes are in the packets that left from an instant on, up to this one."""
        return self._outgoing[_route(last)].bytes_up_to(last, begin_ns) >= size_bytes

    def are_together(self, one: int, other: int) -> bool:
        """Whether two processes were seen to use sockets in the same network namespace."""
        return not self._namespaces.get(one, frozenset()).isdisjoint(self._namespaces.get(other, frozenset()))

    def _takes(self, events: pl.DataFrame) -> dict[int, list[Take]]:
        taken = events.filter((pl.col("kind") == Kind.TAKEN) & (pl.col("value") > 0))
        sources = _Sources(self.packets)
        takes: defaultdict[int, list[Take]] = defaultdict(list)
        for row in taken.iter_rows(named=True):
            thread = self.thread(row["thread"])
            called_ns, returned_ns = thread.called_before(row["at_ns"]), thread.returned_after(row["at_ns"])
            packets = sources.of(row, thread)
            if called_ns is None or returned_ns is None:
                continue
            takes[row["process"]].append(Take(row["thread"], called_ns, returned_ns, packets))
        return takes


class _Sources:
    """Which packet the last byte of a receive call came in; to be asked in the order of time."""

    def __init__(self, packets: list[Packet]) -> None:
        self._datagrams: defaultdict[tuple[int, int], list[Packet]] = defaultdict(list)
        self._streams: defaultdict[tuple[int, int], list[Packet]] = defaultdict(list)
        self._next: defaultdict[tuple[int, int], int] = defaultdict(int)
        self._last_ns: dict[tuple[int, int], int] = {}
        self._position: defaultdict[int, int] = defaultdict(int)
        for packet in packets:
            if packet.length:
                self._datagrams[packet.namespace, packet.ports & 0xFFFF].append(packet)
                self._streams[packet.namespace, packet.ports].append(packet)

    def of(self, taken: Mapping[str, int], thread: Thread) -> tuple[Packet, ...]:
        """The packet, then those that may have been taken instead; none where none fits."""
        if taken["mark"] == _UDP:
            return self._datagram(taken, thread)
        segment = self._segment(taken) if taken["mark"] == _TCP else None
        return () if segment is None else (segment,)

    def _datagram(self, taken: Mapping[str, int], thread: Thread) -> tuple[Packet, ...]:
        """First in, first out; who slept has found none left, so that what came before and wasn't taken never was."""
        key, at_ns = (taken["other"], taken["ports"] >> 16), taken["at_ns"]
        waiting, first = self._datagrams[key], self._next[key]
        empty_ns = self._last_ns.get(key)
        if empty_ns is None:  # datagrams that came before there was a socket were dropped
            empty_ns = thread.called_before(at_ns) or at_ns
            came = bisect_right(waiting, at_ns, key=arrived)
            first = min(bisect_right(waiting, empty_ns, key=arrived), max(came - 1, 0))
        elif thread.has_slept(empty_ns, at_ns):
            first = max(first, bisect_right(waiting, empty_ns, key=arrived))
        self._last_ns[key] = at_ns
        for number in range(first, bisect_right(waiting, at_ns, key=arrived)):
            if waiting[number].length == taken["value"]:
                self._next[key] = number + 1
                return (waiting[number], *_either_route(waiting, waiting[number]))
        return ()

    def _segment(self, taken: Mapping[str, int]) -> Packet | None:
        """By the position of the byte in its stream, by the sequence numbers."""
        own, peer = taken["ports"] >> 16, taken["ports"] & 0xFFFF
        self._position[taken["subject"]] += taken["value"]
        last = self._position[taken["subject"]] - 1
        for packet in self._of_stream((taken["other"], peer << 16 | own), taken["at_ns"]):
            if packet[0] <= last < packet[0] + packet[1].length:
                return packet[1]
        return None

    def _of_stream(self, key: tuple[int, int], at_ns: int) -> Iterator[tuple[int, Packet]]:
        """Its packets with their positions; a receive call goes on where the one before it ended."""
        packets = self._streams[key]
        if not packets:
            return
        first = packets[0].mark
        for number in range(self._next[key], len(packets)):
            packet = packets[number]
            if packet.arrived_ns > at_ns:
                return
            self._next[key] = number
            yield (packet.mark - first) % SEQUENCE_NUMBERS, packet


def _either_route(waiting: Sequence[Packet], packet: Packet) -> Iterator[Packet]:
    """Other processes' packets that arrived at the same time, on another CPU: any may be the first in the queue."""
    begin = bisect_left(waiting, packet.arrived_ns - SAME_TIME_NS, key=arrived)
    end = bisect_right(waiting, packet.arrived_ns + SAME_TIME_NS, key=arrived)
    return (each for each in waiting[begin:end] if each.process != packet.process and each.length == packet.length)


class _Outgoing:
    """What one process sent to one port of one place, in the order in which it was queued."""

    def __init__(self, packets: list[Packet]) -> None:
        self._packets = sorted(packets, key=_queued)
        self._queued_ns = np.array([packet.queued_ns for packet in self._packets])
        # What was queued whole and cut while it left has one instant for all its segments.
        self._place = {_identity(packet): number for number, packet in enumerate(self._packets)}
        self._before_bytes = np.cumsum([0, *(packet.length for packet in self._packets)])

    def back_from(self, last: Packet, begin_ns: int, size_bytes: int) -> list[Packet]:
        begin, end = self._span(last, begin_ns)
        holding = int(np.searchsorted(self._before_bytes, self._before_bytes[end] - size_bytes, side="right")) - 1
        return self._packets[max(begin, holding) : end]

    def bytes_up_to(self, last: Packet, begin_ns: int) -> int:
        begin, end = self._span(last, begin_ns)
        return int(self._before_bytes[end] - self._before_bytes[begin])

    def _span(self, last: Packet, begin_ns: int) -> tuple[int, int]:
        end = self._place[_identity(last)] + 1
        return min(int(np.searchsorted(self._queued_ns, begin_ns)), end), end


def _route(packet: Packet) -> tuple[int, int, int]:
    return packet.process, packet.ports & 0xFFFF, packet.namespace


def _identity(packet: Packet) -> tuple[int, int, int]:
    return packet.thread, packet.queued_ns, packet.mark


def _queued(packet: Packet) -> int:
    return packet.queued_ns


def _outgoing(packets: list[Packet]) -> Mapping[tuple[int, int, int], _Outgoing]:
    """Each packet with payload once, though a relay may have doubled it."""
    found: defaultdict[tuple[int, int, int], list[Packet]] = defaultdict(list)
    for packet in packets:
        if packet.length:
            found[_route(packet)].append(packet)
    return {route: _Outgoing(list({_identity(each): each for each in sent}.values())) for route, sent in found.items()}


def _threads_of(events: pl.DataFrame) -> dict[int, list[int]]:
    callers = events.filter(pl.col("kind") == Kind.CALLED).select("process", "thread").unique().sort("thread")
    return {int(process): frame["thread"].to_list() for (process,), frame in callers.group_by(["process"])}


def _namespaces(events: pl.DataFrame) -> Mapping[int, frozenset[int]]:
    """By process, where its sockets are."""
    used = events.filter(pl.col("kind").is_in([Kind.SENT, Kind.TAKEN])).select("process", "other").unique()
    return {int(process): frozenset(frame["other"]) for (process,), frame in used.group_by(["process"])}


def _wake_ups(events: pl.DataFrame) -> dict[int, list[WakeUp]]:
    found: defaultdict[int, list[WakeUp]] = defaultdict(list)
    woken = events.filter(pl.col("kind") == Kind.WOKEN)
    for at_ns, process, thread, waker, waker_process in woken.select(
        "at_ns", "process", "thread", "subject", "other"
    ).iter_rows():
        found[process].append(WakeUp(at_ns, thread, waker, waker_process))
    return found
