"""A host's CPUs are kept busy to the asked degree, and nothing of it is left."""

import os
import shutil
import time
from pathlib import Path

import psutil
import pytest

from middlemark.errors import EnvironmentNotReady
from middlemark.testbed import cpu_load, ledger
from middlemark.testbed.host import LocalHost


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.mark.skipif(shutil.which(cpu_load.PROGRAM) is None, reason="stress-ng is not installed")
def test_the_load_reached_is_near_the_one_asked_and_its_processes_end() -> None:
    cpu = min(os.sched_getaffinity(0))
    with ledger.opened() as entries, cpu_load.loaded(LocalHost(), [cpu], 30, entries) as load:
        before = load.read()
        deadline = time.monotonic() + 1.5
        children = psutil.Process(load._process.pid).children(recursive=True)
        while time.monotonic() < deadline:
            time.sleep(0.1)
        reached = load.reached_percent(before, load.read())
    assert 10 < reached < 60
    assert not any(child.is_running() for child in children)


def test_without_the_program_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with (
        pytest.raises(EnvironmentNotReady, match="apt-get install stress-ng"),
        ledger.opened() as entries,
        cpu_load.loaded(LocalHost(), [0], 30, entries),
    ):
        pytest.fail("it ran")
