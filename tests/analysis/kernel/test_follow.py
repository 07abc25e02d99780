"""A message is followed through the packets that carry it, and through no other message's."""

from __future__ import annotations

import pytest

from kernel_builder import (
    HERE,
    RECEIVE,
    RECEIVER,
    SENDER,
    SOCKET,
    STRANGER,
    TCP,
    THERE,
    Events,
    called,
    datagram,
    event,
    found,
    packet,
    parts,
    ran,
    taken,
)
from middlemark.analysis.kernel.events import Kind
from middlemark.analysis.kernel.segments import SetAside


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
