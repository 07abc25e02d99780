"""The test-beds that have joined a scheduler: which can measure for a campaign, why others can't, and what they bring.

Who is there, the scheduler knows; what each is, it stated when it joined. `front` hands blocks to them, `parcel`
checks what is brought.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from distributed import Client, Future, Security, wait
from pydantic import ValidationError

from middlemark.campaign.fleet import testbed
from middlemark.campaign.fleet.parcel import Parcel, check_digest
from middlemark.campaign.fleet.testbed import same_build
from middlemark.campaign.manifest import origin_of
from middlemark.errors import EnvironmentNotReady, StoreError
from middlemark.results import store
from middlemark.results.manifest import Manifest, Testbed
from middlemark.suite.yaml.quantity import first_few

TALK: Final = logging.getLogger("distributed.batched")
"""Where Dask tells, with a traceback, that a connection was closed which this front closes at its end."""
ANSWERED_WITHIN_S: Final = 10.0
JOINED_WITHIN_S: Final = 30.0
MOST_REASONS: Final = 5
LOOK_S: Final = 1.0
"""How often it is looked which test-beds have joined or gone."""


async def client_at(address: str, security: Security | None) -> Client:
    """A connection to a scheduler; raises `EnvironmentNotReady` where none answers."""
    TALK.setLevel(logging.WARNING)
    try:
        client: Client = await Client(address, asynchronous=True, security=security, timeout=ANSWERED_WITHIN_S)
    except (OSError, TimeoutError, ValueError) as error:
        raise EnvironmentNotReady(
            f"no scheduler answers at {address}: {error}", remedy="start one: dask scheduler"
        ) from error
    return client


@dataclass(frozen=True)
class Needed:
    """What a campaign needs of a test-bed."""

    build: dict[str, str]
    machines: frozenset[str]
    """The names that its suite has for machines reached by SSH."""

    def missing(self, stated: Testbed) -> str:
        """What a test-bed has not; empty where it has all."""
        if differences := same_build(stated.build, self.build):
            return f"has another build: {'; '.join(differences)}"
        if lacking := sorted(self.machines - stated.hosts.keys()):
            return f"has no machine {', '.join(lacking)}: let it join with --hosts FILE, which names its machines"
        return ""


def machine_names(manifest: Manifest) -> frozenset[str]:
    """The names that the suite has for machines reached by SSH; in a fleet each test-bed has machines of its own."""
    hosts = (host for trial in manifest.trials for host in trial.experiment.hosts)
    return frozenset(host.ssh for host in hosts if host.ssh is not None)


def in_common(stated: Testbed, others: Mapping[str, Testbed]) -> str:
    """Why a test-bed can't measure beside others: two trials would share a machine."""
    names = {machine.started: name for name, machine in stated.hosts.items()}
    for other, bed in others.items() if names else ():
        for name, machine in bed.hosts.items():
            if machine.started in names:
                return f"has {names[machine.started]}, which is {name} of {other} too: each needs machines of its own"
    return ""


@dataclass
class Roster:
    """The test-beds of a scheduler, for one campaign."""

    client: Client
    address: str
    """Of the scheduler."""
    through: str | None = None
    """A store, known to all test-beds, through which their blocks come back; None where that is the scheduler alone."""
    stated: dict[str, Testbed] = field(default_factory=dict)
    """By address: those that could measure for the campaign, also when they have gone."""
    names: dict[str, str] = field(default_factory=dict)
    """By address."""
    _refused: dict[str, str] = field(default_factory=dict)
    """By address of a test-bed that can't measure for the campaign: why."""
    _fit: frozenset[str] = frozenset()
    """The addresses of those that were there at the last look."""
    _looked_ns: int | None = None
    """When that was."""

    async def joined(self, manifest: Manifest) -> None:
        """Waits for a first test-bed."""
        for _ in range(int(JOINED_WITHIN_S / LOOK_S)):
            if await self.fit(manifest):
                return
            await asyncio.sleep(LOOK_S)
        refused = first_few(self._refused.values(), MOST_REASONS, "test-bed", "\n  ")
        raise EnvironmentNotReady(
            "\n  ".join(filter(None, [f"no test-bed that can measure this has joined {self.address}", refused])),
            remedy=f"on each machine: middlemark testbed join {self.address}",
        )

    async def fit(self, manifest: Manifest) -> frozenset[str]:
        """The addresses of test-beds that are there, are of the campaign's build, and have machines for its hosts.

        The scheduler is asked at most once in `LOOK_S`, as it tells all that it knows of each. It is the same object as
        long as the same are there: each block under way has it.
        """
        now_ns = time.monotonic_ns()
        if self._looked_ns is None or now_ns - self._looked_ns >= LOOK_S * 1e9:
            self._looked_ns = now_ns
            addresses = await self._look(manifest)
            self._fit = self._fit if addresses == self._fit else addresses
        return self._fit

    async def _look(self, manifest: Manifest) -> frozenset[str]:
        present = await self.present()
        self.names |= {address: str(worker["name"]) for address, worker in present.items()}
        new = present.keys() - self.stated.keys() - self._refused.keys()
        statements = {address: worker.get(testbed.STATEMENT) for address, worker in present.items() if address in new}
        self._judge({address: text for address, text in statements.items() if text is not None}, manifest, present)
        return frozenset(present.keys() & self.stated.keys())

    def _judge(self, statements: Mapping[str, str], manifest: Manifest, present: Container[str]) -> None:
        """Takes test-beds that were not there before, or keeps why they can't measure for the campaign."""
        if not statements:
            return
        needed = Needed(origin_of(manifest), machine_names(manifest))
        others = {self.names[address]: bed for address, bed in self.stated.items() if address in present}
        for address, statement in statements.items():
            name = self.names[address]
            try:
                stated = Testbed.model_validate_json(statement)
            except ValidationError as error:
                self._refused[address] = f"{name}: what it states can't be read: {error.errors()[0]['msg']}"
                continue
            if why := needed.missing(stated) or in_common(stated, others):
                self._refused[address] = f"{name} {why}"
            else:
                self.stated[address] = others[name] = stated

    async def present(self) -> dict[str, Any]:
        """By address, what the scheduler knows of each; the client's own copy is of five of them."""
        identity = await cast("Any", self.client.scheduler).identity(n_workers=-1)
        return cast("dict[str, Any]", identity["workers"])


async def ended(futures: Sequence[Future[Any]]) -> list[Future[Any]]:
    """Those that have ended, as soon as there are some; after a while none, as it is time to look who is there."""
    if done := [future for future in futures if future.done()]:
        return done  # waiting takes a task for each
    if not futures:
        await asyncio.sleep(LOOK_S)
    else:
        with suppress(TimeoutError):
            await wait(futures, timeout=LOOK_S, return_when="FIRST_COMPLETED")
    return [future for future in futures if future.done()]


class TestbedGone(Exception):
    """A test-bed left before its block was fetched."""


async def fetch(roster: Roster, address: str, parcel: Parcel, into: Path) -> None:
    """Writes a parcel of a test-bed into a file; raises `TestbedGone` where that has left.

    By the store through which blocks come back, where that has it, else by the scheduler in pieces.
    """
    if roster.through is not None and parcel.shared is not None:
        location = store.location_in(roster.through, parcel.shared)
        with suppress(EnvironmentNotReady, StoreError):
            await asyncio.to_thread(store.fetch, location, into, parcel.size_bytes)
            check_digest(parcel, into)
            return
    with into.open("wb") as file:
        for offset in parcel.offsets:
            file.write(await _piece(roster, address, parcel, offset))
    check_digest(parcel, into)


async def _piece(roster: Roster, address: str, parcel: Parcel, offset: int) -> Any:  # noqa: ANN401 - what the task gives
    """The test-bed gives it between its blocks."""
    future = roster.client.submit(testbed.piece, parcel.path, offset, workers=[address], pure=False, priority=10)
    while not await ended([future]):
        if address not in await roster.present():
            await roster.client.cancel([future])
            raise TestbedGone(address)
    return await future
