"""Observers of a trial's processes: what they use, sampled ten times a second, and what the kernel does for them.

Namespaces and containers hide nothing from this machine's `/proc` and kernel, so that one program sees all its hosts;
of other machines only the usage is sampled, by a program on each. What the tables mean, `analysis` says.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from middlemark.campaign.observers.observer import ObserverFile, ObserverProgram, TrialObserver
from middlemark.errors import StoreError
from middlemark.results.files import is_there
from middlemark.results.record import KernelRecording
from middlemark.results.streaming import recorded_rows
from middlemark.results.tables import KERNEL_EVENTS_SCHEMA
from middlemark.results.trial_folder import TrialFolder
from middlemark.testbed.hosts.ssh import SshHost
from middlemark.testbed.observers import KernelPath, Recorded, Sampled, Sampler

_RECORDED_SCHEMA = pl.Schema({**KERNEL_EVENTS_SCHEMA, "at_ns": pl.UInt64()})
"""As the kernel's programs write them, whose clock has no sign."""


@dataclass
class ResourceObserver(TrialObserver):
    """The observation `resources`."""

    _programs: dict[str, ObserverProgram[Sampler]] = field(default_factory=dict)
    """By host that is another machine; under no name, this machine's."""
    _sampled: list[Sampled] = field(default_factory=list)

    def begin(self) -> None:
        """Starts the programs, which take their first samples before T0."""
        for name, host in self._machines().items():
            ahead_ns = self.environment.clocks[name].offset_ns if name in self.environment.clocks else 0
            program = self._programs[name] = ObserverProgram(_of("resources", name), self.unavailable)
            with program.attempt():
                program.running = Sampler(host, self._pids(host), ahead_ns, self.ledger)

    def joined(self) -> None:
        """Has the new processes sampled too."""
        for name, host in self._machines().items():
            program = self._programs[name]
            if program.running is not None:
                with program.attempt():
                    program.running.watch(self._pids(host))

    def drained(self) -> None:
        """Requests the samples."""
        for name, program in self._programs.items():
            if program.running is not None:
                with program.attempt():
                    sampled = program.running.finish()
                    self._sampled.append(sampled)
                    self.unavailable |= {
                        _of(quantity, name): reason for quantity, reason in sampled.unavailable.items()
                    }
        self.end()

    def keep(self, folder: TrialFolder) -> None:
        """Both tables, unless no program could be had."""
        if self._sampled:
            folder.write_resources(
                pl.concat(sampled.processes for sampled in self._sampled),
                pl.concat(sampled.machine for sampled in self._sampled),
            )

    def end(self) -> None:
        """Ends the programs."""
        for program in self._programs.values():
            program.end()

    def _machines(self) -> dict[str, SshHost | None]:
        """The hosts that are other machines, and this machine under no name where any host is of it."""
        hosts = self.environment.testbed.hosts
        others: dict[str, SshHost | None] = {name: host for name, host in hosts.items() if isinstance(host, SshHost)}
        return others if len(others) == len(hosts) else {"": None, **others}

    def _pids(self, machine: SshHost | None) -> dict[str, int]:
        """Of one machine, by process under its key for events: one that is started again is another."""
        specs, processes = self.processes.specs, self.processes
        pids = {}
        for name in processes.living([*specs.services, *specs.applications]):
            host = self.environment.testbed.hosts[specs.host_of[name]]
            if machine is None and not isinstance(host, SshHost):
                pids[processes.key(name)] = processes.pid(name)
            elif machine is host and machine is not None:
                pids[processes.key(name)] = processes.pid_on(machine, name)
        return {key: pid for key, pid in pids.items() if pid is not None}


def _of(quantity: str, machine: str) -> str:
    return f"{quantity} of {machine}" if machine else quantity


@dataclass
class KernelPathObserver(TrialObserver):
    """The observation `kernel_path`."""

    _program: ObserverProgram[KernelPath] = field(init=False)
    _file: ObserverFile | None = None
    _recording: KernelRecording | None = None

    def __post_init__(self) -> None:
        self._program = ObserverProgram("kernel_path", self.unavailable)

    def begin(self) -> None:
        """Records from before any middleware is initialised, so that each connection is seen from its first byte."""
        self.unavailable |= {
            f"kernel path of {name}": "not available: it is another machine, and only this one's kernel is observed"
            for name, host in self.environment.testbed.hosts.items()
            if isinstance(host, SshHost)
        }
        self._file = ObserverFile(f"{self.environment.slot.name}-kernel-path.npy", self.ledger)
        with self._program.attempt():
            testbed = self.environment.testbed
            self._program.running = KernelPath(
                self._file.path,
                list(self._pids().values()),
                self.ledger,
                forwarders=testbed.relay_pids,
                switches=testbed.switch_pids,
            )

    def joined(self) -> None:
        """Follows the new processes too."""
        if self._program.running is not None:
            with self._program.attempt():
                self._program.running.follow(list(self._pids().values()))

    def drained(self) -> None:
        """Completes the recording."""
        if self._program.running is not None:
            with self._program.attempt():
                recorded = self._program.running.finish()
                self._recording = self._as_recorded(recorded)

    def record_fields(self) -> dict[str, Any]:
        """What belongs to the recording beside its events."""
        return {**super().record_fields(), "kernel_path": self._recording}

    def keep(self, folder: TrialFolder) -> None:
        """The events, unless the program could not be had; then nothing is left of it elsewhere."""
        if self._file is None:
            return
        events = None
        if self._recording is not None and is_there(self._file.path):
            with self._program.attempt():
                events = _table(self._file.path)
        if events is not None:
            folder.write_kernel_events(events)
        self._file.remove()

    def end(self) -> None:
        """Ends the program."""
        self._program.end()

    def _as_recorded(self, recorded: Recorded) -> KernelRecording:
        if recorded.lost.whole:
            self.unavailable["kernel_events"] = str(recorded.lost)
        return KernelRecording(
            processes=self._pids(),
            forwarders=self.environment.testbed.relay_pids,
            events=recorded.events,
            lost=recorded.lost.whole,
            calls=recorded.calls,
        )

    def _pids(self) -> dict[str, int]:
        """By process, under its key for events: one that is started again is another."""
        pids = {
            self.processes.key(name): self.processes.pid(name) for name in self.processes.living(self.processes.keys)
        }
        return {key: pid for key, pid in pids.items() if pid is not None}


def _table(file: Path) -> pl.DataFrame:
    events = pl.concat([pl.DataFrame(schema=_RECORDED_SCHEMA), *recorded_rows(file, _RECORDED_SCHEMA)])
    try:
        return events.cast(KERNEL_EVENTS_SCHEMA).sort("at_ns", maintain_order=True)
    except pl.exceptions.InvalidOperationError as cause:
        raise StoreError(file, "an instant in it is beyond what a clock can show") from cause
