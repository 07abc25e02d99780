"""Slots never overlap, come back when their holder ends, and skip what someone else uses."""

import re
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from middlemark.errors import EnvironmentNotReady
from middlemark.testbed.processes import slot

HOLDER = (
    "from middlemark.testbed.processes import slot\nwith slot.reserved() as s: print(s.domain, flush=True); input()"
)


@pytest.fixture(autouse=True)
def from_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slot, "_last_taken", 60)


def own_ports(reserved: slot.Slot) -> set[int]:
    return set(range(reserved.first_port, reserved.first_port + reserved.ports))


def dds_ports(reserved: slot.Slot) -> set[int]:
    """The unicast and multicast ports of the domain's first 70 participants (DDSI-RTPS 2.3, 9.6.1.1)."""
    base = 7400 + 250 * reserved.domain
    return {base, base + 1} | {base + 10 + 2 * number for number in range(70)} | {base + 11 + 2 * n for n in range(70)}


def test_slots_held_at_once_share_no_port_domain_name_or_token() -> None:
    with ExitStack() as held:
        slots = [held.enter_context(slot.reserved()) for _ in range(5)]
    ports = [own_ports(each) | dds_ports(each) for each in slots]
    assert len(set.union(*ports)) == sum(len(each) for each in ports)
    assert len({each.domain for each in slots}) == len({each.name for each in slots}) == 5
    assert len({each.token for each in slots}) == 5


def test_a_slot_is_what_the_worker_contract_asks_for() -> None:
    with slot.reserved() as reserved:
        assert re.fullmatch(r"[A-Za-z0-9_]{1,24}", reserved.name)
        assert 0 <= reserved.domain <= 99
        assert 0 <= reserved.token < 2**32
        lowest = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
        assert max(own_ports(reserved)) < lowest


def test_the_next_trial_gets_another_slot_so_that_it_meets_no_port_just_closed() -> None:
    with slot.reserved() as first:
        pass
    with slot.reserved() as second:
        pass
    assert first.domain != second.domain


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM])
def test_a_slot_with_a_port_in_use_is_skipped(kind: socket.SocketKind, monkeypatch: pytest.MonkeyPatch) -> None:
    with slot.reserved() as free:
        pass
    monkeypatch.setattr(slot, "_last_taken", free.domain - 1)
    with socket.socket(socket.AF_INET, kind) as other:
        other.bind(("127.0.0.1", free.first_port + 7))
        if kind == socket.SOCK_STREAM:
            other.listen()
        with slot.reserved() as reserved:
            assert reserved.domain != free.domain


def test_a_slot_comes_back_when_its_holder_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        domain = int(holder.stdout.readline())
        monkeypatch.setattr(slot, "_last_taken", domain - 1)
        with slot.reserved() as other:
            assert other.domain != domain
        holder.send_signal(signal.SIGKILL)
    monkeypatch.setattr(slot, "_last_taken", domain - 1)
    with slot.reserved() as again:
        assert again.domain == domain


def test_no_free_slot_is_said_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slot, "_ephemeral_ports", lambda: (1024, 65535))
    with pytest.raises(EnvironmentNotReady, match="ip_local_port_range"), slot.reserved():
        pass


def test_a_trial_that_needs_more_ports_has_the_slots_behind_its_own_too() -> None:
    with ExitStack() as held:
        large = held.enter_context(slot.reserved(ports=351))
        others = [held.enter_context(slot.reserved(ports=ports)) for ports in (100, 101)]
    assert [each.ports for each in (large, *others)] == [600, 100, 350]
    ports = [own_ports(each) | dds_ports(each) for each in (large, *others)]
    assert len(set.union(*ports)) == sum(len(each) for each in ports)


def test_a_trial_that_needs_many_ports_passes_over_slots_of_which_one_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    with slot.reserved() as taken:
        monkeypatch.setattr(slot, "_last_taken", taken.domain - 2)
        with slot.reserved(ports=101) as large:
            assert large.domain > taken.domain


def test_more_ports_than_all_slots_have_are_refused_with_what_to_change() -> None:
    with slot.reserved(ports=slot.MOST_PORTS // 2) as reserved:
        assert reserved.ports >= slot.MOST_PORTS // 2
    with pytest.raises(EnvironmentNotReady, match="fewer streams"), slot.reserved(ports=slot.MOST_PORTS + 1):
        pass
