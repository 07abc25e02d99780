"""Claims: statements about metrics of experiments, `median(latency)[middleware=zenoh] < 1 ms`, as plain values.

`parser` reads them, the analysis judges them. A selection has every experiment with its values; an operand without a
selection has every experiment.
"""

from __future__ import annotations

from dataclasses import dataclass

STREAM = "stream"
"""Selected like a factor: one of an experiment's streams."""


@dataclass(frozen=True)
class Selection:
    """The experiments that have all of these values."""

    factors: tuple[tuple[str, str], ...] = ()
    """Each value as written, quantities in their standard spelling."""

    @property
    def stream(self) -> str | None:
        """The selected stream; None for all."""
        return dict(self.factors).get(STREAM)

    def __str__(self) -> str:
        return f"[{', '.join(f'{name}={value}' for name, value in self.factors)}]" if self.factors else ""


@dataclass(frozen=True)
class Operand:
    """One metric of the selected experiments."""

    metric: str
    selection: Selection


@dataclass(frozen=True)
class Comparison:
    """`A < B`, and `A / B > 2`: a ratio above or below a number, which is 1 where none is written."""

    first: Operand
    second: Operand
    above: bool
    ratio: float = 1.0


@dataclass(frozen=True)
class Bound:
    """`A < 1 ms`."""

    operand: Operand
    above: bool
    bound: float
    """In the unit at the end of the metric's name; shares as fractions of 1."""


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
    """`monotone in size: A`: the metric changes in one direction only as a factor grows."""

    factor: str
    operand: Operand


Statement = Comparison | Bound | NoLoss | NoCommunication | Monotone


@dataclass(frozen=True)
class Claim:
    """A statement with its text."""

    text: str
    statement: Statement

    @property
    def selections(self) -> tuple[Selection, ...]:
        """All selections of the claim."""
        match self.statement:
            case Comparison(first, second):
                return first.selection, second.selection
            case Bound(operand) | Monotone(_, operand):
                return (operand.selection,)
            case NoLoss(selection) | NoCommunication(selection):
                return (selection,)
