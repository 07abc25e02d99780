"""Whether a link is what was asked, judged by what a probe found of it.

Pure. A delay may be off by 0.3 ms or 5 % a way, a rate by 5 %, and a loss has to be within the interval that 99.9 % of
all links with the asked loss would be in, for as many frames.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from scipy.stats import binom

from middlemark.plan.network import Direction, Link
from middlemark.suite.quantity import BIT_RATE, DURATION
from middlemark.testbed.probe import Found, Measured

DELAY_NS, DELAY_SHARE = 300_000, 0.05
RATE_SHARE = 0.05
CONFIDENCE = 0.999
# Where this share of pings is delayed, the median of 40 is of a delayed one in 999 of 1000 cases.
CLEAR_MAJORITY = 0.75
# Standard deviations of a mean of a jittered delay that chance is granted, as far as CONFIDENCE goes.
_DEVIATIONS = 3.29


def verdict(asked: Link, measured: Measured) -> str | None:
    """What is wrong with the link; None where it is what was asked."""
    if not measured.reachable:
        return "nothing comes through"
    wrong = [
        _round_trip(asked, measured),
        *_direction("outgoing", asked.outgoing, measured.outgoing),
        *_direction("incoming", asked.incoming, measured.incoming),
    ]
    return "; ".join(each for each in wrong if each) or None


def _round_trip(asked: Link, measured: Measured) -> str | None:
    trip = measured.round_trip
    if trip is None or trip.p50_ns is None:
        return "no ping was answered"
    directions = (asked.outgoing, asked.incoming)
    expected = sum(direction.delay_ns for direction in directions)
    answered = trip.sent - trip.lost
    # The variance of an even distribution over ± jitter is jitter² / 3; a median varies by √(π / 2) more than a mean.
    jitter = math.sqrt(sum(direction.jitter_ns**2 for direction in directions) / 3)
    chance = _DEVIATIONS * jitter * math.sqrt(math.pi / 2 / answered)
    allowed = max(2 * DELAY_NS, DELAY_SHARE * expected) + chance
    if _least_ns(directions) - allowed <= trip.p50_ns <= expected + allowed:
        return None
    return f"the round trip takes {_duration(trip.p50_ns)}, asked were {_duration(expected)} (± {_duration(allowed)})"


def _least_ns(directions: Sequence[Direction]) -> int:
    """The least that a median may be: less where so many frames overtake that it may be of pings without the delay."""
    delayed_throughout = math.prod(1 - direction.reordering for direction in directions)
    return sum(
        direction.delay_ns
        for direction in directions
        if not direction.reordering or delayed_throughout >= CLEAR_MAJORITY
    )


def _direction(name: str, asked: Direction, found: Found) -> list[str | None]:
    return [_rate(name, asked, found), _loss(name, asked, found)]


def _rate(name: str, asked: Direction, found: Found) -> str | None:
    if asked.rate_bits_per_s is None:
        return None
    # What is lost has had its time on the wire.
    expected = asked.rate_bits_per_s * (1 - _lost_share(asked))
    rate = found.rate_bits_per_s or 0
    if abs(rate - expected) <= RATE_SHARE * expected:
        return None
    offered = found.offered_bits_per_s
    if offered is not None and offered < expected:
        return (
            f"the {name} rate can't be told: the probe had CPU time to offer {_rate_text(offered)}, "
            f"asked was {_rate_text(asked.rate_bits_per_s)}"
        )
    return f"the {name} rate is {_rate_text(rate)}, asked was {_rate_text(asked.rate_bits_per_s)} (± {RATE_SHARE:.0%})"


def _loss(name: str, asked: Direction, found: Found) -> str | None:
    if found.loss is None:
        return None
    lost = max(found.loss.lost - found.loss.dropped_by_receiver, 0)
    least, most = lost_frames(found.loss.sent, _lost_share(asked))
    if least <= lost <= most:
        return None
    share = 100 * _lost_share(asked)
    return f"of {found.loss.sent} {name} frames {lost} were lost, {least} to {most} would be {share:.3g} %"


def _lost_share(asked: Direction) -> float:
    """A damaged frame fails its checksum and is lost as well."""
    return 1 - (1 - asked.loss) * (1 - asked.corruption)


def lost_frames(sent: int, share: float) -> tuple[int, int]:
    """The equal-tailed interval of the binomial distribution that a count is in with `CONFIDENCE`."""
    least, most = binom.interval(CONFIDENCE, sent, share)
    return max(int(least), 0), int(most)


def _duration(value_ns: float) -> str:
    return DURATION.text(float(f"{value_ns:.3g}"))


def _rate_text(value: float) -> str:
    return BIT_RATE.text(float(f"{value:.3g}"))
