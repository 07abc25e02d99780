"""What observing cost: ratios of observed to unobserved trials, paired by block.

What was seen is `observers`'; observed trials enter no other ratio.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.verdicts.difference import Difference, ratio
from middlemark.analysis.verdicts.judge import Verdict, judge_difference
from middlemark.report.elements.formatting import ABSENT, times
from middlemark.report.elements.labels import Series
from middlemark.report.elements.tables import MIDDLEWARE, Column, Table, named, table, values
from middlemark.suite import Observation
from middlemark.suite.metrics import TRIAL, Key
from middlemark.suite.yaml.quantity import plural


@dataclass(frozen=True)
class _Cost:
    """What one observation cost one middleware, as ratios of observed to unobserved trials, paired by block."""

    label: str
    observation: Observation
    valid: str
    main: Difference | None
    """Of what the setting is ranked by."""
    cpu: Difference | None


def _costs(comparison: Comparison, series_of: Mapping[str, Series]) -> list[_Cost]:
    return [
        _Cost(
            series_of[candidate.experiment.id].label,
            observation,
            f"{observed.n_valid} of {plural(len(observed.outcomes), 'trial')}",
            comparison.ratio(observed, candidate),
            _cpu_ratio(observed, candidate),
        )
        for candidate in comparison.experiments
        for observation, observed in candidate.observed.items()
    ]


def _ranked_by(comparison: Comparison) -> str:
    kind = comparison.criterion.distribution
    return kind.value.replace("_", " ") if kind else "goodput"


def cost_table(comparison: Comparison, series_of: Mapping[str, Series]) -> Table:
    """Observed over unobserved, paired by block."""
    columns = (
        MIDDLEWARE,
        *named("observation"),
        *values("valid"),
        Column(_ranked_by(comparison), "observed to unobserved"),
        Column("CPU", "observed to unobserved"),
    )
    return table(
        "What observing cost",
        columns,
        [
            (cost.label, str(cost.observation), cost.valid, _ratio_words(cost.main), _ratio_words(cost.cpu))
            for cost in _costs(comparison, series_of)
        ],
        "Ratios of the medians of observed and unobserved trials, paired by block, with 95 % confidence intervals. "
        "Observed trials enter only the metrics of this part. A dash: fewer than three blocks have values of both.",
    )


def cost_lines(comparison: Comparison, series_of: Mapping[str, Series]) -> list[str]:
    """A line for each observation, for a narrow place."""
    return [
        f"{cost.label}: observing {str(cost.observation).replace('_', ' ')} cost {_ratio_words(cost.main)} in "
        f"{_ranked_by(comparison)}, {_ratio_words(cost.cpu)} in CPU"
        for cost in _costs(comparison, series_of)
        if cost.main or cost.cpu
    ]


def _cpu_ratio(observed: ExperimentFindings, candidate: ExperimentFindings) -> Difference | None:
    key = Key(TRIAL, "cpu_percent_of_core")
    cpu_ratio = ratio(candidate.block_values(key), observed.block_values(key), paired=True)
    return cpu_ratio if isinstance(cpu_ratio, Difference) else None


def _ratio_words(difference: Difference | None) -> str:
    if difference is None:
        return ABSENT
    verdict = judge_difference(difference, lower_is_better=True).verdict
    return f"{times(difference)}{'' if verdict in {Verdict.BETTER, Verdict.WORSE} else ', no significant difference'}"
