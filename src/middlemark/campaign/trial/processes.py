"""The processes of one trial: started on their hosts, told and signalled by name, and always ended.

A process that is started again is heard under a key of its own (`subscriber_0`, then `subscriber_0#2`), so that nothing
one of them said is taken for the other's. What they are told and when, `lifecycle` and `faults` decide.
"""

from __future__ import annotations

import asyncio
import os
import signal
import stat
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel, TypeAdapter

from middlemark.campaign.trial.environment import TrialEnvironment
from middlemark.campaign.trial.events import EventReader, TrialOver
from middlemark.campaign.trial.spec import Specs
from middlemark.errors import WorkerFailed
from middlemark.plan import Failed
from middlemark.testbed.hosts.container import process_of
from middlemark.testbed.hosts.ssh import SshHost
from middlemark.testbed.processes import procfs
from middlemark.testbed.processes.ledger import Ledger
from middlemark.testbed.processes.procfs import SHARED_MEMORY
from middlemark.worker import contract
from middlemark.worker.process import WorkerProcess

PATIENCE_S = 1.0

APPLICATION_EVENTS: TypeAdapter[BaseModel] = TypeAdapter(contract.ApplicationEvent)
SERVICE_EVENTS: TypeAdapter[BaseModel] = TypeAdapter(contract.ServiceEvent)


class TrialProcesses:
    """The processes of one trial; `end` must follow, whatever happened."""

    def __init__(self, specs: Specs, environment: TrialEnvironment, logs: Path, ledger: Ledger) -> None:
        self.specs = specs
        self.events = EventReader(logs)
        self.keys: defaultdict[str, list[str]] = defaultdict(list)
        """By application or service: its processes so far, the present one last."""
        self._environment = environment
        self._logs = logs
        self._ledger = ledger
        self._marks: list[str] = []
        self._processes: dict[str, WorkerProcess[BaseModel]] = {}
        self._mark_of: dict[str, str] = {}
        self._others_memory = _shared_memory_now()

    def key(self, name: str) -> str:
        """The present process of an application or service; its first one's key where none was started yet."""
        return self.keys[name][-1] if self.keys[name] else name

    def restarted(self) -> list[str]:
        """The applications and services that have had more than one process."""
        return [name for name, keys in self.keys.items() if len(keys) > 1]

    def living(self, names: Iterable[str]) -> list[str]:
        """Those of the names whose present process has been started and has not ended."""
        return [name for name in names if self.keys[name] and self.key(name) not in self.events.exit_status]

    async def start(self, name: str) -> None:
        """Starts an application's or service's next process and gives it its spec."""
        number = len(self.keys[name]) + 1
        key = name if number == 1 else f"{name}#{number}"
        command, spec = self._command_and_spec(name, number)
        worker = self.specs.worker_of[name]
        mark = self._ledger.enter("process", f"{worker.name} {command} {key}")
        self._marks.append(mark)
        self.keys[name].append(key)
        self._mark_of[key] = mark
        host = self._environment.hosts[self.specs.host_of[name]]
        try:
            process = await WorkerProcess.start(
                key,
                host.command([str(worker), command]),
                environment={procfs.MARK_VARIABLE: mark},
                log=self._logs / f"{key}.log",
                events=SERVICE_EVENTS if command == "service" else APPLICATION_EVENTS,
                hear=self.events.hear,
            )
        except WorkerFailed as failure:
            raise TrialOver(Failed(application=name, doing="starting", causes=(failure.text,))) from failure
        self._processes[key] = process
        self._ledger.started(mark, process.pid)
        process.tell(spec)

    def _command_and_spec(self, name: str, number: int) -> tuple[str, BaseModel]:
        if name in self.specs.services:
            return "service", self.specs.services[name]
        spec = self.specs.applications[name]
        if number > 1:
            folder = self._environment.recording_folder(number)
            spec = spec.model_copy(update={"recording": spec.recording.model_copy(update={"folder": str(folder)})})
        return "application", spec

    def tell(self, names: Iterable[str], command: BaseModel) -> None:
        """Tells each of them the same, where it runs."""
        for name in self.living(names):
            self._processes[self.key(name)].tell(command)

    def pid(self, name: str) -> int | None:
        """The pid on this machine of the present process of a name, in whatever container; None where it is gone."""
        key = self.key(name)
        if not self.living([name]):
            return None
        if self._environment.hosts[self.specs.host_of[name]].starts_directly:
            return self._processes[key].pid
        process = process_of(self._mark_of[key], self.specs.worker_of[name])
        return None if process is None else process.pid

    def pid_on(self, host: SshHost, name: str) -> int | None:
        """The pid on another machine of the present process of a name; None where it is gone."""
        worker = self.specs.worker_of[name]
        return host.process_of(self._mark_of[self.key(name)], worker) if self.living([name]) else None

    def signal(self, name: str, number: signal.Signals) -> None:
        """Signals the present process of a name with all that it started (a broker, say), and none else."""
        pid = self.pid(name)
        if pid is not None:
            procfs.signal_family(pid, number)

    def expect_end(self, name: str) -> None:
        """From now on the end of the name's present process is no failure."""
        self.events.expect_end(self.key(name))

    def resident_bytes(self) -> dict[str, int]:
        """The resident memory of each present process now, with all that it started."""
        pids = {name: self.pid(name) for name in self.living(self.keys)}
        read = {name: procfs.resident_bytes(pid) for name, pid in pids.items() if pid is not None}
        return {name: n_bytes for name, n_bytes in read.items() if n_bytes is not None}

    def enter_shared_memory(self) -> None:
        """Enters what shared memory the processes made under names of their own, and closes it to other users."""
        here = [name for name in self.keys if self._environment.hosts[self.specs.host_of[name]].shares_memory]
        pids = [pid for name in here if (pid := self.pid(name)) is not None]
        held = (procfs.shared_memory(pid) for pid in pids)
        for path in set().union(*held) - self._others_memory:
            self._marks.append(self._ledger.enter("file", path))
            _close_to_others(path)

    def collect(self, into: Path) -> dict[str, Path]:
        """By application, where on this machine the samples of its last process are."""
        return {
            name: self._environment.hosts[self.specs.host_of[name]].collect(
                self._environment.recording_folder(len(keys)), into / name
            )
            for name, keys in self.keys.items()
            if name in self.specs.applications
        }

    async def end(self) -> None:
        """Ends what still runs, and removes all that the processes left; safe to call at any time."""
        await asyncio.gather(*(process.end(PATIENCE_S) for process in self._processes.values()))
        self._ledger.remove(*self._marks)
        self._marks.clear()


def _shared_memory_now() -> set[Path]:
    return set(SHARED_MEMORY.glob("*"))


def _close_to_others(path: Path) -> None:
    """Some libraries open their memory to all users, whatever the mask that they were started with."""
    with suppress(OSError):  # it is gone already
        status = path.lstat()
        if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid():
            path.chmod(stat.S_IRUSR | stat.S_IWUSR)
