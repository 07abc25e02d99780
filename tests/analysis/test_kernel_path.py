"""A message's path is found in what the kernel did, its parts add up, and what can't be told is counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest

from middlemark.analysis.kernel_path import Part, Paths, SetAside, paths
from middlemark.analysis.kernel_trace import KernelTrace, Kind
from middlemark.analysis.run_folder import KERNEL_EVENTS_SCHEMA, RECEIVED_SCHEMA

SENDER, RECEIVER, BROKER, STRANGER = 100, 200, 300, 400
HERE, THERE = 1, 2
UDP, TCP = 17, 6
SOCKET, OWN_SOCKET = 71, 72
SEND, RECEIVE, FUTEX = 44, 45, 202
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
    """Handed over at the begin, arrived 1000 ns later."""
    b = begin_ns
    return [
        *called(SENDER, b + 10, b + 480),
        *packet((b + 40, b + 60, b + 100)),
        *ran(RECEIVER, b + 150, b + 600),
        *called(RECEIVER, b - 500, b + 900, RECEIVE),
        *taken(b + 880),
    ]


def found(events: Events, *messages: Mapping[str, int]) -> Paths:
    trace = KernelTrace(pl.DataFrame(events, schema=KERNEL_EVENTS_SCHEMA))
    rows = [{**_message(), **message} for message in messages or ({},)]
    received = pl.DataFrame(rows, schema=RECEIVED_SCHEMA)
    result = paths(trace, received, lambda publisher, _: (STRANGER if publisher else SENDER, RECEIVER))
    for row in result.parts.iter_rows(named=True):
        assert sum(row[f"{part}_ns"] for part in Part) == row["whole_ns"]
        assert all(row[f"{part}_ns"] >= 0 for part in Part)
    return result


def _message() -> dict[str, Any]:
    numbers = dict.fromkeys(("stream", "answer", "publisher", "subscriber", "sequence", "intended_ns"), 0)
    return {"application": "subscriber_0", **numbers, "sent_ns": 1000, "received_ns": 2000}


def parts(result: Paths, row: int = 0) -> dict[str, int]:
    named = result.parts.row(row, named=True)
    return {str(part): named[f"{part}_ns"] for part in Part if named[f"{part}_ns"]}


def test_a_datagram_is_cut_where_it_passes() -> None:
    result = found(datagram())
    assert parts(result) == {
        "middleware_sender": 10,
        "kernel_sender": 30,
        "queue": 20,
        "wire": 40,
        "kernel_delivery": 50,
        "scheduler": 450,
        "kernel_receiver": 300,
        "middleware_receiver": 100,
    }
    assert result.parts.select("hops", "packets", "calls", "wake_ups", "switches", "copied_bytes").row(0) == (
        (1, 1, 2, 1, 1, 64)
    )


def test_a_receiver_that_runs_already_waits_for_no_scheduler() -> None:
    events = [each for each in datagram() if each["kind"] not in {Kind.WOKEN, Kind.SWITCHED}]
    told = parts(found(events))
    assert "scheduler" not in told
    assert told["kernel_receiver"] == 800


def test_fragments_count_as_one_datagram_that_comes_with_the_last_of_them() -> None:
    events = [
        *called(SENDER, 1010, 1480),
        *packet((1040, 1050, 1060), length=1472, skb=5),
        *packet((1070, 1080, 1100), ports=0, length=528, skb=6),
        *ran(RECEIVER, 1150, 1600),
        *called(RECEIVER, 500, 1900, RECEIVE),
        *taken(1880, length=2000),
    ]
    result = found(events)
    assert result.parts["packets"].to_list() == [2]
    assert parts(result)["kernel_sender"] == 60


def test_datagrams_from_before_there_was_a_socket_are_taken_for_no_other() -> None:
    early = [*called(SENDER, 100, 190), *packet((110, 120, 130), skb=8)]
    result = found(
        [*early, *datagram(1000), *datagram(3000)], {}, {"sent_ns": 3000, "received_ns": 4000, "sequence": 1}
    )
    assert result.set_aside == {}
    assert parts(result, 0) == parts(result, 1)


def test_a_stream_s_bytes_are_followed_by_their_sequence_numbers() -> None:
    stream = {"ports": 9 << 16 | 7, "length": 100}
    first_number = (1 << 32) - 50
    events = [
        *called(SENDER, 1010, 1080),
        *packet((1020, 1030, 1040), **stream, mark=first_number, skb=5),
        *called(SENDER, 1110, 1180),
        *packet((1120, 1130, 1140), **stream, mark=(first_number + 100) % (1 << 32), skb=6),
        *called(RECEIVER, 1200, 1300, RECEIVE),
        *taken(1290, length=100, protocol=TCP, ports=7 << 16 | 9),
        *called(RECEIVER, 1400, 1500, RECEIVE),
        *taken(1490, length=100, protocol=TCP, ports=7 << 16 | 9),
    ]
    result = found(
        events,
        {"sent_ns": 1000, "received_ns": 1350},
        {"sent_ns": 1100, "received_ns": 1600, "sequence": 1},
    )
    assert result.set_aside == {}
    assert result.parts["last_arrived_ns"].to_list() == [1040, 1140]


def test_with_shared_memory_the_wake_up_is_the_way() -> None:
    events = [
        *called(SENDER, 1100, 1400, FUTEX),
        *ran(RECEIVER, 1200, 1500),
        *called(RECEIVER, 500, 1600, FUTEX),
    ]
    assert parts(found(events)) == {
        "middleware_sender": 100,
        "kernel_sender": 100,
        "scheduler": 300,
        "kernel_receiver": 100,
        "middleware_receiver": 400,
    }


def test_a_broker_s_own_time_is_a_part() -> None:
    to_broker, to_receiver = 9 << 16 | 18, 18 << 16 | 7
    events = [
        *called(SENDER, 1010, 1080),
        *packet((1020, 1030, 1040), ports=to_broker, skb=5),
        *called(BROKER, 1100, 1200, RECEIVE),
        *taken(1190, process=BROKER, ports=18 << 16),
        *called(BROKER, 1300, 1400),
        *packet((1320, 1330, 1340), process=BROKER, ports=to_receiver, skb=6),
        *called(RECEIVER, 1500, 1600, RECEIVE),
        *taken(1590),
    ]
    result = found(events)
    assert result.parts["hops"].to_list() == [2]
    assert parts(result)["service"] == 100 + 60  # from its receive call to its send call, and until it looked


def test_another_publisher_s_packet_is_not_the_message_s() -> None:
    events = [
        *datagram(),
        *called(STRANGER, 1100, 1200),
        *packet((1110, 1120, 1130), process=STRANGER, skb=9, ports=3 << 16 | 8),
    ]
    events += [*called(RECEIVER, 1910, 1960, RECEIVE), *taken(1950, ports=8 << 16)]
    result = found(events, {}, {"publisher": 1, "sent_ns": 1050, "received_ns": 1990})
    assert result.set_aside == {}
    assert sorted(result.parts["last_arrived_ns"].to_list()) == [1100, 1130]


def test_a_packet_from_elsewhere_in_an_old_packet_s_place_is_not_followed() -> None:
    elsewhere = [
        event(Kind.TRANSMITTED, 1950, 0, subject=5, other=HERE),
        event(Kind.ARRIVED, 1960, 0, subject=5, other=THERE),
    ]
    assert parts(found(datagram() + elsewhere)) == parts(found(datagram()))


def test_a_message_without_a_way_is_set_aside_and_counted() -> None:
    assert found(called(RECEIVER, 500, 1900, RECEIVE)).set_aside == {SetAside.NO_WAY_FOUND: 1}


@pytest.mark.parametrize("messages", [0, 3, 2000])
def test_messages_are_chosen_evenly_and_no_more_than_asked(messages: int) -> None:
    chosen = [{"sent_ns": 10 * number, "received_ns": 10 * number + 5} for number in range(messages)]
    trace = KernelTrace(pl.DataFrame(schema=KERNEL_EVENTS_SCHEMA))
    received = pl.DataFrame([{**_message(), **each} for each in chosen], schema=RECEIVED_SCHEMA)
    result = paths(trace, received, lambda _, __: (SENDER, RECEIVER), samples=100)
    assert sum(result.set_aside.values()) == min(messages, 100)
