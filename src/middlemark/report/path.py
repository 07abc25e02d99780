"""The path that messages really took, by the kernel's own counters, and how hosts were packed and loaded meanwhile.

What a middleware said of its transport stands beside what interfaces carried and which shared memory was mapped.
"""

from __future__ import annotations

from collections.abc import Mapping

from middlemark.analysis.circumstances import Carried, carried, loaded_hosts
from middlemark.analysis.comparison import Comparison
from middlemark.analysis.experiment import ExperimentFindings
from middlemark.report.contender import Contender
from middlemark.report.display import ABSENT, digits, plural, size
from middlemark.report.tables import Table

OUTSIDE = 0.5
"""Interfaces that carry less than this share of the payload's bytes did not carry the payload."""
CAPTION = (
    "Bytes that left through all hosts' interfaces over the window, for each message sent; median of trials. By the "
    "network: at least half the payload's bytes were on interfaces; by shared memory: fewer were, and segments were "
    "mapped at the window's end. Several subscribers, a broker and small payloads' headers multiply the bytes."
)


def path_table(comparison: Comparison, who: Mapping[str, Contender]) -> Table | None:
    """One row for each that has valid trials; None without any."""
    shown = [each for each in comparison.experiments if each.records]
    if not shown:
        return None
    loaded = any(load_words(each) for each in shown)
    rows = []
    for each in shown:
        found = carried(each.records)
        row = [
            who[each.experiment.id].label,
            " / ".join(dict.fromkeys(effective.transport for effective in each.effective.values())) or ABSENT,
            str(each.experiment.conditions.deployment).replace("_", " "),
            *(_cells(found) if found else (ABSENT,) * 4),
        ]
        rows.append(tuple([*row, load_words(each)] if loaded else row))
    headings = ("", "transport", "deployment", "payload", "on interfaces, a message", "shared memory", "messages went")
    return Table("Path", (*headings, "CPU load") if loaded else headings, tuple(rows), CAPTION)


def _cells(found: Carried) -> tuple[str, ...]:
    interfaces = [f"{name} {size(spread.median)}" for name, spread in found.interfaces if spread.median >= 1]
    least, most = found.segments
    segments = plural(least, "segment") if least == most else f"{least} to {plural(most, 'segment')}"
    return size(found.payload_bytes), ", ".join(interfaces) or "nothing", segments if most else "none", way(found)


def way(found: Carried) -> str:
    """Which way the messages went, as far as the counters tell."""
    if found.outside_share >= OUTSIDE:
        return "by the network"
    return "by shared memory" if found.segments[0] else "by neither"


def load_words(each: ExperimentFindings) -> str:
    """CPU load asked and reached, host by host; empty where none was asked for."""
    words = []
    for host in loaded_hosts(each.records):
        reached = host.reached_percent
        low, high = digits(reached.least), digits(reached.most)
        span = "" if low == high else f" ({low}{ABSENT}{high})"
        words.append(f"{host.host}: {host.asked_percent:g} % asked, {digits(reached.median)} %{span} reached")
    return "; ".join(words)
