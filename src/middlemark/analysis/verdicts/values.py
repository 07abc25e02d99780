"""The values of a metric by block, the unit in which trials are paired: exact, or each between two values.

It compares nothing; `difference` does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

Block = int
"""The number of the round in which every experiment was tried once."""
Values = Mapping[Block, float]
Counts = Mapping[Block, tuple[int, int]]
"""Of a share of messages: how many messages, among how many."""


@dataclass(frozen=True)
class BlockValues:
    """A metric's values by block."""

    low: Values
    high: Values | None = None
    """None where `low` is the value itself; infinite where nothing is known above `low`."""
    of_searches: bool = False
    """Whether each is what a capacity search came to, with its number in the place of a block."""

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
        return BlockValues(low, high, self.of_searches)

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


def with_bound(values: Values, bound_ns: int) -> BlockValues:
    """One-way times that the clocks of two machines may put off by so much either way."""
    if not bound_ns:
        return BlockValues(values)
    return BlockValues(
        {block: value - bound_ns for block, value in values.items()},
        {block: value + bound_ns for block, value in values.items()},
    )
