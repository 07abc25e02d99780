"""A process is paused, continued, killed and weighed together with all that descend from it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from middlemark.testbed.processes import procfs
from testbeds import until

DEADLINE_S = 10.0
# A shell that waits for its child, which waits for its own: as a worker does for the broker that it started.
THREE_GENERATIONS = "sh -c 'sleep 600 & echo $!; wait' & echo $!; wait"
STOPPED = psutil.STATUS_STOPPED


@pytest.fixture
def family() -> Iterator[list[psutil.Process]]:
    """The parent, its child and its grandchild."""
    with subprocess.Popen(["/bin/sh", "-c", THREE_GENERATIONS], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        descendants = [psutil.Process(int(parent.stdout.readline())) for _ in range(2)]
        descendants.sort(key=lambda member: member.ppid() != parent.pid)  # both are told at once, in either order
        members = [psutil.Process(parent.pid), *descendants]
        yield members
        for member in members:
            if member.is_running():
                member.kill()


def test_who_is_paused_stands_still_with_its_descendants_and_goes_on_with_them(family: list[psutil.Process]) -> None:
    procfs.signal_family(family[0].pid, signal.SIGSTOP)
    until(lambda: [member.status() for member in family] == [STOPPED] * 3)
    procfs.signal_family(family[0].pid, signal.SIGCONT)
    until(lambda: all(member.status() != STOPPED for member in family))


def test_no_other_child_of_the_same_parent_is_paused(family: list[psutil.Process]) -> None:
    with subprocess.Popen(["sleep", "600"]) as sibling:
        procfs.signal_family(family[1].pid, signal.SIGSTOP)
        until(lambda: family[2].status() == STOPPED)
        assert family[0].status() != STOPPED
        assert psutil.Process(sibling.pid).status() != STOPPED
        sibling.kill()


def test_parents_are_stopped_before_their_children_and_go_on_after_them(
    family: list[psutil.Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[int, signal.Signals]] = []
    monkeypatch.setattr(psutil.Process, "send_signal", lambda self, number: sent.append((self.pid, number)))
    procfs.signal_family(family[0].pid, signal.SIGSTOP)
    procfs.signal_family(family[0].pid, signal.SIGCONT)
    downwards = [member.pid for member in family]
    assert sent == [
        *((pid, signal.SIGSTOP) for pid in downwards),
        *((pid, signal.SIGCONT) for pid in reversed(downwards)),
    ]


def test_a_killed_process_takes_its_descendants_with_it(family: list[psutil.Process]) -> None:
    procfs.signal_family(family[0].pid, signal.SIGKILL)
    until(lambda: not any(member.is_running() and member.status() != psutil.STATUS_ZOMBIE for member in family))


def test_memory_that_a_child_holds_is_its_parents_too() -> None:
    holds = "b = bytearray(64 << 20); print(1, flush=True); input()"
    holder = f"{sys.executable} -IS -c '{holds}'"
    with subprocess.Popen(
        ["/bin/sh", "-c", f"{holder}; exit"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "1\n"
        resident = procfs.resident_bytes(parent.pid)
        assert resident is not None
        assert resident > 64 << 20
        parent.communicate("\n", timeout=DEADLINE_S)
    assert procfs.resident_bytes(parent.pid) is None


def test_a_file_in_a_folder_of_shared_memory_is_no_shared_memory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Such as the log of a process whose run folder is there."""
    monkeypatch.setattr(procfs, "SHARED_MEMORY", tmp_path)
    (tmp_path / "run").mkdir()
    with (tmp_path / "segment").open("w"), (tmp_path / "run" / "worker.log").open("w"):
        assert procfs.shared_memory(os.getpid()) == {tmp_path / "segment"}


def test_who_is_gone_is_signalled_by_nobody() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait(DEADLINE_S)
    procfs.signal_family(process.pid, signal.SIGKILL)
