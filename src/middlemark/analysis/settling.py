"""Whether the latency of a stream was steady over a trial's window, and from when on: found by change points.

The window is cut into parts of equally many messages; the logarithms of their medians are split where their level
changes (PELT: Killick, Fearnhead & Eckley, JASA 107, 2012), and the trial is classified by its segments as Barrett et
al. do ("Virtual machine warmup blows hot and cold", OOPSLA 2017). Nothing is cut off: the reader is told.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from middlemark.plan import Caution, WarningKind

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


class Steadiness(StrEnum):
    """How a stream's latency went over the window."""

    FLAT = "flat"
    WARM_UP = "warm_up"
    """Slower at first."""
    SLOW_DOWN = "slow_down"
    """Faster at first."""
    DISTURBED = "disturbed"
    """At its level from the begin on, but for a while in between."""
    NEVER = "never"
    """No level held to the end for a quarter of the window."""
    TOO_SHORT = "too_short"
    """Too few messages to tell."""


@dataclass(frozen=True)
class Settling:
    """How a stream's latency went, and when it settled."""

    kind: Steadiness
    after_share: float | None = None
    """The share of the window's messages that came before it settled."""


def settling(arrived: pl.DataFrame) -> Settling:
    """Classify one stream of a trial by its messages (`received_ns`, `latency_ns`)."""
    ordered = arrived.sort("received_ns")["latency_ns"].to_numpy()
    n_parts = min(PARTS, len(ordered) // MESSAGES_OF_A_PART)
    if n_parts < FEWEST_PARTS:
        return Settling(Steadiness.TOO_SHORT)
    medians = [float(np.median(part)) for part in np.array_split(ordered, n_parts)]
    return classified(np.log(np.maximum(medians, 1.0)))


def classified(levels: NDArray[np.float64]) -> Settling:
    """Classify logarithms of latency, in their order."""
    ends = changes(levels)
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


def changes(levels: NDArray[np.float64]) -> list[int]:
    """Where each segment ends, the last at the end of all."""
    import ruptures  # noqa: PLC0415 - it brings a second of imports, which would come before a run's first trial

    steps = np.diff(levels)
    noise = 1.4826 * float(np.median(np.abs(steps - np.median(steps)))) / math.sqrt(2)
    penalty = PENALTY * max(noise, 1e-4) ** 2 * math.log(len(levels))
    search = ruptures.Pelt(custom_cost=_squares(), min_size=SHORTEST_SEGMENT, jump=1).fit(levels.reshape(-1, 1))
    return [int(end) for end in search.predict(pen=penalty)]


@cache
def _squares() -> object:
    """The library's own cost, the squares around a segment's mean, from sums made once: in a tenth of the time."""
    from ruptures.base import BaseCost  # noqa: PLC0415 - as above

    class Squares(BaseCost):  # type: ignore[misc] # the library has no types
        model, min_size = "", 1

        def fit(self, signal: NDArray[np.float64]) -> Self:
            centred = signal[:, 0] - signal.mean()
            self.signal = signal
            self.sums = np.concatenate([[0.0], np.cumsum(centred)]).tolist()
            self.squares = np.concatenate([[0.0], np.cumsum(centred**2)]).tolist()
            return self

        def error(self, start: int, end: int) -> float:
            own: float = self.sums[end] - self.sums[start]
            whole: float = self.squares[end] - self.squares[start]
            return max(whole - own * own / (end - start), 0.0)

    return Squares()


def unsteady(settled: Mapping[str, Settling]) -> list[Caution]:
    """What must be said of a trial whose latency was not steady, by stream; each kind once."""
    kinds = {stream: found.kind for stream, found in settled.items()}
    never = [stream for stream, kind in kinds.items() if kind is Steadiness.NEVER]
    late = [stream for stream, kind in kinds.items() if kind in {Steadiness.WARM_UP, Steadiness.SLOW_DOWN}]
    between = [stream for stream, kind in kinds.items() if kind is Steadiness.DISTURBED]
    remedy = "lengthen `windows: {warm_up: …}`, and look at what else the machine does"
    said = []
    if never:
        text = f"the latency of {', '.join(never)} held no level to the window's end"
        said.append(Caution(kind=WarningKind.NEVER_SETTLED, text=text, remedy=remedy))
    if late:
        parts = [f"{stream} after {100 * (settled[stream].after_share or 0):.0f} %" for stream in late]
        text = f"latency settled within the window only: {', '.join(parts)} of the messages"
        said.append(Caution(kind=WarningKind.SETTLED_LATE, text=text, remedy=remedy))
    if between:
        text = f"the latency of {', '.join(between)} left its level within the window and came back"
        said.append(Caution(kind=WarningKind.DISTURBED, text=text, remedy="look at what else the machine does"))
    return said
