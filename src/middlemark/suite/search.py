"""What a capacity search looks for: between which rates or sizes, how exactly, and what a middleware has to hold.

It holds figures only; `plan` makes steps of them, `analysis.search_steps` decides which is tried next.
"""

from math import log1p
from typing import Annotated, Self

from pydantic import Field, model_validator

from middlemark.suite.model import Model, refusal
from middlemark.suite.quantity import DURATION, RATE, SHARE, SIZE, MessageSize, Rate, Share


class Search(Model):
    """A search for the highest rate that is carried; of a workload that has a rate, for the largest size."""

    lowest: Rate = 100.0
    """The rate that is tried first."""
    highest: Rate = 1e6
    """No higher one is tried."""
    smallest: MessageSize = 64
    """The size that is tried first, where sizes are searched."""
    largest: MessageSize = 16_000_000
    """No larger one is tried."""
    precision: Annotated[float, SHARE.between(1, 50)] = 5.0
    """How far apart neighbours are: the rate or size that is carried and the one that is not."""
    loss: Share = 0.1
    """The most that may be lost."""
    latency: Annotated[int, DURATION.between(1e3, 60e9)] = 10_000_000
    """The most that 99 % of the messages may take, from the instant at which they were to be sent."""
    confirm: Annotated[int, Field(ge=1, le=15, multiple_of=1, strict=True)] = 3
    """Of so many trials of one rate or size the most decide, at both ends of the bracket."""
    max_trials: Annotated[int, Field(ge=3, le=1000, strict=True)] = 60
    """The most trials of a search; it says how far it came then."""
    searches: Annotated[int, Field(ge=1, le=100, strict=True)] = 1
    """So many searches, one after another: over them capacities are compared."""

    @model_validator(mode="after")
    def _has_room(self) -> Self:
        if self.highest <= self.lowest:
            raise refusal(
                "`highest` is no higher than `lowest`",
                allowed=f"above {RATE.text(self.lowest)}",
                at=("highest",),
            )
        if self.largest <= self.smallest:
            raise refusal(
                "`largest` is no larger than `smallest`",
                allowed=f"above {SIZE.text(self.smallest)}",
                at=("largest",),
            )
        if self.confirm % 2 == 0:
            raise refusal("an even number of trials may be undecided", allowed="an odd number", at=("confirm",))
        return self

    def check_ends(self, *, of_sizes: bool) -> None:
        """Refuses the ends of the other ladder, and sizes that are less than a byte apart."""
        for name in ("lowest", "highest") if of_sizes else ("smallest", "largest"):
            if name in self.model_fields_set:
                raise refusal(
                    f"`{name}` is of a search for a {'rate' if of_sizes else 'size'}",
                    allowed="`smallest` and `largest` beside a `rate`, `lowest` and `highest` beside a `size`",
                    at=("search", name),
                )
        if of_sizes and self.smallest * log1p(self.precision / 100) <= 1:
            raise refusal(
                f"at {SIZE.text(self.smallest)} neighbouring sizes are less than a byte apart",
                allowed="a larger `smallest`, or a coarser `precision`",
                at=("search", "precision"),
            )
