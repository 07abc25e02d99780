"""Measures a route between two machines: round trip, loss and rate each way, within a bounded time and bytes.

What the network carries is not known, so a short burst at full speed sounds it out before it is offered half as much
again. Only what one clock tells is used: round trips by the asker's, rates by the receiver's, losses by numbers.
"""

from __future__ import annotations

from contextlib import closing
from typing import Any

from middlemark.plan.network import STANDARD_MTU_BYTES, Link
from middlemark.testbed.ledger import Ledger
from middlemark.testbed.link.rate import HEADER_BYTES, OVERHEAD_BYTES
from middlemark.testbed.observer import executable
from middlemark.testbed.probe import (
    LOSS_PACKETS,
    LOSS_SIZE_BYTES,
    PING_INTERVAL_NS,
    PINGS,
    RATE_FRAMES,
    RATE_NS,
    Answering,
    Measured,
    measured_by,
    spaced_ns,
)
from middlemark.testbed.route import Route

# A burst tells a rate roughly; what is offered has to be more than the route carries.
SOUNDING_NS, OFFERED = 2_000_000, 1.5
# A train each way takes no longer, and no more: a fast network is not asked to carry 200 ms of all it can.
LONGEST_NS, RATE_BYTES = 2_000_000_000, 16_000_000
# The kernel asks for a neighbour's address once a second; what is filtered is found so after this time.
PATIENCE_NS = 3_000_000_000
_FRAME_BITS = 8 * (STANDARD_MTU_BYTES + HEADER_BYTES + OVERHEAD_BYTES)


def probe_route(route: Route, ledger: Ledger) -> Measured:
    """Measures the route alone; takes about a second, several where it is slow."""
    program = str(executable("probe"))
    command = route.to.command([program, "answer", "--address", route.address, "--port", "0"])
    measuring = route.host.command([program, "measure"])
    with closing(Answering(command, ledger)) as answering:
        there = {"to": route.address, "port": answering.port, "patience_ns": PATIENCE_NS}
        sounded = measured_by(measuring, there | sounding())
        if not sounded.reachable:
            return sounded
        measured = measured_by(measuring, there | trains(route.declared, sounded))
    return measured.model_copy(update={"round_trip": sounded.round_trip})


def sounding() -> dict[str, Any]:
    """Pings, and then what the sender's socket takes in an instant."""
    return {
        "round_trip": {"pings": PINGS, "interval_ns": PING_INTERVAL_NS},
        "rate": {"duration_ns": SOUNDING_NS, "mtu_bytes": STANDARD_MTU_BYTES},
    }


def trains(declared: Link, sounded: Measured) -> dict[str, Any]:
    """Numbered datagrams at no more than half of the slowest rate, full frames well above the fastest one."""
    carried = [found.rate_bits_per_s for found in (sounded.outgoing, sounded.incoming)]
    said = [way.rate_bits_per_s for way in (declared.outgoing, declared.incoming)]
    rates = [rate for rate in (*carried, *said) if rate]
    interval_ns = spaced_ns(rates)
    packets = max(min(LOSS_PACKETS, LONGEST_NS // interval_ns), 1)
    told: dict[str, Any] = {"loss": {"packets": packets, "interval_ns": interval_ns, "size_bytes": LOSS_SIZE_BYTES}}
    if rates:
        offered = OFFERED * max(rates)
        enough_ns = max(min(RATE_NS, RATE_BYTES * 8e9 / offered), RATE_FRAMES * _FRAME_BITS * 1e9 / min(rates))
        told["rate"] = {
            "duration_ns": round(min(enough_ns, LONGEST_NS)),
            "offered_bits_per_s": round(offered),
            "mtu_bytes": STANDARD_MTU_BYTES,
        }
    return told
