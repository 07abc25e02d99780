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
from numpy.typing import NDArray

from middlemark.analysis.clocks import can_tell
from middlemark.analysis.quantile import Measured, needed
from middlemark.analysis.settling import Settling, settling
from middlemark.plan import Experiment, Stream
from middlemark.results.record import TrialRecord, Window
from middlemark.results.streaming import Frame, drawn, pieces

PARTS = 120
"""Of a window: about as many as a narrow chart can show beside each other."""
PARTS_OF_STEADY = 60
"""Where nothing is meant to change."""
LOOKED_AT = 2_000_000
"""Messages of a stream: as many of a trial that has more, drawn at random, tell how its latency went."""
SPARE = 1.2
"""Messages never come quite evenly."""


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
    latency_part_ns: int
    """As many parts together as it takes for a median."""
    latency_p50_ns: tuple[float | None, ...]
    """Of the messages of each of those; for a ping-pong, the round trip. None where they are too few, or clocks don't
    tell it."""
    faults: tuple[Instant, ...]
    bound_ns: int = 0
    """By how much the clocks of different machines may put each latency off."""


def changes_within_window(experiment: Experiment) -> bool:
    """Whether what its messages meet at the window's begin is not what they meet later."""
    return bool(experiment.timeline) or any(link.trace for link in experiment.links)


def courses(record: TrialRecord, received: Frame) -> dict[str, Course]:
    """The course of each stream, by its name; `received` holds the trial's samples."""
    if record.window is None:
        return {}
    return {
        stream.name: _course(record, record.window, stream, _arrivals(received, number, stream))
        for number, stream in enumerate(record.trial.experiment.streams)
    }


def _bound_ns(record: TrialRecord, stream: Stream) -> int:
    """A ping-pong's course is of round trips, which are by one clock."""
    return 0 if stream.pattern.kind == "ping_pong" else record.clock_bound_ns(stream.name)


def settlings(record: TrialRecord, received: Frame) -> dict[str, Settling]:
    """Whether each stream's latency was steady; of trials only in which nothing is meant to change, if clocks tell."""
    if record.window is None or changes_within_window(record.trial.experiment):
        return {}
    found = {}
    for number, stream in enumerate(record.trial.experiment.streams):
        latency = _latency(stream).alias("latency_ns")
        arrived = drawn(_arrivals(received, number, stream), LOOKED_AT, pl.col("received_ns"), latency)
        middle = arrived["latency_ns"].median()
        if not isinstance(middle, float) or can_tell(middle, _bound_ns(record, stream)):
            found[stream.name] = settling(arrived)
    return found


def _arrivals(received: Frame, number: int, stream: Stream) -> Frame:
    """The messages of a stream; of a ping-pong, the answers."""
    return received.filter((pl.col("stream") == number) & (pl.col("answer") == int(_asks(stream))))


def _latency(stream: Stream) -> pl.Expr:
    """How long each took; of a ping-pong, the round trip."""
    # A question's hand-over stands in its answer's `intended_ns`.
    return pl.col("received_ns") - pl.col("intended_ns" if _asks(stream) else "sent_ns")


def _asks(stream: Stream) -> bool:
    return stream.pattern.kind == "ping_pong"


def _course(record: TrialRecord, window: Window, stream: Stream, arrived: Frame) -> Course:
    window_ns = window.end_ns - window.begin_ns
    parts_wanted = PARTS if changes_within_window(record.trial.experiment) else PARTS_OF_STEADY
    part_ns = max(-(-window_ns // parts_wanted), 1)
    within = arrived.filter(pl.col("received_ns").is_between(window.begin_ns, window.end_ns - 1))
    part = (pl.col("received_ns") - window.begin_ns) // part_ns
    numbers = np.zeros(-(-window_ns // part_ns), dtype=np.int64)
    for piece in pieces(within, part):
        numbers += np.bincount(piece.to_series().to_numpy(), minlength=len(numbers))
    together, bound_ns = _parts_of_a_median(numbers), _bound_ns(record, stream)
    looked_at = drawn(within, LOOKED_AT, (part // together).alias("part"), _latency(stream).alias("latency_ns"))
    medians = looked_at.group_by("part").agg(n=pl.len(), middle=pl.col("latency_ns").median())
    told = {number: middle for number, n, middle in medians.iter_rows() if n >= needed(0.5)}
    middles = [told.get(number) for number in range(-(-len(numbers) // together))]
    return Course(
        trial=record.trial.id,
        part_ns=part_ns,
        received=tuple(numbers.tolist()),
        latency_part_ns=together * part_ns,
        latency_p50_ns=tuple(
            middle if middle is not None and can_tell(middle, bound_ns) else None for middle in middles
        ),
        bound_ns=bound_ns,
        faults=tuple(
            Instant(fault.began_ns - window.begin_ns, f"{fault.action.replace('_', ' ')} {fault.target}")
            for fault in record.faults
        ),
    )


def _parts_of_a_median(numbers: NDArray[np.int64]) -> int:
    """How many parts to put together so that the usual one, silence left aside, has messages enough."""
    together = 1
    while together < len(numbers):
        sums = np.add.reduceat(numbers, np.arange(0, len(numbers), together))
        if not sums.any() or np.median(sums[sums > 0]) >= SPARE * needed(0.5):
            break
        together *= 2
    return together


def middle_trial(values: Sequence[Measured | None]) -> int:
    """The place of the trial that stands for all: the one with the median value, or the first where none has one."""
    known = [(value.value, place) for place, value in enumerate(values) if value is not None]
    if not known:
        return 0
    ordered = sorted(known)
    return ordered[int(np.ceil(len(ordered) / 2)) - 1][1]
