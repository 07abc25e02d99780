"""One block of a campaign on a test-bed: measured as a small campaign of its own, then packed.

It is what Dask runs on a test-bed; nothing of Dask is known here. `testbed` hands the block in, `parcel` packs it, and
the front stores it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from middlemark.campaign.campaign import Campaign
from middlemark.campaign.fleet.parcel import Parcel, packed
from middlemark.campaign.manifest import differing, origin_now, origin_of
from middlemark.campaign.order import CampaignResources, available_workers, needed_workers
from middlemark.campaign.progress import Progress
from middlemark.errors import EnvironmentNotReady, Interrupted
from middlemark.results.manifest import Manifest
from middlemark.results.progress import Unobserved
from middlemark.results.run_folder import RunFolder
from middlemark.suite import parse_given
from middlemark.testbed.processes import abandoned, ledger

OF_THE_MACHINE = {"kernel", "machine"}
"""What may differ between the test-beds of a fleet, as the machine is a factor; all else must be the campaign's."""


def same_build(build: dict[str, str], required: dict[str, str]) -> tuple[str, ...]:
    """In what a test-bed's build differs from the one that a campaign requires, in words; empty where in nothing."""
    needed = {name: value for name, value in required.items() if name not in OF_THE_MACHINE}
    return differing(needed, {name: build.get(name, "") for name in needed})


def measure_block(manifest: Manifest, folder: Path, is_wanted: Callable[[], bool]) -> Parcel:
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
        resources = CampaignResources(workers, {}, entries, definition.disturbance)
        campaign = Campaign(run, definition, manifest, resources, Progress(run.path, Unobserved()))
        asyncio.run(_until_unwanted(campaign, is_wanted))
        return packed(run, manifest.trials, folder / "block.tar")


async def _until_unwanted(campaign: Campaign, is_wanted: Callable[[], bool]) -> None:
    """Runs the planned trials, and ends them when nobody waits for them any more."""
    measuring = asyncio.ensure_future(campaign.run_planned())
    while not (await asyncio.wait({measuring}, timeout=1.0))[0]:
        if not is_wanted():
            measuring.cancel()
    try:
        await measuring
    except asyncio.CancelledError:
        raise Interrupted("nobody waits for the block any more") from None
