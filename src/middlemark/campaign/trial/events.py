"""All that the processes of one trial have said so far, and waiting for what they have still to say.

Every wait has a deadline and says what it waited for; a refusal, a failure or an unexpected end of any process ends it
at once as `TrialOver`. It starts nothing and decides nothing beyond that.
"""

from __future__ import annotations

import asyncio
import json
import signal
import time
from collections import defaultdict
from collections.abc import Callable, Container
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias, TypeVar

from pydantic import BaseModel

from middlemark.plan import Experiment, Failed, MissingPath, NotApplicable, Outcome, TimedOut
from middlemark.testbed.processes import procfs
from middlemark.worker.contract import (
    ApplicationClosed,
    ApplicationFailed,
    ApplicationFirstFullMessage,
    ApplicationFirstMessage,
    ApplicationRefused,
    ServiceClosed,
    ServiceFailed,
    ServiceRefused,
)
from middlemark.worker.process import Ended, Heard, Junk, Said, TooMuch, last_lines
from middlemark.worker.streams import PlannedPaths

M = TypeVar("M", bound=BaseModel)
First: TypeAlias = ApplicationFirstMessage | ApplicationFirstFullMessage
FlowPath: TypeAlias = tuple[str, bool, int, int]
"""A stream of the plan, whether it is its answers, the publisher and the subscriber."""

# A worker that refuses these got a wrong request: that is no limit of its middleware.
FAULTS_OF_THE_FRONT = {"spec", "contract_version"}
# By the kernel, or by anybody: a process, and a container as Podman tells it.
KILLED = {-signal.SIGKILL, 128 + signal.SIGKILL}


class TrialOver(Exception):
    """The trial can't go on; its outcome says why."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.detail)
        self.outcome = outcome


class EventReader:
    """What was heard in one trial."""

    def __init__(self, logs: Path, memory_kills: Callable[[], int] = procfs.memory_kills) -> None:
        self.lines: list[str] = []
        """The events as they came, each with its stamp of receipt: the trial's `events.jsonl`."""
        self.exit_status: dict[str, int] = {}
        """Of the processes that have ended."""
        self.step = "starting"
        """What the trial is doing, for the outcome of a failure."""
        self._logs = logs
        self._memory_kills, self._memory_kills_before = memory_kills, memory_kills()
        self._events: defaultdict[str, list[BaseModel]] = defaultdict(list)
        self._expected_ends: set[str] = set()
        self._over: Outcome | None = None
        self._changed = asyncio.Event()

    def hear(self, heard: Heard[BaseModel]) -> None:
        """Takes in what a process said."""
        match heard:
            case Said(worker, at_ns, event):
                self._line(at_ns, worker, event.model_dump(mode="json"))
                self._events[worker].append(event)
                self._over = self._over or self._trouble(worker, event)
            case Junk(worker, at_ns, line, problem):
                self._line(at_ns, worker, {"junk": line, "problem": problem})
                self._over = self._over or self._failed(worker, (f"its output is not an event: {line!r}", problem))
            case TooMuch(worker, at_ns, problem):
                self._line(at_ns, worker, {"too_much": problem})
                self._over = self._over or self._failed(worker, (f"it {problem}",))
            case Ended(worker, at_ns, exit_status):
                self._line(at_ns, worker, {"exit_status": exit_status})
                self.exit_status[worker] = exit_status
                closed = bool(self.of(worker, ApplicationClosed)) or bool(self.of(worker, ServiceClosed))
                if not closed and worker not in self._expected_ends:
                    self._over = self._over or self._failed(worker, (self._how_it_ended(exit_status),))
        self._changed.set()

    def expect_end(self, worker: str) -> None:
        """From now on it may end without a word."""
        self._expected_ends.add(worker)

    def is_end_expected(self, worker: str) -> bool:
        """Whether a fault of the trial ended it."""
        return worker in self._expected_ends

    def give_up(self, outcome: Outcome) -> None:
        """Ends every wait, now and from now on."""
        self._over = self._over or outcome
        self._changed.set()

    def note(self, source: str, fields: dict[str, object]) -> None:
        """Keeps among the events what the front itself did, and has whoever waits look again."""
        self._line(time.monotonic_ns(), source, fields)
        self._changed.set()

    def of(self, worker: str, kind: type[M]) -> list[M]:
        """The events of one kind that a process has said."""
        return [event for event in self._events[worker] if isinstance(event, kind)]

    def since(self, worker: str, place: int) -> list[BaseModel]:
        """All that a process has said but its first so many events."""
        return self._events[worker][place:]

    def last(self, worker: str, kind: type[M]) -> M | None:
        """The last of them."""
        return next(iter(self.of(worker, kind)[::-1]), None)

    async def wait(self, missing: Callable[[], list[str]], until_ns: int) -> None:
        """Waits until nothing is missing; `missing` names what is, for the outcome of a deadline that passes."""
        since_ns = time.monotonic_ns()
        while True:
            self._changed.clear()
            if self._over is not None:
                raise TrialOver(self._completed(self._over))
            names = missing()
            if not names:
                return
            left_ns = until_ns - time.monotonic_ns()
            if left_ns <= 0:
                raise TrialOver(TimedOut(waiting_for=", ".join(names), deadline_ns=max(until_ns - since_ns, 0)))
            # Not `wait_for`: before Python 3.12 it loses an interruption that comes together with an event.
            with suppress(TimeoutError):
                async with asyncio.timeout(left_ns / 1e9):
                    await self._changed.wait()

    def _trouble(self, worker: str, event: BaseModel) -> Outcome | None:
        match event:
            case ApplicationRefused() | ServiceRefused() if event.capability in FAULTS_OF_THE_FRONT:
                return self._failed(worker, (f"it does not take its {event.capability}", event.reason))
            case ApplicationRefused() | ServiceRefused():
                return NotApplicable(capability=event.capability, reason=event.reason)
            case ApplicationFailed() | ServiceFailed():
                return Failed(application=worker, doing=event.doing, causes=tuple(event.causes))
            case _:
                return None

    def _how_it_ended(self, exit_status: int) -> str:
        if exit_status in KILLED and self._memory_kills() > self._memory_kills_before:
            return "the kernel killed it, as there was no memory left"
        if exit_status < 0:
            return f"it was killed by signal {-exit_status}"
        return f"it ended with exit status {exit_status}"

    def _failed(self, worker: str, causes: tuple[str, ...]) -> Failed:
        return Failed(application=worker, doing=self.step, causes=causes)

    def _completed(self, outcome: Outcome) -> Outcome:
        if not isinstance(outcome, Failed):
            return outcome
        log = self._logs / f"{outcome.application}.log"
        status = self.exit_status.get(outcome.application)
        return outcome.model_copy(update={"exit_status": status, "last_log_lines": last_lines(log)})

    def _line(self, at_ns: int, worker: str, fields: dict[str, object]) -> None:
        """What is said may have fields of the line's own names, which `event_` distinguishes."""
        line: dict[str, object] = {"at_ns": at_ns, "process": worker}
        line |= {f"event_{name}" if name in line else name: value for name, value in fields.items()}
        self.lines.append(json.dumps(line))


class AwaitedPaths:
    """The paths between some applications on which no first message of one kind has come yet.

    It looks at each event once: of a thousand topics, every one brings another.
    """

    def __init__(
        self, experiment: Experiment, events: EventReader, applications: Container[str], kind: type[First]
    ) -> None:
        self._events, self._kind = events, kind
        self._planned = PlannedPaths(experiment.streams)
        self._n_seen = dict.fromkeys((application.name for application in experiment.applications), 0)
        self._missing: dict[FlowPath, None] = {
            (stream.name, answers, publisher, subscriber): None
            for stream in experiment.streams
            for answers in ((False, True) if stream.pattern.has_answers else (False,))
            for publisher, subscriber in stream.pairs()
            if stream.publishers[publisher] in applications and stream.subscribers[subscriber] in applications
        }

    def count(self) -> int:
        """How many there are now."""
        for name, n_seen in self._n_seen.items():
            events = self._events.since(name, n_seen)
            self._n_seen[name] += len(events)
            for first in events:
                if isinstance(first, self._kind):
                    self._missing.pop(path_of(self._planned.as_planned(first)), None)
        return len(self._missing)

    def paths(self) -> tuple[MissingPath, ...]:
        """What they are now."""
        self.count()
        return tuple(
            MissingPath(stream=stream, answers=answers, publisher=publisher, subscriber=subscriber)
            for stream, answers, publisher, subscriber in self._missing
        )


def path_of(first: First) -> FlowPath:
    """On which path it was the first, in its own words."""
    return first.stream, first.answers, first.publisher, first.subscriber
