"""Which parts a link is made of, and how a record says it."""

import pytest
from inline_snapshot import snapshot

from middlemark.plan.topology.network import Link, TracePoint
from middlemark.suite import Direction
from middlemark.testbed.network.shaping import Backend, LinkParts, link_parts, link_words

RATE = Direction(rate_bits_per_s=10**9)
SLOW = Direction(rate_bits_per_s=10**8, queue_frames=50, delay_ns=10**7, jitter_ns=500_000, loss=0.01)
TRACE = (TracePoint(at_ns=0, outgoing=SLOW, incoming=RATE), TracePoint(at_ns=10**9, outgoing=RATE, incoming=RATE))


def link(outgoing: Direction, incoming: Direction, **more: object) -> Link:
    return Link.model_validate(
        {"host": "camera", "network": "lan", "outgoing": outgoing, "incoming": incoming, "offloads": False, **more}
    )


@pytest.mark.parametrize("backend", Backend)
def test_a_rate_alone_needs_nothing_in_the_middle(backend: Backend) -> None:
    assert link_parts(link(RATE, RATE), backend) == LinkParts(rate=True, middle=None)
    assert link_parts(Link(host="camera", network="lan"), backend) == LinkParts(rate=False, middle=None)


@pytest.mark.parametrize("backend", Backend)
def test_what_else_is_asked_is_done_in_the_middle(backend: Backend) -> None:
    assert link_parts(link(Direction(), Direction(loss=0.1)), backend) == LinkParts(rate=False, middle=backend)
    assert link_parts(link(SLOW, RATE), backend) == LinkParts(rate=True, middle=backend)


def test_all_of_a_trace_is_the_relays() -> None:
    assert link_parts(link(RATE, RATE, trace=TRACE), Backend.NETEM) == LinkParts(rate=False, middle=Backend.RELAY)


def test_a_link_is_said_in_words() -> None:
    def said(asked: Link) -> str:
        return link_words(asked, link_parts(asked, Backend.RELAY))

    assert said(Link(host="camera", network="lan")) == "plain"
    assert said(link(RATE, RATE)) == snapshot("tbf 1 Gbit/s; offloads off")
    assert said(link(SLOW, SLOW, mtu_bytes=9000)) == snapshot(
        "tbf 100 Mbit/s, queue 50 frames; relay: delay 10 ms, jitter 500 µs, loss 1 %; MTU 9 kB; offloads off"
    )
    assert said(link(RATE, Direction(delay_ns=10**6, duplication=0.001, reordering=0.25))) == snapshot(
        "outgoing tbf 1 Gbit/s; incoming relay: delay 1 ms, duplication 0.1 %, reordering 25 %; offloads off"
    )
    assert said(link(Direction(), SLOW)) == snapshot(
        "outgoing plain; incoming tbf 100 Mbit/s, queue 50 frames, relay: delay 10 ms, jitter 500 µs, loss 1 %; offloads off"
    )
    assert said(link(RATE, RATE, trace=TRACE)) == snapshot("offloads off; relay: trace of 2 points")
