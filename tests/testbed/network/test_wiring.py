"""What makes the hosts' wiring, command by command."""

from inline_snapshot import snapshot

from middlemark.plan.topology.network import Link, Network
from middlemark.testbed.hosts.host import Attachment, LocalHost
from middlemark.testbed.network.shaping import Backend
from middlemark.testbed.network.wiring import Wire, batch, host_commands, switch_commands, wires

NETWORKS = (
    Network(name="left", hosts=("camera", "router")),
    Network(name="right", hosts=("planner", "router")),
)
LINKS = [
    Link(host=host, network=network.name, mtu_bytes=9000 if host == "camera" else 1500)
    for network in NETWORKS
    for host in network.hosts
]
HOSTS = ["camera", "router", "planner"]


def wired() -> list[Wire]:
    return wires(HOSTS, NETWORKS, LINKS, 7, Backend.RELAY)


def test_a_host_has_an_interface_and_an_address_on_each_of_its_networks() -> None:
    assert [(wire.name, *vars(wire.attachment).values()) for wire in wired()] == snapshot(
        [
            ("camera/left", "left", "10.7.0.1", "eth0"),
            ("router/left", "left", "10.7.0.2", "eth0"),
            ("planner/right", "right", "10.7.1.1", "eth0"),
            ("router/right", "right", "10.7.1.2", "eth1"),
        ]
    )


def test_the_switch_has_a_bridge_a_network_and_a_pair_of_interfaces_a_link() -> None:
    assert switch_commands(wired(), {"camera": 11, "router": 12, "planner": 13}) == snapshot(
        [
            "link set lo up",
            "link add net0 type bridge stp_state 0 forward_delay 0 mcast_snooping 0",
            "link set net0 up",
            "address add 10.7.0.254/24 dev net0",
            "link add net1 type bridge stp_state 0 forward_delay 0 mcast_snooping 0",
            "link set net1 up",
            "address add 10.7.1.254/24 dev net1",
            "link add h0n0 mtu 9000 type veth peer name eth0 mtu 9000 netns 11",
            "link set h0n0 up",
            "link set h0n0 master net0",
            "link add h1n0 mtu 1500 type veth peer name eth0 mtu 1500 netns 12",
            "link set h1n0 up",
            "link set h1n0 master net0",
            "link add h2n1 mtu 1500 type veth peer name eth0 mtu 1500 netns 13",
            "link set h2n1 up",
            "link set h2n1 master net1",
            "link add h1n1 mtu 1500 type veth peer name eth1 mtu 1500 netns 12",
            "link set h1n1 up",
            "link set h1n1 master net1",
        ]
    )


def test_a_host_sends_multicast_over_its_first_interface() -> None:
    assert host_commands([wire for wire in wired() if wire.link.host == "router"]) == snapshot(
        [
            "link set lo up",
            "address add 10.7.0.2/24 brd + dev eth0",
            "link set eth0 up",
            "address add 10.7.1.2/24 brd + dev eth1",
            "link set eth1 up",
            "route add 224.0.0.0/4 dev eth0",
        ]
    )


def test_a_host_on_no_network_has_its_loopback_only() -> None:
    assert host_commands([]) == snapshot(["link set lo up"])


def test_commands_are_given_to_one_run_of_a_tool() -> None:
    assert batch("ip", ["link set lo up"]) == snapshot("""\
ip -batch - <<'END'
link set lo up
END\
""")
    assert batch("ip", []) == ""


class Elsewhere(LocalHost):
    """A host with attachments of one's choice."""

    def __init__(self, name: str, *attachments: Attachment) -> None:
        super().__init__(name)
        object.__setattr__(self, "attachments", attachments)


def test_a_host_is_addressed_on_the_first_network_that_both_are_on() -> None:
    router = Elsewhere("router", Attachment("left", "10.7.0.2", "eth0"), Attachment("right", "10.7.1.2", "eth1"))
    planner = Elsewhere("planner", Attachment("right", "10.7.1.1", "eth0"))
    camera = Elsewhere("camera", Attachment("left", "10.7.0.1", "eth0"))
    assert router.address_for(planner) == "10.7.1.2"
    assert router.address_for(camera) == "10.7.0.2"
    assert router.address_for(router) == "10.7.0.2"
    assert camera.address_for(planner) is None
    assert LocalHost().address_for(LocalHost()) == "127.0.0.1"
