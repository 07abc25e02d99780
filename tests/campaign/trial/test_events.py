"""Waiting for what processes say: what ends a wait, and that nothing else does."""

import asyncio
import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from middlemark.campaign.trial.events import EventReader, TrialOver
from middlemark.plan import Failed
from middlemark.results.record import TrialRecord
from middlemark.worker import process
from middlemark.worker.process import Ended
from staged import suite_text

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


@pytest.mark.parametrize(
    ("exit_status", "memory_kills", "told"),
    [
        (-9, [3, 4], "there was no memory left"),
        (137, [3, 4], "there was no memory left"),  # of a container
        (-9, [3, 3], "it was killed by signal 9"),
        (-11, [3, 4], "it was killed by signal 11"),
        (1, [3, 4], "it ended with exit status 1"),
    ],
)
def test_an_end_for_want_of_memory_is_told_as_such(
    tmp_path: Path, exit_status: int, memory_kills: list[int], told: str
) -> None:
    counts = iter(memory_kills)
    reader = EventReader(tmp_path, lambda: next(counts))
    reader.hear(Ended("both", time.monotonic_ns(), exit_status))
    with pytest.raises(TrialOver, match=told):
        asyncio.run(reader.wait(list, time.monotonic_ns() + FOREVER_NS))


def test_who_takes_the_memory_ends_its_trial(
    campaign: Callable[[str], list[TrialRecord]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "MOST_MEMORY_SHARE", 1e-6)
    monkeypatch.setattr(process, "LEAST_MEMORY_LEFT_SHARE", 1.0)
    (record,) = campaign(suite_text())
    assert isinstance(record.outcome, Failed)
    (cause,) = record.outcome.causes
    assert re.fullmatch(r"it took \S+ GiB of the machine's \S+ GiB of memory, of which \S+ GiB were left", cause)
