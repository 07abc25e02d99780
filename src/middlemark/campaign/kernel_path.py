"""Has what the kernel does for the processes of a trial recorded, by one observer for all hosts of this machine.

Namespaces and containers hide nothing from this machine's kernel. Which events make up a message's path, and what its
parts are, is `analysis.kernel_path`'s business.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from middlemark.campaign.observer import ObserverFile, TrialObserver
from middlemark.campaign.watching import Watch
from middlemark.results.record import KernelRecording
from middlemark.results.run_folder import TrialFolder
from middlemark.results.schema import KERNEL_EVENTS_SCHEMA
from middlemark.testbed.kernel_path import KernelPath, Recorded
from middlemark.testbed.ssh_host import SshHost


@dataclass
class KernelPathWatch(Watch):
    """The observation `kernel_path`."""

    _observer: TrialObserver[KernelPath] = field(init=False)
    _file: ObserverFile | None = None
    _recording: KernelRecording | None = None

    def __post_init__(self) -> None:
        self._observer = TrialObserver("kernel_path", self.unavailable)

    def begin(self) -> None:
        """Records from before any middleware is initialised, so that each connection is seen from its first byte."""
        self.unavailable |= {
            f"kernel path of {name}": "not available: it is another machine, and only this one's kernel is observed"
            for name, host in self.setting.testbed.hosts.items()
            if isinstance(host, SshHost)
        }
        self._file = ObserverFile(f"{self.setting.place.slot.name}-kernel-path.npy", self.ledger)
        with self._observer.attempt():
            processes, forwarders = list(self._pids().values()), list(self.setting.testbed.relay_pids)
            self._observer.running = KernelPath(self._file.path, processes, self.ledger, forwarders)

    def joined(self) -> None:
        """Follows the new processes too."""
        if self._observer.running is not None:
            with self._observer.attempt():
                self._observer.running.follow(list(self._pids().values()))

    def drained(self) -> None:
        """Completes the recording."""
        if self._observer.running is not None:
            with self._observer.attempt():
                recorded = self._observer.running.finish()
                self._recording = self._account(recorded)

    def found(self) -> dict[str, Any]:
        """What belongs to the recording beside its events."""
        return {**super().found(), "kernel_path": self._recording}

    def keep(self, folder: TrialFolder) -> None:
        """The events, unless the observer could not be had; then nothing is left of it elsewhere."""
        if self._file is None:
            return
        if self._recording is not None and self._file.path.exists():
            folder.write_kernel_events(_table(self._file.path))
        self._file.remove()

    def end(self) -> None:
        """Ends the observer."""
        self._observer.end()

    def _account(self, recorded: Recorded) -> KernelRecording:
        if recorded.lost:
            why = "the observer was late, or there was more to follow than it has room for"
            self.unavailable["kernel_events"] = f"{recorded.lost} were lost: {why}"
        return KernelRecording(
            processes=self._pids(),
            forwarders=self.setting.testbed.relay_pids,
            **recorded.model_dump(),
        )

    def _pids(self) -> dict[str, int]:
        """By process, as the hearing knows it: one that is started again is another."""
        pids = {self.running.key(name): self.running.pid(name) for name in self.running.living(self.running.keys)}
        return {key: pid for key, pid in pids.items() if pid is not None}


def _table(file: Path) -> pl.DataFrame:
    events = np.load(file, mmap_mode="r", allow_pickle=False)
    columns = {name: np.ascontiguousarray(events[name]) for name in events.dtype.names}
    table = pl.DataFrame(columns).select(pl.col(name).cast(kind) for name, kind in KERNEL_EVENTS_SCHEMA.items())
    return table.sort("at_ns", maintain_order=True)
