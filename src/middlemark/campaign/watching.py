"""Who watches a trial from outside, as the trial's life calls on it; an unobserved trial is watched by nobody.

A watch is told what the life has come to, and says in the end what it saw. What it could not see it says with a
reason: a trial never fails because nobody could watch it. Each kind of watch is a module of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from middlemark.campaign.place import Setting
from middlemark.campaign.running import Running
from middlemark.results.record import Window
from middlemark.results.run_folder import TrialFolder
from middlemark.testbed.ledger import Ledger


@dataclass
class Watch:
    """Sees nothing; what sees something overrides what it needs. All calls come in this order."""

    running: Running
    setting: Setting
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


Kind = Callable[[Running, Setting, Ledger], Watch]
