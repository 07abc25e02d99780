"""What is entered in a ledger is removed, whoever dies when; what is not entered is never touched."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from middlemark.errors import EnvironmentNotReady, ExitCode, InternalError, StoreError
from middlemark.testbed.processes import abandoned, entry, ledger, procfs
from middlemark.testbed.processes.entry import Kind
from middlemark.testbed.processes.ledger import make_private, state_folder
from testbeds import is_gone, ledgers

FOLDER, FILE = "mm01aaaaaaaaaa", "mm01aaaaaaaaaa-capture.pcapng"


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
    folder, file = tmp_path / FOLDER, tmp_path / FILE
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
        entries.enter("folder", tmp_path / FOLDER)
        assert [entry.what for entry in ledger.read(entries.path)] == [str(tmp_path / FOLDER)]


def test_what_is_removed_is_no_longer_in_the_ledger(tmp_path: Path) -> None:
    with ledger.opened() as entries:
        mark = entries.enter("folder", tmp_path / FOLDER)
        entries.remove(mark)
        assert ledger.read(entries.path) == []
        (tmp_path / FOLDER).mkdir()  # by someone else, later
    assert (tmp_path / FOLDER).exists()


def test_a_stopped_process_is_ended_too() -> None:
    with ledger.opened() as entries:
        mark = entries.enter("process", "stopped")
        child = sleeper(mark)
        os.kill(child.pid, signal.SIGSTOP)
        entries.remove(mark)
    assert is_gone(child)


def test_shared_memory_is_removed_by_the_unique_name_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "SHARED_MEMORY", tmp_path)
    names = ["mm01aaaaaaaaaa", "middlemark_mm01aaaaaaaaaa_0", "mm01aaaaaaaaab", "other"]
    with ledger.opened() as entries:
        entries.enter("shared_memory", "mm01aaaaaaaaaa")
        for name in names:
            (tmp_path / name).touch()
    assert {name for name in names if (tmp_path / name).exists()} == {"mm01aaaaaaaaab", "other"}


def test_without_a_ledger_nothing_may_be_created(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where a folder is needed")
    with pytest.raises(StoreError, match="XDG_STATE_HOME"), ledger.opened():
        pytest.fail("a ledger that can't be written was opened")


def test_a_link_is_removed_and_not_what_it_points_to(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    with ledger.opened() as entries:
        entries.enter("folder", tmp_path / FOLDER)
        (tmp_path / FOLDER).symlink_to(tmp_path / "precious")
    assert not (tmp_path / FOLDER).is_symlink()
    assert (tmp_path / "precious").is_dir()


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        ("folder", "PLACE/precious"), ("folder", "mm01aaaaaaaaaa"), ("folder", "PLACE/x/../precious/mm01aaaaaaaaaa"),
        ("file", "PLACE/precious/file"), ("file", "PLACE/shm"), ("file", "PLACE/shm/precious/file"), ("file", "PLACE/shm/../precious/file"),
        ("shared_memory", ""), ("shared_memory", "sem."), ("containers", "PLACE/precious"),
        ("cgroup", "PLACE/cgroup/system.slice"), ("cgroup", "PLACE/mm01aaaaaaaaaa-host"),
        ("remote_folder", "host:/"), ("remote_folder", "host:/home"),
    ],
)  # fmt: skip
def test_nothing_is_entered_or_removed_but_under_a_name_of_its_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Kind, what: str
) -> None:
    """In places of its own: whatever is removed where this does not hold, it is nothing of the machine."""
    for module in (entry, ledger):
        monkeypatch.setattr(module, "SHARED_MEMORY", tmp_path / "shm")
    monkeypatch.setitem(entry._PLACES, "cgroup", tmp_path / "cgroup")
    monkeypatch.setattr(ledger, "_remove_there", lambda *_: True)
    precious = [
        tmp_path / name for name in ("precious/file", "shm/sem.file", "shm/precious/file", "cgroup/system.slice/file")
    ]
    for path in precious:
        path.parent.mkdir(parents=True)
        path.touch()
    what = what.replace("PLACE", str(tmp_path))
    with ledger.opened() as entries, pytest.raises(InternalError, match="entered"):
        entries.enter(kind, what)
    left = {"op": "create", "mark": "a", "kind": kind, "what": what}
    (swept,) = sweep_of(json.dumps(left))
    assert (swept.kind, swept.problem is not None) == ("ledger", True)
    assert all(path.exists() for path in precious)


def sweep_of(text: str) -> list[abandoned.Removed]:
    """What a sweep says of a ledger with this text, which it leaves."""
    path = state_ledger()
    path.write_text(text + "\n")
    swept = abandoned.sweep()
    assert path.exists()
    return swept


def state_ledger() -> Path:
    folder = state_folder() / "ledgers"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / "1-left.jsonl"


@pytest.mark.parametrize("line", ['{"op": "create"}', '{"op": "burn", "mark": "a"}', '{"mark": []}', "{}"])
def test_a_line_that_is_no_entry_is_told_and_the_others_are_done(tmp_path: Path, line: str) -> None:
    (tmp_path / FOLDER).mkdir()
    good = json.dumps({"op": "create", "mark": "b", "kind": "folder", "what": str(tmp_path / FOLDER)})
    swept = sweep_of(f"{line}\n{good}")
    assert [(each.kind, each.problem is None) for each in swept] == [("folder", True), ("ledger", False)]
    assert "line 1" in (swept[1].problem or "")
    assert not (tmp_path / FOLDER).exists()


@pytest.mark.parametrize("spoil", ["owner", "mode", "pipe", "link"])
def test_a_ledger_that_another_could_have_written_is_told_and_not_done(tmp_path: Path, spoil: str) -> None:
    (tmp_path / FOLDER).mkdir()
    path = state_ledger()
    path.write_text(json.dumps({"op": "create", "mark": "b", "kind": "folder", "what": str(tmp_path / FOLDER)}) + "\n")
    if spoil == "owner":
        if os.geteuid():
            pytest.skip("only root can give a file away")
        os.chown(path, 65534, 65534)
    elif spoil == "mode":
        path.chmod(0o666)
    else:
        kept = path.rename(tmp_path / "kept")
        os.mkfifo(path) if spoil == "pipe" else path.symlink_to(kept)
    assert [each.kind for each in abandoned.sweep()] == ["ledger"]
    assert (tmp_path / FOLDER).exists()


def test_the_folders_of_ledgers_are_this_user_s_alone(tmp_path: Path) -> None:
    folder = tmp_path / "state/middlemark"
    folder.mkdir(parents=True, mode=0o777)
    folder.chmod(0o777)
    with ledger.opened() as entries:
        for each in (folder, entries.path.parent):
            assert each.stat().st_mode & 0o777 == 0o700
        assert entries.path.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_in_a_folder_of_another_user_no_ledger_is_opened(tmp_path: Path) -> None:
    folder = tmp_path / "state/middlemark"
    folder.mkdir(parents=True)
    os.chown(folder, 65534, 65534)
    with pytest.raises(EnvironmentNotReady, match="XDG_STATE_HOME"), ledger.opened():
        pytest.fail("it was opened")


def test_a_ledger_that_can_take_no_more_says_so_before_anything_is_created(tmp_path: Path) -> None:
    program = f"""
import resource
from pathlib import Path
from middlemark.errors import StoreError
from middlemark.testbed.processes import abandoned, ledger
with ledger.opened() as entries:
    entries.enter("folder", {str(tmp_path / FOLDER)!r})
    Path({str(tmp_path / FOLDER)!r}).mkdir()
    limit = entries.path.stat().st_size + 20
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        entries.enter("folder", {str(tmp_path / (FOLDER + "-other"))!r})
    except StoreError as full:
        print(full.remedy)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "XDG_STATE_HOME" in ended.stdout
    assert not (tmp_path / FOLDER).exists()
    assert ledgers(tmp_path) == []


def test_what_a_full_disk_cut_off_takes_no_later_entry_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = os.write
    with ledger.opened() as entries:
        with monkeypatch.context() as full:
            full.setattr(os, "write", lambda file, text: written(file, text[:10]))
            with pytest.raises(StoreError, match="No space left"):
                entries.enter("folder", tmp_path / f"{FOLDER}-other")
        entries.enter("folder", tmp_path / FOLDER)
        assert [entry.what for entry in ledger.read(entries.path)] == [str(tmp_path / FOLDER)]


ANOTHER = 54321


def test_a_private_folder_is_closed_to_others_even_where_it_was_open(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir(mode=0o755)
    make_private(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be in another user's place")
@pytest.mark.parametrize("there", ["middlemark/ledgers", "."], ids=["with ledgers", "empty"])
def test_root_with_another_users_folders_is_told_what_to_do_and_makes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: str
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(home))
    (home / there).mkdir(parents=True, exist_ok=True)
    for path in (home, *home.rglob("*")):
        os.chown(path, ANOTHER, -1)
    before = sorted(home.rglob("*"))
    told = r"of the user who runs this \(root\), but of 54321"
    with pytest.raises(EnvironmentNotReady, match=told) as caught, ledger.opened():
        pytest.fail("a ledger of another user was opened")
    assert "sudo -H env -u XDG_STATE_HOME middlemark" in (caught.value.remedy or "")
    assert caught.value.exit_code == ExitCode.ENVIRONMENT
    assert sorted(home.rglob("*")) == before


def test_a_user_in_a_folder_that_root_made_is_told_how_to_have_it_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    own = os.geteuid()
    state_folder().mkdir()
    if own == 0:
        monkeypatch.setattr(os, "geteuid", lambda: ANOTHER)
    else:
        os_owner = own + 1
        monkeypatch.setattr(os, "geteuid", lambda: os_owner)
    with pytest.raises(EnvironmentNotReady, match="not a folder of the user") as caught:
        make_private(state_folder())
    assert f"sudo chown -R {os.geteuid()} {state_folder()}" in (caught.value.remedy or "")
