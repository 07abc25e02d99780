"""The values of a metric by block, the unit in which trials are paired: exact, or each between two values.

It compares nothing; `difference` does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

FARTHEST = 50.0
"""e^50 is "anything"; beyond, the exponential would overflow."""
Block = int
"""The number of the round in which every experiment was tried once."""
Values = Mapping[Block, float]
ShareCounts = Mapping[Block, tuple[int, int]]
"""Of a share of messages: how many messages, among how many."""
Machines = Mapping[Block, str]
"""Of a run over a fleet: the test-bed that measured each block. Empty where all is of one machine."""


@dataclass(frozen=True)
class BlockValues:
    """A metric's values by block."""

    low: Values
    high: Values | None = None
    """None where `low` is the value itself; infinite where nothing is known above `low`."""
    of_searches: bool = False
    """Whether each is what a capacity search came to, with its number in the place of a block."""
    machines: Machines = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.low)

    @property
    def is_exact(self) -> bool:
        """Whether each is one value."""
        return self.high is None

    @property
    def upper(self) -> Values:
        """The most that each may be."""
        return self.low if self.high is None else self.high

    def only(self, blocks: set[Block]) -> BlockValues:
        """Of these blocks alone."""
        low = {block: value for block, value in self.low.items() if block in blocks}
        high = None if self.high is None else {block: self.high[block] for block in low}
        return replace(self, low=low, high=high)

    @property
    def finite(self) -> BlockValues:
        """Without the blocks in which too many messages were lost for it to have a value."""
        if math.inf not in self.low.values():
            return self
        return self.only({block for block, value in self.low.items() if value != math.inf})


@dataclass(frozen=True)
class PooledValue:
    """A value of all trials' messages together, where single trials have too few, with its 95 % interval."""

    value: float
    low: float
    high: float
    n_trials: int


def with_bound(values: Values, bound_ns: int, machines: Machines | None = None) -> BlockValues:
    """One-way times that the clocks of two machines may put off by so much either way."""
    machines = machines or {}
    if not bound_ns:
        return BlockValues(values, machines=machines)
    return BlockValues(
        {block: value - bound_ns for block, value in values.items()},
        {block: value + bound_ns for block, value in values.items()},
        machines=machines,
    )


def from_logarithm(value: float) -> float:
    """The ratio of a difference of logarithms, as far as a number can hold it."""
    return math.exp(min(max(value, -FARTHEST), FARTHEST))


def counts_by_machine(counts: ShareCounts, machines: Machines) -> ShareCounts:
    """Of a share: the sums of each machine, as its trials are alike; unchanged where there is one machine."""
    names = sorted({machines.get(block, "") for block in counts})
    if len(names) < 2:
        return counts
    sums = dict.fromkeys(names, (0, 0))
    for block, (events, size) in counts.items():
        before = sums[machines.get(block, "")]
        sums[machines.get(block, "")] = before[0] + events, before[1] + size
    return {number: sums[name] for number, name in enumerate(names)}
