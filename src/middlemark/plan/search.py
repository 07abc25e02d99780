"""A capacity search as the steps of a ladder of rates, or of sizes, each a constant factor above the last.

All searches with the same bounds have the same ladder, so that middlewares meet at the same rates. Which step is tried
is `analysis.search_steps`' question; an experiment at a step is an experiment like any other.
"""

import math
from dataclasses import dataclass

from middlemark.plan.experiment import Experiment, Search, Sought, experiment_id
from middlemark.plan.stream import Periodic, Stream
from middlemark.suite import factor_text

SOUGHT = {"no_communication", "failed", "timed_out"}
"""The outcomes of trials whose load was not carried."""


@dataclass(frozen=True)
class Load:
    """What each publisher has to send."""

    rate_hz: float
    size_bytes: int

    @property
    def payload_bytes_per_s(self) -> float:
        """Rate times size."""
        return self.rate_hz * self.size_bytes

    def of(self, sought: Sought) -> float:
        """Its rate or its size."""
        return self.rate_hz if sought is Sought.RATE else float(self.size_bytes)


def last_step(search: Search) -> int:
    """The highest step that is within the search."""
    low, high = search.ends
    return math.floor(math.log(high / low) / math.log1p(search.precision) + 1e-9)


def octave(search: Search) -> int:
    """How many steps double the rate or the size; at least one."""
    return max(round(math.log(2) / math.log1p(search.precision)), 1)


def value_at(search: Search, step: int) -> float:
    """The rate or the size of a step, to four digits as people write it."""
    exact = search.ends[0] * (1 + search.precision) ** step
    value = float(f"{exact:.4g}")
    return value if search.sought is Sought.RATE else float(round(value))


def load_of(experiment: Experiment) -> Load:
    """The load of an experiment of a search."""
    stream = experiment.streams[0]
    return Load(_periodic(stream).rate_hz, stream.size_bytes)


def load_at(experiment: Experiment, search: Search, step: int) -> Load:
    """The load of the same search at a step."""
    load, value = load_of(experiment), value_at(search, step)
    return Load(value, load.size_bytes) if search.sought is Sought.RATE else Load(load.rate_hz, int(value))


def step_of(experiment: Experiment, search: Search) -> int:
    """The step that an experiment of the search is at."""
    return round(math.log(load_of(experiment).of(search.sought) / search.ends[0]) / math.log1p(search.precision))


def is_sought(experiment: Experiment, outcome: str) -> bool:
    """Whether a search came for a trial that ended so: above its lowest load it looks for what fails."""
    return outcome in SOUGHT and experiment.search is not None and step_of(experiment, experiment.search) > 0


def at_step(experiment: Experiment, search: Search, step: int) -> Experiment:
    """The experiment of the same search at another step."""
    load, stream = load_at(experiment, search, step), experiment.streams[0]
    text = factor_text(search.sought, load.of(search.sought))
    factors = {**experiment.factors, search.sought.value: text}
    pattern = _periodic(stream).model_copy(update={"rate_hz": load.rate_hz})
    changed = stream.model_copy(update={"pattern": pattern, "size_bytes": load.size_bytes})
    return experiment.model_copy(
        update={"id": experiment_id(factors), "factors": factors, "streams": (changed, *experiment.streams[1:])}
    )


def _periodic(stream: Stream) -> Periodic:
    if not isinstance(stream.pattern, Periodic):
        raise TypeError(f"a search is of a periodic stream, not {stream.pattern.kind}")
    return stream.pattern


def whole(experiment: Experiment, search: Search) -> Experiment:
    """A search as one experiment: what it searches for is no factor of it."""
    factors = dict(search_key(experiment, search))
    return experiment.model_copy(update={"id": experiment_id(factors), "factors": factors})


def is_whole(experiment: Experiment) -> bool:
    """Whether it is a search rather than one of its steps, or given."""
    return experiment.search is not None and experiment.search.sought not in experiment.factors


SearchKey = tuple[tuple[str, str], ...]


def search_key(experiment: Experiment, search: Search) -> SearchKey:
    """What all experiments of one search have in common."""
    return tuple((name, value) for name, value in experiment.factors.items() if name != search.sought)
