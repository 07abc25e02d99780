"""What is entered in a ledger is removed, whoever dies when; what is not entered is never touched."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from middlemark.errors import EnvironmentNotReady
from middlemark.testbed.processes import ledger, procfs
from testbeds import is_gone, ledgers


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def sleeper(mark: str | None = None) -> subprocess.Popen[bytes]:
    environment = os.environ | ({procfs.MARK_VARIABLE: mark} if mark else {})
    child = subprocess.Popen(["sleep", "600"], env=environment)
    # For an instant after its start a process has no environment to be found by yet.
    deadline = time.monotonic() + 10
    while mark and not procfs.marked([mark])[mark]:
        assert time.monotonic() < deadline
    return child


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


def test_a_stopped_process_is_ended_too() -> None:
    with ledger.opened() as entries:
        mark = entries.enter("process", "stopped")
        child = sleeper(mark)
        os.kill(child.pid, signal.SIGSTOP)
        entries.remove(mark)
    assert is_gone(child)


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
