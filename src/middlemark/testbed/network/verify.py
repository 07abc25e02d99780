"""Judges from a probe's measurements whether a link is as requested, or a route as declared.

A delay may deviate by 0.3 ms or 5 % in each direction, a rate by 5 %; jitter and the numbers of lost, duplicated and
overtaking frames have to be within the random variation of 99.9 % of all links that are exactly as requested. It
measures nothing: `probe` does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
import scipy

from middlemark.plan.topology.network import Link
from middlemark.suite import Direction
from middlemark.suite.yaml.quantity import BIT_RATE, DURATION
from middlemark.testbed.network.probe import (
    PING_INTERVAL_NS,
    DirectionMeasured,
    Loss,
    Measured,
    RoundTrip,
    lost_share,
    train_interval_ns,
)

CONFIDENCE = 0.999
"""The share of links that are as requested for which a metric lies within its interval; 1 of 1000 is outside."""
PROBES = 20_000
"""The number of simulated probes: ten of them lie beyond either end of an interval."""
_SEED = 1
Interval = tuple[float, float]
Times = npt.NDArray[np.float64]
DELAY_NS, DELAY_SHARE = 300_000, 0.05
RATE_SHARE = 0.05
# On a busy machine one ping in ten waits this long: a link with little jitter must not be refused for that.
LATEST_NS = 1_500_000
# The tolerance for a sender that wakes late and for successive frames that skip the delay, in requested intervals.
_LATE = 4


def link_verdict(requested: Link, measured: Measured) -> str | None:
    """What is wrong with the link; None where it is as requested."""
    if not measured.reachable:
        return "no reply from the other end"
    interval_ns = train_interval_ns(requested)
    wrong = [
        _round_trip(requested, measured),
        _spread(requested, measured),
        *_direction("outgoing", requested.outgoing, measured.outgoing, interval_ns),
        *_direction("incoming", requested.incoming, measured.incoming, interval_ns),
    ]
    return "; ".join(deviation for deviation in wrong if deviation) or None


def route_verdict(declared: Link, measured: Measured) -> str | None:
    """What is wrong with a route; only declared properties are judged."""
    if not measured.reachable:
        return "no reply from the other end: is UDP filtered on the route?"
    if measured.round_trip is None or measured.round_trip.p50_ns is None:
        return "no ping was answered"
    directions = (
        ("outgoing", declared.outgoing, measured.outgoing),
        ("incoming", declared.incoming, measured.incoming),
    )
    wrong = [
        _round_trip(declared, measured) if declared.outgoing.delay_ns + declared.incoming.delay_ns else None,
        _spread(declared, measured),
        *(_declared_rate(*direction) for direction in directions),
        *(_declared_loss(*direction) for direction in directions if direction[1].loss),
    ]
    return "; ".join(deviation for deviation in wrong if deviation) or None


def _declared_rate(name: str, declared: Direction, measured: DirectionMeasured) -> str | None:
    """Judges a route's rate. Where the sender's own interface is the slow part, the reason says so."""
    rate = declared.rate_bits_per_s
    if rate is None or _is_sustained(rate, declared, measured):
        return None
    offered = measured.offered_bits_per_s or 0
    sender = f"; the sender could offer no more than {_rate_text(offered)}" if offered < rate else ""
    rate_words = _rate_text(measured.rate_bits_per_s or 0)
    return f"the {name} rate is {rate_words}, declared: {_rate_text(rate)} (± {RATE_SHARE:.0%}){sender}"


def _declared_loss(name: str, declared: Direction, measured: DirectionMeasured) -> str | None:
    return (
        _loss(name, declared, measured.loss)
        if measured.loss
        else f"the {name} loss is unknown: the other end did not report it"
    )


def _round_trip(requested: Link, measured: Measured) -> str | None:
    trip = measured.round_trip
    if trip is None or trip.p50_ns is None:
        return "no ping was answered"
    expected_ns = requested.outgoing.delay_ns + requested.incoming.delay_ns
    allowed_ns = max(2 * DELAY_NS, DELAY_SHARE * expected_ns)
    least, most = _by_chance(requested, trip).median_ns
    if least - allowed_ns <= trip.p50_ns <= most + allowed_ns:
        return None
    span = f"{_duration(max(least - allowed_ns, 0))} to {_duration(most + allowed_ns)}"
    return f"the round trip takes {_duration(trip.p50_ns)}, requested: {_duration(expected_ns)} (allowed: {span})"


def _spread(requested: Link, measured: Measured) -> str | None:
    """Judges jitter, with more tolerance towards late pings, as a busy machine delays some of them."""
    trip = measured.round_trip
    jitter_ns = requested.outgoing.jitter_ns + requested.incoming.jitter_ns
    if not jitter_ns or trip is None or trip.spread_ns is None:
        return None
    least, most = _by_chance(requested, trip).spread_ns
    if least - DELAY_NS <= trip.spread_ns <= most + LATEST_NS:
        return None
    return (
        f"round trips vary by {_duration(trip.spread_ns)}; with a jitter of {_duration(jitter_ns)} it should be "
        f"{_duration(max(least - DELAY_NS, 0))} to {_duration(most + LATEST_NS)}"
    )


def _by_chance(requested: Link, trip: RoundTrip) -> RoundTrips:
    return round_trips(requested.outgoing, requested.incoming, trip.sent - trip.lost, PING_INTERVAL_NS)


def _direction(name: str, requested: Direction, measured: DirectionMeasured, interval_ns: int) -> list[str | None]:
    train = measured.loss
    if train is None:
        return [_rate(name, requested, measured)]
    by_number = [
        _loss(name, requested, train),
        _copies(name, requested, train),
        _order(name, requested, train, interval_ns),
    ]
    return [_rate(name, requested, measured), *by_number]


def _rate(name: str, requested: Direction, measured: DirectionMeasured) -> str | None:
    if requested.rate_bits_per_s is None or _is_sustained(requested.rate_bits_per_s, requested, measured):
        return None
    rate, offered = measured.rate_bits_per_s or 0, measured.offered_bits_per_s
    if offered is not None and offered < requested.rate_bits_per_s * (1 - lost_share(requested)):
        return (
            f"the {name} rate is unknown: the probe had too little CPU time and offered only "
            f"{_rate_text(offered)}, requested: {_rate_text(requested.rate_bits_per_s)}"
        )
    expected = f"requested: {_rate_text(requested.rate_bits_per_s)} (± {RATE_SHARE:.0%})"
    return f"the {name} rate is {_rate_text(rate)}, {expected}"


def _is_sustained(rate_bits_per_s: int, requested: Direction, measured: DirectionMeasured) -> bool:
    """Whether the rate is within its tolerance; a lost frame has used its time on the wire."""
    expected = rate_bits_per_s * (1 - lost_share(requested))
    return abs((measured.rate_bits_per_s or 0) - expected) <= RATE_SHARE * expected


def _loss(name: str, requested: Direction, train: Loss) -> str | None:
    lost = max(train.lost - train.dropped_by_receiver, 0)
    share = lost_share(requested)
    # Netem damages each copy independently, so an intact copy may replace its damaged original.
    least, most = frames(train.sent, share - requested.duplication * requested.corruption * (1 - requested.loss), share)
    return None if least <= lost <= most else _off(f"{train.sent} {name}", f"{lost} were lost", (least, most), share)


def _copies(name: str, requested: Direction, train: Loss) -> str | None:
    """Judges duplicates.

    A lost frame has none; a damaged frame's copy is damaged by the relay, with netem independently.
    """
    share = requested.duplication * (1 - lost_share(requested))
    least, most = frames(train.sent, share * (1 - requested.corruption), share)
    if least - train.dropped_by_receiver <= train.duplicates <= most:
        return None
    return _off(f"{train.sent} {name}", f"{train.duplicates} came twice", (least, most), share)


def _order(name: str, requested: Direction, train: Loss, interval_ns: int) -> str | None:
    """Judges order.

    A frame that skips the delay overtakes frames that don't; a copy may skip the delay independently.
    """
    arrived = train.sent - train.lost
    under_way = max(requested.delay_ns - requested.jitter_ns, 0) // (_LATE * interval_ns)
    is_overtaken = (1 - requested.reordering) * (1 - lost_share(requested))
    certain = requested.reordering * (1 - (1 - is_overtaken) ** under_way)
    least, most = frames(arrived, certain, min(requested.reordering * (1 + requested.duplication), 1))
    if least <= train.overtaking <= most:
        return None
    return _off(f"{arrived} {name}", f"{train.overtaking} overtook others", (least, most), requested.reordering)


def _off(which: str, fate: str, within: tuple[int, int], share: float) -> str:
    return f"of {which} frames {fate}; with {100 * share:.3g} % it should be {within[0]} to {within[1]}"


def _duration(value_ns: float) -> str:
    return DURATION.text(float(f"{value_ns:.3g}"))


def _rate_text(value: float) -> str:
    return BIT_RATE.text(float(f"{value:.3g}"))


@dataclass(frozen=True)
class RoundTrips:
    """Intervals for answered pings."""

    median_ns: Interval
    spread_ns: Interval
    """From the shortest round trip to the 90th percentile."""


@cache
def frames(n: int, least_share: float, most_share: float) -> tuple[int, int]:
    """The binomial range of how many of so many frames are affected, with a probability between two shares."""
    least, _ = scipy.stats.binom.interval(CONFIDENCE, n, least_share)
    _, most = scipy.stats.binom.interval(CONFIDENCE, n, most_share)
    return max(int(least), 0), int(most)


@cache
def round_trips(outgoing: Direction, incoming: Direction, answered: int, interval_ns: int) -> RoundTrips:
    """The expected round trips of pings sent at an interval, from the delays of both directions."""
    if not any(direction.jitter_ns or direction.reordering for direction in (outgoing, incoming)):
        both_ns = outgoing.delay_ns + incoming.delay_ns
        return RoundTrips(median_ns=(both_ns, both_ns), spread_ns=(0, 0))
    generator = np.random.default_rng(_SEED)
    sent = np.tile(np.arange(answered, dtype=np.float64) * interval_ns, (PROBES, 1))
    times = np.sort(_left(incoming, _left(outgoing, sent, generator), generator) - sent, axis=1)
    return RoundTrips(
        median_ns=_interval(_quantile(times, 0.5)), spread_ns=_interval(_quantile(times, 0.9) - times[:, 0])
    )


def _left(direction: Direction, entered: Times, generator: np.random.Generator) -> Times:
    """When each frame leaves a direction: in order, except those that skip the delay."""
    order = np.argsort(entered, axis=1, kind="stable")
    instants = np.take_along_axis(entered, order, axis=1)
    delay_ns = np.maximum(direction.delay_ns + direction.jitter_ns * generator.uniform(-1, 1, instants.shape), 0)
    skips = generator.random(instants.shape) < direction.reordering
    in_order = np.maximum.accumulate(np.where(skips, instants, instants + delay_ns), axis=1)
    left = np.empty_like(instants)
    np.put_along_axis(left, order, np.where(skips, instants, in_order), axis=1)
    return left


def _quantile(times: Times, share: float) -> Times:
    """The quantile of each row by nearest rank, as the probe computes it."""
    return times[:, math.ceil(share * times.shape[1]) - 1]


def _interval(values: Times) -> Interval:
    least, most = np.quantile(values, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(least), float(most)
