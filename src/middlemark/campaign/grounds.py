"""What a campaign stands on: the workers it may start, the CPUs it may give, its ledger.

It is made once for a campaign and handed to every trial; nothing in it changes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from middlemark.plan import Experiment, Side
from middlemark.suite import Disturbance
from middlemark.testbed.ledger import Ledger
from middlemark.worker.contract import Description


@dataclass(frozen=True)
class Worker:
    """A worker and what it says of itself."""

    path: Path
    description: Description


@dataclass(frozen=True)
class Grounds:
    """What every trial of a campaign has in common."""

    workers: Mapping[str, Worker]
    """By middleware."""
    base: Mapping[str, Worker]
    """By middleware: those of the side that is compared against, where there is one."""
    ledger: Ledger
    bounds: Disturbance
    """When a trial is invalid because the machine was taken away, and how often it is then repeated."""
    cpus: tuple[int, ...] = field(default_factory=lambda: tuple(sorted(os.sched_getaffinity(0))))

    def worker_of(self, experiment: Experiment) -> Worker:
        """The worker that the experiment's applications are."""
        return (self.base if experiment.side is Side.BASE else self.workers)[experiment.middleware]
