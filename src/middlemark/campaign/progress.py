"""How far a campaign is: which trials are stored, how long the others will take, whether the outcomes are accepted.

It runs nothing: `local` and `fleet.measurement` say what begins and what has finished. What an observer can hear is in
`results.progress`; a missed threshold is `analysis.decisions.gate`'s.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from middlemark.campaign.trial.record import FinishedTrial
from middlemark.errors import ResultsNotAccepted
from middlemark.plan import FIXED_COST_NS, Invalid, InvalidKind, NotApplicable, Trial, trial_duration_ns
from middlemark.plan.schedule import is_sought
from middlemark.plan.trial.outcome import ACCEPTED
from middlemark.results.files import is_there
from middlemark.results.manifest import Manifest, Testbed, Width
from middlemark.results.progress import (
    CampaignExtended,
    CampaignFinished,
    CampaignStarted,
    Observer,
    StepReached,
    TrialFinished,
    TrialStarted,
)
from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import RunFolder
from middlemark.suite import Observation

_DISTURBANCES = (InvalidKind.STEAL, InvalidKind.LINK, InvalidKind.CONDITION)
"""What may be otherwise at the next attempt: a relay, too, is late when the CPU is taken away."""
LAST_ATTEMPTS_SHARE = 0.1
"""Where more of the trials than this were disturbed, the machine is busy and would disturb their last attempts too."""


@dataclass
class CampaignTrials:
    """The trials of a campaign: those that its manifest plans, and what became of those that are stored."""

    run_folder: RunFolder
    manifest: Manifest
    disturbed: dict[str, int] = field(default_factory=dict)
    """By trial that was disturbed at its last attempt: how many attempts it has had."""
    outcomes: dict[str, str] = field(default_factory=dict)
    """By trial."""
    _refused: dict[tuple[str, Observation | None], NotApplicable] = field(default_factory=dict)
    """By experiment and observation: what can't be done holds for all their trials."""

    def count_stored(self) -> None:
        """Remembers what the run folder holds already."""
        planned = {trial.id: trial for trial in self.manifest.trials}
        for folder in self.run_folder.stored_trials():
            self.remember(folder.read_record_of(planned.get(folder.id)))

    def remember(self, record: TrialRecord) -> None:
        """Takes note of a trial that is stored now."""
        self.outcomes[record.trial.id] = record.outcome.kind
        self.disturbed.pop(record.trial.id, None)
        if is_disturbed(record):
            self.disturbed[record.trial.id] = record.attempt
        if isinstance(record.outcome, NotApplicable):
            self._refused[_kind(record.trial)] = record.outcome

    def refusal(self, trial: Trial) -> NotApplicable | None:
        """Why it can't be measured, where another trial of its kind could not."""
        return self._refused.get(_kind(trial))

    def to_run(self) -> list[Trial]:
        """What is planned and not stored yet."""
        return [trial for trial in self.manifest.trials if not self._is_stored(trial)]

    def to_repeat(self, repeats: int) -> list[Trial]:
        """The few trials that were disturbed at each attempt: once more, when a neighbour may have ended its work."""
        disturbed = [trial for trial in self.manifest.trials if self.disturbed.get(trial.id) == 1 + repeats]
        most = max(1, LAST_ATTEMPTS_SHARE * len(self.manifest.trials))
        return disturbed if repeats and len(disturbed) <= most else []

    def extend(self, trials: Sequence[Trial], widths: tuple[Width, ...]) -> None:
        """Plans further trials, and states how wide the intervals were that they follow from."""
        together = (*self.manifest.trials, *trials)
        self.manifest = self.manifest.model_copy(update={"trials": together, "widths": widths})
        self.write_manifest()

    def add_testbed(self, name: str, testbed: Testbed) -> None:
        """Names a test-bed in the manifest, which is still to be written."""
        if name not in self.manifest.testbeds:
            self.manifest = self.manifest.model_copy(update={"testbeds": {**self.manifest.testbeds, name: testbed}})

    def write_manifest(self) -> None:
        """Stores the manifest as it is now."""
        self.run_folder.write_manifest(self.manifest)

    def _is_stored(self, trial: Trial) -> bool:
        return trial.id in self.outcomes or is_there(self.run_folder.trial(trial.id).record_path)


def _kind(trial: Trial) -> tuple[str, Observation | None]:
    return trial.experiment.id, trial.observation


def is_disturbed(record: TrialRecord) -> bool:
    """Whether the machine spoilt the trial, so that another attempt may count."""
    outcome = record.outcome
    return isinstance(outcome, Invalid) and all(reason.kind in _DISTURBANCES for reason in outcome.reasons)


@dataclass(frozen=True)
class Rest:
    """Trials that are still to run."""

    n_trials: int
    stated_ns: int
    """What they take by their plan."""

    def without(self, other: Rest) -> Rest:
        """What is left when these have run."""
        return Rest(self.n_trials - other.n_trials, self.stated_ns - other.stated_ns)


@dataclass
class Progress:
    """Tells the observer, and learns what a trial costs beside the time that its plan states."""

    folder: Path
    observer: Observer
    _fixed_costs_ns: int = 0
    """The sum of those known."""
    _n_fixed_costs: int = 0
    _stated_ns: dict[str, int] = field(default_factory=dict)
    """By experiment."""

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
        self.observer.observe(TrialStarted(trial, attempt))

    def step_reached(self, trial: Trial, step: str, seconds: float | None) -> None:
        """A step of it begins, which takes at least so long."""
        self.observer.observe(StepReached(trial, step, seconds))

    def learn_cost(self, finished: FinishedTrial, took_ns: int) -> None:
        """Of one attempt; that of a trial without a window says nothing of the others."""
        if finished.record.window is not None:
            stated_ns = self._stated(finished.record.trial)
            self._fixed_costs_ns += took_ns - stated_ns
            self._n_fixed_costs += 1

    def rest(self, trials: Iterable[Trial]) -> Rest:
        """How many these trials are, and what they take by their plan."""
        stated_ns = [self._stated(trial) for trial in trials]
        return Rest(len(stated_ns), sum(stated_ns))

    def left_s(self, rest: Rest) -> float:
        """How long what is left will take."""
        return (rest.n_trials * self._fixed_cost_ns() + rest.stated_ns) / 1e9

    def _stated(self, trial: Trial) -> int:
        """What a trial takes by its plan, in nanoseconds: worked out once an experiment, as often as it is asked."""
        experiment = trial.experiment.id
        if experiment not in self._stated_ns:
            self._stated_ns[experiment] = trial_duration_ns(trial, fixed_cost_ns=0)
        return self._stated_ns[experiment]

    def trial_finished(self, finished: FinishedTrial, took_ns: int, left_s: float, n_more: int = 0) -> None:
        """It is stored, and so are the others of its block that are told next."""
        self.observer.observe(TrialFinished(finished.record, finished.metrics, took_ns / 1e9, left_s, n_more))

    def _fixed_cost_ns(self) -> int:
        n = self._n_fixed_costs
        return max(self._fixed_costs_ns // n, 0) if n else FIXED_COST_NS


def outcomes(run: RunFolder) -> Counter[str]:
    """How many stored trials ended with each kind of outcome."""
    return Counter(_outcome_kind(folder.read_record()) for folder in run.stored_trials())


def _outcome_kind(record: TrialRecord) -> str:
    """What a search came for is accepted."""
    return "valid" if is_sought(record.trial.step, record.outcome.kind) else record.outcome.kind


def check_accepted(counts_by_kind: Counter[str]) -> None:
    """Raises where a trial is neither valid nor not applicable."""
    others = {kind: number for kind, number in counts_by_kind.items() if kind not in ACCEPTED}
    if others:
        counts = ", ".join(f"{number} {kind}" for kind, number in sorted(others.items()))
        raise ResultsNotAccepted(
            f"trials that don't count: {sum(others.values())} of {sum(counts_by_kind.values())} ({counts})",
            remedy="the report says why; each trial's events and logs are in its folder",
        )
