"""How one stream fared over the window of one trial: messages that arrived and their latency, part by part.

Every trial has a course, small enough for a page, and smaller where nothing changes within the window, no fault and no
link; those are asked by `settling` too whether they were steady. Figures over trials are `experiment`'s, what faults
cost is `recovery`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from middlemark.analysis.clocks import can_tell
from middlemark.analysis.quantile import Measured
from middlemark.analysis.record import TrialRecord, Window
from middlemark.analysis.settling import Settling, settling
from middlemark.plan import Experiment, Stream

PARTS = 120
"""Of a window: about as many as a narrow chart can show beside each other."""
PARTS_OF_STEADY = 60
"""Where nothing is meant to change."""


@dataclass(frozen=True)
class Instant:
    """A fault as it happened in this trial."""

    at_ns: int
    """From the window's begin."""
    words: str


@dataclass(frozen=True)
class Course:
    """One stream over one window; the parts follow each other from the window's begin."""

    trial: str
    part_ns: int
    received: tuple[int, ...]
    """Messages that arrived within each part, at all subscribers; for a ping-pong, answers."""
    latency_p50_ns: tuple[float | None, ...]
    """Of those; for a ping-pong, the round trip. None where nothing arrived, or clocks don't tell it."""
    faults: tuple[Instant, ...]
    bound_ns: int = 0
    """By how much the clocks of different machines may put each latency off."""


def changes_within_window(experiment: Experiment) -> bool:
    """Whether what its messages meet at the window's begin is not what they meet later."""
    return bool(experiment.timeline) or any(link.trace for link in experiment.links)


def courses(record: TrialRecord, received: pl.DataFrame) -> dict[str, Course]:
    """The course of each stream, by its name; `received` holds the trial's samples."""
    if record.window is None:
        return {}
    return {
        stream.name: _course(
            record,
            record.window,
            arrivals(stream, received.filter(pl.col("stream") == number)),
            _bound_ns(record, stream),
        )
        for number, stream in enumerate(record.trial.experiment.streams)
    }


def _bound_ns(record: TrialRecord, stream: Stream) -> int:
    """A ping-pong's course is of round trips, which are by one clock."""
    return 0 if stream.pattern.kind == "ping_pong" else record.clock_bound_ns(stream.name)


def settlings(record: TrialRecord, received: pl.DataFrame) -> dict[str, Settling]:
    """Whether each stream's latency was steady; of trials only in which nothing is meant to change, if clocks tell."""
    if record.window is None or changes_within_window(record.trial.experiment):
        return {}
    found = {}
    for number, stream in enumerate(record.trial.experiment.streams):
        arrived = arrivals(stream, received.filter(pl.col("stream") == number))
        middle = arrived["latency_ns"].median()
        if not isinstance(middle, float) or can_tell(middle, _bound_ns(record, stream)):
            found[stream.name] = settling(arrived)
    return found


def arrivals(stream: Stream, received: pl.DataFrame) -> pl.DataFrame:
    """When each message came, and how long it took; of a ping-pong, the answers and their round trips."""
    asks = stream.pattern.kind == "ping_pong"
    since = "intended_ns" if asks else "sent_ns"  # a question's hand-over stands in its answer's `intended_ns`
    return received.filter(pl.col("answer") == int(asks)).select(
        "received_ns", latency_ns=pl.col("received_ns") - pl.col(since)
    )


def _course(record: TrialRecord, window: Window, arrived: pl.DataFrame, bound_ns: int) -> Course:
    window_ns = window.end_ns - window.begin_ns
    parts_wanted = PARTS if changes_within_window(record.trial.experiment) else PARTS_OF_STEADY
    part_ns = max(-(-window_ns // parts_wanted), 1)
    parts = (
        arrived.filter(pl.col("received_ns").is_between(window.begin_ns, window.end_ns - 1))
        .group_by(part=(pl.col("received_ns") - window.begin_ns) // part_ns)
        .agg(
            n=pl.len(),
            middle=pl.col("latency_ns").median(),
        )
    )
    found = {part: (n, middle) for part, n, middle in parts.iter_rows()}
    rows = [found.get(part, (0, None)) for part in range(-(-window_ns // part_ns))]
    return Course(
        trial=record.trial.id,
        part_ns=part_ns,
        received=tuple(n for n, _ in rows),
        latency_p50_ns=tuple(
            middle if middle is not None and can_tell(middle, bound_ns) else None for _, middle in rows
        ),
        bound_ns=bound_ns,
        faults=tuple(
            Instant(fault.began_ns - window.begin_ns, f"{fault.action.replace('_', ' ')} {fault.target}")
            for fault in record.faults
        ),
    )


def middle_trial(values: Sequence[Measured | None]) -> int:
    """The place of the trial that stands for all: the one with the median value, or the first where none has one."""
    known = [(value.value, place) for place, value in enumerate(values) if value is not None]
    if not known:
        return 0
    ordered = sorted(known)
    return ordered[int(np.ceil(len(ordered) / 2)) - 1][1]
