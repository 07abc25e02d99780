"""Brings what a test-bed has measured to the front, a piece at a time.

What is in it, `parcel` checks; what becomes of a block whose test-bed has gone, `front` decides.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from middlemark.campaign.fleet import testbed
from middlemark.campaign.fleet.parcel import Parcel, check_digest
from middlemark.campaign.fleet.roster import Roster, ended


class TestbedGone(Exception):
    """A test-bed left before its block was fetched."""


async def fetch(roster: Roster, address: str, parcel: Parcel, into: Path) -> None:
    """Writes a parcel of a test-bed into a file; raises `TestbedGone` where that has left."""
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
