"""By how much one side differs from the other over several machines: the machine is a random effect.

Within a machine trials are paired by block, or are two groups. The machines' changes are then one value each, and their
mean has Student's interval, which holds also where some machines measured many more blocks than others, and so say more
(Ibragimov and Müller, Journal of Business & Economic Statistics 28, 2010); what one more machine would show has
Student's prediction interval (Hahn & Meeker, "Statistical intervals", 1991, §4.7). `difference` asks it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from middlemark.analysis.stats.intervals import CONFIDENCE, student
from middlemark.analysis.verdicts.values import Block, BlockValues, Machines, Values, from_logarithm

Floats = NDArray[np.float64]
FEWEST_MACHINES = 3
"""To say what one more would show: two that agree by chance would suggest that machines don't differ."""


@dataclass(frozen=True)
class MachineRatio:
    """The ratio on one machine, with an interval that holds together with those of all others."""

    machine: str
    value: float
    low: float
    high: float
    n_blocks: int
    """Of trials that share no block: those of the side that has fewer."""


@dataclass(frozen=True)
class AcrossMachines:
    """The ratio on each machine, and how far these differ."""

    ratios: tuple[MachineRatio, ...]
    i_squared: float | None
    """The share of the variance of machines' ratios that is not chance (Higgins & Thompson, Statistics in Medicine 21,
    2002); None where each has one block, so that nothing tells."""
    p_value: float | None
    """Of machines that are equal (Cochran's Q)."""
    next_low: float | None = None
    next_high: float | None = None
    """Between these the ratio on one more machine lies, by about as many blocks, in 95 % of cases; None with two."""

    @property
    def disagree(self) -> bool:
        """Whether the order of the two sides on one machine is significantly the opposite of that on another."""
        return any(ratio.high < 1 for ratio in self.ratios) and any(ratio.low > 1 for ratio in self.ratios)


@dataclass(frozen=True)
class Combined:
    """The logarithm of a ratio over machines, its standard error, and what it is combined from."""

    value: float
    error: float
    freedom: int
    across: AcrossMachines


@dataclass(frozen=True)
class _Machine:
    """What one machine measured of both sides, as logarithms."""

    name: str
    samples: tuple[Floats, ...]
    """The changes of its blocks; or the first side's values and the second's."""

    @property
    def change(self) -> float:
        return float(self.samples[-1].mean()) - (float(self.samples[0].mean()) if len(self.samples) > 1 else 0.0)

    @property
    def weight(self) -> float:
        """The variance of the change, as a multiple of that of one value."""
        return sum(1 / len(sample) for sample in self.samples)

    @property
    def squares(self) -> float:
        return sum(float(np.sum((sample - sample.mean()) ** 2)) for sample in self.samples)

    @property
    def freedom(self) -> int:
        return sum(len(sample) - 1 for sample in self.samples)


def comparable(first: BlockValues, second: BlockValues, *, paired: bool) -> tuple[BlockValues, BlockValues]:
    """What can be compared within machines: the blocks that both have on one, or the trials of machines with both."""
    if paired:
        blocks = {block for block in first.low.keys() & second.low.keys() if _at(first, block) == _at(second, block)}
        return first.only(blocks), second.only(blocks)
    if not (first.machines or second.machines):
        return first, second
    common = {_at(first, block) for block in first.low} & {_at(second, block) for block in second.low}
    of_first, of_second = (
        side.only({block for block in side.low if _at(side, block) in common}) for side in (first, second)
    )
    return of_first, of_second


def _at(values: BlockValues, block: Block) -> str:
    return values.machines.get(block, "")


def combined(first: Values, second: Values, machines: tuple[Machines, Machines], *, paired: bool) -> Combined:
    """The second side's positive values against the first's, of two machines or more that have both.

    How far single values vary by chance is taken to be the same on all machines, as few blocks tell little of each.
    """
    measured = _machines(first, second, machines, paired=paired)
    changes, n = np.array([machine.change for machine in measured]), len(measured)
    freedom = sum(machine.freedom for machine in measured)
    variance = sum(machine.squares for machine in measured) / freedom if freedom else math.inf
    ratios = tuple(_ratio_of(machine, variance, freedom, n) for machine in measured)
    error = float(np.std(changes, ddof=1)) / math.sqrt(n)
    excess, p_value = _heterogeneity(changes, variance * np.array([machine.weight for machine in measured]))
    across = AcrossMachines(ratios, excess, p_value, *_next_machine(changes))
    return Combined(float(changes.mean()), error, n - 1, across)


def _next_machine(changes: Floats) -> tuple[float, float] | tuple[None, None]:
    """The ends of the ratio that one more machine would show, whose chance and own difference are those of these."""
    n = len(changes)
    if n < FEWEST_MACHINES:
        return None, None
    error = float(np.std(changes, ddof=1)) * math.sqrt(1 + 1 / n)
    _, low, high, _ = student(float(changes.mean()), error, n - 1, CONFIDENCE)
    return from_logarithm(low), from_logarithm(high)


def _heterogeneity(changes: Floats, variances: Floats) -> tuple[float, float] | tuple[None, None]:
    """I² and the p-value of equal machines; nothing tells where each has a block, or values never vary."""
    if not 0 < variances[0] < math.inf:
        return None, None
    q, freedom = _cochran_q(changes, variances), len(changes) - 1
    return max(0.0, 1 - freedom / q) if q else 0.0, float(scipy.special.chdtrc(freedom, q))


def _cochran_q(changes: Floats, variances: Floats) -> float:
    """How far machines are apart, as a multiple of what chance does: about as much as there are others (1954)."""
    mean = np.average(changes, weights=1 / variances)
    return float(np.sum((changes - mean) ** 2 / variances))


def _machines(first: Values, second: Values, machines: tuple[Machines, Machines], *, paired: bool) -> list[_Machine]:
    names = sorted({machines[0].get(block, "") for block in first})
    if paired:
        changes = {block: math.log(second[block]) - math.log(first[block]) for block in sorted(first)}
        return [_Machine(name, (_of(name, changes, machines[0]),)) for name in names]
    logs = [{block: math.log(value) for block, value in side.items()} for side in (first, second)]
    return [
        _Machine(name, tuple(_of(name, side, of_side) for side, of_side in zip(logs, machines, strict=True)))
        for name in names
    ]


def _of(name: str, values: Values, machines: Machines) -> Floats:
    return np.array([value for block, value in values.items() if machines.get(block, "") == name])


def _ratio_of(machine: _Machine, variance: float, freedom: int, n_machines: int) -> MachineRatio:
    """With an interval at a confidence at which those of all machines hold at once (Bonferroni)."""
    n_blocks = min(len(sample) for sample in machine.samples)
    if not freedom:
        return MachineRatio(machine.name, from_logarithm(machine.change), 0.0, math.inf, n_blocks)
    tail = (1 - CONFIDENCE) / n_machines / 2
    reach = -float(scipy.special.stdtrit(freedom, tail)) * math.sqrt(variance * machine.weight)
    low, value, high = (from_logarithm(machine.change + reach * side) for side in (-1, 0, 1))
    return MachineRatio(machine.name, value, low, high, n_blocks)
