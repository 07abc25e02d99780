"""What the kernel did for the processes of a trial, ordered so that a message's path can be looked up in it.

It answers questions of single threads and packets (when was this thread in a system call, where did the bytes of this
receive call come from); which of the answers make up a message's path is `kernel_path`'s business.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

Instants = npt.NDArray[np.int64]

NEVER_NS = np.iinfo(np.int64).max
_UDP, _TCP = 17, 6
_SEQUENCE_NUMBERS = 1 << 32


class Kind(IntEnum):
    """What an event is, as the observer's records say."""

    CALLED = 1
    RETURNED = 2
    QUEUED = 3
    TRANSMITTED = 4
    ARRIVED = 5
    WOKEN = 6
    SWITCHED = 7
    SENT = 8
    TAKEN = 9


class Cuts(NamedTuple):
    """When a packet passed."""

    queued_ns: int
    transmitted_ns: int
    arrived_ns: int


@dataclass(frozen=True, slots=True)
class Packet:
    """A packet from its queueing to the last interface that it arrived at."""

    process: int
    """Whose socket it left."""
    thread: int
    """Which thread's call sent it."""
    called_ns: int
    """When that call was entered."""
    queued_ns: int
    transmitted_ns: int
    arrived_ns: int
    namespace: int
    """Where it arrived."""
    ports: int
    mark: int
    length: int
    """Of its payload, in bytes."""
    first: Cuts
    """The instants of the first of its fragments; its own are those of the last one to arrive."""
    fragments: int = 1
    """How many it was cut into."""


@dataclass(frozen=True, slots=True)
class Take:
    """A receive call that brought bytes."""

    thread: int
    called_ns: int
    returned_ns: int
    packet: Packet | None
    """The one that its last byte came in; None where none was seen."""


@dataclass(frozen=True, slots=True)
class WakeUp:
    """A thread that another one woke."""

    at_ns: int
    thread: int
    waker: int
    waker_process: int


class Thread:
    """One thread's system calls, wake-ups and times on a CPU."""

    def __init__(
        self, called: Instants, numbers: Instants, returned: Instants, woken: Instants, switched_in: Instants
    ) -> None:
        self.called = called
        self.woken = woken
        self.switched_in = switched_in
        self._numbers = numbers
        after = np.searchsorted(returned, called, side="right")
        self._ended = np.append(returned, NEVER_NS)[after]

    def called_before(self, at_ns: int) -> int | None:
        """When the last system call until then was entered."""
        number = int(np.searchsorted(self.called, at_ns, side="right"))
        return int(self.called[number - 1]) if number else None

    def returned_after(self, at_ns: int) -> int | None:
        """When the system call that was under way then came back."""
        number = int(np.searchsorted(self.called, at_ns, side="right"))
        ended_ns = int(self._ended[number - 1]) if number else NEVER_NS
        return ended_ns if at_ns <= ended_ns < NEVER_NS else None

    def has_slept(self, begin_ns: int, end_ns: int) -> bool:
        """Whether it was woken within a span."""
        return bool(np.searchsorted(self.woken, end_ns) > np.searchsorted(self.woken, begin_ns))

    def calls_within(self, begin_ns: int, end_ns: int) -> Iterator[tuple[int, int, int]]:
        """The system calls that it entered or left within a span: when each began and ended, and its number."""
        first = max(int(np.searchsorted(self.called, begin_ns, side="right")) - 1, 0)
        last = int(np.searchsorted(self.called, end_ns, side="right"))
        for place in range(first, last):
            call = int(self.called[place]), int(self._ended[place]), int(self._numbers[place])
            if begin_ns <= call[0] or begin_ns <= call[1] <= end_ns:
                yield call

    def cut(self, begin_ns: int, end_ns: int) -> Iterator[tuple[bool, int, int]]:
        """A span without gaps, cut where it went into system calls and came out: whether it is within one, from, to."""
        at_ns = begin_ns
        first = max(int(np.searchsorted(self.called, begin_ns, side="right")) - 1, 0)
        last = int(np.searchsorted(self.called, end_ns))
        for called_ns, ended_ns in zip(self.called[first:last].tolist(), self._ended[first:last].tolist(), strict=True):
            if ended_ns <= at_ns:
                continue
            if called_ns > at_ns:
                yield False, at_ns, called_ns
            yield True, max(called_ns, at_ns), min(ended_ns, end_ns)
            at_ns = min(ended_ns, end_ns)
        if at_ns != end_ns:
            yield False, at_ns, end_ns


_NO_THREAD = Thread(*(np.empty(0, np.int64) for _ in range(5)))


class KernelTrace:
    """All events of a recording, by thread, by packet and by receive call."""

    def __init__(self, events: pl.DataFrame) -> None:
        events = events.sort("at_ns", maintain_order=True)
        self._threads: Mapping[int, Thread] = _threads(events)
        self._threads_of = _threads_of(events)
        self.packets = self._packets(events)
        self._sent: defaultdict[tuple[int, int], list[Packet]] = defaultdict(list)
        for packet in sorted(self.packets, key=lambda packet: packet.queued_ns):
            if packet.length:
                self._sent[packet.process, packet.ports & 0xFFFF].append(packet)
        self.takes = self._takes(events)
        """By process, in the order of time."""
        self.wake_ups = _wake_ups(events)
        """By process, in the order of time."""
        self._instants = {
            (int(process), int(kind)): frame["at_ns"].to_numpy()
            for (process, kind), frame in events.group_by(["process", "kind"], maintain_order=True)
        }
        carried = events.filter(pl.col("kind").is_in([Kind.SENT, Kind.TAKEN]) & (pl.col("value") > 0))
        self._carried = {
            int(process): (frame["at_ns"].to_numpy(), frame["value"].cum_sum().to_numpy())
            for (process,), frame in carried.group_by(["process"], maintain_order=True)
        }

    def thread(self, number: int) -> Thread:
        """A thread; one without events where nothing was seen of it."""
        return self._threads.get(number, _NO_THREAD)

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

    def carried_bytes(self, process: int, begin_ns: int, end_ns: int) -> int:
        """How many bytes a process's sockets took from it and gave to it within a span: each is copied once."""
        if process not in self._carried:
            return 0
        instants, totals = self._carried[process]
        totals = np.concatenate(([0], totals))
        return int(
            totals[np.searchsorted(instants, end_ns, side="right")] - totals[np.searchsorted(instants, begin_ns)]
        )

    def sent_with(self, last: Packet, begin_ns: int) -> list[Packet]:
        """All packets with payload that left for the same port from an instant on, up to this one."""
        sent = self._sent[last.process, last.ports & 0xFFFF]
        first = bisect_left(sent, begin_ns, key=lambda packet: packet.queued_ns)
        return sent[first : bisect_right(sent, last.queued_ns, key=lambda packet: packet.queued_ns)]

    def _packets(self, events: pl.DataFrame) -> list[Packet]:
        """A packet begins where one with a socket is queued; forwarded further on, it has none any more."""
        passing = events.filter(pl.col("kind").is_in([Kind.QUEUED, Kind.TRANSMITTED, Kind.ARRIVED]))
        begins = (pl.col("kind") == Kind.QUEUED) & (pl.col("other") != 0)
        # What arrives without having been queued and transmitted is another packet, from elsewhere, in an old place.
        one_before, two_before = (pl.col("kind").shift(steps).over("subject") for steps in (1, 2))
        arrived = (pl.col("kind") == Kind.ARRIVED) & (one_before == Kind.TRANSMITTED) & (two_before == Kind.QUEUED)
        courses = (
            passing.sort("subject", "at_ns", maintain_order=True)
            .with_columns(life=begins.cum_sum().over("subject"), arrived=arrived)
            .filter(pl.col("life") > 0)
            .group_by("subject", "life", maintain_order=True)
            .agg(
                pl.col("other", "process", "thread", "ports", "mark", "length", "at_ns").first(),
                transmitted_ns=pl.col("at_ns").filter(pl.col("kind") == Kind.TRANSMITTED).first(),
                arrived_ns=pl.col("at_ns").filter("arrived").last(),
                namespace=pl.col("other").filter("arrived").last(),
            )
            .drop_nulls()
            .sort("at_ns", maintain_order=True)
        )
        senders = _Senders(events)
        packets = []
        for row in courses.iter_rows(named=True):
            process, thread, sent_ns = senders.of(row["other"], row["process"], row["thread"], row["at_ns"])
            called_ns = self.thread(thread).called_before(sent_ns)
            if called_ns is None:
                continue
            cuts = Cuts(row["at_ns"], row["transmitted_ns"], row["arrived_ns"])
            about = {name: row[name] for name in ("namespace", "ports", "mark", "length")}
            packet = Packet(process, thread, called_ns, *cuts, first=cuts, **about)
            packets.append(packet)
        return sorted(_whole(packets), key=_arrived)

    def _takes(self, events: pl.DataFrame) -> dict[int, list[Take]]:
        taken = events.filter((pl.col("kind") == Kind.TAKEN) & (pl.col("value") > 0))
        sources = _Sources(self.packets)
        takes: defaultdict[int, list[Take]] = defaultdict(list)
        for row in taken.iter_rows(named=True):
            thread = self.thread(row["thread"])
            called_ns, returned_ns = thread.called_before(row["at_ns"]), thread.returned_after(row["at_ns"])
            packet = sources.of(row, thread)
            if called_ns is None or returned_ns is None:
                continue
            takes[row["process"]].append(Take(row["thread"], called_ns, returned_ns, packet))
        return takes


class _Senders:
    """Whose a packet is: the kernel also sends for a socket while another process happens to run."""

    def __init__(self, events: pl.DataFrame) -> None:
        sent = events.filter(pl.col("kind") == Kind.SENT)
        self._owners = {
            int(socket): (frame["at_ns"].to_numpy(), frame["process"].to_numpy(), frame["thread"].to_numpy())
            for (socket,), frame in sent.group_by(["subject"], maintain_order=True)
        }

    def of(self, socket: int, process: int, thread: int, at_ns: int) -> tuple[int, int, int]:
        """The process, the thread whose call it was, and an instant within that call."""
        if socket not in self._owners:
            return process, thread, at_ns
        instants, processes, threads = self._owners[socket]
        if process in processes:
            return process, thread, at_ns
        number = max(int(np.searchsorted(instants, at_ns, side="right")) - 1, 0)
        return int(processes[number]), int(threads[number]), int(min(instants[number], at_ns))


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

    def of(self, taken: Mapping[str, int], thread: Thread) -> Packet | None:
        """The packet; None where none fits."""
        if taken["mark"] == _UDP:
            return self._datagram(taken, thread)
        if taken["mark"] == _TCP:
            return self._segment(taken)
        return None

    def _datagram(self, taken: Mapping[str, int], thread: Thread) -> Packet | None:
        """First in, first out; who slept has found none left, so that what came before and wasn't taken never was."""
        key, at_ns = (taken["other"], taken["ports"] >> 16), taken["at_ns"]
        waiting, first = self._datagrams[key], self._next[key]
        empty_ns = self._last_ns.get(key)
        if empty_ns is None:  # datagrams that came before there was a socket were dropped
            empty_ns = thread.called_before(at_ns) or at_ns
            came = bisect_right(waiting, at_ns, key=_arrived)
            first = min(bisect_right(waiting, empty_ns, key=_arrived), max(came - 1, 0))
        elif thread.has_slept(empty_ns, at_ns):
            first = max(first, bisect_right(waiting, empty_ns, key=_arrived))
        self._last_ns[key] = at_ns
        for number in range(first, bisect_right(waiting, at_ns, key=_arrived)):
            if waiting[number].length == taken["value"]:
                self._next[key] = number + 1
                return waiting[number]
        return None

    def _segment(self, taken: Mapping[str, int]) -> Packet | None:
        """By the position of the byte in its stream, as the sequence numbers tell it."""
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
            yield (packet.mark - first) % _SEQUENCE_NUMBERS, packet


def _whole(packets: list[Packet]) -> list[Packet]:
    """Fragments joined to what they are cut from: only the first has ports, the others follow it in the same call."""
    whole: list[Packet] = []
    last_of: dict[int, int] = {}
    for packet in packets:
        number = last_of.get(packet.thread)
        if packet.ports == 0 and number is not None and whole[number].called_ns == packet.called_ns:
            whole[number] = _joined(whole[number], packet)
        else:
            last_of[packet.thread] = len(whole)
            whole.append(packet)
    return whole


def _joined(packet: Packet, fragment: Packet) -> Packet:
    last = max(packet, fragment, key=_arrived)
    return replace(
        packet,
        first=Cuts(*map(min, zip(packet.first, fragment.first, strict=True))),
        queued_ns=last.queued_ns,
        transmitted_ns=last.transmitted_ns,
        arrived_ns=last.arrived_ns,
        length=packet.length + fragment.length,
        fragments=packet.fragments + 1,
    )


def _arrived(packet: Packet) -> int:
    return packet.arrived_ns


def _threads(events: pl.DataFrame) -> dict[int, Thread]:
    kinds = (Kind.CALLED, Kind.RETURNED, Kind.WOKEN, Kind.SWITCHED)
    nothing = np.empty(0, np.int64)
    found: defaultdict[int, dict[int, Instants]] = defaultdict(lambda: dict.fromkeys(kinds, nothing))
    numbers: defaultdict[int, Instants] = defaultdict(lambda: nothing)
    of_threads = events.filter(pl.col("kind").is_in(kinds))
    for (thread, kind), frame in of_threads.group_by(["thread", "kind"], maintain_order=True):
        found[int(thread)][int(kind)] = frame["at_ns"].to_numpy()
        if kind == Kind.CALLED:
            numbers[int(thread)] = frame["value"].to_numpy()
    return {
        thread: Thread(kept[Kind.CALLED], numbers[thread], *(kept[kind] for kind in kinds[1:]))
        for thread, kept in found.items()
    }


def _threads_of(events: pl.DataFrame) -> dict[int, list[int]]:
    callers = events.filter(pl.col("kind") == Kind.CALLED).select("process", "thread").unique().sort("thread")
    return {int(process): frame["thread"].to_list() for (process,), frame in callers.group_by(["process"])}


def _wake_ups(events: pl.DataFrame) -> dict[int, list[WakeUp]]:
    found: defaultdict[int, list[WakeUp]] = defaultdict(list)
    woken = events.filter(pl.col("kind") == Kind.WOKEN)
    for at_ns, process, thread, waker, waker_process in woken.select(
        "at_ns", "process", "thread", "subject", "other"
    ).iter_rows():
        found[process].append(WakeUp(at_ns, thread, waker, waker_process))
    return found
