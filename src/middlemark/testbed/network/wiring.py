"""The wiring of hosts in namespaces: a bridge for each network, and for each link its interfaces.

    host: eth0 ── peer ── port: bridge                                 a link that does nothing or limits a rate
    host: eth0 ── peer ═ netem or relay ═ inner ── port: bridge        any other

It renders the commands that make interfaces and addresses, has holders of namespaces run them, and cuts, mends and
counts the links. What a link does to frames is `shaping`'s, what came of it `probe` measures.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from middlemark.errors import EnvironmentNotReady, UsageError
from middlemark.plan.topology.network import Link, Network
from middlemark.testbed.hosts.host import Attachment
from middlemark.testbed.hosts.namespace import Holder, run_in_all
from middlemark.testbed.network import shaping
from middlemark.testbed.network.shaping import Backend, LinkParts, Relay, link_parts
from middlemark.testbed.processes.child import required
from middlemark.testbed.processes.ledger import Ledger

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
    parts: LinkParts

    @property
    def inner(self) -> str:
        """The interface of netem or the relay towards the network."""
        return f"i{self.peer}" if self.parts.middle else self.peer

    @property
    def port(self) -> str:
        """The interface on the bridge."""
        return f"p{self.peer}" if self.parts.middle else self.peer

    @property
    def other_bridge(self) -> str:
        """The bridge of those who are partitioned from the network."""
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
                    parts=link_parts(link, backend),
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
            lines += shaping.rate_commands(wire.port, wire.link.incoming, wire.link.mtu_bytes)
        if wire.parts.middle is Backend.NETEM:
            lines += shaping.netem_commands(wire.peer, wire.inner, wire.link.outgoing, wire.link.incoming)
    return lines


def host_shaping(wired: Sequence[Wire]) -> list[str]:
    """`tc -batch` of one host's namespace: outgoing rates."""
    limited = [wire for wire in wired if wire.parts.rate]
    return [
        line
        for wire in limited
        for line in shaping.rate_commands(wire.interface, wire.link.outgoing, wire.link.mtu_bytes)
    ]


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


@dataclass(frozen=True)
class InterfaceCounts:
    """What crossed a host's interface."""

    bytes: int
    packets: int


@dataclass(frozen=True)
class LinkCounts:
    """What crossed a link since it was made, as its host's interface counts it."""

    outgoing: InterfaceCounts
    incoming: InterfaceCounts


@dataclass
class Wiring:
    """Networks and links that are there."""

    wires: Sequence[Wire]
    switch: Holder
    holders: Mapping[str, Holder]
    """By host."""
    relays: dict[str, Relay] = field(default_factory=dict)
    """By link."""
    begun: bool = False
    """Whether traces are under way."""
    other_bridges: set[str] = field(default_factory=set)
    """Those of partitioned hosts that are there: they are made when a network is first partitioned."""

    def set(self, target: str, state: str) -> None:
        """Has a link, or all of a host's, `up` or `down`."""
        self._run_ip([f"link set {wire.peer} {state}" for wire in self._named(target)])

    def partition(self, target: str) -> None:
        """Moves a link, or all of a host's, to the other part of its network."""
        named = self._named(target)
        needed = {wire.other_bridge for wire in named} - self.other_bridges
        moved = [f"link set {wire.port} master {wire.other_bridge}" for wire in named]
        self._run_ip([line for bridge in sorted(needed) for line in bridge_commands(bridge)] + moved)
        self.other_bridges |= needed

    def heal(self, target: str) -> None:
        """Moves a link, or all of a host's, back to where it was made."""
        self._run_ip([f"link set {wire.port} master {wire.bridge}" for wire in self._named(target)])

    def _named(self, target: str) -> list[Wire]:
        named = [wire for wire in self.wires if target in {wire.name, wire.link.host}]
        if not named:
            names = ", ".join(wire.name for wire in self.wires)
            raise UsageError(f"the test-bed has no link `{target}`", remedy=f"there are: {names or 'none'}")
        return named

    def _run_ip(self, lines: Sequence[str]) -> None:
        self.switch.run(batch(required("ip"), lines))

    def begin(self, at_ns: int) -> None:
        """Has all traces begin."""
        for wire in self.wires:
            if wire.link.trace:
                self.relays[wire.name].begin(at_ns)
                self.begun = True

    def finish_traces(self) -> None:
        """Has all traces that are under way hold their last point from now on."""
        for wire in self.wires:
            if self.begun and wire.link.trace:
                self.relays[wire.name].begin(time.monotonic_ns() - wire.link.trace[-1].at_ns)

    def counters(self) -> dict[str, LinkCounts]:
        """What has crossed each link so far."""
        return {wire.name: _interface_counts(self.holders[wire.link.host].pid, wire.interface) for wire in self.wires}


@contextmanager
def wired(
    wires: Sequence[Wire], switch: Holder, holders: Mapping[str, Holder], ledger: Ledger, seed: int
) -> Iterator[Wiring]:
    """Joins the holders' namespaces; all of it goes with them, and the relays with the context."""
    wiring = Wiring(wires, switch, holders)
    with ExitStack() as stack:
        switch.run("\n".join(_of_the_switch(wires, {name: holder.pid for name, holder in holders.items()})))
        for number, wire in enumerate(wires):
            if wire.parts.middle is Backend.RELAY:
                spec = shaping.relay_spec(wire.link, wire.parts, wire.peer, wire.inner, seed + number)
                wiring.relays[wire.name] = Relay(wire.name, switch.entering("net"), spec, ledger)
                stack.callback(wiring.relays[wire.name].end)
        run_in_all([(holder, "\n".join(_of_a_host(wires, name))) for name, holder in holders.items()])
        for relay in wiring.relays.values():
            relay.ready()
        yield wiring


def _of_the_switch(wires: Sequence[Wire], pids: Mapping[str, int]) -> list[str]:
    return [
        batch(required("ip"), switch_commands(wires, pids)),
        *(f"{required('ethtool')} {arguments} >/dev/null" for arguments in switch_offloads(wires)),
        batch(required("tc"), switch_shaping(wires)),
    ]


def _of_a_host(wires: Sequence[Wire], name: str) -> list[str]:
    of_host = [wire for wire in wires if wire.link.host == name]
    return [
        batch(required("ip"), host_commands(of_host)),
        *(f"{required('ethtool')} {arguments} >/dev/null" for arguments in host_offloads(of_host)),
        batch(required("tc"), host_shaping(of_host)),
    ]


def _interface_counts(pid: int, interface: str) -> LinkCounts:
    """What the namespace of a process says: bytes and packets received, 6 other counts, bytes and packets sent."""
    for line in Path(f"/proc/{pid}/net/dev").read_text().splitlines():
        name, _, counts = line.partition(":")
        if name.strip() == interface:
            fields = [int(text) for text in counts.split()]
            return LinkCounts(
                outgoing=InterfaceCounts(fields[8], fields[9]), incoming=InterfaceCounts(fields[0], fields[1])
            )
    raise EnvironmentNotReady(
        f"the interface {interface} no longer exists", remedy="was the test-bed removed by something else?"
    )
