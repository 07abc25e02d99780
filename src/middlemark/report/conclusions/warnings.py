"""What a reader has to know before any figure: the warnings that trials had, and the trials that don't count.

Each kind of warning and each outcome is said once, with whose trials had it and in how many; a setting's outcomes are
a table. It judges nothing: the warnings are `analysis.experiment`'s, outcomes are stored with the trials.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.experiment.findings import ExperimentFindings, TrialOutcome
from middlemark.analysis.run import RunFindings
from middlemark.plan import Caution, WarningKind
from middlemark.plan.schedule import is_sought
from middlemark.plan.trial.outcome import ACCEPTED
from middlemark.report.elements.candidate_tables import candidate_table
from middlemark.report.elements.formatting import of_each
from middlemark.report.elements.labels import Series
from middlemark.report.elements.tables import NOTHING, Cell, Column, Table, named, sentences

Kind = TypeVar("Kind", bound=str | tuple[str, str])
First = TypeVar("First", Caution, TrialOutcome)


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
    groups = _by_kind(findings, series_of, _cautions, lambda caution: caution.kind)
    return [Warned(first, trials) for first, trials in groups]


def _cautions(candidate: ExperimentFindings) -> Iterator[tuple[Caution, int]]:
    for measured in (candidate, *candidate.observed.values()):
        for caution, count in measured.cautions:
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
    groups = _by_kind(findings, series_of, _uncounted, lambda outcome: (outcome.kind, outcome.reason))
    return [Uncounted(first, trials) for first, trials in groups]


def _uncounted(candidate: ExperimentFindings) -> Iterator[tuple[TrialOutcome, int]]:
    for measured in (candidate, *candidate.observed.values()):
        for outcome in measured.outcomes:
            if outcome.kind not in ACCEPTED and not is_sought(outcome.step, outcome.kind):
                yield outcome, 1


def _by_kind(
    findings: RunFindings,
    series_of: Mapping[str, Series],
    counts_of: Callable[[ExperimentFindings], Iterable[tuple[First, int]]],
    kind_of: Callable[[First], Kind],
) -> list[tuple[First, Counter[str]]]:
    """The first of each kind with the trials that had it, by series, in the order of the kinds' names."""
    first: dict[Kind, First] = {}
    trials: dict[Kind, Counter[str]] = {}
    for candidate in findings.experiments:
        for item, count in counts_of(candidate):
            kind = kind_of(item)
            first.setdefault(kind, item)
            trials.setdefault(kind, Counter())[series_of[candidate.experiment.id].label] += count
    return [(first[kind], trials[kind]) for kind in sorted(first)]


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


def outcome_table(comparison: Comparison, series_of: Mapping[str, Series]) -> Table:
    """How many trials ended how, and why."""
    rows = (
        (candidate, (kind.replace("_", " "), Cell(count), detail or NOTHING))
        for candidate in comparison.experiments
        for (kind, detail), count in sorted(outcome_counts(candidate).items())
    )
    columns = (*named("outcome"), Column("trials"), sentences("why"))
    return candidate_table("Outcomes", columns, rows, series_of, "Only valid trials enter metrics.")


def outcome_counts(candidate: ExperimentFindings) -> dict[tuple[str, str], int]:
    """How many trials ended in each outcome and for each reason."""
    counts: dict[tuple[str, str], int] = {}
    for outcome in candidate.outcomes:
        counts[outcome.kind, outcome.detail] = counts.get((outcome.kind, outcome.detail), 0) + 1
    return counts
