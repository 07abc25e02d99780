"""Has what every process of a trial uses sampled ten times a second, by one observer for each machine of the test-bed.

Namespaces and containers hide nothing from this machine's `/proc`, so that one observer here sees the same of all of
them; every host that is another machine has its own. It makes tables; what they mean is `analysis.resources`'.

Has what the kernel does for the processes of a trial recorded, by one observer for all hosts of this machine.

Namespaces and containers hide nothing from this machine's kernel. Which events make up a message's path, and what its
parts are, is `analysis.kernel_path`'s business.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from middlemark.campaign.observers.observer import ObserverFile, TrialObserver, Watch
from middlemark.results.record import KernelRecording
from middlemark.results.tables import KERNEL_EVENTS_SCHEMA, MACHINE_SCHEMA, PROCESSES_SCHEMA
from middlemark.results.trial_folder import TrialFolder
from middlemark.testbed.hosts.ssh import SshHost
from middlemark.testbed.observers import KernelPath, Recorded, Sampled, Sampler


@dataclass
class ResourceWatch(Watch):
    """The observation `resources`."""

    _observers: dict[str, TrialObserver[Sampler]] = field(default_factory=dict)
    """By host that is another machine; under no name, this machine's."""
    _sampled: list[Sampled] = field(default_factory=list)

    def begin(self) -> None:
        """Starts the observers, which take their first samples before T0."""
        for name, host in self._machines().items():
            ahead_ns = self.setting.clocks[name].offset_ns if name in self.setting.clocks else 0
            observer = self._observers[name] = TrialObserver(_of("resources", name), self.unavailable)
            with observer.attempt():
                observer.running = Sampler(host, self._pids(host), ahead_ns, self.ledger)

    def joined(self) -> None:
        """Has the new processes sampled too."""
        for name, host in self._machines().items():
            observer = self._observers[name]
            if observer.running is not None:
                with observer.attempt():
                    observer.running.watch(self._pids(host))

    def drained(self) -> None:
        """Asks for the samples."""
        for name, observer in self._observers.items():
            if observer.running is not None:
                with observer.attempt():
                    sampled = observer.running.finish()
                    self._sampled.append(sampled)
                    self.unavailable |= {_of(what, name): reason for what, reason in sampled.unavailable.items()}
        self.end()

    def keep(self, folder: TrialFolder) -> None:
        """Both tables, unless no observer could be had."""
        if self._sampled:
            folder.write_resources(
                pl.DataFrame([row for each in self._sampled for row in each.processes], schema=PROCESSES_SCHEMA),
                pl.DataFrame([row for each in self._sampled for row in each.machine], schema=MACHINE_SCHEMA),
            )

    def end(self) -> None:
        """Ends the observers."""
        for observer in self._observers.values():
            observer.end()

    def _machines(self) -> dict[str, SshHost | None]:
        """The hosts that are other machines, and this machine under no name where any host is of it."""
        hosts = self.setting.testbed.hosts
        others: dict[str, SshHost | None] = {name: each for name, each in hosts.items() if isinstance(each, SshHost)}
        return others if len(others) == len(hosts) else {"": None, **others}

    def _pids(self, machine: SshHost | None) -> dict[str, int]:
        """Of one machine, by process as the hearing knows it: one that is started again is another."""
        specs, running = self.running.specs, self.running
        pids = {}
        for name in running.living([*specs.services, *specs.applications]):
            host = self.setting.testbed.hosts[specs.host_of[name]]
            if machine is None and not isinstance(host, SshHost):
                pids[running.key(name)] = running.pid(name)
            elif machine is host and machine is not None:
                pids[running.key(name)] = running.pid_on(machine, name)
        return {key: pid for key, pid in pids.items() if pid is not None}


def _of(what: str, machine: str) -> str:
    return f"{what} of {machine}" if machine else what


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
