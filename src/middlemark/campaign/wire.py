"""Reads what the hosts' interfaces have carried at the boundaries of a trial's phases.

The counters are the kernel's own, of the interfaces of hosts in namespaces, where nothing but the trial is; hosts that
are this machine or another have interfaces that others use too. What the figures mean is `analysis.wire`'s.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from middlemark.campaign.place import Setting
from middlemark.campaign.watching import Watch
from middlemark.errors import EnvironmentNotReady
from middlemark.results.record import LinkTraffic, Phase, Window
from middlemark.testbed.ssh_host import SshHost
from middlemark.testbed.wiring import Counts, LinkCounts


@dataclass
class WireWatch(Watch):
    """The observation `wire`."""

    _readings: list[tuple[Phase | None, int, Mapping[str, LinkCounts]]] = field(default_factory=list)
    """The phase that each ends, its instant, and the counters by link; the first ends none."""

    def begin(self) -> None:
        """The first reading, where there is anything to read."""
        self.unavailable |= unread_hosts(self.setting, "wire")
        self._read(None)

    def discovered(self) -> None:
        """The end of discovery."""
        self._read("discovery")

    async def during(self, window: Window) -> None:
        """Both ends of the window."""
        await _until(window.begin_ns)
        self._read("warm_up")
        await _until(window.end_ns)
        self._read("window")

    def drained(self) -> None:
        """The end of the drain."""
        self._read("drain")

    def found(self) -> Mapping[str, Any]:
        """What each link carried in each phase."""
        traffic = [
            _traffic(name, phase, ended_ns - began_ns, before[name], after[name])
            for (_, began_ns, before), (phase, ended_ns, after) in pairwise(self._readings)
            if phase is not None
            for name in after
        ]
        return {**super().found(), "wire": tuple(traffic)}

    def _read(self, ended: Phase | None) -> None:
        try:
            counters = self.setting.testbed.counters()
        except (EnvironmentNotReady, OSError) as gone:
            self.unavailable["wire"] = str(gone)
        else:
            self._readings.append((ended, time.monotonic_ns(), counters))


def unread_hosts(setting: Setting, what: str) -> dict[str, str]:
    """By host that is not in a namespace: why nothing of its interfaces is read."""
    wiring = setting.testbed.wiring
    in_namespaces = set(wiring.holders) if wiring else set()
    reasons = {
        name: f"{'another machine' if isinstance(host, SshHost) else 'this machine'}, whose interfaces others use too"
        for name, host in setting.testbed.hosts.items()
        if name not in in_namespaces
    }
    return {f"{what} of {name}": f"not available: it is {reason}" for name, reason in reasons.items()}


def _traffic(name: str, phase: Phase, duration_ns: int, before: LinkCounts, after: LinkCounts) -> LinkTraffic:
    host, _, network = name.partition("/")
    sent, received = _more(before.outgoing, after.outgoing), _more(before.incoming, after.incoming)
    return LinkTraffic(
        host=host,
        network=network,
        phase=phase,
        duration_ns=duration_ns,
        sent_bytes=sent.bytes,
        sent_packets=sent.packets,
        received_bytes=received.bytes,
        received_packets=received.packets,
    )


def _more(before: Counts, after: Counts) -> Counts:
    return Counts(after.bytes - before.bytes, after.packets - before.packets)


async def _until(instant_ns: int) -> None:
    await asyncio.sleep(max(instant_ns - time.monotonic_ns(), 0) / 1e9)
