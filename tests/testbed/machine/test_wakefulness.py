"""CPUs are kept from sleeping, by the means that costs least, and only as long as a trial runs."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from middlemark.testbed.machine import wakefulness
from middlemark.testbed.machine.wakefulness import Means, Wakefulness
from middlemark.testbed.processes import ledger, procfs

pytestmark = pytest.mark.timed


def machine(monkeypatch: pytest.MonkeyPatch, folder: Path, state: str) -> Path:
    """A machine with this shallowest idle state, and its file for the latency that is demanded."""
    (folder / "state0").write_text(f"{state}\n")
    latency = folder / "latency"
    latency.touch()
    monkeypatch.setattr(wakefulness, "SHALLOWEST_STATE", str(folder / "state0"))
    monkeypatch.setattr(wakefulness, "CPU_DMA_LATENCY", latency)
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    return latency


def test_where_the_idle_loop_can_poll_no_process_is_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    latency = machine(monkeypatch, tmp_path, "POLL")
    with ledger.opened() as entries, wakefulness.kept_awake([0], entries) as kept:
        assert (kept.means, ledger.read(entries.path)) == (Means.IDLE_LOOP, [])
        assert latency.read_bytes() == bytes(4)
        open_files = [os.path.realpath(file) for file in Path("/proc/self/fd").iterdir()]
        assert str(latency) in open_files, "the demand ends with its file"


@pytest.mark.parametrize("state", ["C1", "HALT"])
def test_where_the_idle_loop_can_not_poll_spinners_keep_cpus_awake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    latency = machine(monkeypatch, tmp_path, state)
    with ledger.opened() as entries, wakefulness.kept_awake([min(os.sched_getaffinity(0))], entries) as kept:
        assert kept.means in {Means.IDLE_SPINNERS, Means.LIGHT_SPINNERS}
        _wait_until(lambda: kept.spent_ns() > 0)
    assert latency.read_bytes() == b""


def test_who_may_not_demand_a_latency_gets_spinners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, tmp_path, "POLL")
    monkeypatch.setattr(wakefulness, "CPU_DMA_LATENCY", tmp_path / "no such" / "device")
    with ledger.opened() as entries, wakefulness.kept_awake([min(os.sched_getaffinity(0))], entries) as kept:
        assert kept.means is not Means.IDLE_LOOP


def test_a_spinner_that_was_killed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, tmp_path, "C1")
    cpu = min(os.sched_getaffinity(0))
    with ledger.opened() as entries, wakefulness.kept_awake([cpu], entries) as kept:
        assert kept.ended() == []
        kept.spinners[cpu].kill()
        _wait_until(lambda: kept.ended() == [f"the process that kept CPU {cpu} awake"])


def test_cpus_stay_awake_from_one_trial_to_the_next_until_they_may_sleep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine(monkeypatch, tmp_path, "C1")
    cpu = min(os.sched_getaffinity(0))
    with ledger.opened() as entries, closing(Wakefulness([cpu], entries)) as awake:
        assert awake.keep(is_wanted=False) is None
        first = awake.keep(is_wanted=True)
        assert first is not None
        assert awake.keep(is_wanted=True) is first
        first.spinners[cpu].kill()
        _wait_until(lambda: first.ended() != [])
        second = awake.keep(is_wanted=True)
        assert second is not None
        assert second.ended() == []
        assert awake.keep(is_wanted=False) is None
        assert second.ended() != []


def test_without_a_polling_idle_loop_each_cpu_has_a_spinner_of_the_idle_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    kept = sorted(os.sched_getaffinity(0))
    with ledger.opened() as entries:
        with wakefulness._spinning(kept, entries):
            spinners = [entry.process for entry in ledger.read(entries.path)]
            pids = [spinner.pid for spinner in spinners if spinner]
            _wait_until(lambda: all(os.sched_getscheduler(pid) == os.SCHED_IDLE for pid in pids))
            _wait_until(lambda: [os.sched_getaffinity(pid) for pid in pids] == [{cpu} for cpu in kept])
        assert all(procfs.identity(pid) is None for pid in pids)
        assert ledger.read(entries.path) == []


def test_spinners_take_next_to_nothing_from_a_process_of_another_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    cpu = min(os.sched_getaffinity(0))
    program = f"import os; os.sched_setaffinity(0, {{{cpu}}}); print(flush=True)\nwhile True: pass"
    with ledger.opened() as entries, wakefulness._spinning([cpu], entries):
        (spinner,) = (entry.process.pid for entry in ledger.read(entries.path) if entry.process)
        _wait_until(lambda: os.sched_getscheduler(spinner) == os.SCHED_IDLE)
        command = [sys.executable, "-c", program]
        with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as busy:
            assert busy.stdout is not None
            busy.stdout.readline()
            before = _cpu_ticks(spinner), _cpu_ticks(busy.pid)
            _wait_until(lambda: _cpu_ticks(busy.pid) - before[1] >= 50)
            taken, worked = _cpu_ticks(spinner) - before[0], _cpu_ticks(busy.pid) - before[1]
            busy.kill()
    assert taken <= 0.05 * worked


def _cpu_ticks(pid: int) -> int:
    return sum(int(word) for word in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13])


def _wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
