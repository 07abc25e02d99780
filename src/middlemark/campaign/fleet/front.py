"""The blocks of a campaign handed out to the test-beds of a fleet, and stored when they are whole.

Which test-bed is free, which one is lost, and that a lost one's block begins anew elsewhere, is the Dask scheduler's to
know. A block that is measured twice counts once: only what this front fetched is stored.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from distributed import Client, Future, KilledWorker, Security, wait
from distributed.client import FutureCancelledError
from pydantic import ValidationError

from middlemark.campaign.fleet import testbed
from middlemark.campaign.fleet.block import same_build
from middlemark.campaign.fleet.blocks import MeasuredBlock
from middlemark.campaign.fleet.parcel import Parcel, arriving, check_digest, stored, unpacked
from middlemark.campaign.manifest import origin_of
from middlemark.errors import EnvironmentBroke, EnvironmentNotReady, MiddlemarkError
from middlemark.plan import Caution, Trial, WarningKind
from middlemark.results.manifest import Manifest, Testbed
from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import RunFolder

JOINED_WITHIN_S: Final = 30.0
LOOK_S: Final = 1.0
"""How often it looks for test-beds that have joined."""
MOST_REFUSALS: Final = 3
"""How often a block may end with an error of its own before the campaign ends with it."""


@dataclass(frozen=True)
class _HandedOut:
    block: Sequence[Trial]
    at_ns: int

    @property
    def took_ns(self) -> int:
        return time.monotonic_ns() - self.at_ns


@dataclass
class Fleet:
    """A connection to a scheduler and its test-beds, for one run."""

    client: Client
    address: str
    """Of the scheduler."""
    run: RunFolder
    campaign: str
    """The topic of its events: no other campaign's."""
    _begun: dict[int, list[str]] = field(default_factory=dict)
    """By block: the test-beds that began it."""
    _known: dict[str, Testbed] = field(default_factory=dict)
    """By address: the test-beds that blocks were handed out to."""
    _refused: dict[str, str] = field(default_factory=dict)
    """By address of a test-bed that can't measure for this campaign: why."""
    _errors: dict[int, int] = field(default_factory=dict)

    async def measured(self, manifest: Manifest, trials: Sequence[Trial]) -> AsyncIterator[MeasuredBlock]:
        """Has the blocks of these trials measured; gives each when it is stored, in the order in which they came."""
        waiting = deque[Sequence[Trial]](_blocks(trials))
        under_way: dict[Future[Any], _HandedOut] = {}
        await self._joined(manifest)
        with arriving(self.run) as folder:
            try:
                while waiting or under_way:
                    fit = await self._fit(manifest)
                    while waiting and len(under_way) < len(fit):
                        block = waiting.popleft()
                        under_way[self._handed_out(manifest, block, fit)] = _HandedOut(block, time.monotonic_ns())
                    for future in await _ended(list(under_way)):
                        order = under_way.pop(future)
                        try:
                            testbed, facts, records = await self._fetched(future, order.block, folder)
                        except (MiddlemarkError, KilledWorker, FutureCancelledError) as problem:
                            self._check_again(order.block, problem)
                            waiting.appendleft(order.block)
                        else:
                            yield MeasuredBlock(testbed, facts, records, order.took_ns, len(fit))
            finally:
                await self.client.cancel(list(under_way))

    async def _joined(self, manifest: Manifest) -> None:
        """Waits for a first test-bed."""
        for _ in range(int(JOINED_WITHIN_S / LOOK_S)):
            if await self._fit(manifest):
                return
            await asyncio.sleep(LOOK_S)
        refused = "".join(f"\n  {why}" for why in self._refused.values())
        raise EnvironmentNotReady(
            f"no test-bed that can measure this has joined {self.address}{refused}",
            remedy=f"on each machine: middlemark testbed join {self.address}",
        )

    async def _fit(self, manifest: Manifest) -> dict[str, Testbed]:
        """By address: the test-beds that are there, and are of the campaign's build."""
        fit: dict[str, Testbed] = {}
        for address, worker in (await self._testbeds()).items():
            stated = worker.get(testbed.STATEMENT)
            if address in self._refused or stated is None:
                continue
            try:
                there = Testbed.model_validate_json(stated)
            except ValidationError as error:
                self._refused[address] = f"{worker['name']}: what it states can't be read: {error.errors()[0]['msg']}"
                continue
            if differences := same_build(there.build, origin_of(manifest)):
                self._refused[address] = f"{worker['name']} has another build: {'; '.join(differences)}"
            else:
                fit[address] = there
        self._known |= fit
        return fit

    async def _testbeds(self) -> dict[str, Any]:
        """By address, what the scheduler knows of each; the client's own copy is of five of them."""
        found = await cast("Any", self.client.scheduler).identity(n_workers=-1)
        return cast("dict[str, Any]", found["workers"])

    def _handed_out(self, manifest: Manifest, block: Sequence[Trial], fit: Mapping[str, Testbed]) -> Future[Any]:
        request = manifest.model_copy(update={"trials": tuple(block), "widths": (), "testbeds": {}})
        return self.client.submit(
            testbed.measure,
            request.model_dump_json(),
            self.campaign,
            resources=testbed.PLACE,
            workers=list(fit),
            pure=False,
        )

    async def _fetched(
        self, future: Future[Any], block: Sequence[Trial], folder: Path
    ) -> tuple[str, Testbed, list[TrialRecord]]:
        """Brings a measured block here and stores it."""
        name, address, text = await future
        parcel = Parcel.model_validate_json(text)
        path = folder / f"{block[0].block}.tar"
        with path.open("wb") as file:
            for offset in parcel.offsets:
                file.write(await self._at(address, testbed.piece, parcel.path, offset))
        check_digest(parcel, path)
        records = stored(self.run, unpacked(path, block), block, name, self._cautions(block, name))
        path.unlink()
        return name, self._known[address], records

    async def _at(self, address: str, task: Any, *arguments: object) -> Any:  # noqa: ANN401 - what the task gives
        """What a task gives on one test-bed, between its blocks; raises where the test-bed has gone."""
        future = self.client.submit(task, *arguments, workers=[address], pure=False, priority=10)
        while not await _ended([future]):
            if address not in await self._testbeds():
                await self.client.cancel([future])
                raise EnvironmentBroke(f"the test-bed at {address} has gone", remedy="its block is measured elsewhere")
        return await future

    def _cautions(self, block: Sequence[Trial], name: str) -> tuple[Caution, ...]:
        begun = self._begun.get(block[0].block, [])
        lost = begun[:-1]
        if not lost:
            return ()
        text = f"its block had begun on {', '.join(lost)}, which did not bring it back, and was measured anew on {name}"
        remedy = "nothing, if it is rare; else look at that test-bed's log"
        return (Caution(kind=WarningKind.ELSEWHERE, text=text, remedy=remedy),)

    def _check_again(self, block: Sequence[Trial], problem: BaseException) -> None:
        """Raises where a block ended with an error too often: it won't be measured by trying again."""
        number = block[0].block
        self._errors[number] = self._errors.get(number, 0) + 1
        if self._errors[number] >= MOST_REFUSALS:
            places = ", ".join(self._begun.get(number, ["any test-bed"]))
            raise EnvironmentNotReady(
                f"block {number} could not be measured on {places}: {problem}",
                remedy="look at the test-beds' logs; then go on with --resume",
            ) from problem

    def began(self, event: tuple[float, Mapping[str, Any]]) -> None:
        """Takes the event that a test-bed began a block."""
        _, said = event
        self._begun.setdefault(int(said["block"]), []).append(str(said["testbed"])[:63])


@asynccontextmanager
async def connected(address: str, run: RunFolder, security: Security | None) -> AsyncIterator[Fleet]:
    """A fleet for a run, by the address of its scheduler."""
    try:
        client = await Client(address, asynchronous=True, security=security, timeout="10s")
    except (OSError, TimeoutError, ValueError) as error:
        raise EnvironmentNotReady(
            f"no scheduler answers at {address}: {error}", remedy="start one: dask scheduler"
        ) from error
    async with client:
        fleet = Fleet(client, address, run, f"middlemark-{client.id}")
        client.subscribe_topic(fleet.campaign, fleet.began)
        yield fleet


def _blocks(trials: Sequence[Trial]) -> list[list[Trial]]:
    blocks: dict[int, list[Trial]] = {}
    for trial in trials:
        blocks.setdefault(trial.block, []).append(trial)
    return list(blocks.values())


async def _ended(futures: Sequence[Future[Any]]) -> list[Future[Any]]:
    """Those that have ended, as soon as there are some; after a while none, as it is time to look who has joined."""
    if not futures:
        await asyncio.sleep(LOOK_S)
    else:
        with suppress(TimeoutError):
            await wait(futures, timeout=LOOK_S, return_when="FIRST_COMPLETED")
    return [future for future in futures if future.done()]
