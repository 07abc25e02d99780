"""The actual conditions of an experiment's trials: faults when they happened, links, CPU load, and the network path.

Each value is a median over trials with its extremes; nothing here is about messages' latency, and nothing is compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from middlemark.results.record import TrialRecord


@dataclass(frozen=True)
class Spread:
    """A value over trials."""

    median: float
    least: float
    most: float
    n_trials: int


@dataclass(frozen=True)
class FaultInstant:
    """One fault of the timeline over all trials, from the window's begin."""

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


@dataclass(frozen=True)
class Transmitted:
    """What the interfaces transmitted for each message sent, over all hosts with applications."""

    interfaces: tuple[tuple[str, Spread], ...]
    """By name: bytes that left through it."""
    payload_bytes: float
    """The mean payload of a message."""
    segments: tuple[int, int]
    """Least and most shared-memory segments that a trial's applications had mapped."""

    @property
    def outside_share(self) -> float:
        """Bytes on interfaces, for each byte of payload sent."""
        return sum(spread.median for _, spread in self.interfaces) / max(self.payload_bytes, 1)


def spread(values: Iterable[float]) -> Spread | None:
    """The median and the extremes; None without any value."""
    known = list(values)
    if not known:
        return None
    return Spread(float(np.median(known)), float(min(known)), float(max(known)), len(known))


def fault_instants(records: Sequence[TrialRecord]) -> tuple[FaultInstant, ...]:
    """The timeline as it happened, in its order."""
    found: dict[tuple[int, int, str, str], list[tuple[int, int]]] = {}
    for record in records:
        if record.window is None:
            continue
        for place, fault in enumerate(record.faults):
            late_ns = fault.began_ns - record.window.begin_ns - fault.asked_ns
            key = (place, fault.asked_ns, fault.action.value, fault.target)
            found.setdefault(key, []).append((late_ns, fault.done_ns - fault.began_ns))
    instants = []
    for (_, asked_ns, action, target), each in sorted(found.items()):
        late, took = spread(late for late, _ in each), spread(took for _, took in each)
        if late is not None and took is not None:
            instants.append(FaultInstant(action, target, asked_ns, late, took))
    return tuple(instants)


def loaded_hosts(records: Sequence[TrialRecord]) -> tuple[LoadedHost, ...]:
    """Every host that was loaded, by name."""
    found: dict[tuple[str, float], list[float]] = {}
    for record in records:
        for host, load in record.cpu_load.items():
            found.setdefault((host, load.asked_percent), []).append(load.reached_percent)
    return tuple(
        LoadedHost(host, requested, reached)
        for (host, requested), values in sorted(found.items())
        if (reached := spread(values)) is not None
    )


def probed_links(records: Sequence[TrialRecord]) -> tuple[ProbedLink, ...]:
    """Every link that was probed, and every route, before and after."""
    groups: dict[tuple[str, Literal["before", "after"]], list[int]] = {}
    seen = [link for record in records for link in record.links]
    for place, link in enumerate(seen):
        groups.setdefault((link.name, link.when), []).append(place)
    found = []
    for (name, when), places in groups.items():
        own = [seen[place] for place in places]
        figures = tuple(
            (each, spread(value for link in own if (value := link.figures.get(each)) is not None))
            for each in dict.fromkeys(each for link in own for each in link.figures)
        )
        problems = tuple(dict.fromkeys(link.problem for link in own if link.problem))
        ends = (own[0].host, own[0].network, own[0].to, name)
        found.append(ProbedLink(*ends, when, tuple(dict.fromkeys(link.backend for link in own)), figures, problems))
    return tuple(sorted(found, key=lambda link: (link.host, link.network or "", link.to or "", link.when == "after")))


def transmitted(records: Sequence[TrialRecord]) -> Transmitted | None:
    """What left through interfaces for each message; of trials in which every application lived through the window."""
    whole = [record for record in records if record.path and _sent(record) and not record.interrupted]
    if not whole:
        return None
    by_interface: dict[str, list[float]] = {}
    for record in whole:
        sent = sum(_sent(record).values())
        for name, sent_bytes in left_through(record).items():
            by_interface.setdefault(name, []).append(sent_bytes / sent)
    sizes = {stream.name: stream.mean_bytes for stream in whole[0].trial.experiment.streams}
    sent_of = _sent(whole[0])
    segments = [len({name for path in record.path.values() for name in path.shared_memory}) for record in whole]
    return Transmitted(
        interfaces=tuple((name, each) for name, values in sorted(by_interface.items()) if (each := spread(values))),
        payload_bytes=sum(sizes[name] * count for name, count in sent_of.items()) / sum(sent_of.values()),
        segments=(min(segments), max(segments)),
    )


def left_through(record: TrialRecord) -> dict[str, int]:
    """Bytes sent by interface name, summed over hosts; the applications of a host all see the same counters."""
    hosts = {application.name: application.host for application in record.trial.experiment.applications}
    most: dict[tuple[str, str], int] = {}
    for application, path in record.path.items():
        for interface in path.interfaces:
            key = (hosts.get(application, application), interface.interface)
            most[key] = max(most.get(key, 0), interface.sent_bytes)
    summed: dict[str, int] = {}
    for (_, name), sent_bytes in most.items():
        summed[name] = summed.get(name, 0) + sent_bytes
    return summed


def _sent(record: TrialRecord) -> dict[str, int]:
    """Messages sent by stream."""
    sent: dict[str, int] = {}
    for publisher in record.counts.publishers:
        sent[publisher.stream] = sent.get(publisher.stream, 0) + publisher.sent
    return {name: count for name, count in sent.items() if count}
