"""How often each block was begun, on which test-beds, and how often it failed.

A block that fails again and again ends the campaign, as another attempt would not mend it; a test-bed that has gone is
no failure of its block. `front` tells what happens.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from middlemark.errors import EnvironmentNotReady
from middlemark.plan import Caution, WarningKind

MOST_FAILURES: Final = 3
"""How often a block may end with an error of its own before the campaign ends with it."""


@dataclass
class Attempts:
    """The attempts at the blocks of a campaign, by their numbers."""

    _begun: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    """The test-beds that began a block."""
    _failures: dict[int, int] = field(default_factory=lambda: defaultdict(int))

    def began(self, event: tuple[float, Mapping[str, Any]]) -> None:
        """Takes the event that a test-bed began a block."""
        _, fields = event
        self._begun[int(fields["block"])].append(str(fields["testbed"])[:63])

    def failed(self, block: int, problem: BaseException) -> None:
        """Raises where a block failed too often: it won't be measured by trying again."""
        self._failures[block] += 1
        if self._failures[block] >= MOST_FAILURES:
            testbeds = ", ".join(self._begun[block]) or "any test-bed"
            raise EnvironmentNotReady(
                f"block {block} could not be measured on {testbeds}: {problem}",
                remedy="look at the test-beds' logs; then go on with --resume",
            ) from problem

    def cautions(self, block: int, testbed: str) -> tuple[Caution, ...]:
        """Of a block that this test-bed brought: those before it didn't."""
        lost = self._begun[block][:-1]
        if not lost:
            return ()
        text = (
            f"its block had begun on {', '.join(lost)}, which did not bring it back, and was measured anew on {testbed}"
        )
        remedy = "nothing, if it is rare; else look at that test-bed's log"
        return (Caution(kind=WarningKind.ELSEWHERE, text=text, remedy=remedy),)
