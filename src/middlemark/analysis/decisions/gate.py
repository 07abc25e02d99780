"""Conditions under which a change is not accepted, `p99(latency) > +5 %`, and what the measurements say of each.

What is judged is that the change stays within what is accepted: that holds (the gate passes), is refuted (it fails), or
is undecided, so that neither noise nor missing trials pass or fail a gate. `pairing` makes the comparisons, `verdict`
judges them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from middlemark.analysis.compare.pairing import Compared, Pair, compared
from middlemark.analysis.metrics.catalog import Metric, metric_named
from middlemark.analysis.verdicts.bounds import AgainstBound, against_bound
from middlemark.analysis.verdicts.verdict import Judged, change_stays_within
from middlemark.errors import UsageError
from middlemark.suite import Dimension, bound_of

EXAMPLES = "`p99(latency) > +5 %`, `goodput < -10 %`, `loss > +0.1 pp`, `median(round_trip) > 200 µs`"
_WRITTEN = re.compile(r"\s*(?P<figure>[^<>]+?)\s*(?P<side>[<>])\s*(?P<sign>[+-]?)\s*(?P<bound>[^<>+-]+?)\s*")
_POINTS = re.compile(r"(?P<number>\d+(\.\d+)?)\s*pp")
_PERCENT = re.compile(r"(?P<number>\d+(\.\d+)?)\s*%")


@dataclass(frozen=True)
class Condition:
    """When a change is not accepted."""

    text: str
    figure: Metric
    above: bool
    """Whether it is met above its bound rather than below."""
    of_change: bool
    """Whether the bound is one of head against base rather than of head alone."""
    bound: float
    """A relative change, for shares a difference; or a value in the unit that the metric's name ends in."""


@dataclass(frozen=True)
class Gated:
    """A condition at one figure of one pair."""

    condition: Condition
    compared: Compared
    judged: Judged
    """That what is accepted holds."""
    against: AgainstBound | None = None
    """Where head alone is held against a bound: its value with the interval that decides."""


def condition(written: str) -> Condition:
    """Read a condition; what can't be read is refused with examples."""
    parts = _WRITTEN.fullmatch(written)
    if parts is None:
        raise UsageError(f"`{written}` is no condition", remedy=f"as in {EXAMPLES}")
    asked = metric_named(parts["figure"])
    of_change = bool(parts["sign"])
    read = _change(parts["bound"], asked) if of_change else bound_of(asked.dimension, parts["bound"])
    if read is None:
        wanted = _wanted(asked, of_change=of_change)
        raise UsageError(f"`{written}`: `{parts['bound']}` is no bound of {asked.name}", remedy=f"write {wanted}")
    sign = -1 if parts["sign"] == "-" else 1
    return Condition(" ".join(written.split()), asked, parts["side"] == ">", of_change, sign * read)


def _change(written: str, asked: Metric) -> float | None:
    found = (_POINTS if asked.is_share else _PERCENT).fullmatch(written)
    return float(found["number"]) / 100 if found else None


def _wanted(asked: Metric, *, of_change: bool) -> str:
    if of_change:
        return "`+0.1 pp`, percentage points" if asked.is_share else "a relative change as `+5 %`"
    examples = {
        Dimension.TIME: "200 µs",
        Dimension.SHARE: "0.1 %",
        Dimension.BYTES: "40 MiB",
        Dimension.BYTES_PER_S: "80 MB/s",
        Dimension.PERCENT_OF_CORE: "50 %",
    }
    return f"a value as `{examples[asked.dimension]}`, or a change with its sign"


def gated(pairs: Sequence[Pair], conditions: Sequence[Condition]) -> tuple[Gated, ...]:
    """Every condition at every pair and stream that has its figure."""
    return tuple(_gated(each, asked) for asked in conditions for each in compared(pairs, [asked.figure], margin=0.0))


def _gated(each: Compared, asked: Condition) -> Gated:
    if asked.of_change:
        bound = asked.bound if asked.figure.is_share else 1 + asked.bound
        lower, setbacks = asked.figure.lower_is_better, each.setbacks
        judged = change_stays_within(
            each.difference, bound, above=asked.above, lower_is_better=lower, setbacks=setbacks
        )
        return Gated(asked, each, judged)
    head = each.pair.sides[1].evidence(asked.figure, each.stream)
    found = against_bound(head, asked.bound, above=not asked.above)
    return Gated(asked, each, found.judged, found)
