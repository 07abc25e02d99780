"""How far a campaign is: what its observer hears of each trial, and how long the remaining ones will take.

It decides nothing: `campaign` says what begins and what has finished. What can be heard is in `results.progress`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from middlemark.campaign.trial.record import FinishedTrial
from middlemark.plan import FIXED_COST_NS, Experiment, Trial, campaign_duration_ns, trial_duration_ns
from middlemark.results.manifest import Manifest
from middlemark.results.progress import (
    CampaignExtended,
    CampaignFinished,
    CampaignStarted,
    Observer,
    StepReached,
    TrialFinished,
    TrialStarted,
)


@dataclass
class Progress:
    """Tells the observer, and learns what a trial costs beside the time that its plan states."""

    folder: Path
    observer: Observer
    _fixed_costs_ns: list[int] = field(default_factory=list)

    def campaign_started(self, manifest: Manifest, n_stored: int) -> None:
        """Its trials are about to run, but those that are stored."""
        self.observer.observe(CampaignStarted(self.folder, manifest.suite, len(manifest.trials), n_stored))

    def campaign_extended(self, n_trials: int, why: str) -> None:
        """It has so many trials now, for this reason."""
        self.observer.observe(CampaignExtended(n_trials, why))

    def campaign_finished(self, outcomes: Iterable[str], *, interrupted: bool) -> None:
        """Its trials ended so."""
        self.observer.observe(CampaignFinished(self.folder, interrupted, dict(Counter(outcomes))))

    def trial_started(self, trial: Trial, attempt: int) -> None:
        """An attempt begins."""
        names = _names(trial.experiment)
        self.observer.observe(TrialStarted(trial=trial.id, number=trial.number, attempt=attempt, **names))

    def step_reached(self, trial: Trial, step: str, seconds: float | None) -> None:
        """A step of it begins, which takes at least so long."""
        self.observer.observe(StepReached(trial.id, step, seconds))

    def learn_cost(self, finished: FinishedTrial, took_ns: int) -> None:
        """Of one attempt; that of a trial without a window says nothing of the others."""
        if finished.record.window is not None:
            stated_ns = trial_duration_ns(finished.record.trial, fixed_cost_ns=0)
            self._fixed_costs_ns.append(took_ns - stated_ns)

    def trial_finished(self, finished: FinishedTrial, took_ns: int, remaining: Iterable[Trial]) -> None:
        """It is stored."""
        trial, outcome = finished.record.trial, finished.record.outcome
        self.observer.observe(
            TrialFinished(
                trial=trial.id,
                number=trial.number,
                attempt=finished.record.attempt,
                outcome=outcome.kind,
                detail=outcome.detail,
                headline=finished.headline,
                seconds=took_ns / 1e9,
                seconds_left=campaign_duration_ns(list(remaining), fixed_cost_ns=self._fixed_cost_ns()) / 1e9,
                **_names(trial.experiment),
            )
        )

    def _fixed_cost_ns(self) -> int:
        costs_ns = self._fixed_costs_ns
        return max(sum(costs_ns) // len(costs_ns), 0) if costs_ns else FIXED_COST_NS


def _names(experiment: Experiment) -> dict[str, str]:
    return {
        "experiment": experiment.key,
        "middleware": experiment.middleware,
        "profile": experiment.profile,
        "side": experiment.side or "",
        "workload": experiment.workload,
    }
