"""How often chance alone makes two equal series differ significantly: campaigns of a middleware against itself.

The trials of one experiment, in the order in which they ran, are split into two series, two by two as blocks are, and
compared as any two middlewares are. Of such comparisons at most one in twenty may find a difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import scipy

from middlemark.analysis.compare.metrics import names_of
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.stats.intervals import CONFIDENCE
from middlemark.analysis.verdicts.difference import Difference, NoDifference, difference_of_shares, ratio
from middlemark.analysis.verdicts.judge import direction
from middlemark.analysis.verdicts.values import Block, BlockValues
from middlemark.plan import Experiment
from middlemark.suite.metrics import Metric

BOUND = 1 - CONFIDENCE
T = TypeVar("T")


@dataclass(frozen=True)
class ChanceRate:
    """How many of the comparisons of one metric found a false difference."""

    experiment: str
    label: str
    """The experiment in as few words as distinguish it from the others."""
    metric: str
    stream: str | None
    differences: int
    comparisons: int

    @property
    def share(self) -> float:
        """Of all comparisons."""
        return self.differences / self.comparisons

    @property
    def interval(self) -> tuple[float, float]:
        """Where the true rate lies (exact: Clopper & Pearson, Biometrika 26, 1934)."""
        ends = scipy.stats.binomtest(self.differences, self.comparisons).proportion_ci(CONFIDENCE)
        return float(ends.low), float(ends.high)

    @property
    def holds(self) -> bool:
        """Whether the bound is kept, as far as so many comparisons can show."""
        return self.interval[0] <= BOUND


def campaigns(values: Mapping[Block, T], blocks: int, seed: int) -> list[tuple[dict[int, T], dict[int, T]]]:
    """The trials assigned to two sides: who of each two goes where is drawn; what is left over stays out."""
    ordered = [values[block] for block in sorted(values)]
    rng = np.random.default_rng(seed)
    assigned = []
    for begin in range(0, len(ordered) - 2 * blocks + 1, 2 * blocks):
        portion = ordered[begin : begin + 2 * blocks]
        drawn = [rng.permutation([2 * place, 2 * place + 1]) for place in range(blocks)]
        first, second = ({n: portion[place[side]] for n, place in enumerate(drawn)} for side in (0, 1))
        assigned.append((first, second))
    return assigned


def chance_rates(
    experiments: Sequence[ExperimentFindings], metrics: Sequence[Metric], blocks: int, seed: int
) -> tuple[ChanceRate, ...]:
    """The rate of every metric of every experiment that has enough trials for a campaign."""
    rates = []
    labels = _labels([candidate.experiment for candidate in experiments])
    for measured in experiments:
        for metric in metrics:
            for stream in names_of(metric, measured.experiment):
                verdicts = _verdicts(measured, metric, stream, blocks, seed)
                decided = [verdict for verdict in verdicts if verdict is not None]
                if decided:
                    label = labels[measured.experiment.id]
                    rates.append(
                        ChanceRate(measured.experiment.id, label, metric.name, stream, sum(decided), len(decided))
                    )
    return tuple(rates)


def _labels(experiments: Sequence[Experiment]) -> dict[str, str]:
    """The workload where it distinguishes an experiment from all others, else its whole name; by its name."""
    workloads = Counter(experiment.workload for experiment in experiments)
    return {
        experiment.id: experiment.workload if workloads[experiment.workload] == 1 else experiment.id
        for experiment in experiments
    }


def _verdicts(
    candidate: ExperimentFindings, metric: Metric, stream: str | None, blocks: int, seed: int
) -> list[bool | None]:
    """Of each campaign whether its sides differ; None where nothing varies, and so nothing was tested."""
    key = metric.key(stream or "")
    if metric.is_share:
        assigned = campaigns(candidate.counted.get(key, {}), blocks, seed)
        return [
            None
            if not any(lost for side in sides for lost, _ in side.values())
            else _differs(difference_of_shares(*sides))
            for sides in assigned
        ]
    values = campaigns(candidate.by_block.get(key, {}), blocks, seed)
    return [_differs(ratio(BlockValues(first), BlockValues(second), paired=True)) for first, second in values]


def _differs(difference: Difference | NoDifference) -> bool | None:
    if not isinstance(difference, Difference) or difference.low == difference.high:
        return None
    return direction(difference) != 0
