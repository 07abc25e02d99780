"""The table of what is compared with what: one row a worker, a peer and a load.

Each row has the peer's own way of delivery, size and transport; what else our worker is told is what the peer does too.
"""

from __future__ import annotations

from middlemark.suite import Delivery, Pattern, Reliability
from peer import Cores, Load, Pair
from tools import ddsperf, mosquitto
from tools.references import broker, reference, routing_manager
from tools.socket_tools import IPERF3, sockperf

LIBRARY, OWN, POLLING = Delivery.LIBRARY_THREAD, Delivery.OWN_THREAD, Delivery.POLLING
RELIABLE = Reliability.RELIABLE
TWO = (Cores.TWO,)
"""Who polls leaves no time on a core for the other end; an unthrottled stream on one core measures the scheduler."""


def _ping_pong(delivery: Delivery, reliability: Reliability = Reliability.BEST_EFFORT, *, size_bytes: int = 64) -> Load:
    return Load(Pattern.PING_PONG, size_bytes, delivery, reliability)


def _unthrottled(size_bytes: int, delivery: Delivery, reliability: Reliability = Reliability.BEST_EFFORT) -> Load:
    return Load(Pattern.UNTHROTTLED, size_bytes, delivery, reliability)


_UDP, _TCP = sockperf(tcp=False), sockperf(tcp=True)
_DDSPERFS = (ddsperf.OF_SAME_SOURCES, ddsperf.OF_DEBIAN)
_ZENOH, _FASTDDS, _VSOMEIP = reference("zenoh"), reference("fastdds"), reference("vsomeip", served=routing_manager)
_ICEORYX2 = (reference("iceoryx2"), reference("iceoryx2", is_written=True))
_RING = reference("ring")
_MQTT = reference("mqtt", served=broker)
_NODELAY = {"broker_tcp_nodelay": True, "client_tcp_nodelay": True}
_BATCHES = {"write_batching": True}
_LAST_TWO = {"history": "keep_last", "depth": 2}
"""What a subscriber of iceoryx2 keeps as shipped."""
_OF_THE_KERNEL = {"queue": "64 MiB"}
"""So large that the kernel sizes a socket's buffers, as it does for who asks for no size."""

PAIRS = (
    Pair("udp", _UDP, _ping_pong(OWN)),
    Pair("udp", _UDP, _unthrottled(64, OWN), cores=TWO, counts_sent=True),
    Pair("tcp", _TCP, _ping_pong(OWN, RELIABLE)),
    Pair("tcp", _TCP, _unthrottled(64, OWN, RELIABLE), cores=TWO, counts_sent=True),
    Pair("tcp", IPERF3, _unthrottled(1_000_000, OWN, RELIABLE), cores=TWO, qos=_OF_THE_KERNEL),
    *(Pair("cyclonedds", peer, _ping_pong(delivery)) for peer in _DDSPERFS for delivery in (LIBRARY, OWN)),
    # Sizes of the evaluation `containers-2024`, which was made with ddsperf.
    *(
        Pair("cyclonedds", peer, _ping_pong(LIBRARY, size_bytes=size_bytes), cores=TWO)
        for peer in _DDSPERFS
        for size_bytes in (1_000, 64_000)
    ),
    # Small ones ddsperf sends in batches.
    *(Pair("cyclonedds", peer, _unthrottled(64, LIBRARY, RELIABLE), _BATCHES, cores=TWO) for peer in _DDSPERFS),
    *(Pair("cyclonedds", peer, _unthrottled(16_000, LIBRARY, RELIABLE), cores=TWO) for peer in _DDSPERFS),
    Pair("zenoh", _ZENOH, _ping_pong(LIBRARY, RELIABLE), {"express": True}),
    Pair("zenoh", _ZENOH, _unthrottled(64, LIBRARY, RELIABLE), cores=TWO),
    Pair("fastdds", _FASTDDS, _ping_pong(LIBRARY)),
    Pair("fastdds", _FASTDDS, _unthrottled(16_000, LIBRARY, RELIABLE), cores=TWO),
    Pair("mqtt", _MQTT, _ping_pong(OWN), _NODELAY),
    Pair("mqtt", _MQTT, _unthrottled(64, OWN), _NODELAY, cores=TWO, waits=True),
    Pair("mqtt", mosquitto.CLIENTS, _unthrottled(64, OWN), _NODELAY, cores=TWO, waits=True),
    # Nothing unthrottled: vSomeIP's publish call never waits, and its queue has no end.
    Pair("vsomeip", _VSOMEIP, _ping_pong(LIBRARY, RELIABLE)),
    *(Pair("iceoryx2", peer, _ping_pong(OWN, RELIABLE), qos=_LAST_TWO) for peer in _ICEORYX2),
    *(Pair("iceoryx2", peer, _ping_pong(POLLING, RELIABLE), cores=TWO, qos=_LAST_TWO) for peer in _ICEORYX2),
    Pair("shm", _RING, _ping_pong(OWN, RELIABLE)),
    Pair("shm", _RING, _ping_pong(POLLING, RELIABLE), cores=TWO),
    Pair("shm", _RING, _unthrottled(64, POLLING, RELIABLE), cores=TWO),
)
