"""Which of an experiment's trials lie far from the others: classified for the reader, never dropped from a figure.

The fences are Tukey's ("Exploratory data analysis", 1977, ch. 2): beyond the quartiles by 1.5 times their distance an
outlier is mild, by 3 times severe. Where the quartiles are equal, half of the values are one, and nothing measures how
far the others lie: none is told. `estimate` counts them; the median that it gives beside them hardly feels them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

FEWEST = 6
"""Of fewer values the quartiles are nearly the extremes, and nothing could lie beyond the fences."""


class Place(StrEnum):
    """Where a value lies among its like."""

    SEVERE_LOW = "severe_low"
    MILD_LOW = "mild_low"
    WITHIN = "within"
    MILD_HIGH = "mild_high"
    SEVERE_HIGH = "severe_high"


@dataclass(frozen=True)
class Outliers:
    """How many values lie outside either fence."""

    mild: int = 0
    severe: int = 0


NO_OUTLIERS = Outliers()


def places(values: Sequence[float]) -> tuple[Place, ...]:
    """The place of each value; all are within where they are too few to tell, or their quartiles are equal."""
    if len(values) < FEWEST:
        return (Place.WITHIN,) * len(values)
    lower, upper = np.quantile(values, [0.25, 0.75])
    reach = upper - lower
    if reach <= 0:
        return (Place.WITHIN,) * len(values)
    return tuple(_place(value, float(lower), float(upper), float(reach)) for value in values)


def _place(value: float, lower: float, upper: float, reach: float) -> Place:
    if value > upper:
        beyond, mild, severe = value - upper, Place.MILD_HIGH, Place.SEVERE_HIGH
    else:
        beyond, mild, severe = lower - value, Place.MILD_LOW, Place.SEVERE_LOW
    if beyond > 3 * reach:
        return severe
    return mild if beyond > 1.5 * reach else Place.WITHIN


def outliers(values: Sequence[float]) -> Outliers:
    """How many of the values are outliers, and how far out."""
    found = places(values)
    return Outliers(
        mild=sum(place in {Place.MILD_LOW, Place.MILD_HIGH} for place in found),
        severe=sum(place in {Place.SEVERE_LOW, Place.SEVERE_HIGH} for place in found),
    )
