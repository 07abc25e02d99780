"""The load that is sustained half of the time, with its interval: a logistic curve over all trials of all searches.

A bracket is of neighbouring steps and says nothing of how far the next search would end from it; the curve uses every
trial. It judges no trial (`bisection` did) and moves no bracket (`capacity` has it).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from middlemark.analysis.stats.intervals import CONFIDENCE

FEWEST_SEARCHES = 3
"""One search ends where its own luck ends it: alone it would hold what is true in half of the cases."""
TYPICAL_STEEPNESS = 5.0
"""What is known before: over a fifth of the load the odds that it is sustained fall to about a third …"""
SPREAD_OF_STEEPNESS = 2.0
"""… or over a tenth, or ten times, of that as well: the standard deviation of its logarithm."""
STEEPNESS = np.geomspace(0.5, 2000, 40)
PLACES = 100
BEYOND = math.log(8)
"""How far outside the loads that were tried is looked: further out an end is open."""
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Threshold:
    """The load that is sustained with probability 1/2, in hertz or bytes."""

    value: float
    low: float
    """0 where it is open: no trial says how low it may be."""
    high: float
    """Infinite where it is open."""
    n_trials: int


@dataclass(frozen=True)
class NoThreshold:
    """Why there is none."""

    reason: str


def fit_threshold(trials: Sequence[tuple[float, bool]], n_searches: int) -> Threshold | NoThreshold:
    """Of loads, each with whether a trial sustained it.

    The ends are where the profile likelihood of that load falls by half a squared Student's quantile (Venzon &
    Moolgavkar, Applied Statistics 37, 1988). A search tries mostly loads that are all sustained or all not, and no
    plain logistic fit has a maximum then (Albert & Anderson, Biometrika 71, 1984); so its steepness has a weak
    log-normal prior, as Gelman et al. advise (Annals of Applied Statistics 2, 2008), the load itself none. A search
    stops where luck has it, so few searches say less than as many independent trials: Student's quantile has two
    degrees of freedom for each.
    """
    refused = _refusal(trials, n_searches)
    if refused:
        return NoThreshold(refused)
    loads = np.log(np.array([load for load, _ in trials]))
    sustained = np.array([held for _, held in trials])
    allowed = float(scipy.special.stdtrit(2 * n_searches, (1 + CONFIDENCE) / 2)) ** 2 / 2
    places = np.linspace(loads.min() - BEYOND, loads.max() + BEYOND, PLACES)
    places = np.unique(np.append(places, np.linspace(*_around(loads, sustained), PLACES)))
    first, last = _likely(_profile(places, loads, sustained), allowed)
    is_open_below, is_open_above = first == 0, last == len(places) - 1
    places = np.linspace(places[first], places[last], PLACES)  # a step of the first look may be a fifth of the interval
    profile = _profile(places, loads, sustained)
    first, last = _likely(profile, allowed)
    best = places[profile >= profile.max() - 1e-6]  # where all loads below are sustained and none above, a stretch
    below, above = _apart(loads, sustained)
    return Threshold(
        value=float(np.exp(best.mean())),
        low=0.0 if is_open_below else float(np.exp(min(places[first], below))),
        high=math.inf if is_open_above else float(np.exp(max(places[last], above))),
        n_trials=len(trials),
    )


def _likely(profile: Floats, allowed: float) -> tuple[int, int]:
    """The first and the last place whose likelihood is at most so much below the highest, with one more on either side.

    What is true lies between two places as well.
    """
    likely = np.flatnonzero(profile >= profile.max() - allowed)
    return max(int(likely[0]) - 1, 0), min(int(likely[-1]) + 1, len(profile) - 1)


def _refusal(trials: Sequence[tuple[float, bool]], n_searches: int) -> str:
    if n_searches < FEWEST_SEARCHES:
        return f"needs {FEWEST_SEARCHES} searches"
    held = {sustained for _, sustained in trials}
    if len(held) < 2:
        return "every load that was tried is sustained" if held == {True} else "no load that was tried is sustained"
    return ""


def _apart(loads: Floats, sustained: NDArray[np.bool_]) -> tuple[float, float]:
    """Where all loads up to one are sustained and none above: these two, as no trial says what lies between."""
    below, above = float(loads[sustained].max()), float(loads[~sustained].min())
    return (below, above) if below < above else (math.inf, -math.inf)


def _around(loads: Floats, sustained: NDArray[np.bool_]) -> tuple[float, float]:
    """Where a finer look is worth it: around the lowest that was not sustained and the highest that was."""
    low, high = sorted((float(loads[~sustained].min()), float(loads[sustained].max())))
    width = max(high - low, 0.05)
    return low - 3 * width, high + 3 * width


def _profile(places: Floats, loads: Floats, sustained: NDArray[np.bool_]) -> Floats:
    """The log-likelihood of each place of the load that half of the trials sustain, with the best steepness."""
    values, where = np.unique(loads, return_inverse=True)
    held = np.bincount(where, weights=sustained)
    missed = np.bincount(where) - held
    prior = -0.5 * (np.log(STEEPNESS / TYPICAL_STEEPNESS) / SPREAD_OF_STEEPNESS) ** 2
    above = np.multiply.outer(np.subtract.outer(values, places), STEEPNESS)
    likelihood = -np.tensordot(held, np.logaddexp(0, above), 1) - np.tensordot(missed, np.logaddexp(0, -above), 1)
    profile: Floats = np.max(likelihood + prior, axis=1)
    return profile
