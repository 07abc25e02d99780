"""What the kernel did for a process is recorded, and a machine that doesn't let it be is told, never thrown."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import numpy as np
import pytest

from middlemark.errors import EnvironmentNotReady
from middlemark.testbed import capabilities, observers
from middlemark.testbed.observers import KernelPath
from middlemark.testbed.processes import ledger

pytestmark = pytest.mark.timed

_CALLED = 1


def test_the_calls_of_a_process_are_recorded_by_name_and_nothing_is_lost(tmp_path: Path) -> None:
    if missing := observers.kernel_path_missing():
        pytest.skip(missing)
    file = tmp_path / "events.npy"
    with ledger.opened() as entries:
        observer = KernelPath(file, [os.getpid()], entries)
        try:
            os.getppid()
            recorded = observer.finish()
        finally:
            observer.end()
    events = np.load(file)
    assert (recorded.lost.whole, recorded.events) == (0, len(events))
    own = events[(events["process"] == os.getpid()) & (events["kind"] == _CALLED)]
    assert "getppid" in {recorded.calls[int(number)] for number in own["value"]}


def test_an_observer_that_is_not_there_is_a_fact_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observers, "kernel_path_missing", lambda: "there is no middlemark-kernel-path")
    fact = next(fact for fact in capabilities.facts() if fact.name == "kernel_path")
    assert fact.value == "there is no middlemark-kernel-path"
    assert "clang" in (fact.remedy or "")


def test_an_observer_that_refuses_is_ended(tmp_path: Path) -> None:
    if missing := observers.kernel_path_missing():
        pytest.skip(missing)
    with ledger.opened() as entries:
        with pytest.raises(EnvironmentNotReady, match="kernel path"):
            KernelPath(tmp_path / "no such folder" / "events.npy", [os.getpid()], entries)
        gc.collect()  # what was left open would be told here
