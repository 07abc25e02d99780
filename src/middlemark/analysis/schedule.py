"""The instants at which a publisher was to send within the window, rebuilt from its stream's pattern.

It is the arithmetic of the workers' runtime (`schedule.rs`): absolute, from the window's begin, message k at its own
instant whether or not its publisher was there. Who was there, and what arrived, `recovery` knows.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from middlemark.plan import Burst, Periodic, Recorded, Stream
from middlemark.results.record import Window
from middlemark.suite import Arrival

Instants = NDArray[np.int64]
_MASK = 2**64 - 1
_OF_PUBLISHER = 0xA076_1D64_78BD_642F
"""What a publisher's generator is apart from that of the one before."""


def schedule(stream: Stream, publisher: int, seed: int, window: Window) -> Instants | None:
    """When each message of the window was to be sent, by its number; None where the pattern has no schedule."""
    span_ns = window.end_ns - window.begin_ns
    pattern = stream.pattern
    if stream.recorded is not None:
        elapsed_ns = _recorded(stream.recorded, span_ns)
    elif isinstance(pattern, Burst):
        elapsed_ns = np.repeat(_equal(pattern.rate_hz, span_ns), pattern.messages)
    elif isinstance(pattern, Periodic) and pattern.arrival is Arrival.POISSON:
        elapsed_ns = _poisson(pattern.rate_hz, (seed + publisher * _OF_PUBLISHER) & _MASK, span_ns)
    elif isinstance(pattern, Periodic):
        elapsed_ns = _equal(pattern.rate_hz, span_ns)
    else:
        return None
    return window.begin_ns + elapsed_ns


def _equal(rate_hz: float, span_ns: int) -> Instants:
    numbers = np.arange(math.ceil(span_ns * rate_hz / 1e9) + 1, dtype=np.float64)
    return _within(_rounded(numbers * (1e9 / rate_hz)), span_ns)


def _recorded(recorded: Recorded, span_ns: int) -> Instants:
    rounds = np.arange(-(-span_ns // recorded.period_ns), dtype=np.int64)
    return _within(np.add.outer(rounds * recorded.period_ns, np.array(recorded.offsets_ns)).ravel(), span_ns)


def _poisson(rate_hz: float, state: int, span_ns: int) -> Instants:
    """Exponential intervals by the inverse of the distribution, from SplitMix64 (Steele, Lea & Flood, OOPSLA 2014)."""
    period_ns, elapsed_ns, found = 1e9 / rate_hz, 0.0, []
    while elapsed_ns < span_ns:
        found.append(elapsed_ns)
        state = (state + 0x9E37_79B9_7F4A_7C15) & _MASK
        mixed = ((state ^ (state >> 30)) * 0xBF58_476D_1CE4_E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D0_49BB_1331_11EB) & _MASK
        uniform = (((mixed ^ (mixed >> 31)) >> 11) + 1) / 2**53
        elapsed_ns -= math.log(uniform) * period_ns  # of the same C library as the worker's; NumPy's is another
    return _within(_rounded(np.array(found)), span_ns)


def _rounded(elapsed_ns: NDArray[np.float64]) -> Instants:
    """Halves upwards, as Rust does."""
    whole = np.floor(elapsed_ns)
    return (whole + (elapsed_ns - whole >= 0.5)).astype(np.int64)


def _within(elapsed_ns: Instants, span_ns: int) -> Instants:
    return elapsed_ns[: np.searchsorted(elapsed_ns, span_ns)]
