"""Whether a trial of a capacity search carried its load, and where not, which bound it broke.

One trial says yes, no with a limit, or nothing; all at one step together are what it came to. Which step is tried next
`search_steps` decides, what a search came to `capacity` tells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from middlemark.analysis.clocks import CLOCK_BOUND
from middlemark.analysis.metric_names import Key, of_stream, quantile_metric
from middlemark.analysis.rates import LEAST_ACHIEVED, OVERLOAD_BELOW
from middlemark.analysis.samples import Distribution
from middlemark.plan import Experiment
from middlemark.plan.experiment import Search, Sought
from middlemark.plan.search import step_of

JUDGED_BY = Distribution.LATENCY_FROM_INTENDED
LEVELS = ("p99", "p90", "p50", "max")
"""Few messages in a window support no p99: the highest that they do support is held, or else the slowest."""
Told = tuple[Experiment, str, Mapping[Key, float]]
"""A trial's experiment, outcome and values."""


class Limit(StrEnum):
    """Why a rate or a size is not carried."""

    OVERLOAD = "overload"
    LOSS = "loss"
    """Too many messages were lost, or not even taken by the middleware."""
    LATENCY = "latency"
    CLOCKS = "clocks"
    """Clocks of different machines don't tell whether the latency is within its bound."""
    NO_COMMUNICATION = "no_communication"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    SIZE = "size"
    """The middleware takes no message of this size."""


@dataclass
class Tried:
    """What the trials at one step came to."""

    carried: int = 0
    limits: Counter[Limit] = field(default_factory=Counter)

    @property
    def refused(self) -> int:
        """How many did not carry it."""
        return self.limits.total()

    @property
    def holds(self) -> bool:
        """The majority so far; a tie is none."""
        return self.carried > self.refused

    def decided(self, confirm: int) -> bool:
        """Whether no further trial of `confirm` could turn it."""
        return 2 * max(self.carried, self.refused) > confirm


def judged(search: Search, stream: str, outcome: str, values: Mapping[Key, float]) -> Limit | bool | None:
    """True where a trial carried its load, its limit where it did not; None where it says nothing of it."""
    if outcome == "not_applicable" and search.sought is Sought.SIZE:
        return Limit.SIZE
    if outcome in {Limit.NO_COMMUNICATION, Limit.FAILED, Limit.TIMED_OUT}:
        return Limit(outcome)
    if outcome != "valid":
        return None
    subject = of_stream(stream)
    if values.get(Key(subject, LEAST_ACHIEVED), 1.0) < OVERLOAD_BELOW:
        return Limit.OVERLOAD
    if values.get(Key(subject, "undelivered_share"), 1.0) > search.loss_share:
        return Limit.LOSS
    return _too_slow(search, subject, values) or True


def _too_slow(search: Search, subject: str, values: Mapping[Key, float]) -> Limit | None:
    took_ns = next((values[key] for level in LEVELS if (key := _latency(subject, level)) in values), None)
    if took_ns is not None:
        return Limit.LATENCY if took_ns > search.latency_ns else None
    # Read as no more than the clocks' bound, it is truly no more than twice that.
    return Limit.CLOCKS if 2 * values.get(Key(subject, CLOCK_BOUND), 0.0) > search.latency_ns else None


def _latency(subject: str, level: str) -> Key:
    return Key(subject, quantile_metric(JUDGED_BY, level))


def steps_of(search: Search, results: Iterable[Told]) -> dict[int, Tried]:
    """The outcomes of a search by step; trials that say nothing are not there."""
    found: dict[int, Tried] = {}
    for experiment, outcome, values in results:
        said = judged(search, experiment.streams[0].name, outcome, values)
        if said is None:
            continue
        tried = found.setdefault(step_of(experiment, search), Tried())
        if isinstance(said, Limit):
            tried.limits[said] += 1
        else:
            tried.carried += 1
    return found
