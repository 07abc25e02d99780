"""What the trials of a run warned of, each kind once: said before any figure on the page, in the terminal and in JSON.

`analysis` finds and counts the warnings of each experiment; here those of all are put together. It judges nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from middlemark.analysis.experiment import ExperimentFindings
from middlemark.analysis.run import RunFindings
from middlemark.plan import Caution, WarningKind
from middlemark.report.contender import Contender
from middlemark.report.display import of_each


@dataclass(frozen=True)
class Warned:
    """One kind of warning over all trials."""

    first: Caution
    """In the words of the first that had it."""
    trials: Mapping[str, int]
    """In how many trials, by contender."""

    @property
    def kind(self) -> str:
        """As it is said: `settled late`."""
        return self.first.kind.replace("_", " ")

    @property
    def where(self) -> str:
        """`4 trials (Zenoh 3, MQTT 1)`."""
        return of_each(self.trials)


def warned_of(findings: RunFindings, who: Mapping[str, Contender]) -> list[Warned]:
    """Every kind, observed trials' too, in the order of their names."""
    first: dict[WarningKind, Caution] = {}
    trials: dict[WarningKind, Counter[str]] = {}
    for each in findings.experiments:
        for caution, count in _cautions(each):
            first.setdefault(caution.kind, caution)
            trials.setdefault(caution.kind, Counter())[who[each.experiment.id].label] += count
    return [Warned(first[kind], trials[kind]) for kind in sorted(first)]


def _cautions(each: ExperimentFindings) -> Iterator[tuple[Caution, int]]:
    for found in (each, *each.observed.values()):
        for caution, count in found.cautions:
            if each.experiment.search is None or caution.kind is not WarningKind.OVERLOAD:  # a search looks for that
                yield caution, count


def as_data(findings: RunFindings, who: Mapping[str, Contender]) -> dict[str, list[dict[str, object]]]:
    """The same for a program to read, with the warnings of the machine."""
    return {
        "machine": [caution.model_dump(mode="json") for caution in findings.manifest.warnings],
        "trials": [
            {**each.first.model_dump(mode="json"), "n_trials": dict(each.trials)} for each in warned_of(findings, who)
        ],
    }
