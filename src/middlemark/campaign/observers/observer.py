"""Who watches a trial from outside, as the trial's life calls on it; an unobserved trial is watched by nobody.

A watch is told what the life has come to, and says in the end what it saw. What it could not see it says with a
reason: a trial never fails because nobody could watch it. Each kind of watch is a module of its own.

An observer as a watch has it: where it can't be had, or breaks, the watch says so and the trial goes on.

What an observer is told and says, the modules of `testbed` know; what of it is kept, its watch.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from middlemark.campaign.trial.environment import TrialEnvironment
from middlemark.campaign.trial.processes import Running
from middlemark.errors import EnvironmentNotReady
from middlemark.results.record import Window
from middlemark.results.trial_folder import TrialFolder
from middlemark.testbed.processes.ledger import Ledger


@dataclass
class Watch:
    """Sees nothing; what sees something overrides what it needs. All calls come in this order."""

    running: Running
    setting: TrialEnvironment
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

    def found(self) -> Mapping[str, Any]:
        """The fields of the trial's record that it fills."""
        return {"unavailable": self.unavailable}

    def keep(self, folder: TrialFolder) -> None:
        """Stores what is too much for the record."""

    def end(self) -> None:
        """Ends whatever it started; called whatever happened, more than once too."""


Kind = Callable[[Running, TrialEnvironment, Ledger], Watch]


class UnderWay(Protocol):
    """An observer under way."""

    def end(self) -> None:
        """Ends it."""


R = TypeVar("R", bound=UnderWay)


@dataclass
class TrialObserver(Generic[R]):
    """One observer for as long as a trial needs it; none runs before it is begun, nor after it broke."""

    what: str
    """What it should see."""
    unavailable: dict[str, str]
    """The watch's account of what could not be seen."""
    running: R | None = None

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """What is done within may fail: then the reason is noted, and the observer ends."""
        try:
            yield
        except (EnvironmentNotReady, OSError) as lacking:
            self.unavailable[self.what] = " ".join(str(lacking).splitlines())
            self.end()

    def end(self) -> None:
        """Ends it where it runs."""
        if self.running is not None:
            with suppress(OSError):
                self.running.end()
            self.running = None


class ObserverFile:
    """A file that an observer writes: in the ledger from before it is made, until the watch has kept what it wants."""

    def __init__(self, name: str, ledger: Ledger) -> None:
        self.path = Path(tempfile.gettempdir()) / name
        self._ledger = ledger
        self._mark = ledger.enter("file", self.path)

    def remove(self) -> None:
        """Leaves nothing of it."""
        self._ledger.remove(self._mark)
