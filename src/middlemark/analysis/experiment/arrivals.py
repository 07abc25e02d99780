"""Which messages of a trial arrived before its window ended, and how far apart the two ends of their flows are.

It counts samples and judges nothing: `proof` says which paths they prove.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

import polars as pl

from middlemark.results.record import TrialRecord
from middlemark.results.streaming import FLOW, Frame, row_chunks


class Distance(Enum):
    """How far apart the two ends of a flow are."""

    APPLICATION = auto()
    """Both are one application."""
    HOST = auto()
    """In two applications of one host."""
    NETWORK = auto()
    """On two hosts."""


@dataclass(frozen=True)
class Arrivals:
    """The messages of one publisher that arrived at one subscriber."""

    publisher: tuple[int, int]
    """The position of its stream, and its index there."""
    ends: frozenset[str]
    """The applications of both; one where they are in the same."""
    distance: Distance
    payload_bytes: float


def arrivals(record: TrialRecord, received: Frame) -> list[Arrivals]:
    """One entry a flow, of messages and requests without their answers.

    Only what arrived before the interfaces' bytes were read at the window's end: others may have left afterwards.
    """
    end_ns = record.window.end_ns if record.window else 0
    in_time = received.filter((pl.col("received_ns") <= end_ns) & (pl.col("answer") == 0))
    by_chunk = [chunk.group_by(FLOW).len() for chunk in row_chunks(in_time, *FLOW)]
    by_flow = pl.concat(by_chunk).group_by(FLOW).agg(pl.col("len").sum())
    return [_of_flow(record, *flow) for flow in by_flow.select("stream", "publisher", "subscriber", "len").rows()]


def sent_once_bytes(flows: Sequence[Arrivals]) -> float:
    """The payload of these messages, each once: one frame may serve many subscribers."""
    most: dict[tuple[int, int], float] = {}
    for flow in flows:
        most[flow.publisher] = max(most.get(flow.publisher, 0), flow.payload_bytes)
    return sum(most.values())


def _of_flow(record: TrialRecord, number: int, publisher: int, subscriber: int, messages: int) -> Arrivals:
    stream = record.trial.experiment.streams[number]
    ends = frozenset((stream.publishers[publisher], stream.subscribers[subscriber]))
    hosts = {application.host for application in record.trial.experiment.applications if application.name in ends}
    between = Distance.NETWORK if len(hosts) > 1 else Distance.HOST
    return Arrivals(
        publisher=(number, publisher),
        ends=ends,
        distance=between if len(ends) > 1 else Distance.APPLICATION,
        payload_bytes=messages * stream.mean_bytes,
    )
