"""What a capacity search looks for: between which rates, how exactly, and what a middleware has to hold to carry one.

It holds figures only; `plan` makes steps of them, `analysis.capacity` decides which is tried next.
"""

from typing import Annotated, Self

from pydantic import Field, model_validator

from middlemark.suite.model import Model, refusal
from middlemark.suite.quantity import DURATION, RATE, SHARE, Rate, Share


class Search(Model):
    """A search for the highest rate that is carried."""

    lowest: Rate = 100.0
    """The rate that is tried first."""
    highest: Rate = 1e6
    """No higher one is tried."""
    precision: Annotated[float, SHARE.between(1, 50)] = 5.0
    """How far apart neighbouring rates are: the rate that is carried and the one that is not."""
    loss: Share = 0.1
    """The most that may be lost."""
    latency: Annotated[int, DURATION.between(1e3, 60e9)] = 10_000_000
    """The most that 99 % of the messages may take, from the instant at which they were to be sent."""
    confirm: Annotated[int, Field(ge=1, le=15, multiple_of=1, strict=True)] = 3
    """Of so many trials of one rate the most decide, at both ends of the bracket."""
    max_trials: Annotated[int, Field(ge=3, le=1000, strict=True)] = 60
    """The most trials of a search; it says how far it came then."""

    @model_validator(mode="after")
    def _has_room(self) -> Self:
        if self.highest <= self.lowest:
            raise refusal(
                "`highest` is no higher than `lowest`",
                allowed=f"above {RATE.text(self.lowest)}",
                at=("highest",),
            )
        if self.confirm % 2 == 0:
            raise refusal("an even number of trials may be undecided", allowed="an odd number", at=("confirm",))
        return self
