"""How a middleware behaves in the trials that are built, and when their windows begin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from middlemark.plan import Outcome, Valid
from middlemark.suite import Delivery

MS = 1_000_000
VALID = Valid()
T0_NS = 5_000_000_000
BEGIN_NS = 6_000_000_000


@dataclass(frozen=True)
class Behaviour:
    """How a middleware behaves in every trial."""

    latency_ns: float = 50_000.0
    """The median; messages scatter around it log-normally."""
    per_byte_ns: float = 0.0
    spread: float = 0.2
    """Standard deviation of the logarithm, message to message."""
    drift: float = 0.03
    """The same, trial to trial."""
    loss: float = 0.0
    first_message_ns: int = 40 * MS
    cpu_share: float = 0.1
    memory_bytes: int = 20 << 20
    publish_call_ns: float = 8_000.0
    fill_ns: int | None = None
    """What writing each message and answer takes; of runs from before that was recorded None."""
    service: str | None = None
    outcome: Outcome = VALID
    slow_publisher: float = 1.0
    """How many times its period a publisher takes for a message; above 1 it is overloaded."""
    title: str | None = None
    library: str = "lib"
    released: str | None = None
    """Since when the system's packages have the library's version."""
    transport: str = "tcp"
    delivery: Delivery | None = Delivery.LIBRARY_THREAD
    """None: as in runs from before it was told."""
    observed_times: float = 1.0
    """How many times its latency an observed trial has."""
    course: Callable[[np.ndarray], np.ndarray] = np.ones_like
    """How many times its latency a message has, by the share of the window's messages before it."""
