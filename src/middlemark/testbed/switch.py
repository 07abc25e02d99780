"""The wiring of hosts in namespaces: a bridge for each network, and for each link a pair of interfaces.

Pure: it says which interfaces and addresses there are and renders the commands that make them; `testbed` has
holders run them. What a link does to frames is `link`'s to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from middlemark.plan.network import Link, Network
from middlemark.testbed.host import Attachment


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

    @property
    def name(self) -> str:
        """How a fault names it."""
        return f"{self.link.host}/{self.link.network}"

    @property
    def attachment(self) -> Attachment:
        """What the host knows of it."""
        return Attachment(self.link.network, self.address, self.interface)


def wires(hosts: Sequence[str], networks: Sequence[Network], links: Sequence[Link], subnet: int) -> list[Wire]:
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
                )
            )
    return wired


def switch_commands(wired: Sequence[Wire], pids: Mapping[str, int]) -> list[str]:
    """`ip -batch` of the switch's namespace; `pids` are the processes that hold the hosts' namespaces."""
    lines = []
    for bridge in dict.fromkeys(wire.bridge for wire in wired):
        # Nothing but hosts is on a bridge, so it needs no spanning tree, and its ports forward at once.
        lines += [
            f"link add {bridge} type bridge stp_state 0 forward_delay 0 mcast_snooping 0",
            f"link set {bridge} up",
        ]
    for wire in wired:
        mtu, pid = wire.link.mtu_bytes, pids[wire.link.host]
        lines += [
            f"link add {wire.peer} mtu {mtu} type veth peer name {wire.interface} mtu {mtu} netns {pid}",
            f"link set {wire.peer} master {wire.bridge}",
            f"link set {wire.peer} up",
        ]
    return lines


def host_commands(wired: Sequence[Wire]) -> list[str]:
    """`ip -batch` of one host's namespace."""
    lines = ["link set lo up"]
    for wire in wired:
        lines += [
            f"address add {wire.address}/24 brd + dev {wire.interface}",
            f"link set {wire.interface} up",
        ]
    return lines + [f"route add 224.0.0.0/4 dev {wire.interface}" for wire in wired[:1]]


def batch(tool: str, lines: Sequence[str]) -> str:
    """A shell command that gives the lines to one run of `ip` or `tc`."""
    return "\n".join([f"{tool} -batch - <<'END'", *lines, "END"]) if lines else ""
