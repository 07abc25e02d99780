"""The kernel's events for the processes of a trial, indexed so that a message's path can be found.

It answers questions about single threads and packets: when a thread was in a system call, from where the bytes of a
receive call came. `follow` combines the answers to a message's path.
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
"""Within this time another CPU may queue a later packet at the socket before an earlier one."""


@dataclass(frozen=True, slots=True)
class Take:
    """A receive call that returned bytes."""

    thread: int
    called_ns: int
    returned_ns: int
    packets: tuple[Packet, ...]
    """The packet that held its last byte, then others that may have held it instead; empty where none was recorded."""


@dataclass(frozen=True, slots=True)
class WakeUp:
    """A wake-up of one thread by another."""

    at_ns: int
    thread: int
    waker: int
    waker_process: int


class KernelTrace:
    """All events of a recording, by thread, by packet and by receive call."""

    def __init__(self, events: pl.DataFrame, forwarders: Collection[int] = ()) -> None:
        """`forwarders` are processes that forward the packets of others."""
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
        """A thread; one without events where none were recorded."""
        return self._threads.get(number, NO_THREAD)

    def calls(self, process: int, begin_ns: int, end_ns: int) -> Iterator[tuple[int, int, int]]:
        """The system calls that a process entered or left within an interval: begin, end and number of each."""
        for thread in self._threads_of.get(process, ()):
            yield from self.thread(thread).calls_within(begin_ns, end_ns)

    def count(self, process: int, kind: Kind, begin_ns: int, end_ns: int) -> int:
        """How many events of a kind a process had within an interval."""
        instants = self._instants.get((process, kind))
        if instants is None:
            return 0
        return int(np.searchsorted(instants, end_ns, side="right") - np.searchsorted(instants, begin_ns))

    def copied_bytes(self, process: int, begin_ns: int, end_ns: int) -> int:
        """How many bytes a process's sockets sent and received within an interval: each is copied once."""
        if process not in self._copied:
            return 0
        instants, totals = self._copied[process]
        totals = np.concatenate(([0], totals))
        return int(
            totals[np.searchsorted(instants, end_ns, side="right")] - totals[np.searchsorted(instants, begin_ns)]
        )

    def sent_with(self, last: Packet, begin_ns: int, size_bytes: int) -> list[Packet]:
        """The packets of a message up to its last one: as many as hold its bytes, or all from an instant on.

        All of them hold fewer bytes than the message where they only announce one that is in shared memory.
        """
        return self._outgoing[_route(last)].back_from(last, begin_ns, size_bytes)

    def brings(self, last: Packet, begin_ns: int, size_bytes: int) -> bool:
        """Whether the packets from an instant up to this one hold a message's bytes."""
        return self._outgoing[_route(last)].bytes_up_to(last, begin_ns) >= size_bytes

    def are_together(self, first: int, second: int) -> bool:
        """Whether two processes use sockets in the same network namespace, as far as recorded."""
        return not self._namespaces.get(first, frozenset()).isdisjoint(self._namespaces.get(second, frozenset()))

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
    """Finds the packet that held the last byte of a receive call; calls have to come in the order of time."""

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
        """The packet, then others that may have been received instead; empty where none fits."""
        if taken["mark"] == _UDP:
            return self._datagram(taken, thread)
        segment = self._segment(taken) if taken["mark"] == _TCP else None
        return () if segment is None else (segment,)

    def _datagram(self, taken: Mapping[str, int], thread: Thread) -> tuple[Packet, ...]:
        """First in, first out.

        A reader that slept had an empty queue, so earlier packets still unread were never received.
        """
        key, at_ns = (taken["other"], taken["ports"] >> 16), taken["at_ns"]
        waiting, first = self._datagrams[key], self._next[key]
        empty_ns = self._last_ns.get(key)
        if empty_ns is None:  # datagrams that arrived before the socket existed were dropped
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
        """By the byte's position in its stream and the sequence numbers."""
        own_port, peer = taken["ports"] >> 16, taken["ports"] & 0xFFFF
        self._position[taken["subject"]] += taken["value"]
        last = self._position[taken["subject"]] - 1
        for packet in self._of_stream((taken["other"], peer << 16 | own_port), taken["at_ns"]):
            if packet[0] <= last < packet[0] + packet[1].length:
                return packet[1]
        return None

    def _of_stream(self, key: tuple[int, int], at_ns: int) -> Iterator[tuple[int, Packet]]:
        """The stream's packets with their positions; a receive call continues where the one before it ended."""
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
    """Packets of other processes that arrived at the same time on another CPU: any may be first in the queue."""
    begin = bisect_left(waiting, packet.arrived_ns - SAME_TIME_NS, key=arrived)
    end = bisect_right(waiting, packet.arrived_ns + SAME_TIME_NS, key=arrived)
    return (other for other in waiting[begin:end] if other.process != packet.process and other.length == packet.length)


class _Outgoing:
    """The packets that one process sent to one port of one namespace, in the order in which they were queued."""

    def __init__(self, packets: list[Packet]) -> None:
        self._packets = sorted(packets, key=_queued)
        self._queued_ns = np.array([packet.queued_ns for packet in self._packets])
        # All segments of a packet that was queued as a whole have its one queueing instant.
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
    """Each packet with payload once, even where a relay duplicated it."""
    by_route: defaultdict[tuple[int, int, int], list[Packet]] = defaultdict(list)
    for packet in packets:
        if packet.length:
            by_route[_route(packet)].append(packet)
    return {
        route: _Outgoing(list({_identity(other): other for other in sent}.values())) for route, sent in by_route.items()
    }


def _threads_of(events: pl.DataFrame) -> dict[int, list[int]]:
    callers = events.filter(pl.col("kind") == Kind.CALLED).select("process", "thread").unique().sort("thread")
    return {int(process): frame["thread"].to_list() for (process,), frame in callers.group_by(["process"])}


def _namespaces(events: pl.DataFrame) -> Mapping[int, frozenset[int]]:
    """By process, the network namespaces of its sockets."""
    used = events.filter(pl.col("kind").is_in([Kind.SENT, Kind.TAKEN])).select("process", "other").unique()
    return {int(process): frozenset(frame["other"]) for (process,), frame in used.group_by(["process"])}


def _wake_ups(events: pl.DataFrame) -> dict[int, list[WakeUp]]:
    wake_ups: defaultdict[int, list[WakeUp]] = defaultdict(list)
    woken = events.filter(pl.col("kind") == Kind.WOKEN)
    for at_ns, process, thread, waker, waker_process in woken.select(
        "at_ns", "process", "thread", "subject", "other"
    ).iter_rows():
        wake_ups[process].append(WakeUp(at_ns, thread, waker, waker_process))
    return wake_ups
