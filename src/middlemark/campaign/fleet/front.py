"""The blocks of a campaign handed out to the test-beds of a fleet, and stored when they are whole.

Which test-bed is free, which one is lost, and that a lost one's block begins anew elsewhere, is the Dask scheduler's to
know. A block that is measured twice counts once: only what this front fetched is stored. One that
fails again and again ends the campaign, as another attempt would not mend it.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from distributed import Future, KilledWorker, Security
from distributed.client import FutureCancelledError

from middlemark.campaign.fleet import detached, testbed
from middlemark.campaign.fleet.blocks import MeasuredBlock
from middlemark.campaign.fleet.parcel import Parcel, arriving, stored, unpacked
from middlemark.campaign.fleet.roster import Roster, TestbedGone, client_at, ended, fetch
from middlemark.errors import EnvironmentNotReady, MiddlemarkError
from middlemark.plan import Caution, Trial, WarningKind
from middlemark.results import store
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
class _Order:
    """A block that is handed out, or what of it is repeated."""

    trials: Sequence[Trial]
    places: frozenset[str]
    """The addresses of the test-beds that may measure it."""
    attempts: Mapping[str, int] = field(default_factory=dict)
    """Of disturbed trials that are repeated: how many each has had."""
    at_ns: int = field(default_factory=time.monotonic_ns)

    @property
    def block(self) -> int:
        return self.trials[0].block

    @property
    def took_ns(self) -> int:
        return time.monotonic_ns() - self.at_ns


_UnderWay = dict[Future[Any], _Order]


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
        under_way = await self._taken_up(manifest, trials)
        taken_up = {order.block for order in under_way.values()}
        waiting = deque(block for block in _blocks(trials) if block[0].block not in taken_up)
        with arriving(self.run) as folder:
            try:
                while waiting or under_way:
                    fit = await self.roster.fit(manifest)
                    waiting.extendleft(await self._recalled(under_way, fit))
                    while waiting and len(under_way) < len(fit):
                        block = waiting.popleft()
                        self._hand_out(manifest, _Order(block, self._places(manifest, block, fit)), under_way)
                    for future in await ended(list(under_way)):
                        order = under_way.pop(future)
                        measured = await self._fetched(future, order, folder, len(fit))
                        if measured is not None:
                            yield measured
                        else:
                            waiting.appendleft(order.trials)
            finally:
                await self.roster.client.cancel(list(under_way))

    async def repeated(
        self, manifest: Manifest, trials: Sequence[Trial], attempts: Mapping[str, int]
    ) -> AsyncIterator[MeasuredBlock]:
        """Has disturbed trials measured once more; gives those of a block when they are stored.

        Only the test-bed that measured their block may do so, as they are pairs with the rest of it. Where it has gone,
        or fails, they stay as they are.
        """
        under_way: _UnderWay = {}
        fit = await self.roster.fit(manifest)
        for block in _blocks(trials):
            if places := self._named(fit, self.run.trial(block[0].id).read_record().testbed):
                attempts_of = {trial.id: attempts[trial.id] for trial in block}
                self._hand_out(manifest, _Order(block, places, attempts_of), under_way)
        with arriving(self.run) as folder:
            try:
                while under_way:
                    for future in await ended(list(under_way)):
                        measured = await self._fetched(future, under_way.pop(future), folder, len(fit))
                        if measured is not None:
                            yield measured
                    await self._recalled(under_way, await self.roster.fit(manifest))
            finally:
                await self.roster.client.cancel(list(under_way))

    async def leave(self, manifest: Manifest, trials: Sequence[Trial]) -> int:
        """Has the blocks of these trials measured while no front is there; gives how many there are."""
        await self.roster.joined(manifest)
        under_way: _UnderWay = {}
        fit = await self.roster.fit(manifest)
        for block in _blocks(trials):
            self._hand_out(manifest, _Order(block, fit), under_way)
        futures = {order.block: future for future, order in under_way.items()}
        await detached.keep(self.roster.client, self.topic, futures)
        return len(futures)

    async def _taken_up(self, manifest: Manifest, trials: Sequence[Trial]) -> _UnderWay:
        """The blocks that an earlier front left behind, and that are wanted, when a first test-bed is there."""
        await self.roster.joined(manifest)
        present = await self.roster.fit(manifest)
        left = await detached.taken_up(self.roster.client, self.topic, present)
        wanted = {block[0].block: block for block in _blocks(trials)}
        await self.roster.client.cancel([future for number, future in left.items() if number not in wanted])
        return {future: _Order(wanted[number], present) for number, future in left.items() if number in wanted}

    async def _recalled(self, under_way: _UnderWay, fit: frozenset[str]) -> list[Sequence[Trial]]:
        """Takes back the blocks whose test-beds have all gone: the scheduler would keep them for these alone."""
        lost = [future for future, order in under_way.items() if order.places.isdisjoint(fit) and not future.done()]
        if lost:
            await self.roster.client.cancel(lost)
        return [under_way.pop(future).trials for future in lost]

    def _places(self, manifest: Manifest, block: Sequence[Trial], fit: frozenset[str]) -> frozenset[str]:
        """The test-beds that may measure a block.

        Of searches it is the one that measured their last step, if it is there: loads on two machines are not compared.
        """
        if not any(trial.step for trial in block):
            return fit
        steps = (self.run.trial(trial.id) for trial in reversed(manifest.trials) if trial.step)
        last = next((folder.read_record().testbed for folder in steps if is_there(folder.record_path)), None)
        return self._named(fit, last) or fit

    def _named(self, addresses: Iterable[str], name: str | None) -> frozenset[str]:
        return frozenset(address for address in addresses if self.roster.names[address] == name)

    def _hand_out(self, manifest: Manifest, order: _Order, under_way: _UnderWay) -> None:
        request = manifest.model_copy(update={"trials": tuple(order.trials), "widths": (), "testbeds": {}})
        future = self.roster.client.submit(
            testbed.measure,
            request.model_dump_json(),
            self.topic,
            dict(order.attempts),
            self.roster.through,
            resources=testbed.PLACE,
            workers=list(order.places),
            pure=False,
        )
        under_way[future] = order

    async def _fetched(self, future: Future[Any], order: _Order, folder: Path, testbeds: int) -> MeasuredBlock | None:
        """Stores a block that was measured; None where it was not."""
        try:
            return await self._stored(future, order, folder, testbeds)
        except TestbedGone:
            pass
        except (MiddlemarkError, KilledWorker, FutureCancelledError) as problem:
            if not order.attempts:
                self.attempts.failed(order.block, problem)
        future.release()  # or the scheduler would have it measured again beside the new attempt
        return None

    async def _stored(self, future: Future[Any], order: _Order, folder: Path, testbeds: int) -> MeasuredBlock:
        name, address, text = await future
        parcel = Parcel.model_validate_json(text)
        path = folder / f"{order.block}.tar"
        await fetch(self.roster, address, parcel, path)
        cautions = () if order.attempts else self.attempts.cautions(order.block, name)
        records = stored(self.run, unpacked(path, order.trials), order.trials, name, cautions)
        path.unlink()
        return MeasuredBlock(name, self.roster.stated[address], records, order.took_ns, max(1, testbeds))


@asynccontextmanager
async def connected(
    address: str, run: RunFolder, security: Security | None, through: str | None = None
) -> AsyncIterator[Front]:
    """A run's front at a fleet, by its scheduler's address; blocks come back through a store, where one is named."""
    topic = detached.name_of(run.read_manifest())
    async with AsyncExitStack() as stack:
        if through is not None:
            await asyncio.to_thread(_check_store, through, topic, run)
            stack.push_async_callback(asyncio.to_thread, store.remove_all, through, topic)
        client = await stack.enter_async_context(await client_at(address, security))
        front = Front(Roster(client, address, through), run, topic)
        for event in await cast("Any", client).get_events(topic):
            front.attempts.began(event)
        client.subscribe_topic(topic, front.attempts.began)
        yield front


def _check_store(through: str, topic: str, run: RunFolder) -> None:
    """Writes and reads a file in the store, as test-beds and this front will; raises `EnvironmentNotReady`."""
    location = store.location_in(through, f"{topic}.tar")
    with arriving(run) as folder:
        (folder / "sent").write_bytes(b"middlemark")
        store.put(folder / "sent", location)
        store.fetch(location, folder / "back", len(b"middlemark"))
    store.remove(location)


def _blocks(trials: Sequence[Trial]) -> list[Sequence[Trial]]:
    blocks: dict[int, list[Trial]] = {}
    for trial in trials:
        blocks.setdefault(trial.block, []).append(trial)
    return list(blocks.values())
