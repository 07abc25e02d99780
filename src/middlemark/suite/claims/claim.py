"""The names of figures as people write them, `p99(latency)`, `loss`, `cpu`, and what each is a number of.

Which metric of a trial a name stands for is `analysis.figure`'s to say; here it is known only that there is one.

Claims: statements about figures of experiments, `median(latency)[middleware=zenoh] < 1 ms`.

Here stand their forms as plain values; `claim_text` reads them, `analysis.claims` judges them. A selection picks every
experiment that has its values; a side without one is every experiment.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from middlemark.suite.yaml.model import closest_first, refusal


class Dimension(StrEnum):
    """What a figure is a number of."""

    TIME = "time"
    SHARE = "share"
    BYTES = "bytes"
    BYTES_PER_S = "bytes_per_s"
    PERCENT_OF_CORE = "percent_of_core"


DISTRIBUTION_NAMES = (
    *("latency", "latency_from_intended", "round_trip", "jitter", "publish_call", "pacing_error"),
    *("end_to_end", "communication", "idle", "computation"),
)
LEVEL_NAMES = ("median", "min", "max", "p90", "p99", "p999", "p9999")
"""What may stand before the bracket; `p50` is read as `median`."""
PLAIN_NAMES = {
    "first_message": Dimension.TIME,
    "start_up": Dimension.TIME,
    "deadline_missed": Dimension.SHARE,
    "loss": Dimension.SHARE,
    "unanswered": Dimension.SHARE,
    "undelivered": Dimension.SHARE,
    "goodput": Dimension.BYTES_PER_S,
    "capacity": Dimension.BYTES_PER_S,
    "cpu": Dimension.PERCENT_OF_CORE,
    "memory": Dimension.BYTES,
}


def figure_name(level: str | None, what: str) -> str:
    """The one spelling of a name; refuses what there is not with what there is."""
    if level is None and what in PLAIN_NAMES:
        return what
    if level is None or what not in DISTRIBUTION_NAMES:
        known = [f"p99({name})" for name in DISTRIBUTION_NAMES] + list(PLAIN_NAMES)
        written = what if level is None else f"{level}({what})"
        raise refusal(f"`{written}` is no figure", allowed=closest_first(written, known))
    level = "median" if level == "p50" else level
    if level not in LEVEL_NAMES:
        problem = f"`{level}({what})`: there is no `{level}`"
        raise refusal(problem, allowed=f"before the bracket: {', '.join(LEVEL_NAMES)}")
    return f"{level}({what})"


def dimension(name: str) -> Dimension:
    """What a figure is a number of."""
    return PLAIN_NAMES.get(name, Dimension.TIME)


STREAM = "stream"
"""Selected like a factor: one of an experiment's streams."""


@dataclass(frozen=True)
class Selection:
    """The experiments that have all of these values."""

    factors: tuple[tuple[str, str], ...] = ()
    """Each value as it was written, quantities in their one spelling."""

    @property
    def stream(self) -> str | None:
        """The one stream that is meant; None for all."""
        return dict(self.factors).get(STREAM)

    def __str__(self) -> str:
        return f"[{', '.join(f'{name}={value}' for name, value in self.factors)}]" if self.factors else ""


@dataclass(frozen=True)
class Side:
    """One figure of what is selected."""

    figure: str
    selection: Selection


@dataclass(frozen=True)
class Comparison:
    """`A < B`, and `A / B > 2`: the ratio of two sides is beyond a number, which is 1 where none is written."""

    first: Side
    second: Side
    above: bool
    ratio: float = 1.0


@dataclass(frozen=True)
class Bound:
    """`A < 1 ms`."""

    side: Side
    above: bool
    bound: float
    """In the unit that the metric's name ends in; shares as parts of one."""


@dataclass(frozen=True)
class NoLoss:
    """`no loss[…]`: every message arrived in time, and every question was answered."""

    selection: Selection


@dataclass(frozen=True)
class NoCommunication:
    """`no communication[…]`: some flow never had a first message."""

    selection: Selection


@dataclass(frozen=True)
class Monotone:
    """`monotone in size: A`: the figure goes one way only as a factor grows."""

    factor: str
    side: Side


Statement = Comparison | Bound | NoLoss | NoCommunication | Monotone


@dataclass(frozen=True)
class Claim:
    """A statement with the words in which it was made."""

    text: str
    statement: Statement

    @property
    def selections(self) -> tuple[Selection, ...]:
        """All that it speaks of."""
        match self.statement:
            case Comparison(first, second):
                return first.selection, second.selection
            case Bound(side) | Monotone(_, side):
                return (side.selection,)
            case NoLoss(selection) | NoCommunication(selection):
                return (selection,)
