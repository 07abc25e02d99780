"""How long each part of a trial lasts, what is recorded of it, and when the machine was too disturbed to count it.

It holds figures only; `campaign` keeps the time, `analysis` judges.
"""

from typing import Annotated

from pydantic import Field

from middlemark.suite.model import Model
from middlemark.suite.quantity import Duration, Share, TimeSpan

_MS = 1_000_000


class Windows(Model):
    """The parts of a trial, in their order."""

    first_message: TimeSpan = 10_000 * _MS
    """The deadline for the last first message, from the common start; then the outcome is `no_communication`."""
    warm_up: Duration = 150 * _MS
    """From the last first message to the window."""
    window: TimeSpan = 2_000 * _MS
    """What is measured."""
    drain: Duration = 500 * _MS
    """How long messages of the window are waited for after it; over at once when all have come."""


class Recording(Model):
    """What is kept of each message."""

    samples: Annotated[int, Field(ge=1, le=100_000_000, strict=True)] = 200_000
    """Samples kept of each endpoint; what comes beyond goes into a histogram, counted."""
    late_after: Duration | None = None
    """A message under way for longer is late, not received (Tmax of RFC 7680); without it, the drain."""


class Disturbance(Model):
    """When a trial is invalid because the machine was taken away, and how often it is then repeated."""

    steal: Share = 2.0
    """The most CPU time that the hypervisor may take during the window, of all CPUs together."""
    repeats: Annotated[int, Field(ge=0, le=100, strict=True)] = 2
    """How often a disturbed trial is repeated before it stays invalid."""
