"""How figures are written on screen: their units, their digits, and the words in the place of a missing one.

Files keep nanoseconds and bytes; people read µs, ms, MB/s and MiB. It rounds for the eye only and computes nothing.

What a figure stands on, in the words of its caption: so many trials of so many messages each.

It counts nothing: estimates know how many trials and messages they are of.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.stats.estimate import Estimate, Method
from middlemark.suite.metrics import OF_CHAINS, Distribution

NARROW_SPACE = "\u202f"
ABSENT = "–"


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


def _percent(share: float) -> str:
    percent = 100 * share
    if percent == 0:
        return "0"
    return f"{percent:.2g}" if abs(percent) < 10 else f"{percent:.0f}"


@dataclass(frozen=True)
class Unit:
    """A unit to show, and how a stored value is written in it."""

    name: str
    write: Callable[[float], str]


MICROSECONDS = Unit("µs", lambda ns: digits(ns / 1e3))
MILLISECONDS = Unit("ms", lambda ns: digits(ns / 1e6))
PERCENT = Unit("%", _percent)
PERCENT_OF_CORE = Unit("% of one core", digits)
MEBIBYTES = Unit("MiB", lambda size_bytes: digits(size_bytes / 2**20))
MEGABYTES_PER_S = Unit("MB/s payload", lambda per_s: digits(per_s / 1e6))
MEGABITS_PER_S = Unit("Mbit/s payload", lambda per_s: digits(per_s * 8 / 1e6))
PER_SECOND = Unit("/s", digits)
MEGABITS_ON_WIRE_PER_S = Unit("Mbit/s", lambda bits_per_s: digits(bits_per_s / 1e6))
COUNT = Unit("", digits)


def tail_unit_of(kind: Distribution | None) -> Unit:
    """What its quantiles are shown in, which for goodput are those of the latency."""
    return unit_of(kind or Distribution.LATENCY_FROM_SEND)


def unit_of(kind: Distribution | None) -> Unit:
    """What a comparison by this distribution is shown in; by goodput where it is by none."""
    if kind is None:
        return MEGABYTES_PER_S
    return MILLISECONDS if kind in OF_CHAINS else MICROSECONDS


@dataclass(frozen=True)
class Shown:
    """A figure ready to be shown."""

    text: str
    """The value without its unit, or why there is none."""
    interval: str = ""
    """Its interval; empty where there is none."""
    note: str = ""
    """What must be said beside it: pooled, one trial, another quantile than asked."""
    missing: bool = False
    clocks: str = ""
    """By how much the clocks of different machines may put it off: `± 90`; empty where one clock told it."""


def show(estimate: Estimate | None, unit: Unit) -> Shown:
    """An estimate as it is written in a table."""
    if estimate is None:
        return Shown(ABSENT, missing=True)
    if estimate.value is None:
        return Shown(estimate.reason, missing=True)
    note = "pooled" if estimate.method is Method.POOLED else ""
    clocks = f"± {unit.write(estimate.bound_ns)}" if estimate.bound_ns else ""
    return Shown(unit.write(estimate.value), interval(estimate, unit), note, clocks=clocks)


def cell(shown: Shown) -> str:
    """A figure with all that belongs to it in one line."""
    if shown.missing:
        return shown.text
    span = f" ({shown.interval})" if shown.interval else ""
    clocks = f" {shown.clocks}" if shown.clocks else ""
    return f"{shown.text}{clocks}{span}{f' {shown.note}' if shown.note else ''}"


def narrow(text: str) -> str:
    """A cell's text on several lines, for a table that must fit a terminal."""
    return text.replace("one-way: within the clocks' ", "within\nclocks' ").replace(" (", "\n(")


def part_cell(estimate: Estimate | None, unit: Unit, whole: float | None) -> str:
    """A part of a whole, with its share of that where it is known."""
    if estimate is None or estimate.value is None or whole is None:
        return cell(show(estimate, unit))
    return f"{cell(show(estimate, unit))}, {100 * estimate.value / whole:.0f} %"


def interval(estimate: Estimate, unit: Unit) -> str:
    """The interval's ends, `≈` before a rough one; empty for a single trial, and where both are written alike."""
    if estimate.low is None or estimate.high is None:
        return ""
    low, high = unit.write(estimate.low), unit.write(estimate.high)
    rough = f"≈{NARROW_SPACE}" if estimate.is_rough else ""
    return "" if low == high else f"{rough}{low}{ABSENT}{high}"


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


def size(size_bytes: float) -> str:
    """A size in the unit that suits it: `40 B`, `3.27 kB`, `83.8 MB`."""
    for unit_bytes, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size_bytes >= unit_bytes:
            return f"{digits(size_bytes / unit_bytes)} {unit}"
    return f"{size_bytes:.0f} B"


def plural(count: int, noun: str) -> str:
    """`1 trial`, `3 trials`, `3 searches`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}{'es' if noun.endswith('ch') else 's'}"


def of_each(trials: Mapping[str, int]) -> str:
    """Of trials by contender: `4 trials (Zenoh 3, MQTT 1)`."""
    own = ", ".join(f"{label} {count}" for label, count in trials.items())
    return f"{plural(sum(trials.values()), 'trial')} ({own})"


def listed(names: list[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


_FACT_UNITS = {
    "bytes": MEBIBYTES,
    "ns": Unit("ns", digits),
    "hz": Unit("Hz", digits),
    "percent": Unit("%", digits),
    "share": PERCENT,
}


def fact(name: str, value: object) -> tuple[str, str]:
    """A recorded fact of the machine in words: its unit is taken from the end of its name."""
    stem, _, suffix = name.rpartition("_")
    unit = _FACT_UNITS.get(suffix)
    if unit is not None and stem and isinstance(value, int | float) and not isinstance(value, bool):
        return stem.replace("_", " "), f"{unit.write(float(value))} {unit.name}"
    words = {None: "not to be read here", True: "yes", False: "no"}
    shown = words[value] if value is None or isinstance(value, bool) else str(value)
    return name.replace("_", " "), shown


def thousands(count: int) -> str:
    """A count, its thousands set apart."""
    return f"{count:,}".replace(",", NARROW_SPACE)


def counted(drawn: Sequence[ExperimentFindings], comparison: Comparison, kind: Distribution) -> str:
    """What distributions of the setting's stream or chain stand on; too few for a quantile may yet be drawn."""
    subject, metric = comparison.setting.subject, comparison.criterion.metric
    noun = "way" if comparison.setting.of_chain else "message"
    told = n_words((each.estimate(subject, metric) for each in drawn), noun)
    samples = [each.shapes.curves[comparison.setting.stream, kind].n for each in drawn]
    return told or f"n = {span(samples, noun)} of all trials together."


def n_words(estimates: Iterable[Estimate | None], noun: str = "message") -> str:
    """`n = 3 trials of 300 messages each.`; empty where nothing was estimated."""
    known = [each for each in estimates if each is not None and each.n_trials]
    if not known:
        return ""
    messages = [each.n_messages // each.n_trials for each in known]
    return f"n = {span([each.n_trials for each in known], 'trial')} of {span(messages, noun)} each."


def n_trials(estimates: Iterable[Estimate | None]) -> str:
    """`n = 2 to 3 trials.`, of figures that a trial has one of."""
    known = [each.n_trials for each in estimates if each is not None and each.n_trials]
    return f"n = {span(known, 'trial')}." if known else ""


def span(counts: Sequence[int], noun: str) -> str:
    """`3 trials`, or `2 to 3 trials`."""
    low, high = min(counts), max(counts)
    return plural(high, noun) if low == high else f"{low} to {plural(high, noun)}"
