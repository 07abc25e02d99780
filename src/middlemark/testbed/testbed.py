"""The test-bed of one trial: a plan's hosts, networks and links made real, and taken away with the context.

Hosts in namespaces are wired by a switch in namespaces of its own, so that nothing is made in this machine's; a trial
on this machine alone costs nothing. No worker runs here and no link is judged: `campaign` and `network.probe` do that.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from middlemark.errors import InternalError, UsageError
from middlemark.plan.topology import network as plan
from middlemark.plan.topology.network import Link, joined
from middlemark.results.files import writing
from middlemark.suite import Action, HostKind
from middlemark.testbed import capabilities
from middlemark.testbed.hosts.host import ALONE, Host, LocalHost
from middlemark.testbed.hosts.limits import limited
from middlemark.testbed.hosts.namespace import (
    Holder,
    NamespaceHost,
    PrivateFolders,
    breaking_with,
    held_namespaces,
    network_settings,
    run_in_all,
    setting_up,
)
from middlemark.testbed.hosts.ssh import SshHost, attachments_here, ssh_host
from middlemark.testbed.network import neighbours
from middlemark.testbed.network.shaping import Backend, RelayReport, link_words
from middlemark.testbed.network.wiring import LinkCounts, Wiring, wired, wires
from middlemark.testbed.processes.ledger import Ledger
from middlemark.testbed.processes.slot import Slot


@dataclass(frozen=True)
class PlannedTestbed:
    """What a test-bed is to be."""

    hosts: Sequence[plan.Host]
    networks: Sequence[plan.Network] = ()
    links: Sequence[Link] = ()
    shown: Sequence[Path] = ()
    """Files and folders that hosts have to see wherever they lie."""
    executables: Sequence[Path] = ()
    """What is copied to hosts that are other machines."""

    def of_kind(self, kind: HostKind) -> list[plan.Host]:
        """Its hosts of one kind."""
        return [host for host in self.hosts if host.kind is kind]

    def networks_of(self, host: plan.Host) -> list[str]:
        """The networks that a host is on."""
        return [network.name for network in self.networks if host.name in network.hosts]


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


@dataclass(frozen=True)
class Testbed:
    """Hosts joined by links, as long as the context of `built` lasts."""

    hosts: Mapping[str, Host]
    wiring: Wiring | None = None
    """Of the hosts in namespaces."""
    routes: tuple[Route, ...] = ()
    """Between hosts of which one at least is another machine."""
    ledger: Ledger | None = field(default=None, repr=False)
    """Where what is started for its links and routes is entered."""

    @property
    def links(self) -> dict[str, str]:
        """What each link, `host/network`, is made of, in words."""
        wires = self.wiring.wires if self.wiring else ()
        return {wire.name: link_words(wire.link, wire.parts) for wire in wires}

    def link_down(self, target: str) -> None:
        """Cuts a link, `host/network`, or all of a host's: its host sees its interface without a carrier."""
        self._wiring(target).set(target, "down")

    def link_up(self, target: str) -> None:
        """Mends what `link_down` cut."""
        self._wiring(target).set(target, "up")

    def partition(self, target: str) -> None:
        """Moves a link, `host/network`, or all of a host's, to the other part of its network, away from the rest."""
        self._wiring(target).partition(target)

    def heal(self, target: str) -> None:
        """Moves back what `partition` moved."""
        self._wiring(target).heal(target)

    def perform(self, action: Action, target: str) -> None:
        """Does to links what a timeline says."""
        match action:
            case Action.LINK_DOWN:
                self.link_down(target)
            case Action.LINK_UP:
                self.link_up(target)
            case Action.PARTITION:
                self.partition(target)
            case Action.HEAL:
                self.heal(target)
            case _:
                raise InternalError(f"{action} is not of links")

    def begin(self, at_ns: int) -> None:
        """Has the traces of links begin at this instant."""
        if self.wiring:
            self.wiring.begin(at_ns)

    def finish_traces(self) -> None:
        """Has the traces of links hold their last point from now on."""
        if self.wiring:
            self.wiring.finish_traces()

    def counters(self) -> dict[str, LinkCounts]:
        """What has crossed each link so far."""
        return self.wiring.counters() if self.wiring else {}

    def relay_reports(self) -> dict[str, RelayReport]:
        """What each relay did so far, and how late it was; by link."""
        return {name: relay.report() for name, relay in self.wiring.relays.items()} if self.wiring else {}

    @property
    def relay_pids(self) -> tuple[int, ...]:
        """The processes that forward frames between the ends of links."""
        return tuple(relay.pid for relay in self.wiring.relays.values()) if self.wiring else ()

    @property
    def switch_pids(self) -> tuple[int, ...]:
        """The processes that hold the namespaces between hosts."""
        return (self.wiring.switch.pid,) if self.wiring else ()

    def _wiring(self, target: str) -> Wiring:
        if self.wiring is None:
            raise UsageError(f"the test-bed has no link `{target}`", remedy="none of its hosts is in a namespace")
        return self.wiring


@contextmanager
def built(planned: PlannedTestbed, slot: Slot, ledger: Ledger, backend: Backend | None = None) -> Iterator[Testbed]:
    """The test-bed of one trial; without a backend, links are shaped by the kernel's netem where it has one."""
    for network in planned.networks:
        _check_kinds(network, {host.name: host.kind for host in planned.hosts})
    with ExitStack() as stack:
        remote = [_remote_host(host, planned, ledger) for host in planned.of_kind(HostKind.SSH)]
        local = [
            LocalHost(
                host.name,
                stack.enter_context(limited(host, slot.name, ledger)),
                attachments_here(planned.networks_of(host), remote),
            )
            for host in planned.of_kind(HostKind.LOCAL)
        ]
        namespaced, wiring = stack.enter_context(_namespace_hosts(planned, slot, ledger, backend))
        by_name = {host.name: host for host in (*remote, *local, *namespaced)}
        hosts = {host.name: by_name[host.name] for host in planned.hosts}
        yield Testbed(hosts, wiring, routes(hosts.values(), planned.links), ledger)


def _remote_host(host: plan.Host, planned: PlannedTestbed, ledger: Ledger) -> SshHost:
    if host.cpus or host.cpu_quota is not None or host.memory_bytes is not None:
        raise UsageError(
            f"the host `{host.name}` is another machine, on which no limits can be set",
            remedy="leave its `cpus`, `cpu_quota` and `memory` out, or set them on that machine",
        )
    return ssh_host(host, planned.networks_of(host), planned.executables, ledger)


@contextmanager
def _namespace_hosts(
    planned: PlannedTestbed, slot: Slot, ledger: Ledger, backend: Backend | None
) -> Iterator[tuple[list[NamespaceHost], Wiring | None]]:
    """The hosts in namespaces, joined by their networks and links; no wiring where there are none."""
    hosts = planned.of_kind(HostKind.NETNS)
    if not hosts:
        yield [], None
        return
    names = [host.name for host in hosts]
    if backend is None:
        backend = Backend.RELAY if all(link.is_plain for link in planned.links) else capabilities.backend()
    wanted = wires(names, planned.networks, planned.links, slot.domain, backend)
    with ExitStack() as stack:
        limits = {host.name: stack.enter_context(limited(host, slot.name, ledger)) for host in hosts}
        switch, holders, folders = stack.enter_context(_namespaces(names, slot, ledger, planned.shown))
        stack.enter_context(neighbours.with_room(wanted, ledger))
        wiring = stack.enter_context(wired(wanted, switch, holders, ledger, slot.token))
        attached = {name: tuple(wire.attachment for wire in wanted if wire.link.host == name) for name in names}
        namespaced = [
            NamespaceHost(name, attached[name] or (ALONE,), holders[name], folders[name], limits=limits[name])
            for name in names
        ]
        yield namespaced, wiring


@contextmanager
def _namespaces(
    names: Sequence[str], slot: Slot, ledger: Ledger, shown: Sequence[Path]
) -> Iterator[tuple[Holder, dict[str, Holder], dict[str, PrivateFolders]]]:
    """The switch's holder, the hosts', and the hosts' private folders; not joined yet."""
    with ExitStack() as stack:
        switch = stack.enter_context(held_namespaces("the switch", ledger))
        # Its address on a network is the bridge's only: an answer from any other interface would go round the relay.
        switch.run("\n".join([*network_settings(), "echo 1 > /proc/sys/net/ipv4/conf/all/arp_ignore"]))
        holders, folders = {}, {}
        for name in names:
            base = Path(tempfile.gettempdir(), f"{slot.name}-{name}")
            stack.callback(ledger.remove, ledger.enter("folder", base))
            folders[name] = PrivateFolders.below(base, shown)
            with writing(base):
                folders[name].create()
            holders[name] = stack.enter_context(held_namespaces(name, ledger, beside=switch))
        stack.enter_context(breaking_with((switch, *holders.values())))
        run_in_all([(holder, setting_up(name, folders[name])) for name, holder in holders.items()])
        yield switch, holders, folders


def _check_kinds(network: plan.Network, kinds: Mapping[str, HostKind]) -> None:
    """A bridge between namespaces has no way to this machine's interfaces, on purpose."""
    of_netns = [host for host in network.hosts if kinds[host] is HostKind.NETNS]
    if of_netns and len(of_netns) < len(network.hosts):
        others = ", ".join(f"`{host}` ({kinds[host]})" for host in network.hosts if host not in of_netns)
        raise UsageError(
            f"the network `{network.name}` has hosts in namespaces and others: {others}",
            remedy="make all hosts of a network netns, or none",
        )


def routes(hosts: Iterable[Host], links: Sequence[Link]) -> tuple[Route, ...]:
    """Every pair of hosts once for each network that both are on, where one of them is another machine."""
    declared = {(link.host, link.network): link for link in links}
    between = []
    for host, to in combinations(hosts, 2):
        if not (isinstance(host, SshHost) or isinstance(to, SshHost)):
            continue
        for network in (name for name in host.addresses if name in to.addresses):
            ends = [declared.get((end.name, network), Link(host=end.name, network=network)) for end in (host, to)]
            is_declared = network != ALONE.network
            between.append(Route(host, to, to.addresses[network], network if is_declared else None, joined(*ends)))
    return tuple(between)
