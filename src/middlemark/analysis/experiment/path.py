"""Which path a trial's messages took, by what the kernel counted, and whether that contradicts what the workers state.

A path is proved by bytes on interfaces and by mapped shared memory, encryption by what captured frames have in clear,
never by a setting; where a trial that contradicts its workers is refused is `campaign`'s business.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from middlemark.analysis.experiment.conditions import Spread, spread
from middlemark.analysis.metrics.traffic import OVERLOAD_BELOW
from middlemark.results.counts import MessagePath
from middlemark.results.record import CaptureRecord, TrialRecord
from middlemark.results.streaming import FLOW, Frame, row_chunks
from middlemark.suite import Security
from middlemark.suite.yaml.quantity import plural

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
    """What left through interfaces for each message; of trials whose window had all of their messages."""
    whole = [record for record in records if _is_provable(record) and not _is_sent_after_window(record)]
    if not whole:
        return None
    by_interface: dict[str, list[float]] = {}
    for record in whole:
        sent = sum(_sent(record).values())
        for name, sent_bytes in left_through(record).items():
            by_interface.setdefault(name, []).append(sent_bytes / sent)
    segments = [len(_segments(record)) for record in whole]
    return Transmitted(
        interfaces=tuple(
            (name, traffic) for name, values in sorted(by_interface.items()) if (traffic := spread(values))
        ),
        payload_bytes=_sent_bytes(whole[0]) / sum(_sent(whole[0]).values()),
        segments=(min(segments), max(segments)),
    )


def contradiction(record: TrialRecord, received: Frame) -> str:
    """How what was seen contradicts the level of security or the paths that workers state; empty where nothing does."""
    if unlike := _unlike_security(record) or _unlike_wire(record):
        return unlike
    stated = {path for effective in record.effective.values() for path in effective.paths}
    if not stated or not _is_provable(record):
        return ""
    words = " or ".join(path.words for path in sorted(stated))
    through = left_through(record)
    left_bytes = sum(through.values())
    if MessagePath.NETWORK not in stated and left_bytes >= max(LEAST_BYTES, OUTSIDE * _sent_bytes(record)):
        names = ", ".join(sorted(through))
        return f"messages take {words}, but {left_bytes} bytes left through {names}, enough for the payload"
    if stated == {MessagePath.NETWORK} and left_bytes < OUTSIDE * _arrived_bytes(record, received):
        return f"messages take the network, but only {left_bytes} bytes left through interfaces"
    if stated == {MessagePath.SHARED_MEMORY} and not _segments(record):
        return "messages take shared memory, but no application had any mapped"
    return ""


def _unlike_security(record: TrialRecord) -> str:
    """Which applications keep another level of security than the trial requests; empty where none does."""
    requested = record.trial.experiment.conditions.security
    levels = {name: effective.security for name, effective in record.effective.items()}
    unlike = ", ".join(f"{name} keeps {level}" for name, level in levels.items() if level != requested)
    return f"the trial requests security {requested}, but {unlike}" if unlike else ""


def _unlike_wire(record: TrialRecord) -> str:
    """How captured frames contradict the level of security; empty where they don't, or can't."""
    requested, capture = record.trial.experiment.conditions.security, record.capture
    if capture is None or capture.readable_headers is None:
        return ""
    if requested is Security.ENCRYPTED and capture.readable_headers:
        headers = plural(capture.readable_headers, "header")
        return (
            f"the trial requests security {requested}, but {headers} of its messages can be read in the captured frames"
        )
    if requested is not Security.ENCRYPTED and not capture.readable_headers and _is_wholly_captured(record, capture):
        readable = f"the trial requests security {requested}, under which messages can be read on their way"
        return f"{readable}, but no header of one is in the captured frames"
    return ""


def _is_wholly_captured(record: TrialRecord, capture: CaptureRecord) -> bool:
    """Whether messages passed links by the network alone, of whose frames every byte was kept."""
    if any(link.cut or link.beyond or link.lost for link in capture.links):
        return False
    experiment, hosts = record.trial.experiment, {link.host for link in capture.links}
    host_of = {application.name: application.host for application in experiment.applications}
    streams = {stream.name: stream for stream in experiment.streams}
    passed = [
        {host_of[stream.publishers[counts.publisher]], host_of[stream.subscribers[counts.subscriber]]}
        for counts in record.counts.subscribers
        if counts.received
        for stream in (streams[counts.stream],)
    ]
    by_network = {path for effective in record.effective.values() for path in effective.paths} == {MessagePath.NETWORK}
    return by_network and any(len(ends) == 2 and ends <= hosts for ends in passed)


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


def _sent_bytes(record: TrialRecord) -> float:
    """The payload of all messages sent."""
    sizes = {stream.name: stream.mean_bytes for stream in record.trial.experiment.streams}
    return sum(sizes[name] * count for name, count in _sent(record).items())


def _is_provable(record: TrialRecord) -> bool:
    """Whether its counters are of every application's whole window."""
    return bool(record.path and _sent(record)) and not record.interrupted


def _is_sent_after_window(record: TrialRecord) -> bool:
    """Whether an overloaded publisher sent much of it when the interfaces' bytes had been read."""
    window = record.window
    if window is None:
        return False
    last_ns = max(publisher.last_returned_ns for publisher in record.counts.publishers)
    return window.end_ns - window.begin_ns < OVERLOAD_BELOW * (last_ns - window.begin_ns)


def _segments(record: TrialRecord) -> set[str]:
    """The shared-memory segments that its applications had mapped."""
    return {name for path in record.path.values() for name in path.shared_memory}


def _arrived_bytes(record: TrialRecord, received: Frame) -> float:
    """The payload of all messages that arrived anywhere, each once: one frame may serve many subscribers.

    Only those that arrived before the interfaces' bytes were read at the window's end: others may have left afterwards.
    """
    end_ns = record.window.end_ns if record.window else 0
    in_time = received.filter(pl.col("received_ns") <= end_ns)
    by_chunk = [chunk.group_by(FLOW).len() for chunk in row_chunks(in_time, *FLOW)]
    by_flow = pl.concat(by_chunk).group_by(FLOW).agg(pl.col("len").sum())
    most = by_flow.group_by("stream", "publisher").agg(pl.col("len").max())
    streams = record.trial.experiment.streams
    return float(sum(streams[stream].mean_bytes * count for stream, _, count in most.iter_rows()))
