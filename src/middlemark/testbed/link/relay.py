"""The relay between the two interfaces of a link's middle, where the kernel has no netem or the link follows a trace.

It renders the relay's spec, runs it, and reads its account; what it does to frames, `observers/relay` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from middlemark.errors import EnvironmentNotReady
from middlemark.plan.network import Direction, Link
from middlemark.suite import Model
from middlemark.testbed.ledger import Ledger
from middlemark.testbed.link.parts import Parts
from middlemark.testbed.link.rate import QUEUE_FRAMES
from middlemark.testbed.observer import Observer, executable


class Lateness(Model):
    """By how much frames left the relay later than they were due."""

    n: int
    p50_ns: int
    p99_ns: int
    p999_ns: int
    max_ns: int


class Account(Model):
    """What became of the frames of one direction."""

    frames_in: int
    bytes_in: int
    frames_out: int
    bytes_out: int
    dropped_by_loss: int
    dropped_by_queue: int
    dropped_by_memory: int
    dropped_too_long: int
    refused_by_interface: int
    duplicated: int
    reordered: int
    corrupted: int
    unfinished_checksums: int
    in_flight: int
    dropped_by_kernel: int
    lateness: Lateness


class Report(Model):
    """A relay's account of both directions."""

    at_ns: int
    outgoing: Account
    incoming: Account


class Relay:
    """A running relay; `end` must follow."""

    def __init__(self, name: str, prefix: list[str], spec: Mapping[str, Any], ledger: Ledger) -> None:
        """Starts it with the prefix of the switch's namespace; it carries frames when `ready` has returned."""
        self._observer = Observer(f"relays {name}", [*prefix, str(executable("relay"))], ledger)
        self._observer.tell(spec)

    def ready(self) -> tuple[str, ...]:
        """Waits until frames are carried; what it warns of."""
        return tuple(self._observer.hear("ready")["warnings"])

    @property
    def pid(self) -> int:
        """Its process."""
        return self._observer.pid

    def begin(self, at_ns: int) -> None:
        """Has its trace begin at this instant."""
        self._observer.tell({"command": "begin", "at_ns": at_ns})
        self._observer.hear("applied")

    def report(self) -> Report:
        """Its account so far."""
        self._observer.tell({"command": "report"})
        said = self._observer.hear("report")
        return Report.model_validate({name: said[name] for name in Report.model_fields})

    def end(self) -> None:
        """Ends it: the link is cut."""
        self._observer.end()


def spec(link: Link, made_of: Parts, host_side: str, network_side: str, seed: int) -> dict[str, Any]:
    """What the relay is told of a link; a rate only where no token bucket limits it."""
    directions = {"outgoing": link.outgoing, "incoming": link.incoming}
    told: dict[str, Any] = {"host_side": host_side, "network_side": network_side, "seed": seed}
    told |= {name: _impairment(direction, made_of) for name, direction in directions.items()}
    told["trace"] = [
        {
            "at_ns": point.at_ns,
            "outgoing": _impairment(point.outgoing, made_of),
            "incoming": _impairment(point.incoming, made_of),
        }
        for point in link.trace
    ]
    return told


def _impairment(direction: Direction, made_of: Parts) -> dict[str, Any]:
    told = direction.model_dump()
    rate, queue = told.pop("rate_bits_per_s"), told.pop("queue_frames")
    return (
        told
        if made_of.rate or rate is None
        else {**told, "rate_bits_per_s": rate, "queue_frames": queue or QUEUE_FRAMES}
    )


def missing() -> str | None:
    """Why there is no relay here; None where there is."""
    try:
        executable("relay")
    except EnvironmentNotReady as error:
        return str(error)
    return None
