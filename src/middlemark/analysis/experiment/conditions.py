"""The actual conditions of an experiment's trials: faults when they happened, links, and CPU load.

Each value is a median over trials with its extremes; nothing here is about messages' latency, and nothing is compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from middlemark.results.record import Effective, TrialRecord


@dataclass(frozen=True)
class Spread:
    """A value over trials."""

    median: float
    least: float
    most: float
    n_trials: int


@dataclass(frozen=True)
class FaultInstant:
    """One fault of the timeline over all trials, from the window's start."""

    action: str
    target: str
    asked_ns: int
    late_ns: Spread
    """How long after its instant it began."""
    took_ns: Spread
    """Until it was done; a restart is done when the new process publishes and subscribes."""


@dataclass(frozen=True)
class LoadedHost:
    """How busy a host's CPUs were kept beside the applications."""

    host: str
    asked_percent: float
    reached_percent: Spread


@dataclass(frozen=True)
class ProbedLink:
    """What the probe saw of one link, or of one route."""

    host: str
    network: str | None
    to: str | None
    """Of a route, the host at its other end."""
    name: str
    when: Literal["before", "after"]
    backends: tuple[str, ...]
    figures: tuple[tuple[str, Spread | None], ...]
    """By name, which ends in its unit; None where no trial had it."""
    problems: tuple[str, ...]


def spread(values: Iterable[float]) -> Spread | None:
    """The median and the extremes; None without any value."""
    numbers = list(values)
    if not numbers:
        return None
    return Spread(float(np.median(numbers)), float(min(numbers)), float(max(numbers)), len(numbers))


def delivery_told(effective: Mapping[str, Effective]) -> str | None:
    """Who called the applications of a trial with messages; None in runs from before it was recorded."""
    told = {configuration.delivery.value for configuration in effective.values() if configuration.delivery is not None}
    return " / ".join(sorted(told)) or None


def fault_instants(records: Sequence[TrialRecord]) -> tuple[FaultInstant, ...]:
    """The timeline as it happened, in its order."""
    delays: dict[tuple[int, int, str, str], list[tuple[int, int]]] = {}
    for record in records:
        if record.window is None:
            continue
        for place, fault in enumerate(record.faults):
            late_ns = fault.began_ns - record.window.begin_ns - fault.asked_ns
            key = (place, fault.asked_ns, fault.action.value, fault.target)
            delays.setdefault(key, []).append((late_ns, fault.done_ns - fault.began_ns))
    instants = []
    for (_, asked_ns, action, target), delays_ns in sorted(delays.items()):
        late, took = spread(late for late, _ in delays_ns), spread(took for _, took in delays_ns)
        if late is not None and took is not None:
            instants.append(FaultInstant(action, target, asked_ns, late, took))
    return tuple(instants)


def loaded_hosts(records: Sequence[TrialRecord]) -> tuple[LoadedHost, ...]:
    """Every host that was loaded, by name."""
    percents: dict[tuple[str, float], list[float]] = {}
    for record in records:
        for host, load in record.cpu_load.items():
            percents.setdefault((host, load.asked_percent), []).append(load.reached_percent)
    return tuple(
        LoadedHost(host, requested, reached)
        for (host, requested), values in sorted(percents.items())
        if (reached := spread(values)) is not None
    )


def probed_links(records: Sequence[TrialRecord]) -> tuple[ProbedLink, ...]:
    """Every link that was probed, and every route, before and after."""
    groups: dict[tuple[str, Literal["before", "after"]], list[int]] = {}
    links = [link for record in records for link in record.links]
    for place, link in enumerate(links):
        groups.setdefault((link.name, link.when), []).append(place)
    probed = []
    for (name, when), places in groups.items():
        measurements = [links[place] for place in places]
        figures = tuple(
            (text, spread(value for link in measurements if (value := link.figures.get(text)) is not None))
            for text in dict.fromkeys(figure for link in measurements for figure in link.figures)
        )
        problems = tuple(dict.fromkeys(link.problem for link in measurements if link.problem))
        ends = (measurements[0].host, measurements[0].network, measurements[0].to, name)
        probed.append(
            ProbedLink(*ends, when, tuple(dict.fromkeys(link.backend for link in measurements)), figures, problems)
        )
    return tuple(sorted(probed, key=lambda link: (link.host, link.network or "", link.to or "", link.when == "after")))
