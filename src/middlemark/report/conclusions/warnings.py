"""What a reader has to know before any figure: the warnings that trials had, and the trials that don't count.

Each kind of warning and each outcome is said once, with whose trials had it and in how many. It judges nothing: the
warnings are `analysis.experiment`'s, outcomes are stored with the trials.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from middlemark.analysis.experiment.findings import ExperimentFindings, TrialOutcome
from middlemark.analysis.run import RunFindings
from middlemark.plan import Caution, WarningKind
from middlemark.plan.schedule import is_sought
from middlemark.plan.trial import ACCEPTED
from middlemark.report.elements.formatting import of_each
from middlemark.report.elements.labels import Series


@dataclass(frozen=True)
class Warned:
    """One kind of warning over all trials."""

    first: Caution
    """In the words of the first that had it."""
    trials: Mapping[str, int]
    """In how many trials, by series."""

    @property
    def kind(self) -> str:
        """As it is said: `settled late`."""
        return self.first.kind.replace("_", " ")

    @property
    def where(self) -> str:
        """`4 trials (Zenoh 3, MQTT 1)`."""
        return of_each(self.trials)


def warned_of(findings: RunFindings, series_of: Mapping[str, Series]) -> list[Warned]:
    """Every kind, observed trials' too, in the order of their names."""
    first: dict[WarningKind, Caution] = {}
    trials: dict[WarningKind, Counter[str]] = {}
    for candidate in findings.experiments:
        for caution, count in _cautions(candidate):
            first.setdefault(caution.kind, caution)
            trials.setdefault(caution.kind, Counter())[series_of[candidate.experiment.id].label] += count
    return [Warned(first[kind], trials[kind]) for kind in sorted(first)]


def _cautions(candidate: ExperimentFindings) -> Iterator[tuple[Caution, int]]:
    for found in (candidate, *candidate.observed.values()):
        for caution, count in found.cautions:
            if (
                candidate.experiment.search is None or caution.kind is not WarningKind.OVERLOAD
            ):  # a search looks for that
                yield caution, count


def warnings_data(findings: RunFindings, series_of: Mapping[str, Series]) -> dict[str, list[dict[str, object]]]:
    """The same for a program to read, with the warnings of the machine."""
    return {
        "machine": [caution.model_dump(mode="json") for caution in findings.manifest.warnings],
        "trials": [
            {**warned.first.model_dump(mode="json"), "n_trials": dict(warned.trials)}
            for warned in warned_of(findings, series_of)
        ],
    }


@dataclass(frozen=True)
class Uncounted:
    """One outcome over all trials that ended in it."""

    first: TrialOutcome
    trials: Mapping[str, int]
    """How many ended so, by series."""

    @property
    def kind(self) -> str:
        """As it is said: `invalid (steal)`."""
        reason = f" ({self.first.reason})" if self.first.reason else ""
        return self.first.kind.replace("_", " ") + reason

    @property
    def where(self) -> str:
        """`4 trials (Zenoh 3, MQTT 1)`."""
        return of_each(self.trials)


def uncounted(findings: RunFindings, series_of: Mapping[str, Series]) -> list[Uncounted]:
    """Every outcome that does not count, observed trials' too, in the order of their names."""
    first: dict[tuple[str, str], TrialOutcome] = {}
    trials: dict[tuple[str, str], Counter[str]] = {}
    for candidate in findings.experiments:
        for outcome in _uncounted(candidate):
            key = (outcome.kind, outcome.reason)
            first.setdefault(key, outcome)
            trials.setdefault(key, Counter())[series_of[candidate.experiment.id].label] += 1
    return [Uncounted(first[key], trials[key]) for key in sorted(first)]


def _uncounted(candidate: ExperimentFindings) -> Iterator[TrialOutcome]:
    for found in (candidate, *candidate.observed.values()):
        for outcome in found.outcomes:
            if outcome.kind not in ACCEPTED and not is_sought(outcome.step, outcome.kind):
                yield outcome


def uncounted_data(findings: RunFindings, series_of: Mapping[str, Series]) -> list[dict[str, object]]:
    """The same for a program to read."""
    return [
        {
            "outcome": group.first.kind,
            "reason": group.first.reason or None,
            "first_trial": group.first.trial,
            "text": group.first.detail,
            "n_trials": dict(group.trials),
        }
        for group in uncounted(findings, series_of)
    ]
