"""What a killed process has entered is swept, and nothing else; what can't be reached ends when the user says so."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from middlemark.testbed.processes import abandoned, ledger, procfs, remote
from middlemark.testbed.processes.abandoned import Forgotten
from testbeds import is_gone, ledgers

FOLDER, CAPTURE = "mm01aaaaaaaaaa", "mm01aaaaaaaaaa-capture.pcapng"


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def left_behind(tmp_path: Path, *lines: dict[str, object], name: str = "1-abandoned") -> Path:
    """A ledger as a killed process leaves it."""
    path = tmp_path / f"state/middlemark/ledgers/{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_a_sweep_after_kill_9_removes_what_was_entered_and_says_what(tmp_path: Path) -> None:
    program = f"""
import os, signal, subprocess
from pathlib import Path
from middlemark.errors import EnvironmentNotReady
from middlemark.testbed.processes import abandoned, ledger, procfs
with ledger.opened() as entries:
    entries.enter("folder", {str(tmp_path / FOLDER)!r}); Path({str(tmp_path / FOLDER)!r}).mkdir()
    mark = entries.enter("process", "sleeps")
    child = subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL,
        env=os.environ | {{procfs.MARK_VARIABLE: mark}})
    print(child.pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)  # before the ledger knows the child's number
"""
    killed = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=False)
    child = int(killed.stdout)
    assert killed.returncode == -signal.SIGKILL
    assert procfs.identity(child) is not None
    removed = abandoned.sweep()
    assert {(each.kind, each.what) for each in removed} == {
        ("folder", str(tmp_path / FOLDER)),
        ("process", "sleeps"),
    }
    assert procfs.identity(child) is None
    assert not (tmp_path / FOLDER).exists()
    assert ledgers(tmp_path) == []


def test_a_process_number_that_was_used_again_is_not_hit(tmp_path: Path) -> None:
    innocent = subprocess.Popen(["sleep", "600"])
    identity = procfs.identity(innocent.pid)
    assert identity is not None
    started = {"op": "started", "pid": innocent.pid, "boot_id": identity.boot_id}
    left_behind(
        tmp_path,
        {"op": "create", "mark": "a", "kind": "process", "what": "had this number before"},
        {**started, "mark": "a", "start_ticks": identity.start_ticks - 100},
        {"op": "create", "mark": "b", "kind": "process", "what": "had this number before the machine was booted"},
        {**started, "mark": "b", "start_ticks": identity.start_ticks, "boot_id": "another"},
    )
    assert abandoned.sweep() == []
    assert innocent.poll() is None
    innocent.kill()
    innocent.wait()


def test_a_known_process_is_ended_even_if_it_hides_its_mark_and_ignores_sigterm(tmp_path: Path) -> None:
    stubborn = subprocess.Popen(
        ["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done"], stdout=subprocess.PIPE
    )
    assert stubborn.stdout is not None
    stubborn.stdout.readline()
    identity = procfs.identity(stubborn.pid)
    assert identity is not None
    left_behind(
        tmp_path,
        {"op": "create", "mark": "a", "kind": "process", "what": "stubborn"},
        {"op": "started", "mark": "a", "pid": identity.pid, "start_ticks": identity.start_ticks,
         "boot_id": identity.boot_id},
    )  # fmt: skip
    assert [each.what for each in abandoned.sweep()] == ["stubborn"]
    assert is_gone(stubborn)
    stubborn.stdout.close()


def test_a_ledger_cut_off_in_the_middle_of_a_line_is_read_up_to_there(tmp_path: Path) -> None:
    path = left_behind(tmp_path, {"op": "create", "mark": "a", "kind": "folder", "what": str(tmp_path / FOLDER)})
    with path.open("a") as file:
        file.write('{"op": "create", "mark": "b", "ki')
    (tmp_path / FOLDER).mkdir()
    assert [each.what for each in abandoned.sweep()] == [str(tmp_path / FOLDER)]
    assert not path.exists()


def test_a_kill_while_a_ledger_is_created_leaves_nothing_that_a_sweep_misses(tmp_path: Path) -> None:
    folder = tmp_path / "state/middlemark/ledgers"
    program = """
import fcntl, os, signal
from middlemark.testbed.processes import ledger
fcntl.flock = lambda file, how: os.kill(os.getpid(), signal.SIGKILL)
with ledger.opened(): pass
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -signal.SIGKILL
    assert list(folder.iterdir()), "it was killed before there was a file"
    assert abandoned.sweep() == []
    assert list(folder.iterdir()) == []


def test_a_ledger_that_an_earlier_build_left_before_it_was_named_is_swept(tmp_path: Path) -> None:
    hidden = left_behind(tmp_path).with_suffix(".new")
    hidden.touch()
    abandoned.sweep()
    assert not hidden.exists()


def test_a_ledger_that_a_sweep_took_before_it_was_locked_is_created_again(monkeypatch: pytest.MonkeyPatch) -> None:
    swept = []
    lock = fcntl.flock

    def lock_late(file: int, how: int) -> None:
        if not swept:
            swept.append(True)
            abandoned.sweep()
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", lock_late)
    with ledger.opened() as entries:
        assert swept
        assert entries.path.exists()
        assert abandoned.sweep() == []
        assert entries.path.exists()


def entered(mark: str, what: str | Path, kind: str = "remote_folder") -> dict[str, object]:
    return {"op": "create", "mark": mark, "kind": kind, "what": str(what)}


GONE = "nobody@127.0.0.1:1"


def there(number: int) -> str:
    """The name of a folder on another machine."""
    return f"mm-{number:012x}"


def test_a_machine_that_does_not_answer_is_asked_once_a_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def run_script(target: str, _: str) -> str:
        asked.append(target)
        if target == GONE:
            raise remote.Unanswered(f"{target} does not answer")
        raise remote.Unreachable(f"on {target}: rm: Read-only file system")

    monkeypatch.setattr(remote, "run_script", run_script)
    left_behind(
        tmp_path,
        *(entered(f"{n}{len(target)}", f"{target}:/tmp/{there(n)}") for n in range(2) for target in (GONE, "full")),
    )
    left_behind(tmp_path, entered("c", f"{GONE}:/tmp/{there(2)}"), name="2-abandoned")
    swept = abandoned.sweep()
    assert asked == [GONE, "full", "full"]
    assert abandoned.out_of_reach(swept) == [GONE, "full"]
    assert {each.what: each.problem for each in swept} == {
        **{f"{GONE}:/tmp/{there(n)}": f"{GONE} does not answer" for n in range(3)},
        **{f"full:/tmp/{there(n)}": "on full: rm: Read-only file system" for n in (0, 1)},
    }


def test_a_machine_that_is_gone_for_good_is_forgotten_and_all_else_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / FOLDER
    folder.mkdir()
    mixed = left_behind(
        tmp_path,
        entered("a", f"{GONE}:/tmp/{there(0)}"),
        entered("b", f"other:/tmp/{there(1)}"),
        entered("c", folder, "folder"),
    )
    with mixed.open("a") as file:
        file.write('{"op": "create", "mark": "d", "ki')
    left_behind(tmp_path, entered("c", f"{GONE}:/tmp/{there(2)}"), name="2-abandoned")
    assert abandoned.forget(GONE) == [
        Forgotten("remote_folder", f"{GONE}:/tmp/{there(0)}", "1-abandoned"),
        Forgotten("remote_folder", f"{GONE}:/tmp/{there(2)}", "2-abandoned"),
    ]
    assert ledgers(tmp_path) == [mixed]
    assert [entry.what for entry in ledger.read(mixed)] == [f"other:/tmp/{there(1)}", str(folder)]
    assert folder.exists()
    assert abandoned.forget(GONE) == []


def test_what_a_living_process_has_entered_is_not_forgotten() -> None:
    with ledger.opened() as entries:
        mark = entries.enter("remote_folder", f"{GONE}:/tmp/{there(0)}")
        assert abandoned.forget(GONE) == []
        assert [entry.mark for entry in ledger.read(entries.path)] == [mark]


def test_a_sweep_waits_for_what_a_killed_owner_had_just_forked(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", FORKED, tmp_path / CAPTURE], stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        forked = int(owner.stdout.readline())  # it holds the owner's lock, and has no mark in its environment yet
    threading.Timer(0.2, os.kill, (forked, signal.SIGCONT)).start()
    assert [each.kind for each in abandoned.sweep()] == ["file"]
    assert not (tmp_path / CAPTURE).exists()


FORKED = """
import os, signal, sys
from middlemark.testbed.processes import abandoned, ledger
with ledger.opened() as entries:
    entries.enter("file", sys.argv[1])
    open(sys.argv[1], "w").close()
    forked = os.fork()
    if not forked:
        os.kill(os.getpid(), signal.SIGSTOP)
        os.execvp("true", ["true"])
    os.waitpid(forked, os.WUNTRACED)
    print(forked, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""
