"""A test-bed of a fleet: a Dask worker with one thread and one place, so that two trials never share its machine.

It states its machine and its build when it joins, measures each block in a run folder of its own, packs it, and
keeps it until the front has fetched it. `front` hands blocks out, `parcel` packs them.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import signal
import socket
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

import dask.config
from dask.typing import Key
from distributed import Security, Worker, WorkerPlugin, get_worker
from distributed.core import Status

from middlemark.campaign.fleet.parcel import PIECE_BYTES, Parcel, packed
from middlemark.campaign.local import LocalMeasurement
from middlemark.campaign.manifest import differing, origin_now, origin_of, plain_facts
from middlemark.campaign.progress import CampaignTrials, Progress
from middlemark.campaign.trial.environment import campaign_resources
from middlemark.errors import EnvironmentNotReady, Interrupted, StoreError
from middlemark.results import store
from middlemark.results.manifest import Manifest, RemoteMachine, Testbed
from middlemark.results.progress import Unobserved
from middlemark.results.run_folder import RunFolder
from middlemark.suite import parse_given
from middlemark.testbed.machine import readiness
from middlemark.testbed.processes import abandoned, ledger
from middlemark.worker.available import available_workers, needed_workers

logger = logging.getLogger("distributed.worker")
"""Where Dask says what a test-bed does, on standard error."""
PLACE: Final[dict[str, float]] = {"testbed": 1}
"""The resource that a block takes, and of which a test-bed has one."""
STATEMENT: Final = "middlemark_testbed"
"""Under which name a test-bed states what it is."""
OF_THE_MACHINE = {"kernel", "machine"}
"""What may differ between the test-beds of a fleet, as the machine is a factor; all else must be the campaign's."""


QUIET: Final = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.tick.interval": "1s",
}
"""Dask's own looking at itself, which would take CPU time from what is measured."""


@dataclass
class Blocks(WorkerPlugin):
    """The blocks that a test-bed has measured, and which the front has not fetched yet."""

    entries: ledger.Ledger
    name: str = "middlemark"
    marks: dict[str, str] = field(default_factory=dict)
    """By folder, its mark in the ledger."""
    folders: dict[Key, Path] = field(default_factory=dict)
    """By task: the folder of the block that it measured."""
    shared: dict[str, str] = field(default_factory=dict)
    """By folder: where its parcel also lies, in a store."""

    def new_folder(self) -> Path:
        """An empty folder for a block, in the ledger until it is forgotten."""
        folder = Path(tempfile.gettempdir(), f"middlemark-block-{secrets.token_hex(6)}")
        self.marks[str(folder)] = self.entries.enter("folder", folder)
        folder.mkdir(mode=0o700)
        return folder

    def forget(self, folder: Path) -> None:
        """Removes a block, here at once; a store may take its time, in which the test-bed answers its scheduler."""
        if location := self.shared.pop(str(folder), None):
            threading.Thread(target=store.remove, args=(location,)).start()
        if mark := self.marks.pop(str(folder), None):
            self.entries.remove(mark)

    def share(self, parcel: Parcel, into: str, name: str) -> Parcel:
        """Puts a parcel into a store too, from where the front takes it; where that can't be, it comes back by Dask."""
        location, folder = store.location_in(into, name), str(Path(parcel.path).parent)
        self.shared[folder] = location
        try:
            store.put(Path(parcel.path), location)
        except EnvironmentNotReady as problem:
            logger.warning("the block comes back through the scheduler: %s", problem)
            return parcel
        return parcel.model_copy(update={"shared": name})

    def leave(self) -> None:
        """Takes out of stores what no front has fetched; what is here, the ledger removes."""
        for location in self.shared.values():
            store.remove(location)

    def transition(self, key: Key, start: str, finish: str, **_: object) -> None:  # noqa: ARG002 - Dask names them all
        """Removes a block when the front has it, or has gone: then nobody holds the result of its task any more."""
        if finish in {"released", "forgotten"} and key in self.folders:
            self.forget(self.folders.pop(key))

    def parcel(self, path: str) -> Path:
        """A parcel of a block that is kept here; nothing else can be read."""
        if str(Path(path).parent) not in self.marks:
            raise StoreError(Path(path), "it is no block of this test-bed")
        return Path(path)


class _Testbed(Worker):
    """A Dask worker that serves its scheduler and nobody else."""

    def start_http_server(self, *_: object) -> None:
        """There is none: it would tell anyone on the network of the machine, and take time from what is measured."""


def join(
    address: str,
    name: str | None,
    security: Security | None,
    death_timeout: float,
    hosts: Mapping[str, RemoteMachine],
) -> None:
    """Serves a scheduler with this machine and its hosts until a signal ends it, or the scheduler does."""
    workers, _ = available_workers()
    if not workers:
        raise EnvironmentNotReady("no worker was found, so nothing can be measured", remedy="middlemark doctor")
    facts = plain_facts(readiness.facts())
    stated = Testbed(machine=facts, build=origin_now(workers, {}), hosts=dict(hosts)).model_dump_json()
    with ledger.opened() as entries, dask.config.set(QUIET):
        blocks = Blocks(entries)
        try:
            asyncio.run(_serve(address, name or _host_name(), security, stated, blocks, death_timeout))
        finally:
            blocks.leave()


def _host_name() -> str:
    return socket.gethostname()[:63].strip(".-") or "testbed"


async def _serve(  # noqa: PLR0913, PLR0917 - what a test-bed is
    address: str, name: str, security: Security | None, stated: str, blocks: Blocks, death_timeout: float
) -> None:
    try:
        worker = await _Testbed(
            address,
            nthreads=1,
            resources=PLACE,
            name=name,
            local_directory=str(blocks.new_folder()),
            security=security,
            memory_limit=0,
            dashboard=False,
            plugins=(blocks,),
            startup_information={STATEMENT: lambda _: stated},
            death_timeout=death_timeout,
        )
    except (OSError, TimeoutError, ValueError) as error:
        raise EnvironmentNotReady(
            f"the scheduler at {address} takes no test-bed {name!r}: {error}",
            remedy="start one with `dask scheduler`, and give each test-bed a name of its own (--name)",
        ) from error
    loop = asyncio.get_running_loop()
    closing: list[asyncio.Task[Any]] = []
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, lambda: closing.append(loop.create_task(_closed(worker))))
    await worker.finished()


async def _closed(worker: Worker) -> None:
    with suppress(Exception):  # a scheduler that has gone makes no difference to who leaves
        await worker.close()


def measure(request: str, campaign: str, attempts: Mapping[str, int], through: str | None) -> tuple[str, str, str]:
    """A task of Dask: measures a block; gives the test-bed's name and address, and the parcel as JSON.

    `attempts` has how many a trial has had that is only repeated, as each of them was disturbed. The parcel goes into
    the store `through`, where there is one.
    """
    worker = get_worker()
    blocks = _blocks_of(worker)
    manifest = Manifest.model_validate_json(request)
    key, block = worker.get_current_task(), manifest.trials[0].block
    worker.log_event(campaign, {"block": block, "testbed": str(worker.name)})
    folder = blocks.new_folder()
    try:
        parcel = measure_block(manifest, folder, attempts, lambda: _is_wanted(worker, key))
        if through is not None:
            parcel = blocks.share(parcel, through, f"{campaign}-{block}-{secrets.token_hex(6)}.tar")
    except BaseException:
        blocks.forget(folder)
        raise
    blocks.folders[key] = folder
    return str(worker.name), worker.address, parcel.model_dump_json()


def _blocks_of(worker: Worker) -> Blocks:
    return cast("Blocks", worker.plugins[Blocks.name])


def _is_wanted(worker: Worker, key: Key) -> bool:
    """Whether somebody still waits for a task that runs here: a cancelled one goes on, as Dask ends no thread."""
    task = worker.state.tasks.get(key)
    return task is not None and task.state in {"executing", "long-running"} and worker.status is Status.running


def piece(path: str, offset: int) -> bytes:
    """A task of Dask: a part of a parcel."""
    blocks = _blocks_of(get_worker())
    with blocks.parcel(path).open("rb") as file:
        file.seek(offset)
        return file.read(PIECE_BYTES)


def same_build(build: dict[str, str], required: dict[str, str]) -> tuple[str, ...]:
    """In what a test-bed's build differs from the one that a campaign requires, in words; empty where in nothing."""
    needed = {name: value for name, value in required.items() if name not in OF_THE_MACHINE}
    return differing(needed, {name: build.get(name, "") for name in needed})


def measure_block(
    manifest: Manifest, folder: Path, attempts: Mapping[str, int], is_wanted: Callable[[], bool]
) -> Parcel:
    """Measures the trials of a manifest, which are those of a block, in an empty folder.

    Raises `EnvironmentNotReady` where this test-bed has another build, and `Interrupted` soon after the block is
    wanted no more.
    """
    workers = needed_workers(manifest.trials, *available_workers())
    if differences := same_build(origin_now(workers, {}), origin_of(manifest)):
        raise EnvironmentNotReady(
            f"the test-bed has another build than the campaign: {'; '.join(differences)}",
            remedy="install the same build of Middlemark there",
        )
    abandoned.sweep()
    definition = parse_given(manifest.suite_text, file="the suite of the campaign", files=manifest.suite_files)
    with RunFolder.created(folder / "run", manifest) as run, ledger.opened() as entries:
        trials = CampaignTrials(run, manifest, dict(attempts))
        with campaign_resources(workers, {}, entries, definition.disturbance) as resources:
            local = LocalMeasurement(trials, resources, Progress(run.path, Unobserved()))
            asyncio.run(_until_unwanted(local, is_wanted))
        return packed(run, manifest.trials, folder / "block.tar")


async def _until_unwanted(local: LocalMeasurement, is_wanted: Callable[[], bool]) -> None:
    """Measures the planned trials, and ends them when nobody waits for them any more."""
    measuring = asyncio.ensure_future(local.measure(local.trials.to_run()))
    while not (await asyncio.wait({measuring}, timeout=1.0))[0]:
        if not is_wanted():
            measuring.cancel()
    try:
        await measuring
    except asyncio.CancelledError:
        raise Interrupted("nobody waits for the block any more") from None
