"""The faults of a trial: each has its instant, is done to its target, and is noted with when it really happened.

It does to processes and links what a timeline says. How a process is brought back into a trial under way, `lifecycle`
decides; what the faults did to the messages, `analysis` says.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import assert_never

from middlemark.campaign.trial.events import TrialOver
from middlemark.campaign.trial.processes import TrialProcesses
from middlemark.plan import Experiment, NotApplicable, PlannedFault
from middlemark.results.record import HappenedFault
from middlemark.suite import Action
from middlemark.testbed.testbed import Testbed
from middlemark.worker import contract
from middlemark.worker.available import TrialWorkers

# A worker that was told to stop ends by itself within 5 s.
STOPPING_NS = 6_000_000_000


def check_pauses(experiment: Experiment, workers: TrialWorkers) -> None:
    """Over where an application would be resumed that takes no more part then, as its worker says."""
    resumed = {event.target for event in experiment.timeline if event.action is Action.RESUME}
    for application in experiment.applications:
        lacking = workers.of(application).description.capabilities.lacking_pause
        if lacking and application.name in resumed:
            reason = f"{application.name} can't be paused and resumed: {lacking}"
            raise TrialOver(NotApplicable(capability="faults", reason=reason))


class Faults:
    """The timeline of one trial."""

    def __init__(
        self,
        timeline: Sequence[PlannedFault],
        processes: TrialProcesses,
        join: Callable[[str], Awaitable[None]],
        testbed: Testbed,
    ) -> None:
        self.happened: list[HappenedFault] = []
        self._to_come = list(timeline)
        self._processes = processes
        self._events = processes.events
        self._join = join
        """Brings a new process of an application or service into the trial under way."""
        self._testbed = testbed

    def missing(self) -> list[str]:
        """The faults that have not happened yet."""
        return [f"{event.action} of {event.target}" for event in self._to_come]

    async def perform(self, begin_ns: int) -> None:
        """Performs each at its instant after the window's start; ends the trial where one can't."""
        try:
            while self._to_come:
                event = self._to_come[0]
                await asyncio.sleep(max(begin_ns + event.at_ns - time.monotonic_ns(), 0) / 1e9)
                began_ns = time.monotonic_ns()
                await self._perform(event)
                self._note(event, began_ns, time.monotonic_ns())
        except TrialOver as over:
            self._events.give_up(over.outcome)

    async def _perform(self, event: PlannedFault) -> None:
        target = event.target
        match event.action:
            case Action.LINK_DOWN | Action.LINK_UP | Action.PARTITION | Action.HEAL:
                self._testbed.perform(event.action, target)
            case Action.PAUSE:
                self._processes.signal(target, signal.SIGSTOP)
            case Action.RESUME:
                self._processes.signal(target, signal.SIGCONT)
            case Action.KILL:
                self._processes.expect_end(target)
                self._processes.signal(target, signal.SIGKILL)
                await self._see_end_of(target)
            case Action.STOP:
                await self._stop(target)
            case Action.START:
                await self._join(target)
            case Action.RESTART:
                await self._stop(target)
                await self._join(target)
            case _:
                assert_never(event.action)

    async def _stop(self, target: str) -> None:
        self._processes.expect_end(target)
        is_service = target in self._processes.specs.services
        self._processes.tell([target], contract.ServiceStop() if is_service else contract.ApplicationStop())
        await self._see_end_of(target)

    async def _see_end_of(self, target: str) -> None:
        deadline_ns = time.monotonic_ns() + STOPPING_NS
        await self._events.wait(
            lambda: [f"the end of {name}" for name in self._processes.living([target])], deadline_ns
        )

    def _note(self, event: PlannedFault, began_ns: int, done_ns: int) -> None:
        self._to_come.pop(0)
        self.happened.append(
            HappenedFault(
                action=event.action, target=event.target, asked_ns=event.at_ns, began_ns=began_ns, done_ns=done_ns
            )
        )
        self._events.note("timeline", {"action": event.action, "target": event.target, "began_ns": began_ns})
