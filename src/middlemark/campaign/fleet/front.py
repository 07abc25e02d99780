"""The blocks of a campaign handed out to the test-beds of a fleet, and stored when they are whole.

Which test-bed is free, which one is lost, and that a lost one's block begins anew elsewhere, is the Dask scheduler's to
know. A block that is measured twice counts once: only what this front fetched is stored. One that
fails again and again ends the campaign, as another attempt would not mend it.
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from distributed import Client, Future, KilledWorker, Security
from distributed.client import FutureCancelledError

from middlemark.campaign.fleet import detached, testbed
from middlemark.campaign.fleet.blocks import MeasuredBlock
from middlemark.campaign.fleet.parcel import Parcel, arriving, stored, unpacked
from middlemark.campaign.fleet.roster import Roster, TestbedGone, ended, fetch
from middlemark.errors import EnvironmentNotReady, MiddlemarkError
from middlemark.plan import Caution, Trial, WarningKind
from middlemark.results.files import is_there
from middlemark.results.manifest import Manifest
from middlemark.results.run_folder import RunFolder

MOST_FAILURES: Final = 3
"""How often a block may end with an error of its own before the campaign ends with it."""


@dataclass
class Attempts:
    """The attempts at the blocks of a campaign, by their numbers."""

    _begun: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    """The test-beds that began a block."""
    _failures: dict[int, int] = field(default_factory=lambda: defaultdict(int))

    def began(self, event: tuple[float, Mapping[str, Any]]) -> None:
        """Takes the event that a test-bed began a block."""
        _, fields = event
        self._begun[int(fields["block"])].append(str(fields["testbed"])[:63])

    def failed(self, block: int, problem: BaseException) -> None:
        """Raises where a block failed too often: it won't be measured by trying again."""
        self._failures[block] += 1
        if self._failures[block] >= MOST_FAILURES:
            testbeds = ", ".join(self._begun[block]) or "any test-bed"
            raise EnvironmentNotReady(
                f"block {block} could not be measured on {testbeds}: {problem}",
                remedy="look at the test-beds' logs; then go on with --resume",
            ) from problem

    def cautions(self, block: int, testbed: str) -> tuple[Caution, ...]:
        """Of a block that this test-bed brought: those before it didn't."""
        lost = self._begun[block][:-1]
        if not lost:
            return ()
        text = (
            f"its block had begun on {', '.join(lost)}, which did not bring it back, and was measured anew on {testbed}"
        )
        remedy = "nothing, if it is rare; else look at that test-bed's log"
        return (Caution(kind=WarningKind.ELSEWHERE, text=text, remedy=remedy),)


@dataclass(frozen=True)
class _HandedOut:
    trials: Sequence[Trial]
    at_ns: int

    @property
    def block(self) -> int:
        return self.trials[0].block

    @property
    def took_ns(self) -> int:
        return time.monotonic_ns() - self.at_ns


@dataclass
class Front:
    """A campaign's side of a fleet, for one run."""

    roster: Roster
    run: RunFolder
    topic: str
    """By which the fleet knows the run: of its events, and of the blocks that a front left behind."""
    attempts: Attempts = field(default_factory=Attempts)

    async def measured(self, manifest: Manifest, trials: Sequence[Trial]) -> AsyncIterator[MeasuredBlock]:
        """Has the blocks of these trials measured; gives each when it is stored, in the order in which they came."""
        await self.roster.joined(manifest)
        under_way = await self._taken_up(manifest, trials)
        out = {order.block for order in under_way.values()}
        waiting = deque(block for block in _blocks(trials) if block[0].block not in out)
        with arriving(self.run) as folder:
            try:
                while waiting or under_way:
                    fit = await self.roster.fit(manifest)
                    while waiting and len(under_way) < len(fit):
                        block = waiting.popleft()
                        places = self._places(manifest, block, fit)
                        under_way[self._submitted(manifest, block, places)] = _HandedOut(block, time.monotonic_ns())
                    for future in await ended(list(under_way)):
                        order = under_way.pop(future)
                        measured = await self._fetched(future, order, folder, len(fit))
                        if measured is None:
                            waiting.appendleft(order.trials)
                        else:
                            yield measured
            finally:
                await self.roster.client.cancel(list(under_way))

    async def leave(self, manifest: Manifest, trials: Sequence[Trial]) -> int:
        """Has the blocks of these trials measured while no front is there; gives how many there are."""
        await self.roster.joined(manifest)
        fit = await self.roster.fit(manifest)
        futures = {block[0].block: self._submitted(manifest, block, fit) for block in _blocks(trials)}
        await detached.keep(self.roster.client, self.topic, futures)
        return len(futures)

    async def _taken_up(self, manifest: Manifest, trials: Sequence[Trial]) -> dict[Future[Any], _HandedOut]:
        """The blocks that an earlier front left behind, and that are wanted."""
        present = await self.roster.fit(manifest)
        left = await detached.taken_up(self.roster.client, self.topic, present)
        wanted = {block[0].block: block for block in _blocks(trials)}
        await self.roster.client.cancel([future for number, future in left.items() if number not in wanted])
        now_ns = time.monotonic_ns()
        return {future: _HandedOut(wanted[number], now_ns) for number, future in left.items() if number in wanted}

    def _places(self, manifest: Manifest, block: Sequence[Trial], fit: Iterable[str]) -> list[str]:
        """The test-beds that may measure a block: of searches the one that measured their last step, if it is there.

        Else a search would compare loads on one machine with those on another.
        """
        places = list(fit)
        if not any(trial.step for trial in block):
            return places
        steps = (self.run.trial(trial.id) for trial in reversed(manifest.trials) if trial.step)
        last = next((folder.read_record().testbed for folder in steps if is_there(folder.record_path)), None)
        return [address for address in places if self.roster.names[address] == last] or places

    def _submitted(self, manifest: Manifest, block: Sequence[Trial], addresses: Iterable[str]) -> Future[Any]:
        request = manifest.model_copy(update={"trials": tuple(block), "widths": (), "testbeds": {}})
        return self.roster.client.submit(
            testbed.measure,
            request.model_dump_json(),
            self.topic,
            resources=testbed.PLACE,
            workers=list(addresses),
            pure=False,
        )

    async def _fetched(
        self, future: Future[Any], order: _HandedOut, folder: Path, testbeds: int
    ) -> MeasuredBlock | None:
        """Stores a block that was measured; None where it has to be measured anew."""
        try:
            return await self._stored(future, order, folder, testbeds)
        except TestbedGone:
            pass
        except (MiddlemarkError, KilledWorker, FutureCancelledError) as problem:
            self.attempts.failed(order.block, problem)
        future.release()  # or the scheduler would have it measured again beside the new attempt
        return None

    async def _stored(self, future: Future[Any], order: _HandedOut, folder: Path, testbeds: int) -> MeasuredBlock:
        name, address, text = await future
        parcel = Parcel.model_validate_json(text)
        path = folder / f"{order.block}.tar"
        await fetch(self.roster, address, parcel, path)
        cautions = self.attempts.cautions(order.block, name)
        records = stored(self.run, unpacked(path, order.trials), order.trials, name, cautions)
        path.unlink()
        return MeasuredBlock(name, self.roster.stated[address], records, order.took_ns, testbeds)


@asynccontextmanager
async def connected(address: str, run: RunFolder, security: Security | None) -> AsyncIterator[Front]:
    """A run's front at a fleet, by the address of its scheduler."""
    try:
        client = await Client(address, asynchronous=True, security=security, timeout="10s")
    except (OSError, TimeoutError, ValueError) as error:
        raise EnvironmentNotReady(
            f"no scheduler answers at {address}: {error}", remedy="start one: dask scheduler"
        ) from error
    async with client:
        front = Front(Roster(client, address), run, detached.name_of(run.read_manifest()))
        for event in await cast("Any", client).get_events(front.topic):
            front.attempts.began(event)
        client.subscribe_topic(front.topic, front.attempts.began)
        yield front


def _blocks(trials: Sequence[Trial]) -> list[Sequence[Trial]]:
    blocks: dict[int, list[Trial]] = {}
    for trial in trials:
        blocks.setdefault(trial.block, []).append(trial)
    return list(blocks.values())
