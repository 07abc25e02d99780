"""Has what every process of a trial uses sampled ten times a second, by one observer for all hosts of this machine.

Namespaces and containers hide nothing from this machine's `/proc`, so that one observer is enough and sees the same of
all. It makes tables of the samples; what they mean is `analysis.resources`'.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from middlemark.analysis.run_folder import MACHINE_SCHEMA, PROCESSES_SCHEMA, TrialFolder
from middlemark.campaign.watching import Watch
from middlemark.errors import EnvironmentNotReady
from middlemark.testbed.observer import Observer, executable

PERIOD_NS = 100_000_000
Rows = list[dict[str, Any]]


@dataclass
class ResourceWatch(Watch):
    """The observation `resources`."""

    _observer: Observer | None = None
    _processes: Rows = field(default_factory=list)
    _machine: Rows = field(default_factory=list)

    def begin(self) -> None:
        """Starts the observer, which takes its first sample before T0."""
        try:
            self._observer = Observer("samples resources", [str(executable("resources"))], self.ledger)
            self._observer.tell({"period_ns": PERIOD_NS, "processes": self._pids()})
            self._observer.hear("ready")
        except (EnvironmentNotReady, OSError) as lacking:
            self.unavailable["resources"] = " ".join(str(lacking).splitlines())
            self.end()

    def joined(self) -> None:
        """Has the new processes sampled too."""
        if self._observer is not None:
            self._observer.tell({"command": "watch", "processes": self._pids()})

    def drained(self) -> None:
        """Asks for the samples: until now the observer has said nothing, so as to disturb nobody."""
        if self._observer is None:
            return
        self._observer.tell({"command": "stop"})
        rows = {"process": self._processes, "machine": self._machine}
        try:
            while (said := self._observer.hear())["event"] != "done":
                rows[said.pop("event")].append(said)
        except EnvironmentNotReady as broken:
            self.unavailable["resources"] = broken.text
        else:
            self.unavailable |= said["unavailable"]
            if said["missed"]:
                self.unavailable["samples"] = f"{said['missed']} were not taken: the observer was late"
        self.end()

    def keep(self, folder: TrialFolder) -> None:
        """Both tables, unless the observer could not be had."""
        if self._machine:
            folder.write_resources(
                pl.DataFrame(self._processes, schema=PROCESSES_SCHEMA),
                pl.DataFrame(self._machine, schema=MACHINE_SCHEMA),
            )

    def end(self) -> None:
        """Ends the observer."""
        if self._observer is not None:
            with suppress(OSError):
                self._observer.end()
            self._observer = None

    def _pids(self) -> dict[str, int]:
        """By process, as the hearing knows it: one that is started again is another."""
        specs = self.running.specs
        pids = {}
        for name in self.running.living([*specs.services, *specs.applications]):
            pid = self.running.pid(name)
            if pid is None:
                self.unavailable[name] = f"the host {specs.host_of[name]} is another machine"
            else:
                pids[self.running.key(name)] = pid
        return pids
