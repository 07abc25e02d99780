"""Which path the messages of an experiment's trials took, by what interfaces counted and what lay in shared memory.

It judges nothing: `proof` says whether that contradicts what the workers state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from middlemark.analysis.experiment.conditions import Spread, spread
from middlemark.analysis.metrics.traffic import OVERLOAD_BELOW
from middlemark.results.counts import MessagePath
from middlemark.results.record import TrialRecord

OUTSIDE = 0.5
"""Interfaces that transmit less than this share of the payload's bytes did not transmit the payload."""


@dataclass(frozen=True)
class Transmitted:
    """What the interfaces transmitted for each message sent, over all hosts with applications."""

    interfaces: tuple[tuple[str, Spread], ...]
    """By name: bytes that left through it."""
    payload_bytes: float
    """The mean payload of a message."""
    segments: tuple[int, int]
    """Least and most shared-memory segments that a trial's applications had mapped."""
    in_memory: tuple[int, int] | None
    """Least and most messages of a trial that lay in them; None where no worker tells."""

    @property
    def outside_share(self) -> float:
        """Bytes on interfaces, for each byte of payload sent."""
        return sum(spread.median for _, spread in self.interfaces) / max(self.payload_bytes, 1)

    @property
    def is_by_network(self) -> bool:
        """Whether interfaces transmitted enough to have transmitted the payload."""
        return self.outside_share >= OUTSIDE

    @property
    def is_by_memory(self) -> bool:
        """Whether messages lay in shared memory; where no worker tells: some is mapped and the network had less."""
        if self.in_memory is None:
            return bool(self.segments[0]) and not self.is_by_network
        return bool(self.in_memory[1])


def transmitted(records: Sequence[TrialRecord]) -> Transmitted | None:
    """What left through interfaces for each message; of trials whose window had all of their messages."""
    whole = [record for record in records if is_provable(record) and not _is_sent_after_window(record)]
    if not whole:
        return None
    by_interface: dict[str, list[float]] = {}
    for record in whole:
        sent = sum(_sent(record).values())
        for name, left_bytes in left_through(record).items():
            by_interface.setdefault(name, []).append(left_bytes / sent)
    segments = [len(_segments(record)) for record in whole]
    in_memory = [messages for record in whole if (messages := _in_memory(record)) is not None]
    return Transmitted(
        interfaces=tuple(
            (name, traffic) for name, values in sorted(by_interface.items()) if (traffic := spread(values))
        ),
        payload_bytes=sent_bytes(whole[0]) / sum(_sent(whole[0]).values()),
        segments=(min(segments), max(segments)),
        in_memory=(min(in_memory), max(in_memory)) if in_memory else None,
    )


def left_through(record: TrialRecord) -> dict[str, int]:
    """Bytes sent by interface name, summed over hosts; the applications of a host all see the same counters."""
    hosts = {application.name: application.host for application in record.trial.experiment.applications}
    most: dict[tuple[str, str], int] = {}
    for application, path in record.path.items():
        for interface in path.interfaces or ():
            key = (hosts.get(application, application), interface.interface)
            most[key] = max(most.get(key, 0), interface.sent_bytes)
    summed: dict[str, int] = {}
    for (_, name), left_bytes in most.items():
        summed[name] = summed.get(name, 0) + left_bytes
    return summed


def _sent(record: TrialRecord) -> dict[str, int]:
    """Messages sent by stream."""
    sent: dict[str, int] = {}
    for publisher in record.counts.publishers:
        sent[publisher.stream] = sent.get(publisher.stream, 0) + publisher.sent
    return {name: count for name, count in sent.items() if count}


def sent_bytes(record: TrialRecord) -> float:
    """The payload of all messages sent."""
    sizes = {stream.name: stream.mean_bytes for stream in record.trial.experiment.streams}
    return sum(sizes[name] * count for name, count in _sent(record).items())


def stated_paths(record: TrialRecord) -> frozenset[MessagePath]:
    """The paths that its workers state, all together."""
    return frozenset(path for effective in record.effective.values() for path in effective.paths)


def is_provable(record: TrialRecord) -> bool:
    """Whether interfaces could be read, over every application's whole window."""
    is_read = all(path.interfaces is not None for path in record.path.values())
    return bool(record.path and _sent(record)) and is_read and not record.interrupted


def _is_sent_after_window(record: TrialRecord) -> bool:
    """Whether an overloaded publisher sent much of it when the interfaces' bytes had been read."""
    window = record.window
    if window is None:
        return False
    last_ns = max(publisher.last_returned_ns for publisher in record.counts.publishers)
    return window.end_ns - window.begin_ns < OVERLOAD_BELOW * (last_ns - window.begin_ns)


def _segments(record: TrialRecord) -> set[str]:
    """The shared-memory segments that its applications had mapped."""
    return {name for path in record.path.values() for name in path.mapped}


def _in_memory(record: TrialRecord) -> int | None:
    """The messages that lay in its segments, by the application that found most in each."""
    told = [segment for path in record.path.values() for segment in path.segments or ()]
    if all(path.segments is None for path in record.path.values()):
        return None
    most: dict[str, int] = {}
    for segment in told:
        most[segment.identity] = max(most.get(segment.identity, 0), segment.messages or 0)
    return sum(most.values())
