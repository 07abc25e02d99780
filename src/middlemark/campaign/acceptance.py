"""Whether the results of a finished campaign are to be accepted: what ended otherwise than it should, in one sentence.

It looks at stored outcomes only; that a middleware can't do what was asked is a result like any other.
"""

from __future__ import annotations

from collections import Counter

from middlemark.errors import ResultsNotAccepted
from middlemark.plan.outcome import ACCEPTED
from middlemark.plan.search import is_sought
from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import RunFolder


def outcomes(run: RunFolder) -> Counter[str]:
    """How many stored trials ended with each kind of outcome."""
    return Counter(_kind(folder.read_record()) for folder in run.stored_trials())


def _kind(record: TrialRecord) -> str:
    """What a search came for is accepted."""
    return "valid" if is_sought(record.trial.experiment, record.outcome.kind) else record.outcome.kind


def check(found: Counter[str]) -> None:
    """Raises where a trial is neither valid nor not applicable."""
    others = {kind: number for kind, number in found.items() if kind not in ACCEPTED}
    if others:
        counts = ", ".join(f"{number} {kind}" for kind, number in sorted(others.items()))
        raise ResultsNotAccepted(
            f"{sum(others.values())} of {sum(found.values())} trials don't count: {counts}",
            remedy="the report says why; each trial's events and logs are in its folder",
        )
