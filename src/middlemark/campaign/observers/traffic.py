"""Observers of a trial's traffic: what each link transmitted in each phase, and every frame in a file for Wireshark.

Only interfaces of hosts in namespaces are read, where nothing but the trial is: those of this machine and of others
transmit other programs' traffic too. `analysis` interprets the counts, the worker's dissectors the frames.
"""

from __future__ import annotations

import asyncio
import mmap
import re
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from middlemark.campaign.observers.observer import ObserverFile, ObserverProgram, TrialObserver
from middlemark.campaign.trial.environment import TrialEnvironment
from middlemark.errors import EnvironmentUnusable
from middlemark.results.files import write_with
from middlemark.results.record import CapturedLink, CaptureRecord, LinkTraffic, Phase, Window
from middlemark.results.trial_folder import TrialFolder
from middlemark.testbed.hosts.ssh import SshHost
from middlemark.testbed.network.wiring import InterfaceCounts, LinkCounts
from middlemark.testbed.observers import Capture, Captured


@dataclass
class WireObserver(TrialObserver):
    """The observation `wire`."""

    _readings: list[tuple[Phase | None, int, Mapping[str, LinkCounts]]] = field(default_factory=list)
    """The phase that each ends, its instant, and the counters by link; the first ends none."""

    def begin(self) -> None:
        """The first reading, where there is anything to read."""
        self.unavailable |= unread_hosts(self.environment, "wire")
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

    def record_fields(self) -> Mapping[str, Any]:
        """What each link transmitted in each phase."""
        traffic = [
            _traffic(name, phase, ended_ns - began_ns, before[name], after[name])
            for (_, began_ns, before), (phase, ended_ns, after) in pairwise(self._readings)
            if phase is not None
            for name in after
        ]
        return {**super().record_fields(), "wire": tuple(traffic)}

    def _read(self, ended: Phase | None) -> None:
        try:
            counters = self.environment.testbed.counters()
        except (EnvironmentUnusable, OSError) as gone:
            self.unavailable["wire"] = str(gone)
        else:
            self._readings.append((ended, time.monotonic_ns(), counters))


def unread_hosts(environment: TrialEnvironment, subject: str) -> dict[str, str]:
    """By host that is not in a namespace: why nothing of its interfaces is read."""
    wiring = environment.testbed.wiring
    in_namespaces = set(wiring.holders) if wiring else set()
    reasons = {
        name: f"{'another machine' if isinstance(host, SshHost) else 'this machine'}, whose interfaces others use too"
        for name, host in environment.testbed.hosts.items()
        if name not in in_namespaces
    }
    return {f"{subject} of {name}": f"not available: it is {reason}" for name, reason in reasons.items()}


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


def _more(before: InterfaceCounts, after: InterfaceCounts) -> InterfaceCounts:
    return InterfaceCounts(after.bytes - before.bytes, after.packets - before.packets)


async def _until(instant_ns: int) -> None:
    await asyncio.sleep(max(instant_ns - time.monotonic_ns(), 0) / 1e9)


@dataclass
class CaptureObserver(TrialObserver):
    """The observation `capture`."""

    _program: ObserverProgram[Capture] = field(init=False)
    _file: ObserverFile | None = None
    _captured: Captured | None = None
    _readable_headers: int | None = None

    def __post_init__(self) -> None:
        self._program = ObserverProgram("capture", self.unavailable)

    def begin(self) -> None:
        """Listens from before any middleware is initialised."""
        self.unavailable |= unread_hosts(self.environment, "capture")
        wiring = self.environment.testbed.wiring
        if wiring is None:
            return
        self._file = ObserverFile(f"{self.environment.slot.name}-capture.pcapng", self.ledger)
        with self._program.attempt():
            self._program.running = Capture(self._file.path, self.environment.capture, wiring, self.ledger)

    def drained(self) -> None:
        """Completes the file."""
        if self._program.running is not None:
            with self._program.attempt():
                self._captured = self._program.running.finish()
                self._note_missing(self._captured)

    def record_fields(self) -> Mapping[str, Any]:
        """How many frames were kept, and of which links."""
        return {**super().record_fields(), "capture": self._record()}

    def keep(self, folder: TrialFolder) -> None:
        """The file, where it is complete; then nothing is left of it elsewhere."""
        if self._file is None:
            return
        if self._captured is not None:
            file = self._file.path
            write_with(folder.capture_path, lambda partial: shutil.copyfile(file, partial))
            self._readable_headers = readable_headers(file, self.environment.slot.token)
        self._file.remove()

    def end(self) -> None:
        """Ends the program."""
        self._program.end()

    def _note_missing(self, captured: Captured) -> None:
        for fate, reason in (
            (
                "beyond",
                "the file had its maximum size: raise `capture: {most: …}`, or keep less of each frame with `snap`",
            ),
            ("lost", "the observer was late"),
        ):
            if missing := sum(getattr(link, fate) for link in captured.links.values()):
                self.unavailable[f"frames {fate}"] = f"{missing} are not in the capture: {reason}"

    def _record(self) -> CaptureRecord | None:
        if self._captured is None:
            return None
        links = []
        for name, frames in self._captured.links.items():
            host, _, network = name.partition("/")
            links.append(CapturedLink(host=host, network=network, **frames.model_dump()))
        bounds = self.environment.capture
        return CaptureRecord(
            **bounds.model_dump(),
            file_bytes=self._captured.file_bytes,
            links=tuple(links),
            readable_headers=self._readable_headers,
        )


def readable_headers(file: Path, token: int) -> int:
    """How many headers of the messages with this token are in a file as they were sent.

    A header's token, phase and version are looked for, with any channel, publisher and asker between them: other bytes
    look so at one of 10^14 places. A header that is cut into two frames isn't found.
    """
    marker = re.compile(re.escape(token.to_bytes(4, "little")) + rb".{6}[\x00-\x02]\x01", re.DOTALL)
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return sum(1 for _ in marker.finditer(content))
