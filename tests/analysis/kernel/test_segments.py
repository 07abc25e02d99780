"""The parts of a message's path: where it is cut, and whose time each part is."""

from __future__ import annotations

from kernel_builder import (
    BROKER,
    FUTEX,
    RECEIVE,
    RECEIVER,
    SENDER,
    THERE,
    called,
    datagram,
    found,
    packet,
    parts,
    ran,
    sent,
    taken,
)
from middlemark.analysis.kernel.events import Kind
from middlemark.analysis.kernel.segments import SetAside


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


def test_a_receive_call_that_does_not_complete_the_message_is_not_its_last() -> None:
    """What comes to another port meanwhile is a middleware's own talk."""
    talk = [
        *packet((1050, 1060, 1110), length=20, skb=9, ports=9 << 16 | 8),
        *called(RECEIVER, 1910, 1960, RECEIVE),
        *taken(1950, length=20, ports=8 << 16),
    ]
    assert found([*datagram(), *talk]).parts["last_arrived_ns"].to_list() == [1100]
