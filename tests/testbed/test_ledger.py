"""What is entered in a ledger is removed, whoever dies when; what is not entered is never touched."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from middlemark.errors import EnvironmentNotReady
from middlemark.testbed import ledger, processes


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def ledgers(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "state/middlemark/ledgers").glob("*"))


def sleeper(mark: str | None = None) -> subprocess.Popen[bytes]:
    environment = os.environ | ({processes.MARK_VARIABLE: mark} if mark else {})
    child = subprocess.Popen(["sleep", "600"], env=environment)
    # For an instant after its start a process has no environment to be found by yet.
    deadline = time.monotonic() + 10
    while mark and not processes.marked([mark])[mark]:
        assert time.monotonic() < deadline
    return child


def is_gone(child: subprocess.Popen[bytes]) -> bool:
    """Whether it has ended, at once; it may have been waited for already."""
    return processes.identity(child.pid) is None and child.poll() is not None


def abandoned(tmp_path: Path, *lines: dict[str, object]) -> Path:
    """A ledger as a killed process leaves it."""
    path = tmp_path / "state/middlemark/ledgers/1-abandoned.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_everything_entered_is_gone_with_the_context_even_after_an_error(tmp_path: Path) -> None:
    folder, file = tmp_path / "folder", tmp_path / "file"
    children = []

    def create() -> None:
        with ledger.opened() as entries:
            entries.enter("folder", folder)
            (folder / "deep").mkdir(parents=True)
            entries.enter("file", file)
            file.write_text("x")
            children.append(sleeper(entries.enter("process", "sleeps")))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        create()
    assert not folder.exists()
    assert not file.exists()
    assert is_gone(children[0])
    assert ledgers(tmp_path) == []


def test_an_entry_is_written_before_the_thing_is_created(tmp_path: Path) -> None:
    with ledger.opened() as entries:
        entries.enter("folder", tmp_path / "folder")
        assert [entry.what for entry in ledger.read(entries.path)] == [str(tmp_path / "folder")]


def test_what_is_removed_is_no_longer_in_the_ledger(tmp_path: Path) -> None:
    with ledger.opened() as entries:
        mark = entries.enter("folder", tmp_path / "folder")
        entries.remove(mark)
        assert ledger.read(entries.path) == []
        (tmp_path / "folder").mkdir()  # by someone else, later
    assert (tmp_path / "folder").exists()


def test_a_sweep_after_kill_9_removes_what_was_entered_and_says_what(tmp_path: Path) -> None:
    program = f"""
import os, signal, subprocess
from pathlib import Path
from middlemark.errors import EnvironmentNotReady
from middlemark.testbed import ledger, processes
with ledger.opened() as entries:
    entries.enter("folder", {str(tmp_path / "folder")!r}); Path({str(tmp_path / "folder")!r}).mkdir()
    mark = entries.enter("process", "sleeps")
    child = subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL,
        env=os.environ | {{processes.MARK_VARIABLE: mark}})
    print(child.pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)  # before the ledger knows the child's number
"""
    killed = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=False)
    child = int(killed.stdout)
    assert killed.returncode == -signal.SIGKILL
    assert processes.identity(child) is not None
    removed = ledger.sweep()
    assert {(each.kind, each.what) for each in removed} == {
        ("folder", str(tmp_path / "folder")),
        ("process", "sleeps"),
    }
    assert processes.identity(child) is None
    assert not (tmp_path / "folder").exists()
    assert ledgers(tmp_path) == []


def test_a_process_number_that_was_used_again_is_not_hit(tmp_path: Path) -> None:
    innocent = sleeper()
    identity = processes.identity(innocent.pid)
    assert identity is not None
    started = {"op": "started", "pid": innocent.pid, "boot_id": identity.boot_id}
    abandoned(
        tmp_path,
        {"op": "create", "mark": "a", "kind": "process", "what": "had this number before"},
        {**started, "mark": "a", "start_ticks": identity.start_ticks - 100},
        {"op": "create", "mark": "b", "kind": "process", "what": "had this number before the machine was booted"},
        {**started, "mark": "b", "start_ticks": identity.start_ticks, "boot_id": "another"},
    )
    assert ledger.sweep() == []
    assert innocent.poll() is None
    innocent.kill()
    innocent.wait()


def test_a_known_process_is_ended_even_if_it_hides_its_mark_and_ignores_sigterm(tmp_path: Path) -> None:
    stubborn = subprocess.Popen(
        ["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done"], stdout=subprocess.PIPE
    )
    assert stubborn.stdout is not None
    stubborn.stdout.readline()
    identity = processes.identity(stubborn.pid)
    assert identity is not None
    abandoned(
        tmp_path,
        {"op": "create", "mark": "a", "kind": "process", "what": "stubborn"},
        {"op": "started", "mark": "a", "pid": identity.pid, "start_ticks": identity.start_ticks,
         "boot_id": identity.boot_id},
    )  # fmt: skip
    assert [each.what for each in ledger.sweep()] == ["stubborn"]
    assert is_gone(stubborn)
    stubborn.stdout.close()


def test_a_stopped_process_is_ended_too() -> None:
    with ledger.opened() as entries:
        mark = entries.enter("process", "stopped")
        child = sleeper(mark)
        os.kill(child.pid, signal.SIGSTOP)
        entries.remove(mark)
    assert is_gone(child)


def test_a_ledger_cut_off_in_the_middle_of_a_line_is_read_up_to_there(tmp_path: Path) -> None:
    path = abandoned(tmp_path, {"op": "create", "mark": "a", "kind": "folder", "what": str(tmp_path / "folder")})
    with path.open("a") as file:
        file.write('{"op": "create", "mark": "b", "ki')
    (tmp_path / "folder").mkdir()
    assert [each.what for each in ledger.sweep()] == [str(tmp_path / "folder")]
    assert not path.exists()


def test_shared_memory_is_removed_by_the_unique_name_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "SHARED_MEMORY", tmp_path)
    names = ["mm01abc", "middlemark_mm01abc_0", "mm01abd", "other"]
    with ledger.opened() as entries:
        entries.enter("shared_memory", "mm01abc")
        for name in names:
            (tmp_path / name).touch()
    assert {name for name in names if (tmp_path / name).exists()} == {"mm01abd", "other"}


def test_without_a_ledger_nothing_may_be_created(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where a folder is needed")
    with pytest.raises(EnvironmentNotReady, match="XDG_STATE_HOME"), ledger.opened():
        pytest.fail("a ledger that can't be written was opened")


def test_a_link_is_removed_and_not_what_it_points_to(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    with ledger.opened() as entries:
        entries.enter("folder", tmp_path / "link")
        (tmp_path / "link").symlink_to(tmp_path / "precious")
    assert not (tmp_path / "link").is_symlink()
    assert (tmp_path / "precious").is_dir()
