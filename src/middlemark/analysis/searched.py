"""A capacity search as findings that can be compared: what is known of its capacity, one value a search.

All that one search knows of a capacity is that it lies between what was carried and what was not. `capacity` judged the
trials; `contrast` compares what lies between two values, and needs several searches to know how far they scatter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from middlemark.analysis.capacity import Bracket, Capacity
from middlemark.analysis.estimate import Estimate, Method, no_estimate
from middlemark.analysis.experiment import ExperimentFindings
from middlemark.analysis.figure import CAPACITY
from middlemark.analysis.interval import coverage, median_interval
from middlemark.analysis.metric_names import TRIAL, Key
from middlemark.plan.search import whole

KEY = Key(TRIAL, CAPACITY)


def searched(found: Capacity) -> ExperimentFindings:
    """The search, or the searches, of an experiment as one, the number of a search in the place of a block."""
    told = {number: each for number, each in enumerate(found.searches, 1) if each.carried or each.not_carried}
    return ExperimentFindings(
        experiment=whole(found.experiment, found.search),
        outcomes=found.outcomes,
        estimates={KEY: no_estimate(_why_not(found)) if found.reason else _estimate(list(told.values()))},
        by_block={} if found.reason else {KEY: {number: _carried(each) for number, each in told.items()}},
        curves={},
        boxes={},
        totals={},
        overloaded={},
        cautions=(),
        effective={},
        path={},
        above={KEY: {number: _not_carried(each) for number, each in told.items()}},
    )


def _why_not(found: Capacity) -> str:
    return f"not applicable: {found.reason}"


def _carried(each: Bracket) -> float:
    """Where not even the lowest is carried, nothing is known to be."""
    return each.carried.payload_bytes_per_s if each.carried else 0.0


def _not_carried(each: Bracket) -> float:
    """Where the highest is carried, nothing is known to be too much."""
    return each.not_carried.payload_bytes_per_s if each.not_carried else math.inf


def _estimate(told: Sequence[Bracket]) -> Estimate:
    """The middle of what was carried; its interval reaches up to what was not."""
    if not told:
        return no_estimate("no trial of the search says anything")
    lows, highs = (np.array([of(each) for each in told]) for of in (_carried, _not_carried))
    value, n = float(np.median(lows)), len(told)
    if n == 1:
        return Estimate(value, None, None, None, 1, 0, Method.MEDIAN_OF_TRIALS)
    high = median_interval(highs)[1] if np.isfinite(highs).all() else math.inf
    return Estimate(value, median_interval(lows)[0], high, coverage(n), n, 0, Method.MEDIAN_OF_TRIALS)
