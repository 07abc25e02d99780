"""An observer as a watch has it: where it can't be had, or breaks, the watch says so and the trial goes on.

What an observer is told and says, the modules of `testbed` know; what of it is kept, its watch.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from middlemark.errors import EnvironmentNotReady
from middlemark.testbed.ledger import Ledger


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
