"""When enough trials have been run: how narrow an interval has to be, of which figures, and after how many to give up.

It says what is asked for only. Figures are named as in `compare`; `analysis.stopping` decides, `campaign` goes on.
"""

from typing import Annotated, ClassVar

from pydantic import Field

from middlemark.suite.model import Many, Model, Named
from middlemark.suite.quantity import SHARE

Width = Annotated[float, SHARE.between(0.1, 100)]


class Precision(Named):
    """A figure, with the width of its own where that differs."""

    name_key: ClassVar[str] = "figure"

    figure: str
    """As in `compare`: `median(latency)`, `p99(round_trip)`, `goodput`, `first_message`."""
    relative_width: Width | None = None
    """Without it, the rule's."""


class Stop(Model):
    """A rule that gives an experiment further trials until its intervals are narrow."""

    relative_width: Width = 5.0
    """Half of an interval of the median over trials, as a share of the median: 5 % is ± 5 %."""
    confidence: Annotated[float, SHARE.between(50, 99.9)] = 95.0
    """Of that interval."""
    max_trials: Annotated[int, Field(ge=1, le=10_000, strict=True)] = 30
    """The most trials of an experiment; what is too wide then stays open."""
    figures: Many[Precision] | None = None
    """What has to be narrow; without it, what each stream is ranked by."""
