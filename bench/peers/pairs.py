"""The table of what is compared with what: one row a worker, a peer and a load.

Each row has the peer's own way of delivery, size and transport; what else our worker is told is what the peer does too.
"""

from __future__ import annotations

import ddsperf
import mosquitto
from middlemark.suite import Delivery
from peer import Load, Pair, Pattern, Placement
from references import broker, reference, routing_manager
from socket_tools import IPERF3, sockperf

LIBRARY, OWN, POLLING = Delivery.LIBRARY_THREAD, Delivery.OWN_THREAD, Delivery.POLLING
TWO = (Placement.TWO_CORES,)
"""Who polls leaves no time on a core for the other end; a flood on one core measures the scheduler."""


def _asked(delivery: Delivery, *, reliable: bool = False) -> Load:
    return Load(Pattern.PING_PONG, 64, delivery, reliable)


def _flood(size_bytes: int, delivery: Delivery, *, reliable: bool = False) -> Load:
    return Load(Pattern.UNTHROTTLED, size_bytes, delivery, reliable)


_UDP, _TCP = sockperf(tcp=False), sockperf(tcp=True)
_DDSPERFS = (ddsperf.OF_SAME_SOURCES, ddsperf.OF_DEBIAN)
_ZENOH, _FASTDDS, _VSOMEIP = reference("zenoh"), reference("fastdds"), reference("vsomeip", served=routing_manager)
_ICEORYX2, _RING = reference("iceoryx2"), reference("ring")
_MQTT = reference("mqtt", served=broker)
_NODELAY = {"broker_tcp_nodelay": True, "client_tcp_nodelay": True}

PAIRS = (
    Pair("udp", _UDP, _asked(OWN)),
    Pair("udp", _UDP, _flood(64, OWN), placements=TWO, counts_sent=True),
    Pair("tcp", _TCP, _asked(OWN, reliable=True)),
    Pair("tcp", _TCP, _flood(64, OWN, reliable=True), placements=TWO, counts_sent=True),
    Pair("tcp", IPERF3, _flood(1_000_000, OWN, reliable=True), placements=TWO),
    *(Pair("cyclonedds", peer, _asked(delivery)) for peer in _DDSPERFS for delivery in (LIBRARY, OWN)),
    # Smaller ones ddsperf sends in batches.
    *(Pair("cyclonedds", peer, _flood(16_000, LIBRARY, reliable=True), placements=TWO) for peer in _DDSPERFS),
    Pair("zenoh", _ZENOH, _asked(LIBRARY, reliable=True), {"express": True}),
    Pair("zenoh", _ZENOH, _flood(64, LIBRARY, reliable=True), placements=TWO),
    Pair("fastdds", _FASTDDS, _asked(LIBRARY)),
    Pair("fastdds", _FASTDDS, _flood(16_000, LIBRARY, reliable=True), placements=TWO),
    Pair("mqtt", _MQTT, _asked(OWN), _NODELAY),
    Pair("mqtt", _MQTT, _flood(64, OWN), _NODELAY, placements=TWO),
    Pair("mqtt", mosquitto.CLIENTS, _flood(64, OWN), _NODELAY, placements=TWO),
    # No flood: vSomeIP's publish call never waits, and its queue has no end.
    Pair("vsomeip", _VSOMEIP, _asked(LIBRARY, reliable=True)),
    Pair("iceoryx2", _ICEORYX2, _asked(OWN, reliable=True)),
    Pair("iceoryx2", _ICEORYX2, _asked(POLLING, reliable=True), placements=TWO),
    Pair("shm", _RING, _asked(OWN, reliable=True)),
    Pair("shm", _RING, _asked(POLLING, reliable=True), placements=TWO),
    Pair("shm", _RING, _flood(64, POLLING, reliable=True), placements=TWO),
)
