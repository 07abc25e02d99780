"""What one reading of the clock costs, how fine it is, and how late a sleeper wakes on this machine.

It measures in this very process, Python's own cost included; the workers report the cost of their own readings.
"""

from __future__ import annotations

import statistics
import time
from itertools import pairwise

READINGS = 20_000
SLEEPS, SLEEP_NS = 200, 1_000_000


def reading() -> tuple[int, int]:
    """The median distance of two readings in a row, and the smallest step above zero, in nanoseconds."""
    stamps = [time.monotonic_ns() for _ in range(READINGS)]
    steps = [after - before for before, after in pairwise(stamps)]
    return int(statistics.median(steps)), min(step for step in steps if step > 0)


def wake_up_error() -> tuple[int, int]:
    """How much later than asked a sleeper wakes: median and 99th percentile, in nanoseconds."""
    errors = []
    for _ in range(SLEEPS):
        due = time.monotonic_ns() + SLEEP_NS
        time.sleep(SLEEP_NS / 1e9)
        errors.append(time.monotonic_ns() - due)
    errors.sort()
    return int(statistics.median(errors)), errors[round(0.99 * (SLEEPS - 1))]
