"""How numbers are written for people: their units, their digits, and the words around them.

Files keep nanoseconds and bytes; people read µs, ms, MB/s and MiB. It rounds for the eye only and computes nothing;
what a table's cell holds besides a number is `tables`', and how many trials a figure is of is `labels`'.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from middlemark.suite.metrics import OF_CHAINS, Distribution
from middlemark.suite.yaml.quantity import DURATION, plural

if TYPE_CHECKING:
    from middlemark.analysis.stats.estimate import Estimate

NARROW_SPACE = "\u202f"
ABSENT = "–"
LEVEL_WORDS = {"p50": "median", "p90": "90 %", "p99": "99 %", "p999": "99.9 %", "p9999": "99.99 %"}


def digits(value: float) -> str:
    """About three significant digits, thousands set apart."""
    magnitude = abs(value)
    if magnitude == math.inf:
        return "∞"
    if magnitude == 0:
        return "0"
    if magnitude >= 100:
        return f"{value:,.0f}".replace(",", NARROW_SPACE)
    if magnitude >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if magnitude >= 1 else f"{value:.3g}"


LEAST_PERCENT = 1e-6
"""A smaller value is shown as 0: it is an end of an interval that rounding left near 0."""


def _percent(percent: float) -> str:
    if abs(percent) < LEAST_PERCENT:
        return "0"
    return f"{percent:.2g}" if abs(percent) < 10 else f"{percent:.0f}"


@dataclass(frozen=True)
class Unit:
    """A unit to show, how much of what is stored it is, and how a number of it is written."""

    name: str
    size: float = 1.0
    written: Callable[[float], str] = digits

    def of(self, stored: float) -> float:
        """A stored value in this unit."""
        return stored / self.size

    def write(self, stored: float) -> str:
        """The same in digits."""
        return self.written(self.of(stored))


MICROSECONDS = Unit("µs", 1e3)
MILLISECONDS = Unit("ms", 1e6)
PERCENT = Unit("%", 0.01, _percent)
PERCENT_OF_CORE = Unit("% of one core")
MEBIBYTES = Unit("MiB", 2.0**20)
MEGABYTES_PER_S = Unit("MB/s payload", 1e6)
MEGABITS_PER_S = Unit("Mbit/s payload", 1e6 / 8)
PER_SECOND = Unit("/s")
MEGABITS_ON_WIRE_PER_S = Unit("Mbit/s", 1e6)
COUNT = Unit("")
WHOLE = Unit("", written=lambda count: f"{count:,.0f}".replace(",", NARROW_SPACE))


def tail_unit_of(kind: Distribution | None) -> Unit:
    """What its quantiles are shown in, which for goodput are those of the latency."""
    return unit_of(kind or Distribution.LATENCY_FROM_SEND)


def unit_of(kind: Distribution | None) -> Unit:
    """What a comparison by this distribution is shown in; by goodput where it is by none."""
    if kind is None:
        return MEGABYTES_PER_S
    return MILLISECONDS if kind in OF_CHAINS else MICROSECONDS


def interval(estimate: Estimate, unit: Unit) -> str:
    """The ends of an estimate's interval; empty for a single trial."""
    return ends(estimate.low, estimate.high, unit, is_rough=estimate.is_rough)


def ends(low: float | None, high: float | None, unit: Unit, *, is_rough: bool = False) -> str:
    """An interval's ends, `≈` before a rough one; empty where there are none, and where both are written alike."""
    if low is None or high is None:
        return ""
    first, last = unit.write(low), unit.write(high)
    rough = f"≈{NARROW_SPACE}" if is_rough else ""
    return "" if first == last else f"{rough}{first}{ABSENT}{last}"


class Span(Protocol):
    """A value with its interval."""

    @property
    def value(self) -> float:
        """What was found."""

    @property
    def low(self) -> float:
        """The interval's lower end."""

    @property
    def high(self) -> float:
        """Its upper end."""


def times(ratio: Span, as_what: str = "") -> str:
    """A ratio with its interval: `1.8 × (1.5 to 2.2)`, `1.8 × as long (1.5 to 2.2)`."""
    words = f" {as_what}" if as_what else ""
    return f"{factor(ratio.value)}{NARROW_SPACE}×{words} ({factor(ratio.low)} to {factor(ratio.high)})"


def factor(value: float) -> str:
    """Two significant digits, or all before the point."""
    if value == math.inf:
        return "∞"
    if value > 1000:
        return "over 1000"
    if value >= 20:
        return f"{value:.0f}"
    if value >= 2:
        return f"{value:.1f}"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


RATIO = Unit("×", written=factor)


def size(size_bytes: float) -> str:
    """A size in the unit that suits it: `40 B`, `3.27 kB`, `83.8 MB`."""
    for unit_bytes, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size_bytes >= unit_bytes:
            return f"{digits(size_bytes / unit_bytes)} {unit}"
    return f"{size_bytes:.0f} B"


def of_each(trials: Mapping[str, int]) -> str:
    """Of trials by series: `4 trials (Zenoh 3, MQTT 1)`."""
    counts = ", ".join(f"{label} {count}" for label, count in trials.items())
    return f"{plural(sum(trials.values()), 'trial')} ({counts})"


def listed(names: list[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


_FACTS: dict[str, Callable[[float], str]] = {
    "bytes": lambda value: f"{MEBIBYTES.write(value)} MiB",
    "ns": DURATION.about,
    "hz": lambda value: f"{digits(value)} Hz",
    "percent": lambda value: f"{digits(value)} %",
    "share": lambda value: f"{PERCENT.write(value)} %",
}
"""How what ends in a unit is written."""


def fact(name: str, value: object) -> tuple[str, str]:
    """A recorded fact of the machine in words: its unit is taken from the end of its name."""
    stem, _, suffix = name.rpartition("_")
    write = _FACTS.get(suffix)
    if write is not None and stem and isinstance(value, int | float) and not isinstance(value, bool):
        return stem.replace("_", " "), write(float(value))
    if isinstance(value, list):
        return name.replace("_", " "), ", ".join(str(part) for part in value)
    words = {None: "can't be read here", True: "yes", False: "no"}
    shown = words[value] if value is None or isinstance(value, bool) else str(value)
    return name.replace("_", " "), shown


def thousands(count: int) -> str:
    """A count, its thousands set apart."""
    return f"{count:,}".replace(",", NARROW_SPACE)


def count_range(counts: Sequence[int], noun: str) -> str:
    """`3 trials`, or `2 to 3 trials`."""
    low, high = min(counts), max(counts)
    return plural(high, noun) if low == high else f"{low} to {plural(high, noun)}"
