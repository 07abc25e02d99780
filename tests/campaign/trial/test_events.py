"""Waiting for what processes say: what ends a wait, and that nothing else does."""

import asyncio
import json
import time
from pathlib import Path

import pytest

from middlemark.campaign.trial.events import EventReader

FOREVER_NS = 10**15


@pytest.mark.parametrize("turns", range(6))
def test_an_interruption_together_with_an_event_is_not_lost(tmp_path: Path, turns: int) -> None:
    async def interrupted() -> bool:
        reader = EventReader(tmp_path)
        waiting = asyncio.create_task(reader.wait(lambda: ["`done` of nobody"], time.monotonic_ns() + FOREVER_NS))
        await asyncio.sleep(0)
        reader.note("front", {"event": "something"})
        for _ in range(turns):  # of the event loop, on its way from the event to the one who waits
            await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting], timeout=5)
        return waiting.cancelled()

    assert asyncio.run(interrupted())


def test_a_field_of_an_event_never_takes_the_place_of_the_line_s_own(tmp_path: Path) -> None:
    reader = EventReader(tmp_path)
    reader.note("front", {"event": "something", "at_ns": -1, "process": "somebody"})
    (line,) = map(json.loads, reader.lines)
    assert line["process"] == "front"
    assert line["at_ns"] > 0
    assert {name: value for name, value in line.items() if name not in {"process", "at_ns"}} == {
        "event": "something",
        "event_at_ns": -1,
        "event_process": "somebody",
    }
