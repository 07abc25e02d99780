"""The trials behind what a page shows, under the names that its readers know: a figure's link leads to their records.

It only collects; the template makes the links.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from middlemark.analysis.comparison import Comparison
from middlemark.analysis.experiment import ExperimentFindings, TrialOutcome
from middlemark.report.contender import Contender

Trials = tuple[tuple[str, tuple[TrialOutcome, ...]], ...]
"""By name, with how each ended."""


def trials_of(comparison: Comparison, who: Mapping[str, Contender]) -> Trials:
    """Those of a setting, observed ones too."""
    return trials_behind(
        (who[each.experiment.id].label, findings)
        for each in comparison.experiments
        for findings in (each, *each.observed.values())
    )


def trials_behind(shown: Iterable[tuple[str, ExperimentFindings]]) -> Trials:
    """Those of all that stands under one name together."""
    found: dict[str, tuple[TrialOutcome, ...]] = {}
    for name, each in shown:
        found[name] = (*found.get(name, ()), *each.outcomes)
    return tuple(found.items())
