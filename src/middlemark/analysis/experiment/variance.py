"""Variance by level: how much of the variance of trials lies between them, and how much within their windows.

It says whether more trials or longer windows narrow an interval sooner, given what a trial costs beyond its window
(Kalibera & Jones, "Rigorous benchmarking in reasonable time", ISMM 2013); the lower level is a stretch of the window.
It changes no estimate; `metrics.timeseries` has the parts of a window, the report the words.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import numpy as np
import scipy
from numpy.typing import NDArray

from middlemark.analysis.metrics.timeseries import TimeSeries, changes_within_window
from middlemark.analysis.stats.intervals import CONFIDENCE
from middlemark.plan import Experiment
from middlemark.results.record import TrialRecord

FEWEST_TRIALS = 3
FEWEST_STRETCHES = 5
ALIKE = 1 / 3
"""Stretches whose autocorrelation with the one before is higher are put together; what is left of it is made good."""
LITTLE = 0.9
"""Where the best window would take this share of the time or more for the same interval, nothing is to be gained."""
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class NoVarianceComponents:
    """Why the levels can't be separated."""

    reason: str


@dataclass(frozen=True)
class VarianceComponents:
    """The variance of a trial's metric, as logarithms, by where it comes from."""

    n_trials: int
    n_stretches: int
    """Into so many a window is cut, long enough for each to be little alike to the one before it."""
    window_ns: int
    within: float
    """The variance of a trial's metric that comes from within its window: a window twice as long has half of it."""
    ratio: tuple[float, float, float]
    """The variance between trials over that, with the ends of its 95 % interval: low, value, high; none below 0."""

    @property
    def share_between(self) -> tuple[float, float, float]:
        """The share of the variance that lies between trials, which no longer window takes away: low, value, high."""
        low, value, high = (number / (1 + number) if number < math.inf else 1.0 for number in self.ratio)
        return low, value, high


class Pays(StrEnum):
    """What narrows the interval sooner."""

    MORE_TRIALS = "more_trials"
    """With shorter windows, in the same time."""
    LONGER_WINDOWS = "longer_windows"
    AS_IT_IS = "as_it_is"
    """Little is to be gained by another window."""
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Advice:
    """What the levels say of the length of the windows."""

    pays: Pays
    best_window_ns: float
    """Infinite where nothing is seen to lie between trials."""
    time_share: float
    """Of the time that is spent now, with the best window, for an interval as narrow."""


def variance_components(
    experiment: Experiment, series: Sequence[TimeSeries], *, of_received: bool
) -> VarianceComponents | NoVarianceComponents:
    """The levels of one stream, from its time series of each trial; `of_received` where its rate is its metric."""
    if changes_within_window(experiment):
        return NoVarianceComponents("conditions change within the window")
    if len(series) < FEWEST_TRIALS:
        return NoVarianceComponents(f"fewer than {FEWEST_TRIALS} trials with a value")
    parts = _parts(series, of_received=of_received)
    if len(parts) < FEWEST_TRIALS or len(parts[0]) < FEWEST_STRETCHES:
        return NoVarianceComponents("too few messages for a value of each part of the window")
    stretches = long_stretches(np.log(np.array(parts, dtype=np.float64)))
    if stretches is None:
        return NoVarianceComponents(
            "it changes so slowly within the window that no part is independent of the part before it"
        )
    window_ns = series[0].part_ns * len(series[0].received)
    return components_of_stretches(stretches, window_ns)


def _parts(series: Sequence[TimeSeries], *, of_received: bool) -> list[tuple[float, ...]]:
    """The value of each part by trial; of the trials only that are cut alike and have one in each part."""
    cut = Counter((time_series.latency_part_ns, len(time_series.received)) for time_series in series).most_common(1)[0][
        0
    ]
    alike = [time_series for time_series in series if (time_series.latency_part_ns, len(time_series.received)) == cut]
    rows = [time_series.received if of_received else time_series.latency_p50_ns for time_series in alike]
    n = len(rows[0]) - 1 if len(rows[0]) > FEWEST_STRETCHES else len(rows[0])  # the last may be cut short
    parts = [tuple(float(value or 0) for value in row[:n]) for row in rows]
    return [row for row in parts if min(row) > 0]


def long_stretches(parts: Floats) -> Floats | None:
    """Parts (a row a trial) put together in twos until neighbours are little alike; None where they never are.

    As with batch means (Law, "Simulation modeling and analysis", ch. 9.5.3) longer stretches contain the
    autocorrelation of their parts.
    """
    while parts.shape[1] >= FEWEST_STRETCHES:
        if _lag_1(parts) <= ALIKE:
            return parts
        even = parts[:, : parts.shape[1] // 2 * 2]
        parts = (even[:, 0::2] + even[:, 1::2]) / 2
    return None


def _lag_1(stretches: Floats) -> float:
    """How far stretches resemble those before them, over all trials; without the bias of few (Kendall 1954)."""
    left, r = _left(stretches), stretches.shape[1]
    power = float(np.sum(left**2))
    lag_1 = float(np.sum(left[:, 1:] * left[:, :-1])) / power if power else 0.0
    return float((lag_1 + 1 / r) / (1 - 3 / r))


def _left(stretches: Floats) -> Floats:
    """What is left of stretches without their trial's mean, nor what all trials have in common at that place."""
    left: Floats = stretches - stretches.mean(axis=1, keepdims=True) - stretches.mean(axis=0) + stretches.mean()
    return left


def components_of_stretches(stretches: Floats, window_ns: int) -> VarianceComponents:
    """The levels of long stretches (a row a trial), by the analysis of variance of two ways.

    The variance of a mean of stretches that resemble their neighbours a little is by 1 + 2 × their autocorrelation
    larger. The interval of the ratio is exact for normal trials and independent stretches (Searle, Casella & McCulloch,
    "Variance components", 1992, ch. 3.6).
    """
    n, r = stretches.shape
    of_freedom = n - 1, (n - 1) * (r - 1)
    alike = 1 + 2 * min(max(_lag_1(stretches), 0.0), ALIKE)
    within = alike * float(np.sum(_left(stretches) ** 2)) / of_freedom[1] / r
    over = float(np.var(stretches.mean(axis=1), ddof=1))
    tail = (1 - CONFIDENCE) / 2
    observed = over / within if within else math.inf if over else 1.0
    ends = [float(scipy.special.fdtri(*of_freedom, share)) for share in (1 - tail, tail)]
    low, value, high = (max(observed / divisor - 1, 0.0) for divisor in (ends[0], 1.0, ends[1]))
    return VarianceComponents(n, r, window_ns, within, (low, value, high))


def advise(components: VarianceComponents, outside_ns: float) -> Advice:
    """What pays, where a trial takes `outside_ns` outside its window.

    The best window is √(cost beside it × window / ratio), Kalibera and Jones's optimum (ibid., eq. 3) with stretches of
    any length; something is said to pay only where the whole interval of the ratio says so.
    """
    low, value, high = components.ratio
    shortest, best, longest = (_best_window_ns(components, outside_ns, number) for number in (high, value, low))
    share = _time_share(components, outside_ns, value)
    least = min(_time_share(components, outside_ns, number) for number in (low, high))
    if share >= LITTLE:
        return Advice(Pays.AS_IT_IS if least >= LITTLE**2 else Pays.UNDECIDED, best, share)
    if components.window_ns < shortest:
        return Advice(Pays.LONGER_WINDOWS, best, share)
    return Advice(Pays.MORE_TRIALS if components.window_ns > longest else Pays.UNDECIDED, best, share)


def _best_window_ns(components: VarianceComponents, outside_ns: float, ratio: float) -> float:
    return math.sqrt(outside_ns * components.window_ns / ratio) if ratio else math.inf


def _time_share(components: VarianceComponents, outside_ns: float, ratio: float) -> float:
    """With the best window, of the time with this one: variance times time, with the best over what is."""
    if ratio == math.inf:
        return outside_ns / (outside_ns + components.window_ns)
    best = (math.sqrt(outside_ns * ratio) + math.sqrt(components.window_ns)) ** 2
    return best / ((outside_ns + components.window_ns) * (1 + ratio))


def outside_window_ns(records: Iterable[TrialRecord]) -> float | None:
    """What a trial takes beside its window, from one start to the next, median over a run; None of too few.

    Starting, warming up, draining and ending; only of trials that ran one right after the other.
    """
    windows = sorted((record.trial.number, record.window) for record in records if record.window is not None)
    gaps_ns = [
        then.t0_ns - now.t0_ns - (now.end_ns - now.begin_ns)
        for (number, now), (following, then) in pairwise(windows)
        if following == number + 1 and then.t0_ns > now.end_ns
    ]
    return float(np.median(gaps_ns)) if len(gaps_ns) >= FEWEST_TRIALS else None
