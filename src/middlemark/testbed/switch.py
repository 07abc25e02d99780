"""The wiring of hosts in namespaces: a bridge for each network, and for each link its interfaces.

    host: eth0 ── peer ── port: bridge                                 a link that does nothing or limits a rate
    host: eth0 ── peer ═ netem or relay ═ inner ── port: bridge        any other

Pure: it says which interfaces and addresses there are and renders the commands that make them; `testbed` has
holders run them. What a link does to frames is `link`'s to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from middlemark.plan.network import Link, Network
from middlemark.testbed.host import Attachment
from middlemark.testbed.link import netem, rate
from middlemark.testbed.link.parts import Backend, Parts, parts

# The switch's own address on each network: what the probe measures against.
SWITCH_PLACE = 254
_OFFLOADS = "tso off gso off gro off tx off rx off"


@dataclass(frozen=True)
class Wire:
    """The interfaces that one link is made of."""

    link: Link
    address: str
    interface: str
    """The host's end, in the host's namespace."""
    peer: str
    """The other end of that pair, in the switch's namespace."""
    bridge: str
    switch_address: str
    """The switch's own on the same network."""
    parts: Parts

    @property
    def inner(self) -> str:
        """The interface towards the network of what stands in the middle."""
        return f"i{self.peer}" if self.parts.middle else self.peer

    @property
    def port(self) -> str:
        """The interface on the bridge."""
        return f"p{self.peer}" if self.parts.middle else self.peer

    @property
    def other_bridge(self) -> str:
        """The bridge of those who are parted from the network."""
        return f"o{self.bridge}"

    @property
    def name(self) -> str:
        """How a fault names it."""
        return f"{self.link.host}/{self.link.network}"

    @property
    def attachment(self) -> Attachment:
        """What the host knows of it."""
        return Attachment(self.link.network, self.address, self.interface)


def wires(
    hosts: Sequence[str], networks: Sequence[Network], links: Sequence[Link], subnet: int, backend: Backend
) -> list[Wire]:
    """One for each link of these hosts: `10.<subnet>.<network>.<host + 1>`, both counted from 0."""
    wired: list[Wire] = []
    for number, network in enumerate(networks):
        for place, host in enumerate(network.hosts):
            if host not in hosts:
                continue
            link = next(link for link in links if (link.host, link.network) == (host, network.name))
            wired.append(
                Wire(
                    link=link,
                    address=f"10.{subnet}.{number}.{place + 1}",
                    interface=f"eth{sum(wire.link.host == host for wire in wired)}",
                    peer=f"h{hosts.index(host)}n{number}",
                    bridge=f"net{number}",
                    switch_address=f"10.{subnet}.{number}.{SWITCH_PLACE}",
                    parts=parts(link, backend),
                )
            )
    return wired


def switch_commands(wired: Sequence[Wire], pids: Mapping[str, int]) -> list[str]:
    """`ip -batch` of the switch's namespace; `pids` are the processes that hold the hosts' namespaces."""
    lines = ["link set lo up"]
    for bridge, address in dict.fromkeys((wire.bridge, wire.switch_address) for wire in wired):
        lines += [*bridge_commands(bridge), f"address add {address}/24 dev {bridge}"]
    for wire in wired:
        mtu, pid = wire.link.mtu_bytes, pids[wire.link.host]
        lines += [
            f"link add {wire.peer} mtu {mtu} type veth peer name {wire.interface} mtu {mtu} netns {pid}",
            f"link set {wire.peer} up",
        ]
        if wire.parts.middle:
            lines += [
                f"link add {wire.inner} mtu {mtu} type veth peer name {wire.port} mtu {mtu}",
                f"link set {wire.inner} up",
                f"link set {wire.port} up",
            ]
        lines.append(f"link set {wire.port} master {wire.bridge}")
    return lines


def bridge_commands(bridge: str) -> list[str]:
    """One bridge: nothing but hosts is on it, so it needs no spanning tree, and its ports forward at once."""
    return [f"link add {bridge} type bridge stp_state 0 forward_delay 0 mcast_snooping 0", f"link set {bridge} up"]


def host_commands(wired: Sequence[Wire]) -> list[str]:
    """`ip -batch` of one host's namespace."""
    lines = ["link set lo up"]
    for wire in wired:
        lines += [
            f"address add {wire.address}/24 brd + dev {wire.interface}",
            f"link set {wire.interface} up",
        ]
    return lines + [f"route add 224.0.0.0/4 dev {wire.interface}" for wire in wired[:1]]


def switch_shaping(wired: Sequence[Wire]) -> list[str]:
    """`tc -batch` of the switch's namespace: incoming rates, and netem where it is in the middle."""
    lines = []
    for wire in wired:
        if wire.parts.rate:
            lines += rate.commands(wire.port, wire.link.incoming, wire.link.mtu_bytes)
        if wire.parts.middle is Backend.NETEM:
            lines += netem.commands(wire.peer, wire.inner, wire.link.outgoing, wire.link.incoming)
    return lines


def host_shaping(wired: Sequence[Wire]) -> list[str]:
    """`tc -batch` of one host's namespace: outgoing rates."""
    limited = [wire for wire in wired if wire.parts.rate]
    return [line for wire in limited for line in rate.commands(wire.interface, wire.link.outgoing, wire.link.mtu_bytes)]


def switch_offloads(wired: Sequence[Wire]) -> list[str]:
    """The arguments of one run each of `ethtool` in the switch's namespace."""
    return [
        f"-K {interface} {_OFFLOADS}"
        for wire in wired
        if not wire.link.offloads
        for interface in dict.fromkeys((wire.peer, wire.inner, wire.port))
    ]


def host_offloads(wired: Sequence[Wire]) -> list[str]:
    """The same of one host's namespace."""
    return [f"-K {wire.interface} {_OFFLOADS}" for wire in wired if not wire.link.offloads]


def batch(tool: str, lines: Sequence[str]) -> str:
    """A shell command that gives the lines to one run of `ip` or `tc`."""
    return "\n".join([f"{tool} -batch - <<'END'", *lines, "END"]) if lines else ""
