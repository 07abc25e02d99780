"""Whether a one-way time can be told by clocks of different machines: decided here, for every figure.

A time from one machine to another is known to ± the bound of their clocks; what is no longer than that is a figure of
the clocks, not of the middleware. `testbed.clock_offset` finds the bounds, the trial's record has them.
"""

from __future__ import annotations

from collections.abc import Iterable

from middlemark.analysis.quantile import Measured, Value, WithinClocks
from middlemark.analysis.samples import Distribution
from middlemark.plan import Chain
from middlemark.results.record import TrialRecord

CLOCK_BOUND = "clock_bound_ns"
"""The metric that says by how much one-way times of a stream or chain may be off; of streams between clocks only."""


def can_tell(time_ns: float, bound_ns: float) -> bool:
    """Whether a time is long enough to be known by clocks that may be so far apart; always by a single clock."""
    return not bound_ns or time_ns > bound_ns


def told(value: Value, bound_ns: int, time_ns: float | None = None) -> Value:
    """A figure with its bound, or that there is none; `time_ns` is what a figure rests on that is no time itself."""
    if not bound_ns or not isinstance(value, Measured):
        return value
    if can_tell(value.value if time_ns is None else time_ns, bound_ns):
        return Measured(value.value, value.n, bound_ns if time_ns is None else 0)
    return WithinClocks(value.n, bound_ns)


def widest(values: Iterable[Value]) -> WithinClocks | None:
    """The refusal with the widest bound; none where each value is told.

    One is enough to refuse a figure over trials: those left would be the ones that took longer.
    """
    refused = [value for value in values if isinstance(value, WithinClocks)]
    return max(refused, key=lambda each: each.bound_ns) if refused else None


def bounds_of_stream(record: TrialRecord, stream: str) -> dict[Distribution, int]:
    """By how much a stream's times may be off; differences of one-way times, and round trips, are by one clock."""
    bound_ns = record.clock_bound_ns(stream)
    one_way = (Distribution.LATENCY_FROM_SEND, Distribution.LATENCY_FROM_INTENDED)
    return dict.fromkeys(one_way, bound_ns) if bound_ns else {}


def bounds_of_chain(record: TrialRecord, chain: Chain) -> dict[Distribution, int]:
    """The same of a chain: the whole is by the clocks of its ends alone, computing and waiting are by one clock."""
    at = applications_of(record, chain)
    bounds = {
        Distribution.END_TO_END: record.clocks_apart_ns(at[:1], at[-1:]),
        Distribution.COMMUNICATION: sum(bounds_of_hops(record, chain)),
    }
    return {kind: bound_ns for kind, bound_ns in bounds.items() if bound_ns}


def bounds_of_hops(record: TrialRecord, chain: Chain) -> tuple[int, ...]:
    """Of each message of a chain, from its first node on."""
    at = applications_of(record, chain)
    return tuple(record.clocks_apart_ns(at[n : n + 1], at[n + 1 : n + 2]) for n in range(len(at) - 1))


def applications_of(record: TrialRecord, chain: Chain) -> tuple[str, ...]:
    """The application of each node on the way."""
    of_node = {node.name: node.application for node in record.trial.experiment.nodes}
    return tuple(of_node[name] for name in chain.nodes)
