"""Whether the results of a finished campaign are to be accepted: what ended otherwise than it should, in one sentence.

It looks at stored outcomes only; that a middleware can't do what was asked is a result like any other.
"""

from __future__ import annotations

from collections import Counter

from middlemark.analysis.record import TrialRecord
from middlemark.analysis.run_folder import RunFolder
from middlemark.errors import ResultsNotAccepted
from middlemark.plan.search import step_of

ACCEPTED = {"valid", "not_applicable"}
SOUGHT = {"no_communication", "failed", "timed_out"}


def outcomes(run: RunFolder) -> Counter[str]:
    """How many stored trials ended with each kind of outcome."""
    return Counter(_kind(folder.read_record()) for folder in run.stored_trials())


def _kind(record: TrialRecord) -> str:
    """A search looks for what fails: above its lowest rate that is what it came for."""
    experiment = record.trial.experiment
    sought = experiment.search is not None and step_of(experiment, experiment.search) > 0
    return "valid" if sought and record.outcome.kind in SOUGHT else record.outcome.kind


def check(found: Counter[str]) -> None:
    """Raises where a trial is neither valid nor not applicable."""
    others = {kind: number for kind, number in found.items() if kind not in ACCEPTED}
    if others:
        counts = ", ".join(f"{number} {kind}" for kind, number in sorted(others.items()))
        raise ResultsNotAccepted(
            f"{sum(others.values())} of {sum(found.values())} trials don't count: {counts}",
            remedy="the report says why; each trial's events and logs are in its folder",
        )
