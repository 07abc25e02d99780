"""Which path a trial's messages took, by what the kernel counted, and whether that contradicts what the workers state.

A path is proved by bytes on interfaces and by mapped shared memory, never by a setting; where a trial whose counters
contradict its workers is refused is `campaign`'s business.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from middlemark.analysis.experiment.conditions import Spread, spread
from middlemark.results.counts import MessagePath
from middlemark.results.record import TrialRecord

OUTSIDE = 0.5
"""Interfaces that transmit less than this share of the payload's bytes did not transmit the payload."""
LEAST_BYTES = 1_000_000
"""Less than this on interfaces may be discovery, or other programs on the machine's loopback."""


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

    @property
    def is_by_network(self) -> bool:
        """Whether interfaces transmitted enough to have transmitted the payload."""
        return self.outside_share >= OUTSIDE


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


def contradiction(record: TrialRecord) -> str:
    """How the kernel's counters contradict the paths that the workers state; empty where they don't, or can't."""
    stated = {path for effective in record.effective.values() for path in effective.paths}
    found = transmitted([record])
    if not stated or found is None:
        return ""
    words = " or ".join(path.words for path in sorted(stated))
    transmitted_bytes = sum(left_through(record).values())
    if MessagePath.NETWORK not in stated and found.is_by_network and transmitted_bytes >= LEAST_BYTES:
        names = ", ".join(name for name, _ in found.interfaces)
        return f"messages take {words}, but {transmitted_bytes} bytes left through {names}, enough for the payload"
    if stated == {MessagePath.NETWORK} and transmitted_bytes < OUTSIDE * _arrived_bytes(record):
        return f"messages take the network, but only {transmitted_bytes} bytes left through interfaces"
    if stated == {MessagePath.SHARED_MEMORY} and not found.segments[1]:
        return "messages take shared memory, but no application had any mapped"
    return ""


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


def _arrived_bytes(record: TrialRecord) -> float:
    """The payload of all messages that arrived anywhere, each once: one frame may serve many subscribers."""
    sizes = {stream.name: stream.mean_bytes for stream in record.trial.experiment.streams}
    most: dict[tuple[str, int], int] = {}
    for counts in record.counts.subscribers:
        key = (counts.stream, counts.publisher)
        most[key] = max(most.get(key, 0), counts.received)
    return sum(sizes[stream] * count for (stream, _), count in most.items())
