"""The lifecycle of one trial, step by step, from starting its processes to having heard their last word.

Each step tells the processes something, or waits for something of them; what ends a trial early comes as `TrialOver`.
`run` decides which trial runs where and when, `record` states what was heard here.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import TypeVar

from pydantic import BaseModel

from middlemark.campaign.observers.observer import TrialObserver
from middlemark.campaign.trial.environment import TrialEnvironment
from middlemark.campaign.trial.events import AwaitedPaths, First, TrialOver
from middlemark.campaign.trial.faults import Faults
from middlemark.campaign.trial.processes import TrialProcesses
from middlemark.plan import NoCommunication, Trial
from middlemark.results.record import ClockAgreement, KeptAwakeFacts, LinkMeasured, LoadReached, Window
from middlemark.suite import Action
from middlemark.suite.yaml.quantity import plural
from middlemark.testbed.machine.cpu_load import CpuLoad, Reading
from middlemark.worker import contract

_MS, _S = 1_000_000, 1_000_000_000
# From the command to the instant it names: long enough for every process to have read it.
HEADSTART_NS = 30 * _MS
# Beyond what the plan says a step takes. A publish call may block, samples are written to a disk.
ARMING_NS, STARTING_SERVICES_NS = 60 * _S, 20 * _S
PUBLISHING_GRACE_NS, WRITING_GRACE_NS = 10 * _S, 60 * _S
# A publisher gives up what it is behind with after four windows; here is room for the call that it is in by then, and
# for workers from before that rule, which a campaign may have as its base.
PUBLISHING_WINDOWS = 10
# The runtime ends a worker by itself 5 s after it was told to stop.
CLOSING_NS = 6 * _S


M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class _Readings:
    """What conditions and processes had spent at an instant."""

    loads: Mapping[str, Mapping[int, Reading]]
    """By loaded host, by CPU."""
    spinners_ns: int
    """Of CPU time, to keep CPUs awake."""
    resident_bytes: Mapping[str, int]
    """By process; read only where faults are to happen."""


class Lifecycle:
    """One trial under way and what is known of it; `live` goes through all steps, `processes.end` must follow it."""

    def __init__(
        self, trial: Trial, processes: TrialProcesses, environment: TrialEnvironment, observer: TrialObserver
    ) -> None:
        self.trial = trial
        self.environment = environment
        self.observer = observer
        self.processes = processes
        self.specs = processes.specs
        self.events = processes.events
        self.loads: Mapping[str, CpuLoad] = {}
        """By loaded host, while its processes live."""
        self.loads_reached: dict[str, LoadReached] = {}
        """By loaded host, from the window's announcement until all is published."""
        self.kept_awake: KeptAwakeFacts | None = None
        """Over the same time."""
        self.ended_conditions: tuple[str, ...] = ()
        """What kept up a condition and ended before all was published, in words."""
        self.links: tuple[LinkMeasured, ...] = ()
        """What its links were like before it, and after it where it came to its end."""
        self.clocks: dict[str, ClockAgreement] = {}
        """By host with a clock of its own, over the whole trial."""
        self.cpu_distances_ns: tuple[float | None, float | None] = (None, None)
        """Between the CPUs on which its applications meet, before it and after it."""
        self.window: Window | None = None
        self.t0_ns: int | None = None
        self.faults = Faults(trial.experiment.timeline, processes, self.join, environment.testbed)
        self.memory_growth_bytes: dict[str, int] = {}
        late = [event.target for event in trial.experiment.timeline if event.action is Action.START]
        self.on_time = [name for name in self.specs.applications if name not in late]

    async def live(self, reached: Callable[[str, float | None], None]) -> None:
        """All steps in their order; `reached` is told of each as it begins, with its least duration in seconds."""
        windows = self.trial.experiment.windows
        steps: tuple[tuple[str, float | None, Callable[[], Awaitable[None]]], ...] = (
            ("arming", None, self.arm),
            ("first messages", None, self.meet),
            ("measuring", (windows.warm_up_ns + windows.window_ns) / 1e9, self.measure),
            ("draining", None, self.drain),
            ("stopping", None, self.stop),
        )
        for name, seconds, step in steps:
            self.events.step = name
            reached(name, seconds)
            await step()

    async def arm(self) -> None:
        """Starts all processes at once, late joiners apart; services are ready and applications armed after it."""
        for name in (*self.specs.services, *self.on_time):
            await self.processes.start(name)
        await self._hear_from(self.specs.services, contract.ServiceReady, "`ready`", _from_now(STARTING_SERVICES_NS))
        await self._hear_from(self.on_time, contract.ApplicationArmed, "`armed`", _from_now(ARMING_NS))
        self.observer.begin()

    async def meet(self) -> None:
        """Brings all together; where they don't, they say before their end what they know of each other."""
        try:
            await self.bring_together()
        except TrialOver as over:
            if not isinstance(over.outcome, NoCommunication):
                raise
            await self.stop()
            told = {name: self.last(name, contract.ApplicationUnheard) for name in self.on_time}
            reasons = {name: tuple(event.endpoints) for name, event in told.items() if event}
            raise TrialOver(over.outcome.model_copy(update={"reasons": reasons})) from over

    async def bring_together(self) -> None:
        """Starts all at T0; waits until each subscriber has heard each publisher, then for full messages."""
        self.t0_ns = _from_now(HEADSTART_NS)
        self.processes.tell(self.on_time, contract.ApplicationStart(at_ns=self.t0_ns))
        deadline_ns = self.t0_ns + self.trial.experiment.windows.first_message_ns
        await self._hear_from(self.on_time, contract.ApplicationEffective, "`effective`", deadline_ns)
        self.processes.enter_shared_memory()
        await self.events.wait(self._missing_if_in_time(contract.ApplicationFirstMessage, deadline_ns), deadline_ns)
        self.processes.tell(self.on_time, contract.ApplicationApproach())
        await self.events.wait(self._missing_if_in_time(contract.ApplicationFirstFullMessage, deadline_ns), deadline_ns)
        self.observer.discovered()

    async def measure(self) -> None:
        """Opens the window for all at one instant, has the faults happen, and waits for what the publishers sent."""
        windows = self.trial.experiment.windows
        begin_ns = _from_now(max(windows.warm_up_ns, HEADSTART_NS))
        end_ns = begin_ns + windows.window_ns
        self.window = Window(t0_ns=self.t0_ns or 0, begin_ns=begin_ns, end_ns=end_ns)
        self.environment.testbed.begin(begin_ns)
        self._open_window((*self.specs.applications, *self.specs.services))
        before = self._readings()
        await self._see_published(self.window)
        self._note_conditions(before)

    async def _see_published(self, window: Window) -> None:
        """Has the faults happen and the observer watch until the publishers have sent all."""
        faults = asyncio.create_task(self.faults.perform(window.begin_ns))
        observing = asyncio.create_task(self.observer.during(window))
        try:
            grace_ns = max(PUBLISHING_GRACE_NS, (PUBLISHING_WINDOWS - 1) * (window.end_ns - window.begin_ns))
            await self.events.wait(self._unpublished, window.end_ns + grace_ns)
            await observing
        finally:
            faults.cancel()
            observing.cancel()

    def _readings(self) -> _Readings:
        awake = self.environment.kept_awake
        return _Readings(
            loads={host: load.read() for host, load in self.loads.items()},
            spinners_ns=awake.spent_ns() if awake else 0,
            resident_bytes=self.processes.resident_bytes() if self.trial.experiment.timeline else {},
        )

    def _note_conditions(self, before: _Readings) -> None:
        """Notes how far conditions were kept up over the window, and by how much memory grew under faults."""
        now, awake = self._readings(), self.environment.kept_awake
        self.ended_conditions = tuple(self._ended())
        if awake:
            spinners_ns = max(now.spinners_ns - before.spinners_ns, 0)
            self.kept_awake = KeptAwakeFacts(means=awake.means.value, spinners_cpu_ns=spinners_ns)
        self.loads_reached = {
            host: _load_reached(load, before.loads[host], now.loads[host]) for host, load in self.loads.items()
        }
        lasting = before.resident_bytes.keys() & now.resident_bytes.keys() - set(self.processes.restarted())
        self.memory_growth_bytes = {
            name: now.resident_bytes[name] - before.resident_bytes[name] for name in sorted(lasting)
        }

    def _ended(self) -> list[str]:
        awake = self.environment.kept_awake.ended() if self.environment.kept_awake else []
        return awake + [f"{condition} of {host}" for host, load in self.loads.items() for condition in load.ended()]

    async def join(self, name: str) -> None:
        """Brings a new process of an application or service into the window under way."""
        await self.processes.start(name)
        if name in self.specs.services:
            await self._hear_from([name], contract.ServiceReady, "`ready`", _from_now(STARTING_SERVICES_NS))
        else:
            await self._hear_from([name], contract.ApplicationArmed, "`armed`", _from_now(ARMING_NS))
            self.processes.tell([name], contract.ApplicationStart(at_ns=_from_now(0)))
            deadline_ns = _from_now(self.trial.experiment.windows.first_message_ns)
            await self._hear_from([name], contract.ApplicationEffective, "`effective`", deadline_ns)
        self.processes.enter_shared_memory()
        self.observer.joined()
        self._open_window([name])

    async def drain(self) -> None:
        """Tells all what was sent, and waits until they have it or give it up."""
        expected = [
            contract.ExpectedMessages(
                stream=counts.stream, publisher=counts.publisher, intended=counts.intended, sent=counts.sent
            )
            for name in self.specs.applications
            for published in self.heard(name, contract.ApplicationPublished)
            for counts in published.publishers
        ]
        until_ns = _from_now(self.trial.experiment.windows.drain_ns)
        applications = self.processes.living(self.specs.applications)
        services = self.processes.living(self.specs.services)
        self.processes.tell(applications, contract.ApplicationDrain(expected=expected, until_ns=until_ns))
        deadline_ns = until_ns + WRITING_GRACE_NS
        await self._hear_from(applications, contract.ApplicationDone, "`done`", deadline_ns)
        await self._hear_from(services, contract.ServiceMeasured, "`measured`", deadline_ns)
        self.observer.drained()

    async def stop(self) -> None:
        """Has the applications close, then the services; who does not is a leftover, which the record states."""
        for names, command in (
            (self.specs.applications, contract.ApplicationStop()),
            (self.specs.services, contract.ServiceStop()),
        ):
            self.processes.tell(names, command)
            await self._see_end_of(names, _from_now(CLOSING_NS))

    def heard(self, name: str, kind: type[M]) -> list[M]:
        """The events of one kind of the present process of an application or service."""
        return self.events.of(self.processes.key(name), kind)

    def last(self, name: str, kind: type[M]) -> M | None:
        """The last of them."""
        return self.events.last(self.processes.key(name), kind)

    def _open_window(self, names: Iterable[str]) -> None:
        if self.window is None:
            return
        begin_ns, end_ns = self.window.begin_ns, self.window.end_ns
        for name in names:
            kind = contract.ServiceMeasure if name in self.specs.services else contract.ApplicationMeasure
            self.processes.tell([name], kind(begin_ns=begin_ns, end_ns=end_ns))

    def _unpublished(self) -> list[str]:
        return self.faults.missing() + self._unheard(
            self.processes.living(self.specs.applications), contract.ApplicationPublished, "`published`"
        )

    async def _hear_from(self, names: Iterable[str], kind: type[BaseModel], word: str, until_ns: int) -> None:
        await self.events.wait(lambda: self._unheard(names, kind, word), until_ns)

    def _unheard(self, names: Iterable[str], kind: type[BaseModel], word: str) -> list[str]:
        return [f"{word} of {name}" for name in names if not self.heard(name, kind)]

    async def _see_end_of(self, names: Iterable[str], until_ns: int) -> None:
        try:
            await self.events.wait(lambda: [f"the end of {name}" for name in self.processes.living(names)], until_ns)
        except TrialOver:
            return  # everything was measured: the record has a leftover

    def _missing_if_in_time(self, kind: type[First], deadline_ns: int) -> Callable[[], list[str]]:
        """Names no one path when the deadline is over: then the outcome is another than a mere timeout."""
        awaited = AwaitedPaths(self.trial.experiment, self.events, self.on_time, kind)

        def missing() -> list[str]:
            n = awaited.count()
            if n and time.monotonic_ns() >= deadline_ns:
                raise TrialOver(NoCommunication(missing=awaited.paths()))
            return [plural(n, "first message")] if n else []

        return missing


def _load_reached(load: CpuLoad, before: Mapping[int, Reading], now: Mapping[int, Reading]) -> LoadReached:
    by_cpu = load.reached_percent(before, now)
    return LoadReached(
        asked_percent=load.asked_percent, reached_percent=fmean(by_cpu.values()), reached_by_cpu_percent=by_cpu
    )


def _from_now(span_ns: int) -> int:
    return time.monotonic_ns() + span_ns
