"""A capacity search as the steps of a ladder of rates, each a constant factor above the last.

All searches with the same bounds have the same ladder, so that middlewares meet at the same rates. Which step is tried
is `analysis.capacity`'s question; an experiment at a step is an experiment like any other.
"""

import math

from middlemark.plan.experiment import Experiment, Search, experiment_id
from middlemark.plan.stream import Periodic
from middlemark.suite import factor_text

RATE_FACTOR = "rate"


def last_step(search: Search) -> int:
    """The highest step whose rate is within the search."""
    return math.floor(math.log(search.highest_hz / search.lowest_hz) / math.log1p(search.precision) + 1e-9)


def octave(search: Search) -> int:
    """How many steps double the rate; at least one."""
    return max(round(math.log(2) / math.log1p(search.precision)), 1)


def rate_hz(search: Search, step: int) -> float:
    """The rate of a step, to four digits as people write it."""
    return float(f"{search.lowest_hz * (1 + search.precision) ** step:.4g}")


def step_of(experiment: Experiment, search: Search) -> int:
    """The step that an experiment of the search is at."""
    pattern = experiment.streams[0].pattern
    rate = pattern.rate_hz if isinstance(pattern, Periodic) else search.lowest_hz
    return round(math.log(rate / search.lowest_hz) / math.log1p(search.precision))


def at_step(experiment: Experiment, search: Search, step: int) -> Experiment:
    """The experiment of the same search at another step."""
    rate = rate_hz(search, step)
    factors = {**experiment.factors, RATE_FACTOR: factor_text(RATE_FACTOR, rate)}
    stream = experiment.streams[0]
    arrival = stream.pattern.arrival if isinstance(stream.pattern, Periodic) else None
    if arrival is None:
        raise TypeError(f"a search is of a periodic stream, not {stream.pattern.kind}")
    changed = stream.model_copy(update={"pattern": Periodic(rate_hz=rate, arrival=arrival)})
    return experiment.model_copy(
        update={"id": experiment_id(factors), "factors": factors, "streams": (changed, *experiment.streams[1:])}
    )


SearchKey = tuple[tuple[str, str], ...]


def search_key(experiment: Experiment) -> SearchKey:
    """What all experiments of one search have in common."""
    return tuple((name, value) for name, value in experiment.factors.items() if name != RATE_FACTOR)
