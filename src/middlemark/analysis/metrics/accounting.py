"""The exact accounting of a trial: sent = received + late + lost, for every publisher at every subscriber.

What was counted live is held against what was recorded, message by message; where the two disagree no figure of the
trial can be trusted, and that is an error. Lost and late are kept apart here; RFC 7680 makes them one
(`metrics.loss_fraction`).

How many messages in a row a flow lost: the same share of loss hurts more in one piece.

A loss run is RFC 3357's loss period: consecutive sequence numbers that were sent and did not come in time. Where not
every message left a sample, runs can't be told and there are none to give. Shares of loss are `metrics`'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from middlemark.analysis.stats.quantiles import Measured
from middlemark.errors import MiddlemarkError
from middlemark.results.counts import Counts, PublisherCounts, SubscriberCounts
from middlemark.results.record import TrialRecord
from middlemark.results.streaming import Frame, count, line, numbered
from middlemark.suite import Action


class AccountingError(MiddlemarkError):
    """A trial's counts contradict each other or its samples: nothing of it can be trusted."""


@dataclass(frozen=True)
class Flow:
    """What became of one publisher's messages at one subscriber (of the answers to one client, from one subscriber)."""

    stream: str
    answers: bool
    publisher: int
    subscriber: int
    intended: int
    sent: int
    """For answers: the questions sent, each of which asks for one."""
    refused: int
    received: int
    late: int
    lost: int
    duplicates: int
    reordered: int
    corrupt: int
    foreign: int
    negative: int
    beyond_samples: int

    @property
    def name(self) -> str:
        """The flow in words, for messages."""
        what = "answers" if self.answers else "messages"
        return f"{self.stream}: {what} of publisher {self.publisher} at subscriber {self.subscriber}"


def flows(counts: Counts) -> tuple[Flow, ...]:
    """Join what subscribers counted with what their publishers sent."""
    publishers = {(each.stream, each.publisher): each for each in counts.publishers}
    return tuple(
        _flow(publishers[each.stream, each.publisher], each)
        for each in counts.subscribers
        if (each.stream, each.publisher) in publishers
    )


def _flow(publisher: PublisherCounts, subscriber: SubscriberCounts) -> Flow:
    return Flow(
        stream=subscriber.stream,
        answers=subscriber.answers,
        publisher=subscriber.publisher,
        subscriber=subscriber.subscriber,
        intended=publisher.intended,
        sent=publisher.sent,
        refused=publisher.refused,
        received=subscriber.received,
        late=subscriber.late,
        lost=publisher.sent - subscriber.received - subscriber.late,
        duplicates=subscriber.duplicates,
        reordered=subscriber.reordered,
        corrupt=subscriber.corrupt,
        foreign=subscriber.foreign,
        negative=subscriber.negative,
        beyond_samples=subscriber.beyond_samples,
    )


def away_meanwhile(record: TrialRecord) -> set[str]:
    """The applications that did not live through the whole window: those that ended within it, and late joiners."""
    return {*record.interrupted, *(fault.target for fault in record.faults if fault.action is Action.START)}


def settled(record: TrialRecord, received: Frame) -> tuple[Counts, Frame]:
    """Counts and samples of the flows that the accounting holds for: those whose both ends lived through the window."""
    away = away_meanwhile(record)
    if not away:
        return record.counts, received
    streams = record.trial.experiment.streams
    gone = {
        (stream.name, role, index)
        for stream in streams
        for role, applications in (("publisher", stream.publishers), ("subscriber", stream.subscribers))
        for index, application in enumerate(applications)
        if application in away
    }
    publishers = tuple(p for p in record.counts.publishers if (p.stream, "publisher", p.publisher) not in gone)
    subscribers = tuple(
        s
        for s in record.counts.subscribers
        if not {(s.stream, "publisher", s.publisher), (s.stream, "subscriber", s.subscriber)} & gone
    )
    for number, stream in enumerate(streams):
        for name, role, index in gone:
            if name == stream.name:
                received = received.filter((pl.col("stream") != number) | (pl.col(role) != index))
    return Counts(publishers=publishers, subscribers=subscribers), received


def breaches(counts: Counts, received: Frame, streams: tuple[str, ...]) -> list[str]:
    """Everything in which the counts contradict themselves or the samples; empty where all adds up."""
    found = [*_unknown_publishers(counts), *_impossible_counts(counts)]
    messages = line(received)
    rows = dict(messages.rows)
    for flow in flows(counts):
        key = (streams.index(flow.stream), int(flow.answers), flow.publisher, flow.subscriber)
        arrived, recorded = flow.received + flow.late, rows.pop(key, 0) + flow.beyond_samples
        if arrived != recorded:
            found.append(f"{flow.name}: {arrived} counted as received or late, but {recorded} recorded")
    found += [f"{n} samples belong to no counted flow: {key}" for key, n in rows.items()]
    if messages.repeated:
        found.append(f"{messages.repeated} samples are of messages already recorded")
    return found


def _unknown_publishers(counts: Counts) -> list[str]:
    known = {(each.stream, each.publisher) for each in counts.publishers}
    return [
        f"{each.stream}: subscriber {each.subscriber} counts messages of publisher {each.publisher}, which is not there"
        for each in counts.subscribers
        if (each.stream, each.publisher) not in known
    ]


def _impossible_counts(counts: Counts) -> list[str]:
    found = [
        f"{each.stream}: publisher {each.publisher} had {each.intended} to send: {each.sent} sent, "
        f"{each.refused} refused, {each.unsent} not offered"
        for each in counts.publishers
        if each.sent + each.refused + each.unsent != each.intended
    ]
    return found + [
        f"{flow.name}: {flow.sent} sent, but {flow.received} received and {flow.late} late"
        for flow in flows(counts)
        if flow.lost < 0
    ]


def loss_runs(flows: Sequence[Flow], received: Frame, published: Frame) -> NDArray[np.int64] | None:
    """The lengths of all runs of one stream, in messages; `received` holds what came in time, answers apart."""
    messages = [flow for flow in flows if not flow.answers]
    found = []
    for flow in messages:
        sent = published.filter((pl.col("publisher") == flow.publisher) & (pl.col("accepted") == 1))
        if count(sent) != flow.sent or flow.beyond_samples:
            return None
        own = received.filter((pl.col("publisher") == flow.publisher) & (pl.col("subscriber") == flow.subscriber))
        found.append(runs(numbered(sent), numbered(own)))
    return np.concatenate(found) if found else None


def runs(sent: NDArray[np.bool_], received: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The lengths of the runs of sent messages that were not received, in their order; both by sequence number."""
    came = np.zeros(len(sent), dtype=np.bool_)
    came[: len(received)] = received[: len(sent)]
    lost = ~came[sent]
    edges = np.diff(np.concatenate([[False], lost, [False]]).view(np.int8))
    return np.flatnonzero(edges == -1) - np.flatnonzero(edges == 1)


def run_figures(found: NDArray[np.int64], n_messages: int) -> dict[str, Measured]:
    """The longest run, nought without loss, and the mean run where there is one."""
    if not len(found):
        return {"longest_loss_run_messages": Measured(0.0, n_messages)}
    return {
        "longest_loss_run_messages": Measured(float(found.max()), n_messages),
        "mean_loss_run_messages": Measured(float(found.mean()), n_messages),
    }
