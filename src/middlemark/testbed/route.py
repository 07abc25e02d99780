"""Routes: the ways between two hosts of which one at least is another machine, over the links of both.

Pure: it says which routes there are and what is declared of each. Such links can't be shaped from here nor measured
apart; `route_probe` measures the whole route, `verdict` compares it with what is declared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from middlemark.plan.network import Link, joined
from middlemark.testbed.host import ALONE, Host
from middlemark.testbed.ssh_host import SshHost


@dataclass(frozen=True)
class Route:
    """From `host` to `to` is outgoing, back is incoming."""

    host: Host
    to: Host
    address: str
    """Of `to`, on the network."""
    network: str | None
    """None where the suite declares none: then they reach each other as the machines do."""
    declared: Link
    """What the links of both come to."""


def routes(hosts: Iterable[Host], links: Sequence[Link]) -> tuple[Route, ...]:
    """Every pair of hosts once for each network that both are on, where one of them is another machine."""
    declared = {(link.host, link.network): link for link in links}
    found = []
    for host, to in combinations(hosts, 2):
        if not (isinstance(host, SshHost) or isinstance(to, SshHost)):
            continue
        for network in (name for name in host.addresses if name in to.addresses):
            ends = [declared.get((end.name, network), Link(host=end.name, network=network)) for end in (host, to)]
            is_declared = network != ALONE.network
            found.append(Route(host, to, to.addresses[network], network if is_declared else None, joined(*ends)))
    return tuple(found)
