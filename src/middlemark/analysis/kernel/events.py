"""The kinds of events in a recording of the kernel, and what threads did: system calls, wake-ups, times on a CPU.

It answers questions about intervals of time; which part of a path an interval belongs to, `follow` decides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from enum import IntEnum

import numpy as np
import numpy.typing as npt
import polars as pl

Instants = npt.NDArray[np.int64]
NEVER_NS = np.iinfo(np.int64).max


class Kind(IntEnum):
    """The kind of an event, numbered as in the observer's records."""

    CALLED = 1
    RETURNED = 2
    QUEUED = 3
    TRANSMITTED = 4
    ARRIVED = 5
    WOKEN = 6
    SWITCHED = 7
    SENT = 8
    TAKEN = 9


class Thread:
    """One thread's system calls, wake-ups and times on a CPU."""

    def __init__(
        self, called: Instants, numbers: Instants, returned: Instants, woken: Instants, switched_in: Instants
    ) -> None:
        self.called = called
        self.woken = woken
        self.switched_in = switched_in
        self._numbers = numbers
        after = np.searchsorted(returned, called, side="right")
        self._ended = np.append(returned, NEVER_NS)[after]

    def called_before(self, at_ns: int) -> int | None:
        """When the last system call up to this instant was entered."""
        number = int(np.searchsorted(self.called, at_ns, side="right"))
        return int(self.called[number - 1]) if number else None

    def returned_after(self, at_ns: int) -> int | None:
        """When the system call that was running at this instant returned."""
        number = int(np.searchsorted(self.called, at_ns, side="right"))
        ended_ns = int(self._ended[number - 1]) if number else NEVER_NS
        return ended_ns if at_ns <= ended_ns < NEVER_NS else None

    def has_slept(self, begin_ns: int, end_ns: int) -> bool:
        """Whether it was woken within an interval."""
        return bool(np.searchsorted(self.woken, end_ns) > np.searchsorted(self.woken, begin_ns))

    def calls_within(self, begin_ns: int, end_ns: int) -> Iterator[tuple[int, int, int]]:
        """The system calls that it entered or left within an interval: begin, end and number of each."""
        first = max(int(np.searchsorted(self.called, begin_ns, side="right")) - 1, 0)
        last = int(np.searchsorted(self.called, end_ns, side="right"))
        for place in range(first, last):
            call = int(self.called[place]), int(self._ended[place]), int(self._numbers[place])
            if begin_ns <= call[0] or begin_ns <= call[1] <= end_ns:
                yield call

    def cut(self, begin_ns: int, end_ns: int) -> Iterator[tuple[bool, int, int]]:
        """An interval, divided at the start and end of each system call: whether within a call, begin, end."""
        at_ns = begin_ns
        first = max(int(np.searchsorted(self.called, begin_ns, side="right")) - 1, 0)
        last = int(np.searchsorted(self.called, end_ns))
        for called_ns, ended_ns in zip(self.called[first:last].tolist(), self._ended[first:last].tolist(), strict=True):
            if ended_ns <= at_ns:
                continue
            if called_ns > at_ns:
                yield False, at_ns, called_ns
            yield True, max(called_ns, at_ns), min(ended_ns, end_ns)
            at_ns = min(ended_ns, end_ns)
        if at_ns != end_ns:
            yield False, at_ns, end_ns


NO_THREAD = Thread(*(np.empty(0, np.int64) for _ in range(5)))
"""A thread without recorded events."""


def threads(events: pl.DataFrame) -> dict[int, Thread]:
    """All threads of a recording, by thread number."""
    kinds = (Kind.CALLED, Kind.RETURNED, Kind.WOKEN, Kind.SWITCHED)
    nothing = np.empty(0, np.int64)
    instants: defaultdict[int, dict[int, Instants]] = defaultdict(lambda: dict.fromkeys(kinds, nothing))
    numbers: defaultdict[int, Instants] = defaultdict(lambda: nothing)
    of_threads = events.filter(pl.col("kind").is_in(kinds))
    for (thread, kind), frame in of_threads.group_by(["thread", "kind"], maintain_order=True):
        instants[int(thread)][int(kind)] = frame["at_ns"].to_numpy()
        if kind == Kind.CALLED:
            numbers[int(thread)] = frame["value"].to_numpy()
    return {
        thread: Thread(by_kind[Kind.CALLED], numbers[thread], *(by_kind[kind] for kind in kinds[1:]))
        for thread, by_kind in instants.items()
    }
