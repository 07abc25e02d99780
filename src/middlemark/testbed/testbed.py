"""The test-bed of one trial: an experiment's hosts, networks and links made real, and taken away with the context.

Hosts in namespaces are wired by a switch in namespaces of its own, so that nothing is made in this machine's; a trial
on this machine alone costs nothing. It runs no worker and judges no link: `campaign` and `probe` do.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from middlemark.errors import EnvironmentNotReady, UsageError
from middlemark.plan import network as plan
from middlemark.suite import HostKind
from middlemark.testbed.holder import Holder, held, required, run_in_all
from middlemark.testbed.host import ALONE, Host, LocalHost
from middlemark.testbed.ledger import Ledger
from middlemark.testbed.namespace_host import NamespaceHost, PrivateFolders, network_settings, setting_up
from middlemark.testbed.slot import Slot
from middlemark.testbed.switch import Wire, batch, host_commands, switch_commands, wires


@dataclass(frozen=True)
class Counts:
    """What crossed a host's interface."""

    bytes: int
    packets: int


@dataclass(frozen=True)
class LinkCounts:
    """What crossed a link since it was made, as its host's interface counts it."""

    outgoing: Counts
    incoming: Counts


@dataclass
class Testbed:
    """Hosts joined by links, as long as the context of `built` lasts."""

    hosts: Mapping[str, Host]
    links: Mapping[str, str] = field(default_factory=dict)
    """What each link, `host/network`, is made of, in words."""
    _wires: Sequence[Wire] = ()
    _switch: Holder | None = None
    _holders: Mapping[str, Holder] = field(default_factory=dict)

    def link_down(self, target: str) -> None:
        """Cuts a link, `host/network`, or all of a host's: its host sees its interface without a carrier."""
        self._set(target, "down")

    def link_up(self, target: str) -> None:
        """Mends what `link_down` cut."""
        self._set(target, "up")

    def counters(self) -> dict[str, LinkCounts]:
        """What has crossed each link so far."""
        return {wire.name: self._counts(wire) for wire in self._wires}

    def _set(self, target: str, state: str) -> None:
        named = [wire for wire in self._wires if target in {wire.name, wire.link.host}]
        if not named or self._switch is None:
            raise UsageError(
                f"the test-bed has no link `{target}`",
                remedy=f"there are: {', '.join(wire.name for wire in self._wires) or 'none'}",
            )
        self._switch.run(batch(required("ip"), [f"link set {wire.peer} {state}" for wire in named]))

    def _counts(self, wire: Wire) -> LinkCounts:
        return _interface_counts(self._holders[wire.link.host].pid, wire.interface)


def _interface_counts(pid: int, interface: str) -> LinkCounts:
    """What the namespace of a process says: bytes and packets received, 6 other figures, bytes and packets sent."""
    for line in Path(f"/proc/{pid}/net/dev").read_text().splitlines():
        name, _, figures = line.partition(":")
        if name.strip() == interface:
            fields = [int(each) for each in figures.split()]
            return LinkCounts(outgoing=Counts(fields[8], fields[9]), incoming=Counts(fields[0], fields[1]))
    raise EnvironmentNotReady(
        f"the interface {interface} is not there any more", remedy="was the test-bed taken away by someone else?"
    )


@contextmanager
def built(  # noqa: PLR0913 - a test-bed has so many sides
    hosts: Sequence[plan.Host],
    networks: Sequence[plan.Network],
    links: Sequence[plan.Link],
    slot: Slot,
    ledger: Ledger,
    *,
    shown: Sequence[Path] = (),
) -> Iterator[Testbed]:
    """The test-bed of one trial; `shown` are files and folders that hosts have to see wherever they lie."""
    kinds = {host.name: host.kind for host in hosts}
    for network in networks:
        _check_kinds(network, kinds)
    local: dict[str, Host] = {host.name: LocalHost(host.name) for host in hosts if host.kind is HostKind.LOCAL}
    names = [host.name for host in hosts if host.kind is HostKind.NETNS]
    if not names:
        yield Testbed(local)
        return
    wired = wires(names, networks, links, slot.domain)
    shaped = [wire.name for wire in wired if not wire.link.is_plain]
    if shaped:
        raise EnvironmentNotReady(
            f"links that aren't plain can't be made: {', '.join(shaped)}", remedy="leave their conditions out"
        )
    with _namespaces(names, slot, ledger, shown) as (switch, holders, folders):
        _wire(switch, holders, wired)
        attachments = {name: tuple(wire.attachment for wire in wired if wire.link.host == name) for name in names}
        made = {
            name: NamespaceHost(name, attachments[name] or (ALONE,), holder, folders[name])
            for name, holder in holders.items()
        }
        yield Testbed(local | made, {wire.name: "plain" for wire in wired}, wired, switch, holders)


@contextmanager
def _namespaces(
    names: Sequence[str], slot: Slot, ledger: Ledger, shown: Sequence[Path]
) -> Iterator[tuple[Holder, dict[str, Holder], dict[str, PrivateFolders]]]:
    """The switch's holder, the hosts', and the hosts' private folders; not joined yet."""
    with ExitStack() as made:
        switch = made.enter_context(held("the switch", ledger))
        switch.run("\n".join(network_settings()))
        holders, folders = {}, {}
        for name in names:
            base = Path(tempfile.gettempdir(), f"{slot.name}-{name}")
            made.callback(ledger.remove, ledger.enter("folder", base))
            folders[name] = PrivateFolders.below(base, shown)
            folders[name].create()
            holders[name] = made.enter_context(held(name, ledger, beside=switch))
        run_in_all([(holder, setting_up(name, folders[name])) for name, holder in holders.items()])
        yield switch, holders, folders


def _wire(switch: Holder, holders: Mapping[str, Holder], wired: Sequence[Wire]) -> None:
    ip = required("ip")
    switch.run(batch(ip, switch_commands(wired, {name: holder.pid for name, holder in holders.items()})))
    run_in_all(
        [
            (holder, batch(ip, host_commands([wire for wire in wired if wire.link.host == name])))
            for name, holder in holders.items()
        ]
    )


def _check_kinds(network: plan.Network, kinds: Mapping[str, HostKind]) -> None:
    """A bridge between namespaces has no way to this machine's interfaces, on purpose."""
    of_netns = [host for host in network.hosts if kinds[host] is HostKind.NETNS]
    if of_netns and len(of_netns) < len(network.hosts):
        others = ", ".join(f"`{host}` ({kinds[host]})" for host in network.hosts if host not in of_netns)
        raise UsageError(
            f"the network `{network.name}` has hosts in namespaces and others: {others}",
            remedy="make all hosts of a network netns, or none",
        )
