"""The exact accounting of a trial: sent = received + late + lost, for every publisher at every subscriber.

What was counted live must agree with what was recorded, message by message; otherwise no metric of the trial can be
trusted, and that is an error. It has the rows of a stream and its loss runs (RFC 3357's loss periods) too; shares of
loss, which join late and lost as RFC 7680 does, are `traffic`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from middlemark.analysis.stats.quantiles import Measured
from middlemark.errors import MiddlemarkError
from middlemark.plan import Experiment, Requests, StreamPattern
from middlemark.results.counts import Counts, PublisherCounts, SubscriberCounts
from middlemark.results.record import TrialRecord, Window
from middlemark.results.streaming import Frame, by_sequence_number, present_numbers, row_count
from middlemark.suite import Action


class AccountingError(MiddlemarkError):
    """A trial's counts contradict each other or its samples: nothing of it can be trusted."""


@dataclass(frozen=True)
class Flow:
    """The counts of one publisher's messages at one subscriber (of the answers to one client, from one subscriber)."""

    stream: str
    answers: bool
    publisher: int
    subscriber: int
    intended: int
    sent: int
    """For answers: the number of questions sent, each of which needs one."""
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
        kind = "answers" if self.answers else "messages"
        return f"{self.stream}: {kind} of publisher {self.publisher} at subscriber {self.subscriber}"


def flows(counts: Counts) -> tuple[Flow, ...]:
    """Join what subscribers counted with what their publishers sent."""
    publishers = {(publisher.stream, publisher.publisher): publisher for publisher in counts.publishers}
    return tuple(
        _flow(publishers[subscriber.stream, subscriber.publisher], subscriber)
        for subscriber in counts.subscribers
        if (subscriber.stream, subscriber.publisher) in publishers
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


@dataclass(frozen=True)
class StreamShape:
    """What the metrics must know of a stream beside its samples."""

    name: str
    size_bytes: float
    """The mean where its messages differ."""
    pattern: StreamPattern
    late_after_ns: int
    is_typed: bool = False
    """Whether its messages are serialised, or would be were they not plain."""

    @property
    def answers_in_time(self) -> pl.Expr:
        """Which answers are not late: of a response, by the time since its request was sent."""
        if isinstance(self.pattern, Requests):
            return pl.col("received_ns") - pl.col("intended_ns") <= self.pattern.timeout_ns
        return pl.col("received_ns") - pl.col("sent_ns") <= self.late_after_ns


def stream_shapes(experiment: Experiment) -> tuple[StreamShape, ...]:
    """What the metrics must know of the experiment's streams."""
    return tuple(
        StreamShape(
            name=stream.name,
            size_bytes=stream.mean_bytes,
            pattern=stream.pattern,
            late_after_ns=experiment.windows.late_after_ns,
            is_typed=stream.payload is not None,
        )
        for stream in experiment.streams
    )


@dataclass(frozen=True)
class StreamRows:
    """The samples and accounts of one stream, with the window they belong to."""

    stream: StreamShape
    received: Frame
    published: Frame
    window: Window
    publishers: tuple[PublisherCounts, ...]
    flows: tuple[Flow, ...]

    @property
    def window_ns(self) -> int:
        """The length of the window."""
        return self.window.end_ns - self.window.begin_ns

    def flows_of(self, *, answers: bool) -> list[Flow]:
        """Those of its messages, or of their answers."""
        return [flow for flow in self.flows if flow.answers is answers]

    def undelivered(self, *, answers: bool) -> tuple[int, int]:
        """How many messages, or answers, did not arrive in time, whatever became of them, and how many were to."""
        counted = self.flows_of(answers=answers)
        intended = sum(flow.sent if self.stream.pattern.is_slowed_by_refusals else flow.intended for flow in counted)
        return intended - sum(flow.received for flow in counted), intended


def away_meanwhile(record: TrialRecord) -> set[str]:
    """The applications that did not live through the whole window: those that ended within it, and late joiners."""
    return {*record.interrupted, *(fault.target for fault in record.faults if fault.action is Action.START)}


def accountable(record: TrialRecord, received: Frame) -> tuple[Counts, Frame]:
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


def contradictions(counts: Counts, received: Frame, streams: tuple[str, ...]) -> list[str]:
    """Everything in which the counts contradict themselves or the samples; empty where all adds up."""
    problems = [*_unknown_publishers(counts), *_impossible_counts(counts)]
    messages = by_sequence_number(received)
    rows = dict(messages.rows)
    for flow in flows(counts):
        key = (streams.index(flow.stream), int(flow.answers), flow.publisher, flow.subscriber)
        arrived, recorded = flow.received + flow.late, rows.pop(key, 0) + flow.beyond_samples
        if arrived != recorded:
            problems.append(f"{flow.name}: {arrived} counted as received or late, but {recorded} recorded")
    problems += [f"{n} samples belong to no counted flow: {key}" for key, n in rows.items()]
    if messages.repeated:
        problems.append(f"{messages.repeated} samples are of messages that were recorded before")
    return problems


def _unknown_publishers(counts: Counts) -> list[str]:
    publishers = {(publisher.stream, publisher.publisher) for publisher in counts.publishers}
    return [
        f"{subscriber.stream}: subscriber {subscriber.subscriber} counts messages "
        f"of an unknown publisher {subscriber.publisher}"
        for subscriber in counts.subscribers
        if (subscriber.stream, subscriber.publisher) not in publishers
    ]


def _impossible_counts(counts: Counts) -> list[str]:
    problems = [
        f"{publisher.stream}: of {publisher.intended} intended messages publisher {publisher.publisher} has "
        f"{publisher.sent} sent, {publisher.refused} refused, {publisher.unsent} not offered"
        for publisher in counts.publishers
        if publisher.sent + publisher.refused + publisher.unsent != publisher.intended
    ]
    return problems + [
        f"{flow.name}: {flow.sent} sent, but {flow.received} received and {flow.late} late"
        for flow in flows(counts)
        if flow.lost < 0
    ]


def loss_runs(flows: Sequence[Flow], received: Frame, published: Frame) -> NDArray[np.int64] | None:
    """The lengths of all runs of one stream, in messages; `received` holds what came in time, answers apart."""
    messages = [flow for flow in flows if not flow.answers]
    lengths = []
    for flow in messages:
        sent = published.filter((pl.col("publisher") == flow.publisher) & (pl.col("accepted") == 1))
        if row_count(sent) != flow.sent or flow.beyond_samples:
            return None
        arrived = received.filter((pl.col("publisher") == flow.publisher) & (pl.col("subscriber") == flow.subscriber))
        lengths.append(run_lengths(present_numbers(sent), present_numbers(arrived)))
    return np.concatenate(lengths) if lengths else None


def run_lengths(sent: NDArray[np.bool_], received: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The lengths of the runs of sent messages that were not received, in their order; both by sequence number."""
    came = np.zeros(len(sent), dtype=np.bool_)
    came[: len(received)] = received[: len(sent)]
    lost = ~came[sent]
    edges = np.diff(np.concatenate([[False], lost, [False]]).view(np.int8))
    return np.flatnonzero(edges == -1) - np.flatnonzero(edges == 1)


def loss_run_metrics(lengths: NDArray[np.int64], n_messages: int) -> dict[str, Measured]:
    """The longest run, 0 without loss, and the mean run where there is one."""
    if not len(lengths):
        return {"longest_loss_run_messages": Measured(0.0, n_messages)}
    return {
        "longest_loss_run_messages": Measured(float(lengths.max()), n_messages),
        "mean_loss_run_messages": Measured(float(lengths.mean()), n_messages),
    }
