"""The ways of single messages that stand for a trial: the one in the middle by one-way time, and one of the slow.

They are examples, real messages to be drawn to scale, not figures; `path_shares` has the figures, and
`path_following` finds the ways.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import polars as pl

from middlemark.analysis.kernel_trace import KernelTrace
from middlemark.analysis.path_following import Ends, path
from middlemark.analysis.path_parts import MessagePath, SetAside

SHARES = (0.5, 0.99)
"""The median message and the one that 99 % of all are no slower than."""
# With fewer, the slowest hundredth is one message, which may be anything.
_SLOW_NEED = 100
# How far from its rank a message may be whose way is found.
_NEIGHBOURS = 25


@dataclass(frozen=True)
class ToldMessage:
    """One message with its way, and what it stands for."""

    share: float
    """The share of all messages of its stream that were no slower."""
    n: int
    """How many there were."""
    path: MessagePath
    call_names: Mapping[int, str]


def told_messages(
    trace: KernelTrace,
    messages: pl.DataFrame,
    ends: Callable[[int, int], Ends],
    call_names: Mapping[int, str],
) -> tuple[ToldMessage, ...]:
    """The messages of one stream at each of `SHARES`; where a way isn't found, of a neighbour by one-way time."""
    messages = messages.sort(pl.col("received_ns") - pl.col("sent_ns"))
    pairs = [ends(*pair) for pair in messages.select("publisher", "subscriber").unique().iter_rows()]
    applications = frozenset(process for pair in pairs for process in (pair.sender, pair.receiver))
    n = len(messages)
    told = []
    for share in SHARES:
        if n and (share <= 0.5 or n >= _SLOW_NEED):
            rank = int(share * (n - 1))
            for place in _outwards(rank, n):
                message = messages.row(place, named=True)
                found = path(trace, message, ends(message["publisher"], message["subscriber"]), applications)
                if not isinstance(found, SetAside):
                    told.append(ToldMessage((place + 1) / n if place != rank else share, n, found, call_names))
                    break
    return tuple(told)


def _outwards(rank: int, n: int) -> list[int]:
    """Ranks from one on, nearest first."""
    steps = [0, *(sign * step for step in range(1, _NEIGHBOURS + 1) for sign in (-1, 1))]
    return [rank + step for step in steps if 0 <= rank + step < n]
