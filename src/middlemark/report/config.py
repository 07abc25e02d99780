"""The configuration that each middleware really ran with, side by side, and the proof of the path its messages took.

What an application stated and what the kernel counted are put beside each other; nothing is judged here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from middlemark.analysis.comparison import Comparison
from middlemark.analysis.experiment import ExperimentFindings
from middlemark.report.contender import Contender
from middlemark.report.display import NARROW_SPACE, size
from middlemark.results.record import Effective


@dataclass(frozen=True)
class Configuration:
    """One contender's configuration in words."""

    who: Contender
    transport: str
    receive_mode: str
    copies: str
    settings: tuple[tuple[str, str], ...]
    """Each setting with its value; where applications differ, all values with the applications that have them."""
    traffic: tuple[str, ...]
    """What the kernel counted on each interface over the window."""
    payload: str
    """What the subscribers received of it, for comparison."""
    shared_memory: tuple[str, ...]


def configurations(comparison: Comparison, who: Mapping[str, Contender]) -> tuple[Configuration, ...]:
    """The configurations of all experiments that ran, in the order of the ranking."""
    return tuple(
        _configuration(each, comparison, who[each.experiment.id]) for each in comparison.experiments if each.effective
    )


def _configuration(each: ExperimentFindings, comparison: Comparison, who: Contender) -> Configuration:
    applications = each.effective
    names = sorted({name for effective in applications.values() for name in effective.settings})
    return Configuration(
        who=who,
        transport=_joined(effective.transport for effective in applications.values()),
        receive_mode=_joined(effective.receive_mode for effective in applications.values()),
        copies=_joined(_copies(effective) for effective in applications.values()),
        settings=tuple((name, _setting(name, applications)) for name in names),
        traffic=_traffic(each),
        payload=_payload(each, comparison),
        shared_memory=tuple(sorted({segment for path in each.path.values() for segment in path.shared_memory})),
    )


def _joined(words: Iterable[str]) -> str:
    return " / ".join(dict.fromkeys(words))


def _copies(effective: Effective) -> str:
    return "written in place" if effective.zero_copy else "copied by the publish call"


def _setting(name: str, applications: Mapping[str, Effective]) -> str:
    values: dict[str, list[str]] = {}
    for application, effective in applications.items():
        if name in effective.settings:
            values.setdefault(effective.settings[name], []).append(application)
    if len(values) == 1:
        return next(iter(values))
    return "; ".join(f"{value} ({', '.join(who)})" for value, who in values.items())


def _traffic(each: ExperimentFindings) -> tuple[str, ...]:
    """All applications of a host see the same counters; the largest reading covers the whole window."""
    most: dict[str, tuple[int, int]] = {}
    for path in each.path.values():
        for interface in path.interfaces:
            seen = most.get(interface.interface, (0, 0))
            most[interface.interface] = max(seen, (interface.received_bytes, interface.received_packets))
    return tuple(
        f"{name}: {size(received_bytes)} in {packets:,} packets".replace(",", NARROW_SPACE)
        for name, (received_bytes, packets) in sorted(most.items())
    )


def _payload(each: ExperimentFindings, comparison: Comparison) -> str:
    if comparison.setting.of_chain:
        return ""
    stream = next(s for s in each.experiment.streams if s.name == comparison.setting.stream)
    per_trial = each.totals.get((stream.name, False))
    if per_trial is None or not each.n_valid:
        return ""
    return f"payload received: {size(stream.mean_bytes * per_trial.received / each.n_valid)} a trial"
