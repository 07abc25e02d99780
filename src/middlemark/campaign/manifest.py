"""A run's manifest: what was requested and what it ran on, gathered before the first trial, and held against today's.

A run is continued with its suite planned again and the workers that are found or named now: nothing from a run folder
is executed, and differences are refused or recorded with each later trial. `results.manifest` documents the fields.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from middlemark.campaign.order import Order
from middlemark.errors import EnvironmentNotReady, StoreError, SuiteError, UsageError
from middlemark.installation import VERSION
from middlemark.plan import Caution, Side, WarningKind, replanned
from middlemark.results.files import file_digest
from middlemark.results.manifest import Dissector, Library, MachineFacts, Manifest, Middleware
from middlemark.results.run_folder import RunFolder
from middlemark.suite import Demand, Suite, parse_given
from middlemark.suite.yaml.quantity import DURATION, SIZE
from middlemark.testbed.machine import readiness
from middlemark.testbed.machine.readiness import Fact
from middlemark.worker.available import Worker, available_workers, base_workers, needed_workers
from middlemark.worker.description import programs_of_services

WARNED_OF = {
    "governor": WarningKind.GOVERNOR,
    "turbo": WarningKind.TURBO,
    "idle_states": WarningKind.C_STATES,
    "busy_cpus": WarningKind.LOAD,
    "steal_percent_since_boot": WarningKind.STEAL,
    "rmem_max_bytes": WarningKind.SOCKET_BUFFERS,
    "wmem_max_bytes": WarningKind.SOCKET_BUFFERS,
    "clock_source": WarningKind.CLOCK_SOURCE,
    "clock_cost_ns": WarningKind.TIMER_COST,
    "clock_resolution_ns": WarningKind.TIMER_COST,
    "wake_up_error_median_ns": WarningKind.C_STATES,
    "wake_up_error_p99_ns": WarningKind.SCHEDULING,
}


def new_manifest(order: Order) -> Manifest:
    """The manifest of a run that is about to begin."""
    facts = readiness.facts()
    return Manifest(
        middlemark_version=VERSION,
        suite=order.name,
        suite_text=order.text,
        suite_files=dict(order.files),
        seed=order.definition.seed,
        trials=order.trials,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        command=tuple(sys.argv),
        machine=plain_facts(facts),
        middlewares={name: stored_middleware(worker) for name, worker in order.workers.items()},
        claims=order.definition.claims if isinstance(order.definition, Suite) else (),
        against=tuple(str(folder) for folder in order.against),
        base={name: stored_middleware(worker) for name, worker in order.base.items()},
        left_out=dict(order.left_out),
        tags=order.tags,
        warnings=cautions(facts, order),
    )


def plain_facts(facts: Sequence[Fact]) -> MachineFacts:
    """A machine's facts as they are stored."""
    return {fact.name: _plain(fact.value) for fact in facts}


def cautions(facts: Sequence[Fact], order: Order) -> tuple[Caution, ...]:
    """What is not as a measurement wants it."""
    of_machine = [
        Caution(kind=WARNED_OF[fact.name], text=_in_words(fact), remedy=fact.remedy)
        for fact in facts
        if fact.ready is False and fact.name in WARNED_OF
    ]
    of_workers = [
        Caution(kind=WarningKind.LEFT_OUT, text=f"{name} is left out: {reason}", remedy="middlemark doctor")
        for name, reason in order.left_out.items()
    ]
    return (*of_machine, *of_workers)


def _in_words(fact: Fact) -> str:
    """Its name and value, with the unit that the name ends in: `wake up error p99 is 4.01 ms`."""
    stem, _, unit = fact.name.rpartition("_")
    quantity = {"ns": DURATION, "bytes": SIZE}.get(unit)
    if quantity is None or not isinstance(fact.value, int | float):
        return f"{fact.name.replace('_', ' ')} is {_plain(fact.value)}"
    return f"{stem.replace('_', ' ')} is {quantity.about(fact.value)}"


def stored_middleware(worker: Worker) -> Middleware:
    """What a worker says of itself, with the digest of the very file."""
    description = worker.description
    return Middleware(
        title=description.title,
        sha256=file_digest(worker.path.resolve()),
        summary=description.summary,
        library=Library.model_validate(description.library.model_dump()),
        programs=tuple(Library.model_validate(library.model_dump()) for library in programs_of_services(description)),
        dissectors=tuple(
            Dissector.model_validate(dissector.model_dump()) for dissector in description.dissectors or ()
        ),
    )


def _plain(value: readiness.Value) -> str | int | float:
    return ", ".join(value) if isinstance(value, list) else value


@dataclass(frozen=True)
class Resumed:
    """A stored run with what it is continued with."""

    definition: Suite | Demand
    manifest: Manifest
    workers: Mapping[str, Worker]
    base: Mapping[str, Worker]
    differences: tuple[str, ...]
    """From when the run was begun; empty unless they were allowed."""

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """The warnings of each trial from now on."""
        if not self.differences:
            return ()
        text = f"the run was continued with differences: {'; '.join(self.differences)}"
        return (
            Caution(kind=WarningKind.ACROSS, text=text, remedy="run the suite again on one machine with one build"),
        )


def resumed(run: RunFolder, against: Sequence[Path], *, across: bool) -> Resumed:
    """What the run is continued with; refused where it is not what was planned, or was begun with something else."""
    manifest = run.read_manifest()
    definition = _replanned_definition(run, manifest)
    _check_against(run, manifest, against)
    workers = needed_workers(manifest.trials, *available_workers())
    of_base = [trial for trial in manifest.trials if trial.experiment.side is Side.BASE]
    base = needed_workers(of_base, base_workers(against), {})
    differences = differing(origin_of(manifest), origin_now(workers, base))
    if differences and not across:
        raise StoreError(
            run.path,
            f"it was begun with other versions: {'; '.join(differences)}",
            "run the suite again; or continue with `--across`, which is recorded with each trial",
        )
    return Resumed(definition, manifest, workers, base, differences)


def _replanned_definition(run: RunFolder, manifest: Manifest) -> Suite | Demand:
    try:
        definition = parse_given(manifest.suite_text, file=str(run.manifest_path), files=manifest.suite_files)
        trials = replanned(definition, manifest.trials)
    except (SuiteError, UsageError, EnvironmentNotReady) as error:
        raise StoreError(run.manifest_path, f"its suite can't be planned again: {error.text}") from error
    if trials != manifest.trials or definition.seed != manifest.seed:
        others = (old.id for old, new in zip(manifest.trials, trials, strict=False) if old != new)
        first = next(others, "their number")
        raise StoreError(
            run.manifest_path,
            f"its trials are not those that its suite plans: {first} differs",
            "run the suite again: `suite_text` in the manifest is its file",
        )
    return definition


def _check_against(run: RunFolder, manifest: Manifest, against: Sequence[Path]) -> None:
    """Folders of executables are the user's to name, whatever a run folder says."""
    if bool(manifest.against) == bool(against):
        return
    if against:
        raise UsageError("the run has no base", remedy=f"middlemark run --resume {run.path}")
    named = " ".join(f"--against {shlex.quote(folder)}" for folder in manifest.against)
    raise UsageError(
        "the run has a base, whose workers are executables: name their folders again",
        remedy=f"if these are yours: middlemark run --resume {shlex.quote(str(run.path))} {named}",
    )


def differing(then: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """What is otherwise than it was, in words."""
    names = [name for name in {**now, **then} if then.get(name) != now.get(name) or not then.get(name)]
    return tuple(f"{name}: {then.get(name) or 'not recorded'}, now {now.get(name) or 'unknown'}" for name in names)


def origin_of(manifest: Manifest) -> dict[str, str]:
    """What the metrics of a run depend on beside its suite, by what it is called."""
    return _origin(manifest.middlemark_version, manifest.machine, manifest.middlewares, manifest.base)


def origin_now(workers: Mapping[str, Worker], base: Mapping[str, Worker]) -> dict[str, str]:
    """The same of these workers on this machine."""
    facts = {fact.name: str(fact.value) for fact in readiness.identity()}
    head = {name: stored_middleware(worker) for name, worker in workers.items()}
    return _origin(VERSION, facts, head, {name: stored_middleware(worker) for name, worker in base.items()})


def _origin(
    version: str, facts: Mapping[str, object], workers: Mapping[str, Middleware], base: Mapping[str, Middleware]
) -> dict[str, str]:
    origin = {"middlemark": version}
    for owner, middlewares in (("", workers), ("base's ", base)):
        for name, middleware in middlewares.items():
            origin[f"{owner}library of {name}"] = f"{middleware.library.name} {middleware.library.version}"
            origin[f"{owner}worker of {name} (SHA-256)"] = (middleware.sha256 or "")[:16]
    return origin | {"kernel": str(facts.get("kernel", "")), "machine": str(facts.get("machine_id", ""))}
