"""The trials of a campaign on a fleet: what its test-beds bring is remembered and told, and the manifest names them.

Handing blocks out and storing them is `front`'s; a campaign on this machine alone is `campaign.local`'s.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from middlemark.campaign.fleet.blocks import MeasuredBlock, TestBeds
from middlemark.campaign.progress import CampaignTrials, Progress, Rest
from middlemark.campaign.trial.record import FinishedTrial
from middlemark.plan import Trial

WRITING_SHARE = 0.01
"""Of the time, for writing the manifest anew as test-beds come to it: that of many trials takes seconds each time."""


@dataclass
class FleetMeasurement:
    """Has the trials of a campaign measured on other machines."""

    trials: CampaignTrials
    testbeds: TestBeds
    progress: Progress

    async def measure(self, trials: Sequence[Trial]) -> None:
        """Has these trials measured, with all others of their blocks: a block stays whole, as its trials are pairs."""
        blocks = {trial.block for trial in trials}
        whole = [trial for trial in self.trials.manifest.trials if trial.block in blocks]
        await self._follow(self.testbeds.measured(self.trials.manifest, whole), whole)

    async def repeat(self, trials: Sequence[Trial]) -> None:
        """Has disturbed trials measured once more, where the rest of their block was."""
        attempts = {trial.id: self.trials.disturbed[trial.id] for trial in trials}
        await self._follow(self.testbeds.repeated(self.trials.manifest, trials, attempts), trials)

    async def _follow(self, blocks: AsyncIterator[MeasuredBlock], trials: Sequence[Trial]) -> None:
        """Takes in the blocks of these trials as they come."""
        rest = self.progress.rest(trials)
        n_written, due_ns = len(self.trials.manifest.testbeds), 0
        try:
            async for block in blocks:
                self.trials.add_testbed(block.testbed, block.facts)
                if len(self.trials.manifest.testbeds) > n_written and time.monotonic_ns() >= due_ns:
                    n_written, due_ns = self._write_testbeds()
                for record in block.records:
                    self.trials.remember(record)
                rest = rest.without(self.progress.rest(record.trial for record in block.records))
                self._tell(block, rest)
        finally:
            if len(self.trials.manifest.testbeds) > n_written:
                self._write_testbeds()

    def _write_testbeds(self) -> tuple[int, int]:
        """Gives how many the manifest has now, and when it may be written again."""
        begin_ns = time.monotonic_ns()
        self.trials.write_manifest()
        took_ns = time.monotonic_ns() - begin_ns
        return len(self.trials.manifest.testbeds), begin_ns + round(took_ns / WRITING_SHARE)

    def _tell(self, block: MeasuredBlock, rest: Rest) -> None:
        took_ns = block.took_ns // len(block.records)
        finished = [FinishedTrial(record) for record in block.records]
        for trial in finished:
            self.progress.learn_cost(trial, took_ns)
        left_s = self.progress.left_s(rest) / block.testbeds
        for place, trial in enumerate(finished, 1):
            self.progress.trial_finished(trial, took_ns, left_s, len(finished) - place)
