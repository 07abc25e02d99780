"""The packets of a recording, each from its queueing to the last interface that it arrived at.

Segments and fragments that the kernel made, and copies that a relay forwarded, are joined to one packet again. `trace`
finds the receive call that took a packet's bytes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from middlemark.analysis.kernel.events import Kind, Thread

SEQUENCE_NUMBERS = 1 << 32
_IDENTITY = ("ports", "mark", "length")
"""How a packet is recognised behind a bridge or a relay."""
ThreadOf = Callable[[int], Thread]
EventRow = dict[str, Any]


class Cuts(NamedTuple):
    """When a packet was queued, transmitted and received."""

    queued_ns: int
    transmitted_ns: int
    arrived_ns: int


@dataclass(frozen=True, slots=True)
class Packet:
    """A packet from its queueing to the last interface that it arrived at."""

    process: int
    """The process whose socket sent it."""
    thread: int
    """The thread whose call sent it."""
    called_ns: int
    """When that call was entered."""
    queued_ns: int
    transmitted_ns: int
    arrived_ns: int
    namespace: int
    """The network namespace in which it arrived."""
    ports: int
    mark: int
    length: int
    """Of its payload, in bytes."""
    first: Cuts
    """The instants of its first fragment; its own instants are those of the fragment that arrived last."""
    fragments: int = 1
    """How many fragments it was divided into."""


def packets(events: pl.DataFrame, thread_of: ThreadOf, forwarders: Collection[int]) -> list[Packet]:
    """All packets that arrived, in order of arrival; `forwarders` are processes that forward the packets of others."""
    senders = _Senders(events, thread_of)
    passages = _passages(events)
    queues = _Queues(passages)
    sent, forwarded = [], []
    came = passages.filter(pl.col("transmitted_ns").is_not_null() & pl.col("arrived_ns").is_not_null())
    for row in came.iter_rows(named=True):
        queued = row if row["kind"] == Kind.QUEUED else queues.parent(row)
        if queued is None:
            continue
        cuts = Cuts(queued["at_ns"], row["transmitted_ns"], row["arrived_ns"])
        properties = {name: row[name] for name in ("namespace", "ports", "mark", "length")}
        # The kernel also sends from other processes' sockets while a forwarder happens to run.
        if queued["process"] in forwarders and not senders.know(queued["other"]):
            forwarded.append(Packet(queued["process"], queued["thread"], 0, *cuts, first=cuts, **properties))
            continue
        process, thread, sent_ns = senders.of(queued)
        called_ns = thread_of(thread).called_before(sent_ns)
        if called_ns is not None:
            sent.append(Packet(process, thread, called_ns, *cuts, first=cuts, **properties))
    return sorted(_whole(_forwarded(sent, forwarded)), key=arrived)


def _passages(events: pl.DataFrame) -> pl.DataFrame:
    """One row per packet.

    A packet begins where it is queued with a socket; when it is forwarded later it has no socket. A segment of a queued
    packet begins where it is transmitted, with ports of its own.
    """
    passing = events.filter(pl.col("kind").is_in([Kind.QUEUED, Kind.TRANSMITTED, Kind.ARRIVED]))
    is_segment = (pl.col("kind") == Kind.TRANSMITTED) & (pl.col("ports") != 0)
    is_own = ((pl.col("kind") == Kind.QUEUED) & (pl.col("other") != 0)) | is_segment
    # Queued without a socket: the same packet later on its path, or an unrelated one that reuses its buffer address.
    is_strange = (pl.col("kind") == Kind.QUEUED) & (pl.col("other") == 0) & _differs(is_own)
    begins = is_own | is_strange
    # A packet that was segmented is never transmitted itself: by then another packet has its buffer address.
    leaves = (pl.col("kind") == Kind.TRANSMITTED) & (begins | begins.shift(1).over("subject"))
    # What arrives without having been queued and transmitted is a packet from elsewhere that reuses a buffer address.
    one_before, two_before = (pl.col("kind").shift(steps).over("subject") for steps in (1, 2))
    left = (one_before == Kind.TRANSMITTED) & (
        (two_before == Kind.QUEUED) | (pl.col("ports").shift(1).over("subject") != 0)
    )
    return (
        passing.sort("subject", "at_ns", maintain_order=True)
        .with_columns(
            life=begins.cum_sum().over("subject"), leaves=leaves, arrived=left & (pl.col("kind") == Kind.ARRIVED)
        )
        .filter((pl.col("life") > 0) & is_own.first().over("subject", "life"))
        .group_by("subject", "life", maintain_order=True)
        .agg(
            pl.col("kind", "other", "process", "thread", "ports", "mark", "length", "at_ns").first(),
            transmitted_ns=pl.col("at_ns").filter("leaves").first(),
            arrived_ns=pl.col("at_ns").filter("arrived").last(),
            namespace=pl.col("other").filter("arrived").last(),
        )
        .sort("at_ns", maintain_order=True)
    )


def _differs(is_own: pl.Expr) -> pl.Expr:
    """Whether a row is of another packet than the last one at its buffer address: a packet keeps its identity."""
    changed = [pl.when(is_own).then(pl.col(name)).forward_fill().over("subject") != pl.col(name) for name in _IDENTITY]
    return pl.any_horizontal(changed).fill_null(value=False)


class _Queues:
    """Packets that were queued and then segmented, to find the one that a segment belongs to."""

    def __init__(self, passages: pl.DataFrame) -> None:
        self._queued: defaultdict[int, list[EventRow]] = defaultdict(list)
        # A packet that was transmitted itself was not segmented.
        cut = passages.filter((pl.col("kind") == Kind.QUEUED) & pl.col("transmitted_ns").is_null())
        for row in cut.iter_rows(named=True):
            self._queued[row["ports"]].append(row)

    def parent(self, segment: EventRow) -> EventRow | None:
        """The last packet queued before a segment that contains the segment's first byte."""
        queued = self._queued[segment["ports"]]
        last = bisect_right(queued, segment["at_ns"], key=_at)
        for row in reversed(queued[max(last - 64, 0) : last]):
            if (segment["mark"] - row["mark"]) % SEQUENCE_NUMBERS < row["length"]:
                return row
        return None


def _forwarded(sent: Sequence[Packet], forwarded: Sequence[Packet]) -> list[Packet]:
    """The packets as they arrived behind the last relay that forwarded them; all time between counts as wire.

    Each is recognised by its mark. A packet that a relay duplicated gives two packets with the same path before the
    relay.
    """
    arrivals = list(sent)
    latest: dict[tuple[int, int, int], tuple[int, set[int]]] = {}
    waiting = iter(sorted(enumerate(sent), key=lambda pair: pair[1].arrived_ns))
    place, packet = next(waiting, (0, None))
    for again in sorted(forwarded, key=lambda other: other.queued_ns):
        while packet is not None and packet.arrived_ns <= again.queued_ns:
            latest[_identity(packet)] = (place, set())
            place, packet = next(waiting, (0, None))
        index, passed = latest.get(_identity(again), (None, set()))
        if index is None:
            continue
        behind = replace(arrivals[index], arrived_ns=again.arrived_ns, namespace=again.namespace)
        behind = replace(behind, first=behind.first._replace(arrived_ns=again.arrived_ns))
        if again.process in passed:
            arrivals.append(behind)
        else:
            arrivals[index] = behind
            passed.add(again.process)
    return arrivals


def _identity(packet: Packet) -> tuple[int, int, int]:
    return packet.ports, packet.mark, packet.length


class _Senders:
    """The process that a packet belongs to: the kernel may send from a socket while another process runs."""

    def __init__(self, events: pl.DataFrame, thread_of: ThreadOf) -> None:
        sent = events.filter(pl.col("kind") == Kind.SENT)
        self._thread_of = thread_of
        self._owners = {
            int(socket): (frame["at_ns"].to_numpy(), frame["process"].to_numpy(), frame["thread"].to_numpy())
            for (socket,), frame in sent.group_by(["subject"], maintain_order=True)
        }

    def know(self, socket: int) -> bool:
        """Whether an observed process has sent on the socket."""
        return socket in self._owners

    def of(self, queued: EventRow) -> tuple[int, int, int]:
        """The process, the thread whose call it was, and an instant within that call."""
        process, thread, at_ns = queued["process"], queued["thread"], queued["at_ns"]
        if queued["other"] not in self._owners:
            return process, thread, at_ns
        instants, processes, threads = self._owners[queued["other"]]
        if process in processes and self._thread_of(thread).returned_after(at_ns) is not None:
            return process, thread, at_ns
        # A call's event comes at its end: the next such event may belong to a call that was already running.
        following = int(np.searchsorted(instants, at_ns))
        if following < len(instants):
            called_ns = self._thread_of(int(threads[following])).called_before(int(instants[following]))
            if called_ns is not None and called_ns <= at_ns:
                return int(processes[following]), int(threads[following]), at_ns
        number = max(following - 1, 0)
        return int(processes[number]), int(threads[number]), int(min(instants[number], at_ns))


def _whole(packets: Sequence[Packet]) -> list[Packet]:
    """Fragments joined to packets: only the first fragment has ports, the others follow it in the same call."""
    whole: list[Packet] = []
    last_of: dict[int, int] = {}
    for packet in packets:
        number = last_of.get(packet.thread)
        if packet.ports == 0 and number is not None and _belong_together(whole[number], packet):
            whole[number] = _joined(whole[number], packet)
        else:
            last_of[packet.thread] = len(whole)
            whole.append(packet)
    return whole


def _belong_together(packet: Packet, fragment: Packet) -> bool:
    """A fragment that was lost has no namespace of arrival, unlike the others."""
    return (packet.called_ns, packet.namespace) == (fragment.called_ns, fragment.namespace)


def _joined(packet: Packet, fragment: Packet) -> Packet:
    last = max(packet, fragment, key=arrived)
    return replace(
        packet,
        first=Cuts(*map(min, zip(packet.first, fragment.first, strict=True))),
        queued_ns=last.queued_ns,
        transmitted_ns=last.transmitted_ns,
        arrived_ns=last.arrived_ns,
        length=packet.length + fragment.length,
        fragments=packet.fragments + 1,
    )


def arrived(packet: Packet) -> int:
    """When it arrived."""
    return packet.arrived_ns


def _at(row: EventRow) -> int:
    at_ns: int = row["at_ns"]
    return at_ns
