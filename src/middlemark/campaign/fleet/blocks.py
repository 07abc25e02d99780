"""What a campaign knows of a fleet: it has its trials measured elsewhere, a block at a time.

`front` does it; a campaign on this machine alone needs nothing of Dask.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from middlemark.plan import Trial
from middlemark.results.manifest import Manifest, Testbed
from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import RunFolder


@dataclass(frozen=True)
class MeasuredBlock:
    """A block that is stored."""

    testbed: str
    facts: Testbed
    records: Sequence[TrialRecord]
    took_ns: int
    """From when it was handed out."""
    testbeds: int
    """How many measure for the campaign now."""


class TestBeds(Protocol):
    """Measures blocks, each as a whole on one machine."""

    def measured(self, manifest: Manifest, trials: Sequence[Trial]) -> AsyncIterator[MeasuredBlock]:
        """Has the blocks of these trials measured; gives each when it is stored, in the order in which they came."""
        ...

    def repeated(
        self, manifest: Manifest, trials: Sequence[Trial], attempts: Mapping[str, int]
    ) -> AsyncIterator[MeasuredBlock]:
        """Has disturbed trials, which have had so many attempts, measured once more where the rest of their block was.

        Where that test-bed has gone, or fails, a trial stays as it is.
        """
        ...

    async def leave(self, manifest: Manifest, trials: Sequence[Trial]) -> int:
        """Has the blocks of these trials measured while no front is there; gives how many there are."""
        ...


Connect = Callable[[RunFolder], AbstractAsyncContextManager[TestBeds]]
"""Connects a run to the test-beds that measure for it."""
