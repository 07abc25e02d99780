"""The life of one trial, step by step, from starting its processes to having heard their last word.

Each step tells the processes something, or waits for something of them; what ends a trial early comes as `TrialOver`.
Which trial, where and when is `campaign`'s business; `account` makes the record of what was heard here.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path

from pydantic import BaseModel, TypeAdapter

from middlemark.analysis.record import Window
from middlemark.campaign.hearing import Hearing, TrialOver
from middlemark.campaign.spec import Place, Specs
from middlemark.errors import WorkerFailed
from middlemark.plan import Failed, MissingPath, NoCommunication, PingPong, Trial
from middlemark.testbed import processes
from middlemark.testbed.ledger import SHARED_MEMORY, Ledger
from middlemark.worker import contract
from middlemark.worker.process import WorkerProcess

_MS, _S = 1_000_000, 1_000_000_000
# From the command to the instant it names: long enough for every process to have read it.
HEADSTART_NS = 30 * _MS
# Beyond what the plan says a step takes. A publish call may block, samples are written to a disk.
ARMING_NS, STARTING_SERVICES_NS = 60 * _S, 20 * _S
PUBLISHING_GRACE_NS, WRITING_GRACE_NS = 10 * _S, 60 * _S
# The runtime ends a worker by itself 5 s after it was told to stop.
CLOSING_NS = 6 * _S
PATIENCE_S = 1.0

APPLICATION_EVENTS: TypeAdapter[BaseModel] = TypeAdapter(contract.ApplicationEvent)
SERVICE_EVENTS: TypeAdapter[BaseModel] = TypeAdapter(contract.ServiceEvent)


class Life:
    """One trial's processes and what is known of them; `live` goes through all steps, `end` must follow it."""

    def __init__(self, trial: Trial, specs: Specs, place: Place, logs: Path, ledger: Ledger) -> None:
        self.trial = trial
        self.specs = specs
        self.hearing = Hearing(logs)
        self.window: Window | None = None
        self.t0_ns: int | None = None
        self.cpus = place.cpus
        self._place = place
        self._logs = logs
        self._ledger = ledger
        self._marks: list[str] = []
        self._processes: dict[str, WorkerProcess[BaseModel]] = {}
        self._others_memory = _shared_memory_now()

    async def live(self, worker: Path, reached: Callable[[str, float | None], None]) -> None:
        """All steps in their order; `reached` is told of each as it begins, with its least duration in seconds."""
        windows = self.trial.experiment.windows
        steps: tuple[tuple[str, float | None, Callable[[], Awaitable[None]]], ...] = (
            ("arming", None, partial(self.arm, worker)),
            ("first messages", None, self.bring_together),
            ("measuring", (windows.warm_up_ns + windows.window_ns) / 1e9, self.measure),
            ("draining", None, self.drain),
            ("stopping", None, self.stop),
        )
        for name, seconds, step in steps:
            self.hearing.step = name
            reached(name, seconds)
            await step()

    async def arm(self, worker: Path) -> None:
        """Starts all processes at once; services are ready and applications armed after it."""
        try:
            for name, service in self.specs.services.items():
                await self._start(name, worker, "service", service)
            for name, application in self.specs.applications.items():
                await self._start(name, worker, "application", application)
        except WorkerFailed as failure:
            raise TrialOver(Failed(application=name, doing="starting", causes=(failure.text,))) from failure
        await self._each(self.specs.services, contract.ServiceReady, "`ready`", _from_now(STARTING_SERVICES_NS))
        await self._each(self.specs.applications, contract.ApplicationArmed, "`armed`", _from_now(ARMING_NS))

    async def bring_together(self) -> None:
        """Starts all applications at T0 and waits for the first message of each publisher at each subscriber."""
        self.t0_ns = _from_now(HEADSTART_NS)
        self._tell(self.specs.applications, contract.ApplicationStart(at_ns=self.t0_ns))
        deadline_ns = self.t0_ns + self.trial.experiment.windows.first_message_ns
        await self._each(self.specs.applications, contract.ApplicationEffective, "`effective`", deadline_ns)
        self._enter_shared_memory()
        await self.hearing.wait(self._missing_if_in_time(deadline_ns), deadline_ns)

    async def measure(self) -> None:
        """Opens the window for all at one instant, and waits for what the publishers sent in it."""
        windows = self.trial.experiment.windows
        begin_ns = _from_now(max(windows.warm_up_ns, HEADSTART_NS))
        end_ns = begin_ns + windows.window_ns
        self.window = Window(t0_ns=self.t0_ns or 0, begin_ns=begin_ns, end_ns=end_ns)
        self._tell(self.specs.applications, contract.ApplicationMeasure(begin_ns=begin_ns, end_ns=end_ns))
        self._tell(self.specs.services, contract.ServiceMeasure(begin_ns=begin_ns, end_ns=end_ns))
        deadline_ns = end_ns + PUBLISHING_GRACE_NS
        await self._each(self.specs.applications, contract.ApplicationPublished, "`published`", deadline_ns)

    async def drain(self) -> None:
        """Tells all what was sent, and waits until they have it or give it up."""
        expected = [
            contract.ExpectedMessages(
                stream=counts.stream, publisher=counts.publisher, intended=counts.intended, sent=counts.sent
            )
            for name in self.specs.applications
            for published in self.hearing.of(name, contract.ApplicationPublished)
            for counts in published.publishers
        ]
        until_ns = _from_now(self.trial.experiment.windows.drain_ns)
        self._tell(self.specs.applications, contract.ApplicationDrain(expected=expected, until_ns=until_ns))
        deadline_ns = until_ns + WRITING_GRACE_NS
        await self._each(self.specs.applications, contract.ApplicationDone, "`done`", deadline_ns)
        await self._each(self.specs.services, contract.ServiceMeasured, "`measured`", deadline_ns)

    async def stop(self) -> None:
        """Has the applications close, then the services; who does not is a leftover, which the account states."""
        for names, command in (
            (self.specs.applications, contract.ApplicationStop()),
            (self.specs.services, contract.ServiceStop()),
        ):
            self._tell(names, command)
            await self._gone(names, _from_now(CLOSING_NS))

    async def end(self) -> None:
        """Ends what still runs, and removes all that the processes left; safe to call at any time."""
        await asyncio.gather(*(process.end(PATIENCE_S) for process in self._processes.values()))
        self._ledger.remove(*self._marks)
        self._marks.clear()

    async def _start(self, name: str, worker: Path, command: str, spec: BaseModel) -> None:
        mark = self._ledger.enter("process", f"{worker.name} {command} {name}")
        self._marks.append(mark)
        host = self._place.hosts[self.specs.host_of[name]]
        process = await WorkerProcess.start(
            name,
            host.command([str(worker), command]),
            environment={processes.MARK_VARIABLE: mark},
            log=self._logs / f"{name}.log",
            events=SERVICE_EVENTS if command == "service" else APPLICATION_EVENTS,
            hear=self.hearing.hear,
        )
        self._processes[name] = process
        self._ledger.started(mark, process.pid)
        process.tell(spec)

    def _tell(self, names: Mapping[str, BaseModel], command: BaseModel) -> None:
        for name in names:
            self._processes[name].tell(command)

    async def _each(self, names: Mapping[str, BaseModel], kind: type[BaseModel], word: str, until_ns: int) -> None:
        await self.hearing.wait(
            lambda: [f"{word} of {name}" for name in names if not self.hearing.of(name, kind)], until_ns
        )

    async def _gone(self, names: Mapping[str, BaseModel], until_ns: int) -> None:
        try:
            await self.hearing.wait(
                lambda: [f"the end of {name}" for name in names if name not in self.hearing.exit_status], until_ns
            )
        except TrialOver:
            return  # everything was measured: the account makes a leftover of it

    def _missing_if_in_time(self, deadline_ns: int) -> Callable[[], list[str]]:
        """Names no one path when the deadline is over: then the outcome is another than a mere timeout."""

        def missing() -> list[str]:
            paths = missing_paths(self.trial, self.hearing)
            if paths and time.monotonic_ns() >= deadline_ns:
                raise TrialOver(NoCommunication(missing=tuple(paths)))
            return [str(path) for path in paths]

        return missing

    def _enter_shared_memory(self) -> None:
        """Enters the shared memory that the processes made under names of their own, so that it goes with them."""
        held = (processes.shared_memory(process.pid) for process in self._processes.values())
        for path in set().union(*held) - self._others_memory:
            self._marks.append(self._ledger.enter("file", path))


def missing_paths(trial: Trial, hearing: Hearing) -> list[MissingPath]:
    """The ways from a publisher to a subscriber, and of answers back, on which no message has come yet."""
    had = {
        (first.stream, first.answers, first.publisher, first.subscriber)
        for application in trial.experiment.applications
        for first in hearing.of(application.name, contract.ApplicationFirstMessage)
    }
    return [
        MissingPath(stream=stream.name, answers=answers, publisher=publisher, subscriber=subscriber)
        for stream in trial.experiment.streams
        for answers in ((False, True) if isinstance(stream.pattern, PingPong) else (False,))
        for publisher, _ in enumerate(stream.publishers)
        for subscriber, _ in enumerate(stream.subscribers)
        if (stream.name, answers, publisher, subscriber) not in had
    ]


def _from_now(span_ns: int) -> int:
    return time.monotonic_ns() + span_ns


def _shared_memory_now() -> set[Path]:
    return set(SHARED_MEMORY.glob("*"))
