"""The trials of a run that don't count, each way in which they ended once: said before any figure, wherever it is read.

Not among them is what a middleware can't do, and what a capacity search came for. It judges nothing: a trial's outcome
is stored with it, and `tables` has those of each setting.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from middlemark.analysis.experiment import ExperimentFindings, TrialOutcome
from middlemark.analysis.run import RunFindings
from middlemark.plan.outcome import ACCEPTED
from middlemark.plan.search import is_sought
from middlemark.report.contender import Contender
from middlemark.report.display import of_each


@dataclass(frozen=True)
class Uncounted:
    """One way of ending over all trials."""

    first: TrialOutcome
    trials: Mapping[str, int]
    """How many ended so, by contender."""

    @property
    def kind(self) -> str:
        """As it is said: `invalid (steal)`."""
        reason = f" ({self.first.reason})" if self.first.reason else ""
        return self.first.kind.replace("_", " ") + reason

    @property
    def where(self) -> str:
        """`4 trials (Zenoh 3, MQTT 1)`."""
        return of_each(self.trials)


def uncounted(findings: RunFindings, who: Mapping[str, Contender]) -> list[Uncounted]:
    """Every way, observed trials' too, in the order of their names."""
    first: dict[tuple[str, str], TrialOutcome] = {}
    trials: dict[tuple[str, str], Counter[str]] = {}
    for each in findings.experiments:
        for outcome in _uncounted(each):
            way = (outcome.kind, outcome.reason)
            first.setdefault(way, outcome)
            trials.setdefault(way, Counter())[who[each.experiment.id].label] += 1
    return [Uncounted(first[way], trials[way]) for way in sorted(first)]


def _uncounted(each: ExperimentFindings) -> Iterator[TrialOutcome]:
    for found in (each, *each.observed.values()):
        for outcome in found.outcomes:
            if outcome.kind not in ACCEPTED and not is_sought(each.experiment, outcome.kind):
                yield outcome


def as_data(findings: RunFindings, who: Mapping[str, Contender]) -> list[dict[str, object]]:
    """The same for a program to read."""
    return [
        {
            "outcome": each.first.kind,
            "reason": each.first.reason or None,
            "first_trial": each.first.trial,
            "text": each.first.detail,
            "n_trials": dict(each.trials),
        }
        for each in uncounted(findings, who)
    ]
