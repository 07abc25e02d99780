"""The wiring of a trial's hosts made real: it has the holders run what `switch` renders, and starts the relays.

Links are cut, mended and counted here; what was asked of them and what came of it, `probe` compares.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from middlemark.errors import EnvironmentNotReady, UsageError
from middlemark.testbed.holder import Holder, required, run_in_all
from middlemark.testbed.ledger import Ledger
from middlemark.testbed.link import relay
from middlemark.testbed.link.parts import Backend
from middlemark.testbed.link.relay import Relay
from middlemark.testbed.switch import (
    Wire,
    batch,
    bridge_commands,
    host_commands,
    host_offloads,
    host_shaping,
    switch_commands,
    switch_offloads,
    switch_shaping,
)


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
    """Those of the other side that are there: they are made when a network is first parted."""

    def set(self, target: str, state: str) -> None:
        """Has a link, or all of a host's, `up` or `down`."""
        self._run_ip([f"link set {wire.peer} {state}" for wire in self._named(target)])

    def partition(self, target: str) -> None:
        """Has a link, or all of a host's, on the other side of its network."""
        named = self._named(target)
        needed = {wire.other_bridge for wire in named} - self.other_bridges
        moved = [f"link set {wire.port} master {wire.other_bridge}" for wire in named]
        self._run_ip([line for bridge in sorted(needed) for line in bridge_commands(bridge)] + moved)
        self.other_bridges |= needed

    def heal(self, target: str) -> None:
        """Has a link, or all of a host's, where it was made."""
        self._run_ip([f"link set {wire.port} master {wire.bridge}" for wire in self._named(target)])

    def _named(self, target: str) -> list[Wire]:
        named = [wire for wire in self.wires if target in {wire.name, wire.link.host}]
        if not named:
            there = ", ".join(wire.name for wire in self.wires)
            raise UsageError(f"the test-bed has no link `{target}`", remedy=f"there are: {there or 'none'}")
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
    with ExitStack() as made:
        switch.run("\n".join(_of_the_switch(wires, {name: holder.pid for name, holder in holders.items()})))
        for number, wire in enumerate(wires):
            if wire.parts.middle is Backend.RELAY:
                told = relay.spec(wire.link, wire.parts, wire.peer, wire.inner, seed + number)
                wiring.relays[wire.name] = Relay(wire.name, switch.entering("net"), told, ledger)
                made.callback(wiring.relays[wire.name].end)
        run_in_all([(holder, "\n".join(_of_a_host(wires, name))) for name, holder in holders.items()])
        for each in wiring.relays.values():
            each.ready()
        yield wiring


def _of_the_switch(wires: Sequence[Wire], pids: Mapping[str, int]) -> list[str]:
    return [
        batch(required("ip"), switch_commands(wires, pids)),
        *(f"{required('ethtool')} {arguments} >/dev/null" for arguments in switch_offloads(wires)),
        batch(required("tc"), switch_shaping(wires)),
    ]


def _of_a_host(wires: Sequence[Wire], name: str) -> list[str]:
    own = [wire for wire in wires if wire.link.host == name]
    return [
        batch(required("ip"), host_commands(own)),
        *(f"{required('ethtool')} {arguments} >/dev/null" for arguments in host_offloads(own)),
        batch(required("tc"), host_shaping(own)),
    ]


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
