"""Slots keep trials that run at the same time apart: a domain number, a range of ports, a name and a token for each.

A slot is held by a name among the machine's abstract sockets, so that all users share one set of slots and the kernel
frees one when its holder ends, however it ends. Its ports are only checked to be free when it is taken; a trial that
needs more than a slot has takes the slots behind it too.
"""

from __future__ import annotations

import math
import secrets
import socket
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from middlemark.errors import EnvironmentNotReady

SLOTS = 100
# The ports of DDS domain d begin at 7400 + 250 d (DDSI-RTPS 2.3, 9.6.1.1); domain and ports of a slot lie together so
# that a slot's own ports can never be those of another slot's domain.
FIRST_PORT, PORTS_PER_SLOT = 7400, 250
# DDS uses the first of them: two of the domain and two for each of up to 70 participants.
PORTS_OF_DOMAIN = 150
MOST_PORTS = SLOTS * PORTS_PER_SLOT - PORTS_OF_DOMAIN


@dataclass(frozen=True)
class Slot:
    """What no other trial on this machine has at the same time."""

    domain: int
    first_port: int
    ports: int
    name: str
    """1 to 24 letters and digits, never used before."""
    token: int


_last_taken = 0


@contextmanager
def reserved(ports: int = 0) -> Iterator[Slot]:
    """Takes a free slot with at least so many ports of its own and holds it for as long as the context lasts."""
    global _last_taken  # noqa: PLW0603 - one process walks through the slots, so that a trial meets no port just closed
    if ports > MOST_PORTS:
        raise EnvironmentNotReady(
            f"the trial needs {ports} ports; all {SLOTS} ranges of a machine together have {MOST_PORTS}",
            remedy="give it fewer streams, or fewer publishers and subscribers of each",
        )
    slots = math.ceil((PORTS_OF_DOMAIN + ports) / PORTS_PER_SLOT)
    for domain in _order(_last_taken):
        taken = range(domain, domain + slots)
        with _claimed(taken) as claimed:
            if claimed and all(map(_ports_free, taken)):
                _last_taken = taken[-1]
                yield _slot(domain, slots)
                return
    ranges = "none" if slots == 1 else f"no {slots} neighbours"
    raise EnvironmentNotReady(
        f"{ranges} of the {SLOTS} ranges of ports from {FIRST_PORT} on are free below the ephemeral ports",
        remedy="sysctl -w net.ipv4.ip_local_port_range='32768 60999', or end what listens there: ss -lntup",
    )


def _order(last: int) -> Iterable[int]:
    """All slots from the one after the last; domain 0, which everyone uses who chooses none, comes at the very end."""
    return chain(range(last + 1, SLOTS), range(1, last + 1), (0,))


@contextmanager
def _claimed(slots: range) -> Iterator[bool]:
    """Whether nobody else has any of the slots, and then nobody gets one while the context lasts."""
    with ExitStack() as held:
        yield slots[-1] < SLOTS and all(held.enter_context(_claimed_one(domain)) for domain in slots)


@contextmanager
def _claimed_one(domain: int) -> Iterator[bool]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as claim:
        try:
            claim.bind(f"\0middlemark-slot-{domain}")
        except OSError:
            yield False
        else:
            yield True


def _slot(domain: int, slots: int) -> Slot:
    return Slot(
        domain=domain,
        first_port=FIRST_PORT + PORTS_PER_SLOT * domain + PORTS_OF_DOMAIN,
        ports=slots * PORTS_PER_SLOT - PORTS_OF_DOMAIN,
        name=f"mm{domain:02}{secrets.token_hex(5)}",
        token=secrets.randbits(32),
    )


def _ports_free(domain: int) -> bool:
    """Whether none of the slot's ports is used, and the kernel gives none of them to clients as an ephemeral port."""
    first = FIRST_PORT + PORTS_PER_SLOT * domain
    lowest, highest = _ephemeral_ports()
    if first + PORTS_PER_SLOT > lowest and first <= highest:
        return False
    return all(_port_free(port) for port in range(first, first + PORTS_PER_SLOT))


def _ephemeral_ports() -> tuple[int, int]:
    lowest, highest = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
    return int(lowest), int(highest)


def _port_free(port: int) -> bool:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(socket.AF_INET, kind) as probe:
            if kind == socket.SOCK_STREAM:  # a connection closed a moment ago hinders no worker: they set this too
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("", port))
            except OSError:
                return False
    return True
