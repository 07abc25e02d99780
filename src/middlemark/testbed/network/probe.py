"""Measures links and routes, each alone, with `middlemark-probe` at both ends: round trip, loss and rate each way.

A link is measured between its host and the switch; a route between two machines first with a short burst, as its rate
is not known. `verify` compares the result with what was requested, and `campaign` decides about the trial.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Sequence
from contextlib import closing
from typing import Any

from middlemark.errors import EnvironmentBroke, EnvironmentNotReady, EnvironmentUnusable, InternalError
from middlemark.installation.answers import NoAnswer, answer_of, is_kill
from middlemark.plan.topology.network import STANDARD_MTU_BYTES, Link
from middlemark.suite import Direction, Model
from middlemark.suite.topology.impairment import SHARES, Probed
from middlemark.testbed.network.shaping import HEADER_BYTES, OVERHEAD_BYTES
from middlemark.testbed.network.wiring import Wire
from middlemark.testbed.processes.child import NativeProcess, executable
from middlemark.testbed.processes.ledger import Ledger
from middlemark.testbed.testbed import Route, Testbed

# Few pings are enough where chance decides nothing about a frame.
PINGS, FEW_PINGS, PING_INTERVAL_NS = 40, 10, 2_000_000
# Enough datagrams to distinguish a share of 1 % from none and from 2 %; enough frames that a token bucket's burst
# hardly changes the measured rate: on an idle machine trains of 50 ms find 1 Gbit/s within 0.3 %.
LOSS_PACKETS, LOSS_INTERVAL_NS, LOSS_SIZE_BYTES = 2000, 100_000, 64
RATE_NS, RATE_FRAMES, RATE_OFFERED = 50_000_000, 150, 1.2
# Late replies are waited for longer than the requested round trip.
PATIENCE_NS = 1_000_000_000
# The kernel requests a neighbour's address once a second, and a lossy link may lose the request or the answer.
NEIGHBOUR_PATIENCE_NS = 5_000_000_000
_HEADERS_BYTES = 28
_ENDED_NS, _MOST_SAID_BYTES = 30_000_000_000, 1 << 20
# A burst gives a rough rate of a route; the offered rate then has to be above what the route sustains.
SOUNDING_NS, OFFERED = 2_000_000, 1.5
# How long a route's rate is measured, as nothing here keeps it steady; and the most time and bytes of a train in each
# direction, so that a fast network is not filled for so long.
ROUTE_RATE_NS, LONGEST_NS, RATE_BYTES = 200_000_000, 2_000_000_000, 16_000_000
# The kernel requests a neighbour's address once a second; without any reply in this time, a route counts as filtered.
ROUTE_PATIENCE_NS = 3_000_000_000
_FRAME_BITS = 8 * (STANDARD_MTU_BYTES + HEADER_BYTES + OVERHEAD_BYTES)


class RoundTrip(Model):
    """Small datagrams, answered one by one."""

    sent: int
    lost: int
    min_ns: int | None
    p50_ns: int | None
    p90_ns: int | None
    p99_ns: int | None
    max_ns: int | None

    @property
    def spread_ns(self) -> int | None:
        """From the shortest round trip to the 90th percentile."""
        return None if self.min_ns is None or self.p90_ns is None else self.p90_ns - self.min_ns


class Loss(Model):
    """Numbered datagrams in one direction; one that fails its checksum is lost."""

    sent: int
    lost: int
    duplicates: int
    reordered: int
    """Arrived after a higher number."""
    overtaking: int
    """Arrived before a lower number: the ones that overtook others."""
    dropped_by_receiver: int
    """Arrived over the link, and were dropped by the receiver's socket."""


class DirectionMeasured(Model):
    """The measured properties of one direction; None for those not measured."""

    loss: Loss | None = None
    rate_bits_per_s: float | None = None
    """On the wire, including preamble and gap."""
    offered_bits_per_s: float | None = None
    """The rate that the probe really sent, on the wire; the measured rate can't be higher."""


class Measured(Model):
    """The result of a probe of one link."""

    reachable: bool
    round_trip: RoundTrip | None
    outgoing: DirectionMeasured
    incoming: DirectionMeasured


def probe(testbed: Testbed, only: Collection[str] | None = None) -> dict[str, Measured]:
    """Measures the links one after the other; a plain link takes a few milliseconds, others up to 1 s."""
    all_wires = testbed.wiring.wires if testbed.wiring else ()
    wires = [wire for wire in all_wires if only is None or wire.name in only]
    measured: dict[str, Measured] = {}
    for address in dict.fromkeys(wire.switch_address for wire in wires):
        on_it = [wire for wire in wires if wire.switch_address == address]
        measured |= _on_network(testbed, address, on_it)
    return {wire.name: measured[wire.name] for wire in wires}


def requested_now(testbed: Testbed, name: str) -> Link:
    """The requested properties of a link at this time: with a trace, those at its beginning or at its end."""
    wiring = testbed.wiring
    wire = next((wire for wire in wiring.wires if wire.name == name), None) if wiring else None
    if wiring is None or wire is None:
        raise InternalError(f"the test-bed has no link `{name}`")
    if not wire.link.trace:
        return wire.link
    point = wire.link.trace[-1 if wiring.begun else 0]
    return wire.link.model_copy(update={"outgoing": point.outgoing, "incoming": point.incoming, "trace": ()})


def _on_network(testbed: Testbed, address: str, wires: Sequence[Wire]) -> dict[str, Measured]:
    if testbed.wiring is None or testbed.ledger is None:
        return {}
    program = str(executable("probe"))
    command = [*testbed.wiring.switch.entering("net"), program, "answer", "--address", address, "--port", "0"]
    with closing(Answering(command, testbed.ledger)) as answering:
        return {
            wire.name: measured_by(
                testbed.hosts[wire.link.host].command([program, "measure"]),
                {"to": address, "port": answering.port, **link_probe_spec(requested_now(testbed, wire.name))},
            )
            for wire in wires
        }


class Answering:
    """The answering end of a measurement; `close` has to be called."""

    def __init__(self, command: Sequence[str], ledger: Ledger) -> None:
        """Starts it and returns when it is ready to answer."""
        self._observer = NativeProcess("answers the probe", command, ledger)
        try:
            with self._observer.understood():
                self.port = int(str(self._observer.hear("ready")["address"]).rpartition(":")[2])
        except EnvironmentUnusable:
            self.close()
            raise

    def close(self) -> None:
        """Ends it."""
        self._observer.end()


def link_probe_spec(link: Link) -> dict[str, Any]:
    """The probe's spec for a link: only what the request needs."""
    directions = (link.outgoing, link.incoming)
    rates = [direction.rate_bits_per_s for direction in directions if direction.rate_bits_per_s]
    has_chance = any(direction.jitter_ns or _happens_to_some(direction) for direction in directions)
    longest_ns = sum(direction.delay_ns + direction.jitter_ns for direction in directions)
    spec: dict[str, Any] = {
        "patience_ns": PATIENCE_NS + 3 * longest_ns,
        "round_trip": {"pings": PINGS if has_chance else FEW_PINGS, "interval_ns": PING_INTERVAL_NS},
    }
    if any(lost_share(direction) for direction in directions):
        spec["patience_ns"] += NEIGHBOUR_PATIENCE_NS
    if any(_happens_to_some(direction) for direction in directions):
        interval_ns = train_interval_ns(link)
        spec["loss"] = {"packets": LOSS_PACKETS, "interval_ns": interval_ns, "size_bytes": LOSS_SIZE_BYTES}
    if rates:
        frame_bits = 8 * (link.mtu_bytes + HEADER_BYTES + OVERHEAD_BYTES)
        spec["rate"] = {
            "duration_ns": max(RATE_NS, RATE_FRAMES * frame_bits * 1_000_000_000 // min(rates)),
            "offered_bits_per_s": round(RATE_OFFERED * max(rates)),
            "mtu_bytes": link.mtu_bytes,
        }
    return spec


def _happens_to_some(direction: Direction) -> bool:
    return any(getattr(direction, effect.field) for effect in SHARES)


def lost_share(direction: Direction) -> float:
    """The share of frames that don't reach the receiver's socket; a damaged frame fails its checksum."""
    losing = [effect for effect in SHARES if effect.probed is Probed.LOST]
    return 1 - math.prod(1 - float(getattr(direction, effect.field)) for effect in losing)


def train_interval_ns(link: Link) -> int:
    """The interval between the numbered datagrams of a link."""
    rates = [direction.rate_bits_per_s for direction in (link.outgoing, link.incoming)]
    return spaced_ns([rate for rate in rates if rate])


def spaced_ns(rates: Sequence[float]) -> int:
    """The interval between numbered datagrams: at most half of each rate, so that no full queue looks like loss."""
    frame_bits = 8 * (LOSS_SIZE_BYTES + _HEADERS_BYTES + HEADER_BYTES + OVERHEAD_BYTES)
    return max([LOSS_INTERVAL_NS, *(int(2 * frame_bits * 1_000_000_000 // rate) for rate in rates)])


def measured_by(command: Sequence[str], spec: dict[str, Any]) -> Measured:
    """Starts the probe with a command and gives what it measured by this spec."""
    try:
        answer = answer_of(
            command, within_s=_ENDED_NS / 1e9, most_bytes=_MOST_SAID_BYTES, data=json.dumps(spec).encode()
        )
    except NoAnswer as reason:
        raise EnvironmentNotReady(
            f"the probe can't measure the link: {reason}",
            remedy="request a faster link; or try `middlemark-probe` there",
        ) from reason
    if answer.complaint:
        kind = EnvironmentBroke if is_kill(answer.exit_status) else EnvironmentNotReady
        raise kind(
            f"the probe can't measure the link: {answer.complaint}",
            remedy="`middlemark doctor` says what a test-bed needs",
        )
    try:
        return measured_from(json.loads(answer.output))
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        raise EnvironmentNotReady(
            f"{executable('probe')} is of another version: its output is not understood", remedy="make workers"
        ) from error


def measured_from(report: dict[str, Any]) -> Measured:
    """The part of the probe's output that is used."""
    trip = report["round_trip"]
    return Measured(
        reachable=report["reachable"],
        round_trip=trip and RoundTrip(**{name: trip[name] for name in RoundTrip.model_fields}),
        outgoing=_direction_measured(report["outgoing"]),
        incoming=_direction_measured(report["incoming"]),
    )


def _direction_measured(direction: dict[str, Any]) -> DirectionMeasured:
    loss, rate = direction["loss"], direction["rate"]
    return DirectionMeasured(
        loss=loss and Loss(**{name: loss[name] for name in Loss.model_fields}),
        rate_bits_per_s=rate and rate["wire_bits_per_s"],
        offered_bits_per_s=rate and rate["offered_bits_per_s"],
    )


def probe_route(route: Route, ledger: Ledger) -> Measured:
    """Measures a route; takes about a second, several seconds where it is slow."""
    program = str(executable("probe"))
    command = route.to.command([program, "answer", "--address", route.address, "--port", "0"])
    measuring = route.host.command([program, "measure"])
    with closing(Answering(command, ledger)) as answering:
        destination = {"to": route.address, "port": answering.port, "patience_ns": ROUTE_PATIENCE_NS}
        sounded = measured_by(measuring, destination | sounding_spec())
        if not sounded.reachable:
            return sounded
        measured = measured_by(measuring, destination | train_spec(route.declared, sounded))
    return measured.model_copy(update={"round_trip": sounded.round_trip})


def sounding_spec() -> dict[str, Any]:
    """Pings, and then a burst as fast as the sender's socket accepts it."""
    return {
        "round_trip": {"pings": PINGS, "interval_ns": PING_INTERVAL_NS},
        "rate": {"duration_ns": SOUNDING_NS, "mtu_bytes": STANDARD_MTU_BYTES},
    }


def train_spec(declared: Link, sounded: Measured) -> dict[str, Any]:
    """Numbered datagrams at no more than half of the lowest rate, and full frames well above the highest rate."""
    sounded_rates = [direction.rate_bits_per_s for direction in (sounded.outgoing, sounded.incoming)]
    declared_rates = [direction.rate_bits_per_s for direction in (declared.outgoing, declared.incoming)]
    rates = [rate for rate in (*sounded_rates, *declared_rates) if rate]
    interval_ns = spaced_ns(rates)
    packets = max(min(LOSS_PACKETS, LONGEST_NS // interval_ns), 1)
    spec: dict[str, Any] = {"loss": {"packets": packets, "interval_ns": interval_ns, "size_bytes": LOSS_SIZE_BYTES}}
    if rates:
        offered = OFFERED * max(rates)
        enough_ns = max(min(ROUTE_RATE_NS, RATE_BYTES * 8e9 / offered), RATE_FRAMES * _FRAME_BITS * 1e9 / min(rates))
        spec["rate"] = {
            "duration_ns": round(min(enough_ns, LONGEST_NS)),
            "offered_bits_per_s": round(offered),
            "mtu_bytes": STANDARD_MTU_BYTES,
        }
    return spec
