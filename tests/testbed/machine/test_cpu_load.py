"""A host's CPUs are kept busy to the asked degree, and nothing of it is left."""

import os
import shutil
import time
from pathlib import Path

import pytest

from middlemark.errors import EnvironmentBroke, EnvironmentNotReady
from middlemark.testbed.hosts.host import LocalHost
from middlemark.testbed.machine import cpu_load
from middlemark.testbed.processes import ledger


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.mark.skipif(shutil.which(cpu_load.PROGRAM) is None, reason="stress-ng is not installed")
def test_each_cpu_has_its_own_stressor_and_the_load_is_near_the_requested_one() -> None:
    kept = sorted(os.sched_getaffinity(0))[:2]
    with ledger.opened() as entries, cpu_load.loaded(LocalHost(), kept, 30, entries) as load:
        affinities = {cpu: [each.cpu_affinity() for each in load.stressors[cpu]] for cpu in kept}
        before = load.read()
        deadline = time.monotonic() + 1.5
        while time.monotonic() < deadline:
            time.sleep(0.1)
        reached = load.reached_percent(before, load.read())
    assert all(affinity == [cpu] for cpu in kept for affinity in affinities[cpu])
    assert list(reached) == kept
    assert all(5 < percent < 60 for percent in reached.values())
    assert not any(member.is_running() for cpu in kept for member in load.stressors[cpu])


@pytest.mark.skipif(shutil.which(cpu_load.PROGRAM) is None, reason="stress-ng is not installed")
def test_a_stressor_that_was_killed_is_told() -> None:
    cpu = min(os.sched_getaffinity(0))
    with ledger.opened() as entries, cpu_load.loaded(LocalHost(), [cpu], 30, entries) as load:
        assert load.ended() == []
        for member in load.stressors[cpu]:
            member.kill()
        deadline = time.monotonic() + 10
        while not load.ended() and time.monotonic() < deadline:
            os.sched_yield()
        assert load.ended() == [f"stress-ng, which kept CPU {cpu} busy to 30 %"]


def test_without_the_program_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with (
        pytest.raises(EnvironmentNotReady, match="apt-get install stress-ng"),
        ledger.opened() as entries,
        cpu_load.loaded(LocalHost(), [0], 30, entries),
    ):
        pytest.fail("it ran")


def test_a_program_that_is_killed_as_it_starts_broke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / cpu_load.PROGRAM
    program.write_text("#!/bin/sh\nkill -KILL $$\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with (
        pytest.raises(EnvironmentBroke, match="did not load"),
        ledger.opened() as entries,
        cpu_load.loaded(LocalHost(), [min(os.sched_getaffinity(0))], 30, entries),
    ):
        pytest.fail("it loaded")
