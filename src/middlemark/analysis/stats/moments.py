"""Mean, standard deviation and kurtosis of a distribution, where every message arrived.

A lost message takes for ever, so that with one there is none of them; quantiles are what says something then. The
kurtosis is Pearson's (Biometrika 4, 1905): the fourth moment about the mean over the squared variance, 3 for a normal
distribution.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from middlemark.analysis.stats.quantiles import (
    Lost,
    Measured,
    Sketch,
    TooFewSamples,
    Value,
    needed,
    with_clock_bound,
)

_FEWEST = needed(0.5)
_FEWEST_FOR_KURTOSIS = needed(0.9)
"""It rests on the tails."""
_PIECE = 1 << 16
"""Values that are looked at together: a copy of all may be too large for the memory."""


def moments(samples: Sketch) -> Mapping[str, Value]:
    """The three by their names, as far as clocks that may be so far apart measure them; equal values have two."""
    n = samples.n_messages
    if samples.lost:
        return dict.fromkeys(("mean", "deviation", "kurtosis"), Lost(n, samples.lost))
    if n < _FEWEST:
        return dict.fromkeys(("mean", "deviation", "kurtosis"), TooFewSamples(n))
    mean = _moment(samples, 1, 0.0)
    variance = _moment(samples, 2, mean)
    values: dict[str, Value] = {
        "mean": with_clock_bound(Measured(mean, n), samples.bound_ns),
        "deviation": with_clock_bound(Measured(math.sqrt(variance), n), samples.bound_ns, mean),
    }
    if n < _FEWEST_FOR_KURTOSIS:
        values["kurtosis"] = TooFewSamples(n)
    elif variance:
        kurtosis = Measured(_moment(samples, 4, mean) / variance**2, n)
        values["kurtosis"] = with_clock_bound(kurtosis, samples.bound_ns, mean)
    return values


def _moment(samples: Sketch, power: int, centre: float) -> float:
    """The mean of a power of the distances from a value."""
    return math.fsum(float(counts @ (values - centre) ** power) for values, counts in _pieces(samples)) / samples.n


def _pieces(samples: Sketch) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    for begin in range(0, len(samples.values), _PIECE):
        part = slice(begin, begin + _PIECE)
        yield samples.values[part].astype(np.float64), samples.counts[part].astype(np.float64)
