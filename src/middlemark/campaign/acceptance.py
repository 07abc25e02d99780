"""Whether what a campaign stored is accepted: each trial valid, not applicable, or what a search came for.

It runs and repeats nothing (`campaign` does); a missed threshold is `analysis.decisions.gate`'s.
"""

from __future__ import annotations

from collections import Counter

from middlemark.errors import ResultsNotAccepted
from middlemark.plan.schedule import is_sought
from middlemark.plan.trial import ACCEPTED
from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import RunFolder


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
