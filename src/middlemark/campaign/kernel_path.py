"""Has what the kernel does for the processes of a trial recorded, by one observer for all hosts of this machine.

Namespaces and containers hide nothing from this machine's kernel. Which events make up a message's path, and what its
parts are, is `analysis.kernel_path`'s business.
"""

from __future__ import annotations

import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from middlemark.analysis.record import KernelRecording
from middlemark.analysis.run_folder import KERNEL_EVENTS_SCHEMA, TrialFolder
from middlemark.campaign.watching import Watch
from middlemark.errors import EnvironmentNotReady
from middlemark.testbed.kernel_path import KernelPath
from middlemark.testbed.ssh_host import SshHost


@dataclass
class KernelPathWatch(Watch):
    """The observation `kernel_path`."""

    _observer: KernelPath | None = None
    _marks: list[str] = field(default_factory=list)
    _file: Path | None = None
    _recording: KernelRecording | None = None

    def begin(self) -> None:
        """Records from before any middleware is initialised, so that each connection is seen from its first byte."""
        self.unavailable |= {
            f"kernel path of {name}": "not available: it is another machine, and only this one's kernel is observed"
            for name, host in self.setting.testbed.hosts.items()
            if isinstance(host, SshHost)
        }
        self._file = Path(tempfile.gettempdir()) / f"{self.setting.place.slot.name}-kernel-path.npy"
        self._marks.append(self.ledger.enter("file", self._file))
        try:
            forwarders = list(self.setting.testbed.relay_pids)
            self._observer = KernelPath(self._file, list(self._pids().values()), self.ledger, forwarders)
        except (EnvironmentNotReady, OSError) as lacking:
            self._lacks(lacking)

    def joined(self) -> None:
        """Follows the new processes too."""
        if self._observer is not None:
            try:
                self._observer.follow(list(self._pids().values()))
            except (EnvironmentNotReady, OSError) as broken:
                self._lacks(broken)

    def drained(self) -> None:
        """Completes the recording."""
        if self._observer is None:
            return
        try:
            recorded = self._observer.finish()
        except (EnvironmentNotReady, OSError) as broken:
            self._lacks(broken)
            return
        self._recording = KernelRecording(
            processes=self._pids(),
            forwarders=self.setting.testbed.relay_pids,
            events=recorded.events,
            lost=recorded.lost,
            calls=recorded.calls,
        )
        if recorded.lost:
            self.unavailable["kernel_events"] = f"{recorded.lost} were lost: the observer was late"

    def found(self) -> dict[str, Any]:
        """What belongs to the recording beside its events."""
        return {**super().found(), "kernel_path": self._recording}

    def keep(self, folder: TrialFolder) -> None:
        """The events, unless the observer could not be had; then nothing is left of it elsewhere."""
        if self._recording is not None and self._file is not None and self._file.exists():
            folder.write_kernel_events(_table(self._file))
        self.ledger.remove(*self._marks)
        self._marks.clear()

    def end(self) -> None:
        """Ends the observer."""
        if self._observer is not None:
            with suppress(OSError):
                self._observer.end()
            self._observer = None

    def _lacks(self, reason: Exception) -> None:
        self.unavailable["kernel_path"] = " ".join(str(reason).splitlines())
        self.end()

    def _pids(self) -> dict[str, int]:
        """By process, as the hearing knows it: one that is started again is another."""
        pids = {self.running.key(name): self.running.pid(name) for name in self.running.living(self.running.keys)}
        return {key: pid for key, pid in pids.items() if pid is not None}


def _table(file: Path) -> pl.DataFrame:
    events = np.load(file, mmap_mode="r", allow_pickle=False)
    columns = {name: np.ascontiguousarray(events[name]) for name in events.dtype.names}
    table = pl.DataFrame(columns).select(pl.col(name).cast(kind) for name, kind in KERNEL_EVENTS_SCHEMA.items())
    return table.sort("at_ns", maintain_order=True)
