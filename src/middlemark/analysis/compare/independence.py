"""Whether trials are independent of each other: their values are tested in the order in which they ran.

Intervals assume it. The test is von Neumann's ratio of ranks, all tests of a run held together by Holm's procedure. It
changes no estimate; `comparison` has the values, and the report shows the warnings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import scipy
from numpy.typing import NDArray

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.verdicts.ranking import holm
from middlemark.analysis.verdicts.values import Block
from middlemark.plan import Caution, WarningKind
from middlemark.suite.metrics import Key

FEWEST_TRIALS = 10
"""With fewer no ratio is out of the ordinary: Bartels's own approximation begins here."""
FEWEST_DISTINCT = 0.5
"""Of the values: where more of them are equal, ranks say nothing of their order."""


class TrialSequence(StrEnum):
    """At what of a trial."""

    VALUES = "values"
    """Its own values: the interval of the metric supposes that they are independent."""
    BESIDE_OTHERS = "beside_others"
    """What is left of them without the common drift of the block: comparisons by block suppose it of this."""


@dataclass(frozen=True)
class SerialCorrelation:
    """How alike neighbouring trials of one experiment are."""

    experiment: str
    key: Key
    looked: TrialSequence
    n_trials: int
    lag_1: float
    """The autocorrelation of ranks from one trial to the next: 0 where they are independent."""
    p_value: float
    """How often independent trials are as much alike or more."""
    is_significant: bool = False
    """Of all that were looked at in the run together, 5 % of runs have any where all are independent."""

    @property
    def n_independent(self) -> float:
        """As how many independent trials they count, were they autoregressive (Bartlett 1946)."""
        return self.n_trials * (1 - self.lag_1) / (1 + self.lag_1)


def serial_correlations(comparisons: Iterable[Comparison]) -> tuple[SerialCorrelation, ...]:
    """Every experiment of a run that has trials enough, each by what it is ranked by; searches have no order to ask."""
    correlations: dict[tuple[str, Key, TrialSequence], SerialCorrelation] = {}
    for comparison in comparisons:
        key = Key(comparison.setting.subject, comparison.criterion.metric)
        logarithms = {candidate.experiment.id: _logarithms(candidate, key) for candidate in comparison.ranked}
        for name, values in logarithms.items():
            others = [value for other, value in logarithms.items() if other != name]
            for looked, sequence in (
                (TrialSequence.VALUES, values),
                (TrialSequence.BESIDE_OTHERS, without_drift(values, others)),
            ):
                result = lag_1_test([sequence[block] for block in sorted(sequence)])
                if result is not None:
                    correlations[name, key, looked] = SerialCorrelation(name, key, looked, len(sequence), *result)
    significant = holm({key: correlation.p_value for key, correlation in correlations.items()})
    return tuple(replace(correlation, is_significant=key in significant) for key, correlation in correlations.items())


def _logarithms(candidate: ExperimentFindings, key: Key) -> dict[Block, float]:
    values = candidate.block_values(key).finite
    middles = {block: (low + values.upper[block]) / 2 for block, low in values.low.items()}
    return {block: float(np.log(value)) for block, value in middles.items() if value > 0}


def without_drift(values: Mapping[Block, float], others: Sequence[Mapping[Block, float]]) -> dict[Block, float]:
    """What is left of values without what the others of their blocks have in common; nothing where there are none.

    Only blocks in which all have a value: else the drift would jump with who is in it.
    """
    blocks = [block for block in values if others and all(block in other for other in others)]
    return {block: values[block] - float(np.mean([other[block] for other in others])) for block in blocks}


def lag_1_test(values: Sequence[float]) -> tuple[float, float] | None:
    """The rank autocorrelation of values with those before them, and its p-value; None of too few, or too many equal.

    The ratio is that of von Neumann of ranks, its distribution a beta of the same variance (Bartels, "The rank version
    of von Neumann's ratio test for randomness", JASA 77, 1982). One-sided: trials that alternate only widen intervals.
    """
    n = len(values)
    if n < FEWEST_TRIALS or len(set(values)) < FEWEST_DISTINCT * n:
        return None
    ranks = _ranks(values)
    ratio = float(np.sum(np.diff(ranks) ** 2) / np.sum((ranks - ranks.mean()) ** 2))
    shape = 5 * n * (n + 1) * (n - 1) ** 2 / (2 * (n - 2) * (5 * n**2 - 2 * n - 9)) - 0.5
    return 1 - ratio / 2, float(scipy.special.betainc(shape, shape, ratio / 4))


def _ranks(values: Sequence[float]) -> NDArray[np.float64]:
    """From 1; of equal values the mean of their ranks."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: NDArray[np.float64] = (np.cumsum(counts) - (counts - 1) / 2)[places]
    return ranks


def with_dependence_cautions(
    findings: Sequence[ExperimentFindings], looked_at: Sequence[SerialCorrelation]
) -> list[ExperimentFindings]:
    """The experiments, those with a warning more whose trials follow each other."""
    significant: dict[str, list[SerialCorrelation]] = {}
    for correlation in looked_at:
        if correlation.is_significant:
            significant.setdefault(correlation.experiment, []).append(correlation)
    return [
        replace(
            candidate, cautions=(*candidate.cautions, (dependence_caution(correlations[0]), correlations[0].n_trials))
        )
        if (correlations := significant.get(candidate.experiment.id))
        else candidate
        for candidate in findings
    ]


def dependence_caution(correlation: SerialCorrelation) -> Caution:
    """What must be said of trials that follow each other."""
    intervals = {
        TrialSequence.VALUES: "its interval is",
        TrialSequence.BESIDE_OTHERS: "also relative to its block, so the intervals of its ratios are",
    }[correlation.looked]
    text = (
        f"{correlation.key.metric} of {correlation.key.subject}: each trial resembles the one before it "
        f"(lag 1: {correlation.lag_1:.2f}, p = {correlation.p_value:.2g}), {intervals} too narrow: "
        f"{correlation.n_trials} trials count as about {max(correlation.n_independent, 1):.0f} independent ones"
    )
    remedy = (
        "look for something that changes slowly (temperature, other load, a cache that fills), and spread the trials "
        "over more time or several runs"
    )
    return Caution(kind=WarningKind.DEPENDENT_TRIALS, text=text, remedy=remedy)
