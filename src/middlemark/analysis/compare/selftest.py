"""How often chance alone makes two equal series differ significantly: campaigns of a middleware against itself.

The trials of one experiment, in the order in which they ran on a machine, are split into two series, two by two, and
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
from middlemark.analysis.verdicts.values import Block, BlockValues, Machines, ShareCounts, counts_by_machine
from middlemark.plan import Experiment
from middlemark.suite.metrics import Metric

BOUND = 1 - CONFIDENCE
T = TypeVar("T")
Sides = tuple[Mapping[int, T], Mapping[int, T], Machines]
"""What both sides measured, and the test-bed of each pair."""


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


def campaigns(values: Mapping[Block, T], machines: Machines, blocks: int, seed: int) -> list[Sides[T]]:
    """The trials assigned to two sides: who of each pair goes where is drawn; what is left over stays out."""
    paired = _pairs(values, machines)
    rng = np.random.default_rng(seed)
    assigned: list[Sides[T]] = []
    for begin in range(0, len(paired) - blocks + 1, blocks):
        portion = paired[begin : begin + blocks]
        drawn = [rng.permutation(2) for _ in portion]
        first, second = ({n: portion[n][1][order[side]] for n, order in enumerate(drawn)} for side in (0, 1))
        assigned.append((first, second, {n: name for n, (name, _) in enumerate(portion) if name}))
    return assigned


def _pairs(values: Mapping[Block, T], machines: Machines) -> list[tuple[str, tuple[T, T]]]:
    """Each two trials that followed one another on one machine, with its name."""
    waiting: dict[str, T] = {}
    paired = []
    for block in sorted(values):
        name = machines.get(block, "")
        if name in waiting:
            paired.append((name, (waiting.pop(name), values[block])))
        else:
            waiting[name] = values[block]
    return paired


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
        shares = campaigns(candidate.counted.get(key, {}), candidate.machines, blocks, seed)
        return [_share_differs(*sides) if _any_lost(*sides) else None for sides in shares]
    values = campaigns(candidate.by_block.get(key, {}), candidate.machines, blocks, seed)
    return [
        _differs(ratio(BlockValues(first, machines=names), BlockValues(second, machines=names), paired=True))
        for first, second, names in values
    ]


def _any_lost(first: ShareCounts, second: ShareCounts, _: Machines) -> bool:
    return any(lost for side in (first, second) for lost, _ in side.values())


def _share_differs(first: ShareCounts, second: ShareCounts, machines: Machines) -> bool | None:
    sides = (counts_by_machine(first, machines), counts_by_machine(second, machines))
    return _differs(difference_of_shares(*sides, of_machines=len(set(machines.values())) > 1))


def _differs(difference: Difference | NoDifference) -> bool | None:
    if not isinstance(difference, Difference) or difference.low == difference.high:
        return None
    return direction(difference) != 0
