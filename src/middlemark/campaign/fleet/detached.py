"""Blocks that go on without a front: it hands them out, leaves, and another one takes up what became of them.

The scheduler keeps them under the run's name until then, and each test-bed keeps what it has measured. `front` stores
it; what has not been planned yet, as it depends on results, waits for a front.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, cast

from distributed import Client, Future

from middlemark.campaign.fleet.blocks import Connect
from middlemark.campaign.manifest import new_manifest
from middlemark.campaign.order import Order
from middlemark.results.manifest import Manifest
from middlemark.results.run_folder import RunFolder

Futures = Mapping[int, Future[Any]]
"""By the number of a block."""


def hand_out(path: Path, order: Order, connect: Connect) -> int:
    """Makes the run's folder, has all planned blocks measured, and gives how many there are, without waiting."""
    manifest = new_manifest(order)

    async def handed_out(run: RunFolder) -> int:
        async with connect(run) as testbeds:
            return await testbeds.leave(manifest, manifest.trials)

    with RunFolder.created(path, manifest) as run:
        return asyncio.run(handed_out(run))


def name_of(manifest: Manifest) -> str:
    """Under which a run is known to its fleet, whoever asks."""
    text = f"{manifest.started_at} {manifest.seed} {manifest.suite_text}"
    return f"middlemark-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


async def keep(client: Client, name: str, futures: Futures) -> None:
    """Has the scheduler keep them when this front is gone."""
    await cast("Any", client).publish_dataset(dict(futures), name=name)


async def taken_up(client: Client, name: str, present: Collection[str]) -> dict[int, Future[Any]]:
    """What was left under this name and is measured, or is with a test-bed that is there; the rest is given up."""
    of_scheduler = cast("Any", client)
    if name not in await of_scheduler.list_datasets():
        return {}
    futures = cast("dict[int, Future[Any]]", await of_scheduler.get_dataset(name))
    await of_scheduler.unpublish_dataset(name)
    held = await _held(client, present)
    lost = [future for future in futures.values() if future.key not in held]
    await client.cancel(lost)
    return {block: future for block, future in futures.items() if future.key in held}


async def _held(client: Client, present: Collection[str]) -> set[object]:
    """The tasks whose result is somewhere, and those that are with a test-bed."""
    of_scheduler = cast("Any", client)
    measured = {key for key, addresses in (await of_scheduler.who_has()).items() if addresses}
    under_way = {
        key for address, keys in (await of_scheduler.processing()).items() if address in present for key in keys
    }
    return measured | under_way
