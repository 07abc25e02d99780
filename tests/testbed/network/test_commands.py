"""One model, two backends: the commands and the spec that put links into effect."""

import json

import pytest
from inline_snapshot import snapshot

from middlemark.plan.topology.network import Link, Network, TracePoint
from middlemark.suite import Direction
from middlemark.testbed.network import shaping
from middlemark.testbed.network.shaping import Backend, link_parts
from middlemark.testbed.network.wiring import (
    host_commands,
    host_offloads,
    host_shaping,
    switch_commands,
    switch_offloads,
    switch_shaping,
    wires,
)

GIGABIT = Direction(rate_bits_per_s=10**9)
WORSE = Direction(
    rate_bits_per_s=5 * 10**7,
    queue_frames=50,
    delay_ns=10**7,
    jitter_ns=500_000,
    loss=0.01,
    reordering=0.03,
    corruption=0.0001,
)
LAN = (Network(name="lan", hosts=("camera", "planner")),)
LINKS = (
    Link(host="camera", network="lan", outgoing=GIGABIT, incoming=WORSE, offloads=False),
    Link(host="planner", network="lan"),
)


def rendered(backend: Backend) -> dict[str, list[str]]:
    wired = wires(["camera", "planner"], LAN, LINKS, 7, backend)
    own = [wire for wire in wired if wire.link.host == "camera"]
    return {
        "ip of the switch": switch_commands(wired, {"camera": 11, "planner": 12}),
        "ethtool of the switch": switch_offloads(wired),
        "tc of the switch": switch_shaping(wired),
        "ip of the host": host_commands(own),
        "ethtool of the host": host_offloads(own),
        "tc of the host": host_shaping(own),
    }


def test_a_link_with_the_kernels_netem() -> None:
    assert rendered(Backend.NETEM) == snapshot(
        {
            "ip of the switch": [
                "link set lo up",
                "link add net0 type bridge stp_state 0 forward_delay 0 mcast_snooping 0",
                "link set net0 up",
                "address add 10.7.0.254/24 dev net0",
                "link add h0n0 mtu 1500 type veth peer name eth0 mtu 1500 netns 11",
                "link set h0n0 up",
                "link add ih0n0 mtu 1500 type veth peer name ph0n0 mtu 1500",
                "link set ih0n0 up",
                "link set ph0n0 up",
                "link set ph0n0 master net0",
                "link add h1n0 mtu 1500 type veth peer name eth0 mtu 1500 netns 12",
                "link set h1n0 up",
                "link set h1n0 master net0",
            ],
            "ethtool of the switch": [
                "-K h0n0 tso off gso off gro off tx off rx off",
                "-K ih0n0 tso off gso off gro off tx off rx off",
                "-K ph0n0 tso off gso off gro off tx off rx off",
            ],
            "tc of the switch": [
                "qdisc add dev ph0n0 root handle 1: tbf rate 50000000bit burst 3076 limit 3076 overhead 24 mpu 84",
                "qdisc add dev ph0n0 parent 1:1 handle 2: pfifo limit 50",
                "qdisc add dev h0n0 clsact",
                "filter add dev h0n0 ingress matchall action mirred egress redirect dev ih0n0",
                "qdisc add dev ih0n0 clsact",
                "filter add dev ih0n0 ingress matchall action mirred egress redirect dev h0n0",
                "qdisc add dev h0n0 root netem limit 65536 delay 10000us 500us loss 1% reorder 3% corrupt 0.01% rate 1tbit",
            ],
            "ip of the host": [
                "link set lo up",
                "address add 10.7.0.1/24 brd + dev eth0",
                "link set eth0 up",
                "route add 224.0.0.0/4 dev eth0",
            ],
            "ethtool of the host": ["-K eth0 tso off gso off gro off tx off rx off"],
            "tc of the host": [
                "qdisc add dev eth0 root handle 1: tbf rate 1000000000bit burst 31250 limit 31250 overhead 24 mpu 84",
                "qdisc add dev eth0 parent 1:1 handle 2: pfifo limit 1000",
            ],
        }
    )


def test_the_relay_stands_where_netem_would() -> None:
    of_relay, of_netem = rendered(Backend.RELAY), rendered(Backend.NETEM)
    assert of_relay["tc of the switch"] == snapshot(
        [
            "qdisc add dev ph0n0 root handle 1: tbf rate 50000000bit burst 3076 limit 3076 overhead 24 mpu 84",
            "qdisc add dev ph0n0 parent 1:1 handle 2: pfifo limit 50",
        ]
    )
    assert {name for name, lines in of_relay.items() if lines != of_netem[name]} == {"tc of the switch"}


def test_the_relay_is_told_what_no_token_bucket_does() -> None:
    camera = LINKS[0]
    assert json.dumps(shaping.relay_spec(camera, link_parts(camera, Backend.RELAY), "h0n0", "ih0n0", 5)) == snapshot(
        '{"host_side": "h0n0", "network_side": "ih0n0", "seed": 5, "outgoing": {}, "incoming": {"delay_ns": 10000000, "jitter_ns": 500000, "loss": 0.01, "reordering": 0.03, "corruption": 0.0001}, "trace": []}'
    )


def test_along_a_trace_the_relay_limits_the_rate_too() -> None:
    points = (
        TracePoint(at_ns=0, outgoing=GIGABIT, incoming=WORSE),
        TracePoint(at_ns=9, outgoing=WORSE, incoming=GIGABIT),
    )
    moving = LINKS[0].model_copy(update={"trace": points})
    told = shaping.relay_spec(moving, link_parts(moving, Backend.NETEM), "h0n0", "ih0n0", 5)
    assert [(point["at_ns"], point["outgoing"].get("rate_bits_per_s")) for point in told["trace"]] == [
        (0, 10**9),
        (9, 5 * 10**7),
    ]
    assert [point["incoming"].get("queue_frames") for point in told["trace"]] == [50, shaping.QUEUE_FRAMES]


@pytest.mark.parametrize(
    ("rate_bits_per_s", "mtu_bytes", "expected"),
    [(10**6, 1500, 2 * 1538), (10**9, 1500, 31_250), (10**10, 1500, 312_500), (10**9, 65_535, 2 * 65_573)],
)
def test_a_bucket_holds_what_comes_in_a_timers_time_and_two_frames_at_least(
    rate_bits_per_s: int, mtu_bytes: int, expected: int
) -> None:
    assert shaping.bucket_bytes(rate_bits_per_s, mtu_bytes) == expected


def test_what_is_to_be_lost_and_doubled_is_the_relays() -> None:
    both = Link(host="camera", network="lan", incoming=Direction(loss=0.1, duplication=0.1), offloads=False)
    each = both.model_copy(update={"incoming": Direction(loss=0.1), "outgoing": Direction(duplication=0.1)})
    assert link_parts(both, Backend.NETEM).middle is Backend.RELAY
    assert link_parts(each, Backend.NETEM).middle is Backend.NETEM


def test_netem_does_only_what_is_asked() -> None:
    lines = shaping.netem_commands("a", "b", Direction(reordering=0.5, duplication=0.002), Direction(loss=1 / 3))
    assert [line for line in lines if "netem" in line] == snapshot(
        [
            "qdisc add dev b root netem limit 65536 duplicate 0.2%",
            "qdisc add dev a root netem limit 65536 loss 33.33333333%",
        ]
    )
