"""What the kernel did for single messages, event by event, and the paths that are found in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from middlemark.analysis.kernel.breakdown import SampledPaths, sample_paths
from middlemark.analysis.kernel.events import Kind
from middlemark.analysis.kernel.follow import Ends
from middlemark.analysis.kernel.segments import PathPart
from middlemark.analysis.kernel.trace import KernelTrace
from middlemark.results.tables import KERNEL_EVENTS_SCHEMA, RECEIVED_SCHEMA

SENDER, RECEIVER, BROKER, STRANGER = 100, 200, 300, 400


HERE, THERE = 1, 2


UDP, TCP = 17, 6


SOCKET, OWN_SOCKET = 71, 72


SEND, RECEIVE, FUTEX = 44, 45, 202


MESSAGES_SCHEMA = {**RECEIVED_SCHEMA, "size_bytes": pl.Int64()}


Events = list[dict[str, int]]


def event(kind: Kind, at_ns: int, process: int, **fields: int) -> dict[str, int]:
    return {**dict.fromkeys(KERNEL_EVENTS_SCHEMA, 0), "kind": kind, "at_ns": at_ns, "process": process, **fields} | {
        "thread": fields.get("thread", process + 1)
    }


def called(process: int, at_ns: int, until_ns: int, number: int = SEND) -> Events:
    return [
        event(Kind.CALLED, at_ns, process, value=number),
        event(Kind.RETURNED, until_ns, process, subject=number),
    ]


def packet(  # noqa: PLR0913, PLR0917 - a packet has so many sides
    at: tuple[int, int, int],
    process: int = SENDER,
    ports: int = 9 << 16 | 7,
    length: int = 64,
    mark: int = 0,
    skb: int = 5,
) -> Events:
    queued_ns, transmitted_ns, arrived_ns = at
    about = {"subject": skb, "ports": ports, "length": length, "mark": mark}
    return [
        event(Kind.QUEUED, queued_ns, process, **about, other=SOCKET + process),
        event(Kind.TRANSMITTED, transmitted_ns, process, subject=skb, other=HERE),
        event(Kind.ARRIVED, arrived_ns, process, subject=skb, other=THERE),
    ]


def taken(at_ns: int, length: int = 64, protocol: int = UDP, process: int = RECEIVER, ports: int = 7 << 16) -> Events:
    about = {"subject": OWN_SOCKET + process, "other": THERE, "mark": protocol, "ports": ports}
    return [event(Kind.TAKEN, at_ns, process, value=length, **about)]


def ran(process: int, woken_ns: int, runs_ns: int, by: int = SENDER) -> Events:
    return [
        event(Kind.WOKEN, woken_ns, process, subject=by + 1, other=by),
        event(Kind.SWITCHED, runs_ns, process),
    ]


def datagram(begin_ns: int = 1000) -> Events:
    """Handed over at the start, arrived 1000 ns later."""
    b = begin_ns
    return [
        *called(SENDER, b + 10, b + 480),
        *packet((b + 40, b + 60, b + 100)),
        *ran(RECEIVER, b + 150, b + 600),
        *called(RECEIVER, b - 500, b + 900, RECEIVE),
        *taken(b + 880),
    ]


def found(
    events: Events, *messages: Mapping[str, int], forwarders: tuple[int, ...] = (), apart: bool = False
) -> SampledPaths:
    trace = KernelTrace(pl.DataFrame(events, schema=KERNEL_EVENTS_SCHEMA), forwarders)
    rows = [{**_message(), **message} for message in messages or ({},)]
    messages = pl.DataFrame(rows, schema=MESSAGES_SCHEMA)
    result = sample_paths(
        trace, messages, lambda publisher, _: Ends(STRANGER if publisher else SENDER, RECEIVER, apart), 500
    )
    for row in result.parts.iter_rows(named=True):
        assert sum(row[f"{part}_ns"] for part in PathPart) == row["whole_ns"]
        assert all(row[f"{part}_ns"] >= 0 for part in PathPart)
    return result


def _message() -> dict[str, Any]:
    numbers = dict.fromkeys(("stream", "answer", "publisher", "subscriber", "sequence", "intended_ns"), 0)
    return {"application": "subscriber_0", **numbers, "sent_ns": 1000, "received_ns": 2000, "size_bytes": 64}


def parts(result: SampledPaths, row: int = 0) -> dict[str, int]:
    named = result.parts.row(row, named=True)
    return {str(part): named[f"{part}_ns"] for part in PathPart if named[f"{part}_ns"]}


def sent(at_ns: int, process: int = SENDER, namespace: int = HERE, length: int = 64) -> Events:
    return [event(Kind.SENT, at_ns, process, value=length, subject=OWN_SOCKET + process, other=namespace)]
