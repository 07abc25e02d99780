"""A message's path is found in what the kernel did, its parts add up, and what can't be told is counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest

from middlemark.analysis.kernel.breakdown import SampledPaths, example_messages, sample_paths
from middlemark.analysis.kernel.events import Kind
from middlemark.analysis.kernel.follow import Ends
from middlemark.analysis.kernel.segments import Part, SetAside, Side
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
    """Handed over at the begin, arrived 1000 ns later."""
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
        assert sum(row[f"{part}_ns"] for part in Part) == row["whole_ns"]
        assert all(row[f"{part}_ns"] >= 0 for part in Part)
    return result


def _message() -> dict[str, Any]:
    numbers = dict.fromkeys(("stream", "answer", "publisher", "subscriber", "sequence", "intended_ns"), 0)
    return {"application": "subscriber_0", **numbers, "sent_ns": 1000, "received_ns": 2000, "size_bytes": 64}


def parts(result: SampledPaths, row: int = 0) -> dict[str, int]:
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


def sent(at_ns: int, process: int = SENDER, namespace: int = HERE, length: int = 64) -> Events:
    return [event(Kind.SENT, at_ns, process, value=length, subject=OWN_SOCKET + process, other=namespace)]


def test_between_hosts_a_wake_up_explains_no_message_whose_packet_was_missed() -> None:
    missed = {Kind.QUEUED, Kind.TRANSMITTED, Kind.ARRIVED}
    events = [*(each for each in datagram() if each["kind"] not in missed), *sent(1470)]
    assert found(events).set_aside == {}
    assert found(events, apart=True).set_aside == {SetAside.NO_WAY_FOUND: 1}
    assert parts(found([*datagram(), *sent(1470)], apart=True)) == parts(found(datagram()))


def test_a_wake_up_on_the_receivers_host_is_part_of_the_path_from_another_host() -> None:
    events = [
        *called(SENDER, 1010, 1080),
        *packet((1020, 1030, 1040), ports=9 << 16 | 18),
        *called(BROKER, 1100, 1200, RECEIVE),
        *taken(1190, process=BROKER, ports=18 << 16),
        *called(BROKER, 1300, 1400, FUTEX),
        *ran(RECEIVER, 1350, 1500, by=BROKER),
        *called(RECEIVER, 500, 1600, FUTEX),
        *sent(500, RECEIVER, THERE),
    ]
    assert found(events, apart=True).parts["hops"].to_list() == [2]


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


@pytest.mark.parametrize("later_ns", [300, 6000])
def test_of_two_packets_that_arrive_at_the_same_time_either_may_be_taken_first(later_ns: int) -> None:
    """The sender's is seen to arrive after the stranger's, yet comes first into the queue."""
    events = [
        *called(SENDER, 1010, 1480),
        *called(STRANGER, 1010, 1480),
        *packet((1040, 1060, 1100), STRANGER, skb=6, ports=8 << 16 | 7),
        *packet((1040, 1060, 1100 + later_ns), SENDER, skb=5),
        *called(RECEIVER, 500, 9100, RECEIVE),
        *taken(9080),
        *called(RECEIVER, 9200, 9300, RECEIVE),
        *taken(9280),
    ]
    first, second = {"received_ns": 9150}, {"received_ns": 9400, "publisher": 1}
    told = found(events, first, second, apart=True)
    if later_ns == 300:
        assert told.set_aside == {}
        assert sorted(told.parts["publisher"].to_list()) == [0, 1]
    else:  # too far apart: this receive call took the other's
        assert told.set_aside == {SetAside.NO_WAY_FOUND: 1}


def test_a_packet_from_elsewhere_in_an_old_packet_s_place_is_not_followed() -> None:
    elsewhere = [
        event(Kind.TRANSMITTED, 1950, 0, subject=5, other=HERE),
        event(Kind.ARRIVED, 1960, 0, subject=5, other=THERE),
    ]
    assert parts(found(datagram() + elsewhere)) == parts(found(datagram()))


def overlapping(size_bytes: int) -> list[dict[str, int]]:
    """Two messages of three packets each, the second handed over before the first has left."""
    return [
        {"sent_ns": 1000, "received_ns": 1700, "size_bytes": size_bytes},
        {"sent_ns": 1005, "received_ns": 2600, "size_bytes": size_bytes, "sequence": 1},
    ]


def queued_behind() -> Events:
    """What their sender does: each message by one call of its own, the second once the first is out."""
    events: Events = []
    for number, called_ns in enumerate((1010, 1210)):
        events += called(SENDER, called_ns, called_ns + 100)
        for place in range(3):
            at_ns = called_ns + 10 * (place + 1)
            about = {"length": 100, "mark": 1000 + 100 * (3 * number + place), "skb": 20 + 3 * number + place}
            events += packet((at_ns, at_ns + 2, at_ns + 5), **about)
        events += [*called(RECEIVER, called_ns + 400, called_ns + 600, RECEIVE)]
        events += taken(called_ns + 590, length=300, protocol=TCP, ports=7 << 16 | 9)
    return events


def test_of_messages_that_overlap_each_has_its_own_packets() -> None:
    result = found(queued_behind(), *overlapping(300))
    assert result.set_aside == {}
    assert result.parts["packets"].to_list() == [3, 3]
    assert result.parts["first_queued_ns"].to_list() == [1020, 1220]
    assert result.parts["last_arrived_ns"].to_list() == [1045, 1245]
    assert parts(result, 1)["middleware_sender"] == 1210 - 1005  # it waited there for the first to leave


def test_the_first_and_the_last_packet_are_told_at_each_cut() -> None:
    (first, _) = found(queued_behind(), *overlapping(300)).parts.iter_rows(named=True)
    cuts = ("queued", "transmitted", "arrived")
    assert [first[f"first_{cut}_ns"] for cut in cuts] == [1020, 1022, 1025]
    assert [first[f"last_{cut}_ns"] for cut in cuts] == [1040, 1042, 1045]


def test_packets_that_only_tell_of_what_memory_holds_are_followed_too() -> None:
    result = found(datagram(), {"size_bytes": 1_000_000})
    assert result.set_aside == {}
    assert result.parts["packets"].to_list() == [1]


def test_a_receive_call_that_does_not_complete_the_message_is_not_its_last() -> None:
    """What comes to another port meanwhile is a middleware's own talk."""
    talk = [
        *packet((1050, 1060, 1110), length=20, skb=9, ports=9 << 16 | 8),
        *called(RECEIVER, 1910, 1960, RECEIVE),
        *taken(1950, length=20, ports=8 << 16),
    ]
    assert found([*datagram(), *talk]).parts["last_arrived_ns"].to_list() == [1100]


def test_a_message_that_a_broker_mixes_with_another_is_set_aside() -> None:
    """The broker reads the next message while it still sends this one."""
    to_broker, to_receiver = 9 << 16 | 18, 18 << 16 | 7
    events = [
        *called(SENDER, 1010, 1080),
        *packet((1020, 1030, 1040), ports=to_broker, skb=5),
        *called(BROKER, 1100, 1150, RECEIVE),
        *taken(1140, process=BROKER, ports=18 << 16),
        *called(BROKER, 1200, 1290),
        *packet((1210, 1220, 1230), process=BROKER, ports=to_receiver, length=44, skb=6),
        *called(SENDER, 1300, 1380),
        *packet((1310, 1320, 1330), ports=to_broker, skb=7),
        *called(BROKER, 1400, 1450, RECEIVE),
        *taken(1440, process=BROKER, ports=18 << 16),
        *called(BROKER, 1460, 1490),
        *packet((1470, 1475, 1480), process=BROKER, ports=to_receiver, length=20, skb=8),
        *called(RECEIVER, 1500, 1600, RECEIVE),
        *taken(1590, length=44),
        *called(RECEIVER, 1700, 1800, RECEIVE),
        *taken(1790, length=20),
    ]
    assert found(events).set_aside == {SetAside.AMBIGUOUS: 1}


def test_a_message_without_a_way_is_set_aside_and_counted() -> None:
    assert found(called(RECEIVER, 500, 1900, RECEIVE)).set_aside == {SetAside.NO_WAY_FOUND: 1}


@pytest.mark.parametrize("messages", [0, 3, 2000])
def test_messages_are_chosen_evenly_and_no_more_than_asked(messages: int) -> None:
    chosen = [{"sent_ns": 10 * number, "received_ns": 10 * number + 5} for number in range(messages)]
    trace = KernelTrace(pl.DataFrame(schema=KERNEL_EVENTS_SCHEMA))
    received = pl.DataFrame([{**_message(), **each} for each in chosen], schema=MESSAGES_SCHEMA)
    result = sample_paths(trace, received, lambda _, __: Ends(SENDER, RECEIVER), samples=100)
    assert sum(result.set_aside.values()) == min(messages, 100)


RELAY = 500
BETWEEN = 3


def relayed(at: tuple[int, int, int], skb: int, ports: int = 9 << 16 | 7, length: int = 64, mark: int = 0) -> Events:
    return packet(at, process=RELAY, ports=ports, length=length, mark=mark, skb=skb)


def through_relays(*marks: int) -> Events:
    """A datagram a mark, 3000 ns from one to the next, each carried on twice: it arrives 260 ns later than otherwise."""
    events: Events = []
    for number, mark in enumerate(marks):
        b = 1000 + 3000 * number
        events += [
            *called(SENDER, b + 10, b + 480),
            *packet((b + 40, b + 60, b + 100), mark=mark),
            *relayed((b + 200, b + 210, b + 220), skb=6, mark=mark),
            *relayed((b + 300, b + 310, b + 360), skb=7, mark=mark),
            *ran(RECEIVER, b + 400, b + 600),
            *called(RECEIVER, b - 500, b + 900, RECEIVE),
            *taken(b + 880),
        ]
    for each in events:
        if each["kind"] == Kind.ARRIVED and each["subject"] != 7:
            each["other"] = BETWEEN
    second = [each for each in events if each["subject"] == 7 and each["kind"] in {Kind.QUEUED, Kind.TRANSMITTED}]
    for each in second:
        each["process"], each["thread"] = RELAY + 10, RELAY + 11
    return events


def through(events: Events, *messages: Mapping[str, int]) -> SampledPaths:
    return found(events, *messages, forwarders=(RELAY, RELAY + 10))


def test_what_relays_carry_on_is_the_wire() -> None:
    result = through(through_relays(11, 22), {}, {"sent_ns": 4000, "received_ns": 5000, "sequence": 1})
    assert result.set_aside == {}
    assert result.parts["wire_ns"].to_list() == [300, 300]
    assert result.parts["packets"].to_list() == [1, 1]
    assert parts(result)["kernel_delivery"] == 40


def test_a_datagram_that_a_relay_lost_shifts_nothing() -> None:
    events = through_relays(11, 22)
    lost = [e for e in events if e["at_ns"] < 2000 and (e["process"] >= RELAY or e["kind"] == Kind.TAKEN)]
    kept = [e for e in events if e not in lost]
    result = through(kept, {"sent_ns": 4000, "received_ns": 5000, "sequence": 1})
    assert result.parts["wire_ns"].to_list() == [300]


def test_what_a_relay_doubles_is_taken_twice_and_sent_once() -> None:
    again = [*relayed((1370, 1380, 1390), skb=8, mark=11)]
    for each in again:
        each["process"], each["thread"] = RELAY + 10, RELAY + 11
    second_take = [*called(RECEIVER, 1910, 1960, RECEIVE), *taken(1950)]
    result = through(
        [*through_relays(11), *again, *second_take], {}, {"sent_ns": 1000, "received_ns": 1990, "sequence": 1}
    )
    assert result.set_aside == {}
    assert result.parts["packets"].to_list() == [1, 1]


def test_segments_are_parts_of_what_was_queued() -> None:
    first_number = 1000
    whole = [event(Kind.QUEUED, 1040, SENDER, subject=4, other=SOCKET, ports=9 << 16 | 7, mark=1000, length=200)]
    segments = [
        each
        for number, at_ns in enumerate((1060, 1070))
        for each in (
            event(
                Kind.TRANSMITTED,
                at_ns,
                SENDER,
                subject=5 + number,
                other=HERE,
                ports=9 << 16 | 7,
                mark=first_number + 100 * number,
                length=100,
            ),
            event(Kind.ARRIVED, at_ns + 40, SENDER, subject=5 + number, other=THERE),
        )
    ]
    events = [
        *called(SENDER, 1010, 1480),
        *whole,
        *segments,
        # Its place is taken by a packet that is forwarded.
        event(Kind.QUEUED, 1090, STRANGER, subject=4),
        event(Kind.TRANSMITTED, 1095, STRANGER, subject=4, other=HERE),
        event(Kind.ARRIVED, 1099, STRANGER, subject=4, other=THERE),
        *ran(RECEIVER, 1150, 1600),
        *called(RECEIVER, 500, 1900, RECEIVE),
        *taken(1880, length=200, protocol=TCP, ports=7 << 16 | 9),
    ]
    result = found(events, {"size_bytes": 200})
    assert result.parts["packets"].to_list() == [2]
    assert parts(result)["queue"] == 30
    assert parts(result)["wire"] == 40


def test_what_is_forwarded_in_a_packet_s_old_place_is_not_that_packet() -> None:
    later = 1_000_000
    events = [
        *datagram(),
        event(Kind.QUEUED, later, STRANGER, subject=5, ports=3 << 16 | 4, mark=99, length=1172),
        event(Kind.TRANSMITTED, later + 5, STRANGER, subject=5, other=HERE),
        event(Kind.ARRIVED, later + 9, STRANGER, subject=5, other=THERE),
    ]
    result = found(events)
    assert result.parts["packets"].to_list() == [1]
    assert parts(result)["wire"] == 40


def test_what_the_kernel_holds_back_after_the_call_came_back_is_the_kernel_s() -> None:
    """It may even send while a relay runs, which is then not who sends."""
    late = [each | {"at_ns": each["at_ns"] + 300} for each in packet((1200, 1220, 1260), mark=64)]
    events = [
        *called(SENDER, 1010, 1100),
        *packet((1040, 1050, 1060), skb=9),
        event(Kind.SENT, 1090, SENDER, subject=SOCKET + SENDER, value=128),
        *late,
        *called(RECEIVER, 500, 1700, RECEIVE),
        *taken(1650, length=128, protocol=TCP, ports=7 << 16 | 9),
    ]
    for each in late:
        each["process"], each["thread"] = RELAY, RELAY + 1
    told = parts(through(events))
    assert told["middleware_sender"] == 10
    assert told["kernel_sender"] == 490


def test_calls_are_told_by_name_s_number_and_side() -> None:
    background = [
        *called(RECEIVER, 100, 5000, FUTEX),  # another thread waits all the while
        *called(SENDER, 1500, 5000, 230),  # and the sender for its next message
    ]
    background[0]["thread"] = background[1]["thread"] = RECEIVER + 5
    assert found([*datagram(), *background]).calls == {
        (Side.SENDER, SEND): 1,
        (Side.SENDER, 230): 1,
        (Side.RECEIVER, RECEIVE): 1,
    }


def test_the_messages_told_are_those_in_the_middle_and_of_the_slow() -> None:
    begins = [10_000 * number for number in range(1, 201)]
    events = [each for begin_ns in begins for each in datagram(begin_ns)]
    received = pl.DataFrame(
        [
            {**_message(), "sequence": n, "sent_ns": begin_ns, "received_ns": begin_ns + 1000 + n}
            for n, begin_ns in enumerate(begins)
        ],
        schema=MESSAGES_SCHEMA,
    )
    trace = KernelTrace(pl.DataFrame(events, schema=KERNEL_EVENTS_SCHEMA))
    told = example_messages(trace, received, lambda _, __: Ends(SENDER, RECEIVER), {SEND: "sendto"})
    assert [(each.share, each.n, each.path.whole_ns) for each in told] == [(0.5, 200, 1099), (0.99, 200, 1197)]
    (crossing,) = told[0].path.crossings
    assert crossing.first == crossing.last
    few = example_messages(trace, received[:99], lambda _, __: Ends(SENDER, RECEIVER), {})
    assert [each.share for each in few] == [0.5]


def test_a_neighbour_is_told_where_a_message_s_way_is_not_found() -> None:
    rows = [
        {**_message(), "sequence": n, "sent_ns": b, "received_ns": b + 1000 + n}
        for n, b in enumerate((1000, 900_000, 4000))
    ]
    trace = KernelTrace(pl.DataFrame([*datagram(1000), *datagram(4000)], schema=KERNEL_EVENTS_SCHEMA))
    (told,) = example_messages(
        trace, pl.DataFrame(rows, schema=MESSAGES_SCHEMA), lambda _, __: Ends(SENDER, RECEIVER), {}
    )
    assert told.path.whole_ns == 1000
    assert told.share == pytest.approx(1 / 3)
