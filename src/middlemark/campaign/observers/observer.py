"""The observer of a trial: what a kind of observation overrides, and what guards the program that it starts.

It says what it saw at the end, and with a reason what it could not see: a trial never fails because nobody could
observe it. `traffic` and `processes` have the kinds; how the programs are spoken to, `testbed.observers` knows.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from middlemark.campaign.trial.environment import TrialEnvironment
from middlemark.campaign.trial.processes import TrialProcesses
from middlemark.errors import EnvironmentUnusable, StoreError
from middlemark.results.record import Window
from middlemark.results.trial_folder import TrialFolder
from middlemark.testbed.processes.ledger import Ledger


@dataclass
class TrialObserver:
    """Sees nothing; a kind of observation overrides what it needs. The lifecycle makes all calls, in this order."""

    processes: TrialProcesses
    environment: TrialEnvironment
    ledger: Ledger
    unavailable: dict[str, str] = field(default_factory=dict)
    """By what it should have seen: why it could not."""

    def begin(self) -> None:
        """All processes are armed; no middleware is initialised yet."""

    def discovered(self) -> None:
        """Every subscriber has had the first message of each of its publishers."""

    async def during(self, window: Window) -> None:
        """The window is announced; returns when it is over, or is cancelled with it."""

    def joined(self) -> None:
        """A process has been started within the window."""

    def drained(self) -> None:
        """All messages came or were given up; the processes still live."""

    def record_fields(self) -> Mapping[str, Any]:
        """The fields of the trial's record that it fills."""
        return {"unavailable": self.unavailable}

    def keep(self, folder: TrialFolder) -> None:
        """Stores what is too much for the record."""

    def end(self) -> None:
        """Ends whatever it started; called whatever happened, more than once too."""


ObserverKind = Callable[[TrialProcesses, TrialEnvironment, Ledger], TrialObserver]


class RunningProgram(Protocol):
    """A program that observes."""

    def end(self) -> None:
        """Ends it."""


R = TypeVar("R", bound=RunningProgram)


@dataclass
class ObserverProgram(Generic[R]):
    """One program for as long as a trial needs it; none runs before it is begun, nor after it broke."""

    subject: str
    """What it should see."""
    unavailable: dict[str, str]
    """The observer's reasons for what could not be seen."""
    running: R | None = None

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """What is done within may fail: then the reason is noted, and the program ends."""
        try:
            yield
        except (EnvironmentUnusable, StoreError, OSError) as lacking:
            self.unavailable[self.subject] = " ".join(str(lacking).splitlines())
            self.end()

    def end(self) -> None:
        """Ends it where it runs."""
        if self.running is not None:
            with suppress(OSError):
                self.running.end()
            self.running = None


class ObserverFile:
    """A file that an observer has written: in the ledger from before it is made, until what is wanted of it is kept."""

    def __init__(self, name: str, ledger: Ledger) -> None:
        self.path = Path(tempfile.gettempdir()) / name
        self._ledger = ledger
        self._mark = ledger.enter("file", self.path)

    def remove(self) -> None:
        """Leaves nothing of it."""
        self._ledger.remove(self._mark)
