"""The trials of a campaign on this machine, one after another: disturbed ones are repeated, refused ones not run.

It runs no step of a trial itself: `trial` does. A campaign on other machines is `fleet.measurement`'s.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from middlemark.campaign.manifest import Resumed
from middlemark.campaign.progress import CampaignTrials, Progress, is_disturbed
from middlemark.campaign.trial.environment import CampaignResources
from middlemark.campaign.trial.record import FinishedTrial
from middlemark.campaign.trial.run import run_trial
from middlemark.plan import Caution, NotApplicable, Trial, WarningKind
from middlemark.results.record import TrialRecord
from middlemark.suite.yaml.quantity import plural


@dataclass
class LocalMeasurement:
    """Measures the trials of a campaign here."""

    trials: CampaignTrials
    resources: CampaignResources
    progress: Progress
    resumed: Resumed | None = None
    """None where the run is new."""

    async def measure(self, trials: Sequence[Trial]) -> None:
        """Measures and stores these trials in their order."""
        for index, trial in enumerate(trials):
            begin_ns, earlier = time.monotonic_ns(), self.trials.disturbed.get(trial.id, 0)
            refusal = self.trials.refusal(trial)
            finished = self._not_run(trial, refusal) if refusal else await self._until_undisturbed(trial)
            finished = _repeated(self._with_differences(finished), earlier)
            self.trials.run_folder.trial(trial.id).finish(finished.record)
            self.trials.remember(finished.record)
            self._tell(finished, earlier, time.monotonic_ns() - begin_ns, trials[index + 1 :])

    async def repeat(self, trials: Sequence[Trial]) -> None:
        """Measures trials once more whose attempts were all disturbed."""
        await self.measure(trials)

    def _tell(self, finished: FinishedTrial, earlier: int, took_ns: int, later: Sequence[Trial]) -> None:
        self.progress.learn_cost(finished, took_ns // (finished.record.attempt - earlier))
        remaining = (trial for trial in later if self.trials.refusal(trial) is None)
        self.progress.trial_finished(finished, took_ns, self.progress.left_s(self.progress.rest(remaining)))

    def _with_differences(self, finished: FinishedTrial) -> FinishedTrial:
        """With what is otherwise than when the run was begun."""
        if self.resumed is None or not self.resumed.differences:
            return finished
        warnings = (*finished.record.warnings, *self.resumed.cautions)
        differing = finished.record.model_copy(update={"across": self.resumed.differences, "warnings": warnings})
        return replace(finished, record=differing)

    def _not_run(self, trial: Trial, refusal: NotApplicable) -> FinishedTrial:
        self.trials.run_folder.trial(trial.id).clear()
        return FinishedTrial(TrialRecord(trial=trial, outcome=refusal))

    async def _until_undisturbed(self, trial: Trial) -> FinishedTrial:
        """Repeats a trial that the machine disturbed, and no other: a failure is a result."""
        attempt = 1 + self.trials.disturbed.get(trial.id, 0)
        folder = self.trials.run_folder.trial(trial.id)
        while True:
            self.progress.trial_started(trial, attempt)
            reached = partial(self.progress.step_reached, trial)
            finished = await run_trial(trial, self.resources, folder, attempt, reached)
            if attempt > self.resources.bounds.repeats or not is_disturbed(finished.record):
                return finished
            attempt += 1


def _repeated(finished: FinishedTrial, earlier: int) -> FinishedTrial:
    """With the warning that its last attempt was at the end of the campaign, after so many earlier ones."""
    if not earlier:
        return finished
    text = f"{plural(earlier, 'attempt')} disturbed; then repeated at the end, not beside the other trials of its block"
    caution = Caution(kind=WarningKind.REPEATED, text=text, remedy="a quieter machine: middlemark doctor")
    warnings = (*finished.record.warnings, caution)
    return replace(finished, record=finished.record.model_copy(update={"warnings": warnings}))
