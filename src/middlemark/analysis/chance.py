"""How often chance alone makes two equal sides seem different: campaigns of the same against the same.

The trials of one experiment, in the order in which they ran, are dealt to two sides, two by two as blocks are, and
compared as any two middlewares are. Of such comparisons at most one in twenty may find a difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from middlemark.analysis.compare import Block
from middlemark.analysis.contrast import Contrast, contrast
from middlemark.analysis.experiment import ExperimentFindings
from middlemark.analysis.figure import Figure
from middlemark.analysis.interval import CONFIDENCE
from middlemark.plan import Experiment

BOUND = 1 - CONFIDENCE


@dataclass(frozen=True)
class ChanceRate:
    """How many of the comparisons of one figure found what is not there."""

    experiment: str
    label: str
    """The experiment in as few words as tell it from the others."""
    figure: str
    stream: str | None
    found: int
    comparisons: int

    @property
    def share(self) -> float:
        """Of all comparisons."""
        return self.found / self.comparisons

    @property
    def interval(self) -> tuple[float, float]:
        """Where the true rate lies (exact: Clopper & Pearson, Biometrika 26, 1934)."""
        ends = scipy.stats.binomtest(self.found, self.comparisons).proportion_ci(CONFIDENCE)
        return float(ends.low), float(ends.high)

    @property
    def holds(self) -> bool:
        """Whether the bound is kept, as far as so many comparisons can tell."""
        return self.interval[0] <= BOUND


def campaigns(values: Mapping[Block, float], blocks: int, seed: int) -> list[tuple[dict[int, float], dict[int, float]]]:
    """The trials dealt to two sides: who of each two goes where is drawn; what is left over stays out."""
    ordered = [values[block] for block in sorted(values)]
    rng = np.random.default_rng(seed)
    found = []
    for begin in range(0, len(ordered) - 2 * blocks + 1, 2 * blocks):
        twos = np.array(ordered[begin : begin + 2 * blocks]).reshape(blocks, 2)
        dealt = rng.permuted(twos, axis=1)
        found.append((dict(enumerate(dealt[:, 0].tolist())), dict(enumerate(dealt[:, 1].tolist()))))
    return found


def chance_rates(
    experiments: Sequence[ExperimentFindings], figures: Sequence[Figure], blocks: int, seed: int
) -> tuple[ChanceRate, ...]:
    """The rate of every figure of every experiment that has enough trials for a campaign."""
    rates = []
    labels = _labels([each.experiment for each in experiments])
    for each in experiments:
        for figure in figures:
            for stream in figure.names(each.experiment):
                values = each.by_block.get(figure.key(stream or ""), {})
                verdicts = [_differs(*sides, figure) for sides in campaigns(values, blocks, seed)]
                told = [verdict for verdict in verdicts if verdict is not None]
                if told:
                    label = labels[each.experiment.id]
                    rates.append(ChanceRate(each.experiment.id, label, figure.name, stream, sum(told), len(told)))
    return tuple(rates)


def _labels(experiments: Sequence[Experiment]) -> dict[str, str]:
    """The workload where it tells an experiment from all others, else its whole name; by its name."""
    workloads = Counter(each.workload for each in experiments)
    return {each.id: each.workload if workloads[each.workload] == 1 else each.id for each in experiments}


def _differs(first: Mapping[Block, float], second: Mapping[Block, float], figure: Figure) -> bool | None:
    """Whether the interval leaves out that they are equal; None where nothing varies, and so nothing was tested."""
    found = contrast(first, second, paired=True, as_ratio=not figure.is_share)
    if not isinstance(found, Contrast) or found.low == found.high:
        return None
    equal = 1.0 if found.is_ratio else 0.0
    return found.low > equal or found.high < equal
