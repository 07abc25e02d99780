"""A run's manifest: what was asked for and what it ran on, gathered once before the first trial.

It gathers only; `results.writer` writes, `results.manifest` says what the fields mean.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from middlemark import __version__
from middlemark.campaign.grounds import Worker
from middlemark.campaign.order import Order
from middlemark.plan import Caution, WarningKind
from middlemark.results.manifest import Dissector, Library, Manifest, Middleware
from middlemark.suite import Suite
from middlemark.testbed import machine
from middlemark.testbed.machine import Fact

WARNED_OF = {
    "governor": WarningKind.GOVERNOR,
    "turbo": WarningKind.TURBO,
    "idle_states": WarningKind.C_STATES,
    "load_1min": WarningKind.LOAD,
    "steal_percent_since_boot": WarningKind.STEAL,
    "rmem_max_bytes": WarningKind.SOCKET_BUFFERS,
    "wmem_max_bytes": WarningKind.SOCKET_BUFFERS,
    "clock_source": WarningKind.CLOCK_SOURCE,
    "clock_cost_ns": WarningKind.TIMER_COST,
    "clock_resolution_ns": WarningKind.TIMER_COST,
    "wake_up_error_median_ns": WarningKind.C_STATES,
    "wake_up_error_p99_ns": WarningKind.SCHEDULING,
}


def gather(order: Order) -> Manifest:
    """The manifest of a run that is about to begin."""
    facts = machine.facts()
    return Manifest(
        middlemark_version=__version__,
        suite=order.name,
        suite_text=order.text,
        suite_files=dict(order.files),
        seed=order.given.seed,
        trials=order.trials,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        command=tuple(sys.argv),
        machine={fact.name: _plain(fact.value) for fact in facts},
        middlewares={name: stored_middleware(worker) for name, worker in order.workers.items()},
        claims=order.given.claims if isinstance(order.given, Suite) else (),
        against=tuple(str(folder) for folder in order.against),
        base={name: stored_middleware(worker) for name, worker in order.base.items()},
        left_out=dict(order.left_out),
        warnings=cautions(facts, order),
    )


def cautions(facts: Sequence[Fact], order: Order) -> tuple[Caution, ...]:
    """What is not as a measurement wants it."""
    of_machine = [
        Caution(kind=WARNED_OF[fact.name], text=f"{fact.name} is {_plain(fact.value)}", remedy=fact.remedy)
        for fact in facts
        if fact.ready is False and fact.name in WARNED_OF
    ]
    of_workers = [
        Caution(kind=WarningKind.LEFT_OUT, text=f"{name} is left out: {reason}", remedy="middlemark doctor")
        for name, reason in order.left_out.items()
    ]
    return (*of_machine, *of_workers)


def stored_middleware(worker: Worker) -> Middleware:
    """What a worker says of itself, with the digest of the very file."""
    description = worker.description
    return Middleware(
        title=description.title,
        sha256=_sha256(worker.path),
        summary=description.summary,
        library=Library.model_validate(description.library.model_dump()),
        dissectors=tuple(Dissector.model_validate(each.model_dump()) for each in description.dissectors or ()),
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _plain(value: machine.Value) -> str | int | float:
    return ", ".join(value) if isinstance(value, list) else value
