"""What relays carry on between two hosts belongs to the wire, whether they lose, double or only pass it on."""

from __future__ import annotations

from collections.abc import Mapping

from kernel_builder import (
    RECEIVE,
    RECEIVER,
    SENDER,
    SOCKET,
    TCP,
    Events,
    called,
    event,
    found,
    packet,
    parts,
    ran,
    taken,
)
from middlemark.analysis.kernel.breakdown import SampledPaths
from middlemark.analysis.kernel.events import Kind

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
