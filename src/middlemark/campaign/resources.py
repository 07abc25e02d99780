"""Has what every process of a trial uses sampled ten times a second, by one observer for each machine of the test-bed.

Namespaces and containers hide nothing from this machine's `/proc`, so that one observer here sees the same of all of
them; every host that is another machine has its own. It makes tables; what they mean is `analysis.resources`'.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from middlemark.campaign.observer import TrialObserver
from middlemark.campaign.watching import Watch
from middlemark.results.run_folder import TrialFolder
from middlemark.results.schema import MACHINE_SCHEMA, PROCESSES_SCHEMA
from middlemark.testbed.resources import Sampled, Sampler
from middlemark.testbed.ssh_host import SshHost


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
