"""Conditions under which a change is not accepted, `p99(latency) > +5 %`, and what the measurements say of each.

A condition is met only where the whole interval is beyond its bound, and ruled out only where none of it is; between
the two nothing is decided, so that noise alone fails no gate. `pairing` makes the comparisons that are judged here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from middlemark.analysis.contrast import Contrast
from middlemark.analysis.figure import Figure, figure
from middlemark.analysis.pairing import Compared, Pair, compared
from middlemark.errors import UsageError
from middlemark.suite import Dimension, bound_of

EXAMPLES = "`p99(latency) > +5 %`, `goodput < -10 %`, `loss > +0.1 pp`, `median(round_trip) > 200 µs`"
_WRITTEN = re.compile(r"\s*(?P<figure>[^<>]+?)\s*(?P<side>[<>])\s*(?P<sign>[+-]?)\s*(?P<bound>[^<>+-]+?)\s*")
_POINTS = re.compile(r"(?P<number>\d+(\.\d+)?)\s*pp")
_PERCENT = re.compile(r"(?P<number>\d+(\.\d+)?)\s*%")


class Decision(StrEnum):
    """What became of a condition."""

    FAILED = "failed"
    PASSED = "passed"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Condition:
    """When a change is not accepted."""

    text: str
    figure: Figure
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
    decision: Decision
    reason: str = ""
    """Why nothing is decided, or why it failed without a comparison."""


def condition(written: str) -> Condition:
    """Read a condition; what can't be read is refused with examples."""
    parts = _WRITTEN.fullmatch(written)
    if parts is None:
        raise UsageError(f"`{written}` is no condition", remedy=f"as in {EXAMPLES}")
    asked = figure(parts["figure"])
    of_change = bool(parts["sign"])
    read = _change(parts["bound"], asked) if of_change else bound_of(asked.dimension, parts["bound"])
    if read is None:
        wanted = _wanted(asked, of_change=of_change)
        raise UsageError(f"`{written}`: `{parts['bound']}` is no bound of {asked.name}", remedy=f"write {wanted}")
    sign = -1 if parts["sign"] == "-" else 1
    return Condition(" ".join(written.split()), asked, parts["side"] == ">", of_change, sign * read)


def _change(written: str, asked: Figure) -> float | None:
    found = (_POINTS if asked.is_share else _PERCENT).fullmatch(written)
    return float(found["number"]) / 100 if found else None


def _wanted(asked: Figure, *, of_change: bool) -> str:
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
    base, head = (bool(side.by_block.get(asked.figure.key(each.stream or ""))) for side in each.pair.sides)
    if base and not head:
        reason = getattr(each.contrast, "reason", "")
        return Gated(asked, each, Decision.FAILED, reason)
    if asked.of_change:
        if not isinstance(each.contrast, Contrast):
            return Gated(asked, each, Decision.UNDECIDED, each.contrast.reason)
        bound = 1 + asked.bound if each.contrast.is_ratio else asked.bound
        return Gated(asked, each, _decided(each.contrast.low, each.contrast.high, bound, above=asked.above))
    estimate = each.estimates[1]
    if estimate is None or estimate.low is None or estimate.high is None:
        return Gated(asked, each, Decision.UNDECIDED, "a single trial has no interval, no trial no value")
    return Gated(asked, each, _decided(estimate.low, estimate.high, asked.bound, above=asked.above))


def _decided(low: float, high: float, bound: float, *, above: bool) -> Decision:
    beyond, ruled_out = (low > bound, high <= bound) if above else (high < bound, low >= bound)
    if beyond:
        return Decision.FAILED
    return Decision.PASSED if ruled_out else Decision.UNDECIDED
