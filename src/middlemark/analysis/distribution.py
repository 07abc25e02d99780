"""Shapes to draw: the empirical distribution and the box of many samples, small enough for a page.

The tails keep every sample. The distribution is over all messages, so that a loss shows as the share that is never
reached (RFC 7679, §5.1: a lost message has infinite delay). What lies within the bound of two machines' clocks is in no
shape, though its messages count. It draws nothing; `report.charts` does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from middlemark.analysis.clocks import can_tell
from middlemark.analysis.condensed import Condensed
from middlemark.analysis.quantile import Measured

POINTS = 160
"""Points of a curve between its tails."""
TAIL = 24
"""Samples at either end that are drawn one by one."""


@dataclass(frozen=True)
class Curve:
    """An empirical distribution function: the share of all messages that took no longer than a value."""

    value_ns: tuple[int, ...]
    share: tuple[float, ...]
    n: int
    """Of those that arrived."""
    n_messages: int


@dataclass(frozen=True)
class Box:
    """The quantiles of a box plot in nanoseconds; None where there are too few, clocks don't tell, or so many lack."""

    minimum: float | None
    p10: float | None
    p25: float | None
    p50: float | None
    p75: float | None
    p90: float | None
    p99: float | None
    maximum: float | None
    n: int


def curve(samples: Condensed) -> Curve:
    """The distribution, thinned to points of equal share between tails that keep every sample."""
    n = samples.n
    if n <= POINTS + 2 * TAIL:
        ranks = np.arange(1, n + 1)
    else:
        middle = np.linspace(TAIL, n - TAIL, POINTS).round().astype(np.int64)
        ranks = np.unique(np.concatenate([np.arange(1, TAIL), middle, np.arange(n - TAIL, n + 1)]))
    values = samples.at(ranks)
    known = values > samples.bound_ns if samples.bound_ns else np.full(len(values), fill_value=True)
    return Curve(
        value_ns=tuple(int(value) for value in values[known]),
        share=tuple(float(share) for share in ranks[known] / samples.n_messages),
        n=n,
        n_messages=samples.n_messages,
    )


def box(samples: Condensed) -> Box:
    """The quantiles that the samples support; at least one message must have arrived."""

    def at(level: float) -> float | None:
        found = samples.quantile(level)
        return known(found.value) if isinstance(found, Measured) else None

    def known(value_ns: float) -> float | None:
        return float(value_ns) if can_tell(value_ns, samples.bound_ns) else None

    return Box(
        minimum=known(samples.values[0]),
        p10=at(0.10),
        p25=at(0.25),
        p50=at(0.50),
        p75=at(0.75),
        p90=at(0.90),
        p99=at(0.99),
        maximum=known(samples.values[-1]),
        n=samples.n,
    )
