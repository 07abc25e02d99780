"""The time series of a stream over the window of one trial, and whether its latency was in a steady state.

Change points split the window by the level of its latency (PELT: Killick, Fearnhead & Eckley, JASA 107, 2012), and the
trial is classified by its segments (Barrett et al., "Virtual machine warmup blows hot and cold", OOPSLA 2017); nothing
is cut off. Estimates over trials are `experiment.aggregate`'s, what faults cost is `recovery`'s.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import polars as pl
from numpy.typing import NDArray

from middlemark.analysis.stats.quantiles import Measured, is_measurable, needed
from middlemark.plan import Caution, Experiment, Stream, WarningKind
from middlemark.results.record import TrialRecord, Window
from middlemark.results.streaming import Frame, random_rows, row_chunks

PARTS = 60
FEWEST_PARTS = 20
MESSAGES_OF_A_PART = 10
SHORTEST_SEGMENT = 3
PENALTY = 15.0
"""Times the noise's variance and the logarithm of the parts: Barrett et al.'s, so that noise alone is seldom split."""
EQUAL = math.log(1.05)
"""Levels within 5 % are one."""
STEADY_SHARE = 0.25
"""The part of the window, at its end, that must be steady for the trial to have settled."""
PARTS_DRAWN = 120
"""Of a window: about as many as a narrow chart can show beside each other."""
PARTS_OF_STEADY = 60
"""Where nothing is meant to change."""
LOOKED_AT = 2_000_000
"""Messages of a stream: of a trial that has more, so many are drawn at random."""
SPARE = 1.2
"""Messages never come quite evenly."""


class Steadiness(StrEnum):
    """How steady a stream's latency was over the window."""

    FLAT = "flat"
    WARM_UP = "warm_up"
    """Slower at first."""
    SLOW_DOWN = "slow_down"
    """Faster at first."""
    DISTURBED = "disturbed"
    """At its level from the start on, but for a while in between."""
    NEVER = "never"
    """No level was held over the last quarter of the window."""
    TOO_SHORT = "too_short"
    """Too few messages."""


@dataclass(frozen=True)
class Settling:
    """Whether a stream's latency was in a steady state, and from when on."""

    kind: Steadiness
    after_share: float | None = None
    """The share of the window's messages that came before it settled."""


def settling_of(arrived: pl.DataFrame) -> Settling:
    """Classify one stream of a trial by its messages (`received_ns`, `latency_ns`)."""
    ordered = arrived.sort("received_ns")["latency_ns"].to_numpy()
    n_parts = min(PARTS, len(ordered) // MESSAGES_OF_A_PART)
    if n_parts < FEWEST_PARTS:
        return Settling(Steadiness.TOO_SHORT)
    medians = [float(np.median(part)) for part in np.array_split(ordered, n_parts)]
    return classify(np.log(np.maximum(medians, 1.0)))


def classify(levels: NDArray[np.float64]) -> Settling:
    """Classify logarithms of latency, in their order."""
    ends = change_points(levels)
    begins = [0, *ends[:-1]]
    segments = [float(np.median(levels[begin:end])) for begin, end in zip(begins, ends, strict=True)]
    is_level = [abs(segment - segments[-1]) <= EQUAL for segment in segments]
    held = len(segments) - 1
    while held > 0 and is_level[held - 1]:
        held -= 1
    if 1 - begins[held] / len(levels) < STEADY_SHARE:
        return Settling(Steadiness.NEVER)
    if all(is_level):
        return Settling(Steadiness.FLAT, 0.0)
    # What leaves the level after it was reached is no warm-up: that is what comes before it is reached first.
    reached = begins[is_level.index(True)]
    if not reached:
        return Settling(Steadiness.DISTURBED, 0.0)
    before = float(np.median(levels[:reached]))
    return Settling(Steadiness.WARM_UP if before > segments[-1] else Steadiness.SLOW_DOWN, reached / len(levels))


def change_points(levels: NDArray[np.float64]) -> list[int]:
    """Where each segment ends, the last at the end of all."""
    import ruptures  # noqa: PLC0415 - it brings a second of imports, which would come before a run's first trial

    steps = np.diff(levels)
    noise = 1.4826 * float(np.median(np.abs(steps - np.median(steps)))) / math.sqrt(2)
    penalty = PENALTY * max(noise, 1e-4) ** 2 * math.log(len(levels))
    # With a linear kernel its cost is the squares around a segment's mean, in C.
    search = ruptures.KernelCPD(kernel="linear", min_size=SHORTEST_SEGMENT, jump=1)
    search.fit((levels - levels.mean()).reshape(-1, 1))
    return [int(end) for end in search.predict(pen=penalty)]


def steadiness_cautions(settled: Mapping[str, Settling]) -> list[Caution]:
    """The warnings of a trial whose latency was not in a steady state, by stream; each kind once."""
    kinds = {stream: settling.kind for stream, settling in settled.items()}
    never = [stream for stream, kind in kinds.items() if kind is Steadiness.NEVER]
    late = [stream for stream, kind in kinds.items() if kind in {Steadiness.WARM_UP, Steadiness.SLOW_DOWN}]
    between = [stream for stream, kind in kinds.items() if kind is Steadiness.DISTURBED]
    remedy = "lengthen `windows: {warm_up: …}`, and check what else runs on the machine"
    cautions = []
    if never:
        text = f"the latency of {', '.join(never)} reached no steady state in the window"
        cautions.append(Caution(kind=WarningKind.NEVER_SETTLED, text=text, remedy=remedy))
    if late:
        parts = [f"{stream} after {100 * (settled[stream].after_share or 0):.0f} %" for stream in late]
        text = f"latency reached its steady state only within the window: {', '.join(parts)} of the messages"
        cautions.append(Caution(kind=WarningKind.SETTLED_LATE, text=text, remedy=remedy))
    if between:
        text = f"the latency of {', '.join(between)} left its steady state within the window and returned to it"
        cautions.append(Caution(kind=WarningKind.DISTURBED, text=text, remedy="check what else runs on the machine"))
    return cautions


@dataclass(frozen=True)
class Instant:
    """A fault as it happened in this trial."""

    at_ns: int
    """From the window's start."""
    words: str


@dataclass(frozen=True)
class TimeSeries:
    """One stream over one window; the parts follow each other from the window's start."""

    trial: str
    part_ns: int
    received: tuple[int, ...]
    """Messages that arrived within each part, at all subscribers; for a ping-pong, answers."""
    latency_part_ns: int
    """As many parts together as it takes for a median."""
    latency_p50_ns: tuple[float | None, ...]
    """Of the messages of each of those; for a ping-pong, the round trip. None where they are too few, or clocks
    can't measure it."""
    faults: tuple[Instant, ...]
    bound_ns: int = 0
    """By how much the clocks of different machines may put each latency off."""


def changes_within_window(experiment: Experiment) -> bool:
    """Whether what its messages meet at the window's start is not what they meet later."""
    return bool(experiment.timeline) or any(link.trace for link in experiment.links)


def time_series(record: TrialRecord, received: Frame) -> dict[str, TimeSeries]:
    """The time series of each stream, by its name; `received` holds the trial's samples."""
    if record.window is None:
        return {}
    return {
        stream.name: _series(record, record.window, stream, _arrivals(received, number, stream))
        for number, stream in enumerate(record.trial.experiment.streams)
    }


def _bound_ns(record: TrialRecord, stream: Stream) -> int:
    """A ping-pong's time series is of round trips, which are by one clock."""
    return 0 if stream.pattern.has_answers else record.clock_bound_ns(stream.name)


def settling_by_stream(record: TrialRecord, received: Frame) -> dict[str, Settling]:
    """Whether each stream's latency was steady; only where nothing is meant to change, and clocks can measure it."""
    if record.window is None or changes_within_window(record.trial.experiment):
        return {}
    settled = {}
    for number, stream in enumerate(record.trial.experiment.streams):
        latency = _latency(stream).alias("latency_ns")
        arrived = random_rows(_arrivals(received, number, stream), LOOKED_AT, pl.col("received_ns"), latency)
        middle = arrived["latency_ns"].median()
        if not isinstance(middle, float) or is_measurable(middle, _bound_ns(record, stream)):
            settled[stream.name] = settling_of(arrived)
    return settled


def _arrivals(received: Frame, number: int, stream: Stream) -> Frame:
    """The messages of a stream; of a ping-pong, the answers."""
    return received.filter((pl.col("stream") == number) & (pl.col("answer") == int(stream.pattern.has_answers)))


def _latency(stream: Stream) -> pl.Expr:
    """How long each took; of a ping-pong, the round trip."""
    # An answer's `intended_ns` is the hand-over of its question.
    return pl.col("received_ns") - pl.col("intended_ns" if stream.pattern.has_answers else "sent_ns")


def _series(record: TrialRecord, window: Window, stream: Stream, arrived: Frame) -> TimeSeries:
    window_ns = window.end_ns - window.begin_ns
    parts_wanted = PARTS_DRAWN if changes_within_window(record.trial.experiment) else PARTS_OF_STEADY
    part_ns = max(-(-window_ns // parts_wanted), 1)
    within = arrived.filter(pl.col("received_ns").is_between(window.begin_ns, window.end_ns - 1))
    part = (pl.col("received_ns") - window.begin_ns) // part_ns
    numbers = np.zeros(-(-window_ns // part_ns), dtype=np.int64)
    for piece in row_chunks(within, part):
        numbers += np.bincount(piece.to_series().to_numpy(), minlength=len(numbers))
    together, bound_ns = _parts_of_a_median(numbers), _bound_ns(record, stream)
    looked_at = random_rows(within, LOOKED_AT, (part // together).alias("part"), _latency(stream).alias("latency_ns"))
    medians = looked_at.group_by("part").agg(n=pl.len(), middle=pl.col("latency_ns").median())
    middle_of_part = {number: middle for number, n, middle in medians.iter_rows() if n >= needed(0.5)}
    middles = [middle_of_part.get(number) for number in range(-(-len(numbers) // together))]
    return TimeSeries(
        trial=record.trial.id,
        part_ns=part_ns,
        received=tuple(numbers.tolist()),
        latency_part_ns=together * part_ns,
        latency_p50_ns=tuple(
            middle if middle is not None and is_measurable(middle, bound_ns) else None for middle in middles
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


def median_trial(values: Sequence[Measured | None]) -> int:
    """The index of the trial that is drawn: the one with the median value, or the first where none has a value."""
    with_value = [(value.value, place) for place, value in enumerate(values) if value is not None]
    if not with_value:
        return 0
    ordered = sorted(with_value)
    return ordered[int(np.ceil(len(ordered) / 2)) - 1][1]
