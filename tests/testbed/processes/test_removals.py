"""What is no test's is not removed, whatever check is broken; a folder of the test's plays the machine's."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import removals
from middlemark.testbed.processes import abandoned, entry
from middlemark.testbed.processes.remote import RemoteFolder
from pages import ROOT
from removals import NotOfTests


@pytest.mark.parametrize(
    "place",
    [
        "/", "/boot", "/dev", "/dev/sda", "/etc", "/etc/passwd", "/home", "/home/user", "/opt", "/proc/1", "/root",
        "/root/.ssh", "/run", "/run/systemd", "/srv", "/sys", "/sys/fs/cgroup", "/sys/fs/cgroup/system.slice", "/usr",
        "/usr/lib", "/var", "/var/lib", *removals.DEFAULT_PLACES, ROOT, ROOT / "src", ROOT / "src/middlemark",
    ],
    ids=str,
)  # fmt: skip
def test_no_place_of_the_machine_is_of_the_tests(place: str | Path) -> None:
    assert not removals.is_of_tests(Path(place))


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The one folder that is of the tests as long as this lasts."""
    folder = tmp_path / "own"
    folder.mkdir()
    monkeypatch.setenv(removals.PLACES_VARIABLE, str(folder))
    monkeypatch.setenv(removals.REFUSED_VARIABLE, str(folder / "refused"))
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    return folder


@pytest.fixture
def etc(tmp_path: Path) -> Path:
    """Plays the machine's."""
    folder = tmp_path / "machine/etc"
    (folder / "empty").mkdir(parents=True)
    (folder / "passwd").write_text("root")
    return folder


def whole(etc: Path) -> bool:
    return (etc / "passwd").exists() and (etc / "empty").exists()


def test_a_sweep_without_its_check_of_names_removes_nothing_of_the_machine(
    own: Path, etc: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entry, "check_name", lambda *_: None)
    left = own / "state/middlemark/ledgers/1-left.jsonl"
    left.parent.mkdir(parents=True)
    left.write_text(json.dumps({"op": "create", "mark": "a", "kind": "folder", "what": str(etc)}) + "\n")
    with pytest.raises(NotOfTests, match=str(etc)):
        abandoned.sweep()
    assert whole(etc)
    assert str(etc) in (own / "refused").read_text()


def by_descriptor(etc: Path) -> None:
    folder = os.open(etc, os.O_RDONLY)
    try:
        os.unlink("passwd", dir_fd=folder)
    finally:
        os.close(folder)


def through_a_link(etc: Path) -> None:
    link = etc.parents[1] / "own/link"
    link.symlink_to(etc)
    (link / "passwd").unlink()


WAYS: dict[str, Callable[[Path], object]] = {
    "tree": lambda etc: shutil.rmtree(etc, ignore_errors=True),
    "file": lambda etc: (etc / "passwd").unlink(),
    "folder": lambda etc: os.rmdir(etc / "empty"),  # noqa: PTH106
    "bytes": lambda etc: os.remove(os.fsencode(etc / "passwd")),  # noqa: PTH107
    "upwards": lambda etc: (etc.parents[1] / "own/../machine/etc/passwd").unlink(),
    "link": through_a_link,
    "descriptor": by_descriptor,
    "command": lambda etc: subprocess.run(["rm", "-rf", etc], check=False),
    "script": lambda etc: subprocess.run(["sh", "-c", f"true; rm -r -f '{etc}'; true"], check=False),
    "machine": lambda etc: RemoteFolder("nobody@127.0.0.1:1", etc).remove(),
}


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize("way", WAYS)
def test_whatever_removes_it_is_refused(etc: Path, way: str) -> None:
    with pytest.raises(NotOfTests, match="etc"):
        WAYS[way](etc)
    assert whole(etc)


def test_what_is_of_the_tests_goes_and_what_a_link_leads_to_stays(own: Path, etc: Path) -> None:
    (own / "folder").mkdir()
    (own / "folder/link").symlink_to(etc)
    shutil.rmtree(own / "folder")
    assert not (own / "folder").exists()
    assert whole(etc)
    assert not (own / "refused").exists()


def test_a_folder_that_holds_something_ends_what_removes_empty_ones_upwards(own: Path) -> None:
    (own / "stays").touch()
    (own / "a/b").mkdir(parents=True)
    os.removedirs(own / "a/b")
    assert [path.name for path in own.iterdir()] == ["stays"]


def test_a_program_that_a_test_starts_is_refused_too(own: Path, etc: Path) -> None:
    program = f"import shutil; shutil.rmtree({str(etc)!r}, ignore_errors=True)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "is no test's" in ended.stderr
    assert whole(etc)
    assert str(etc) in (own / "refused").read_text()


HIDDEN = """
import os, subprocess, sys
def test_it():
    program = "import shutil; shutil.rmtree({etc!r})"
    environment = os.environ | {{"TESTS_MAY_REMOVE_IN": {own!r}}}
    subprocess.run([sys.executable, "-c", program], env=environment, stderr=subprocess.DEVNULL)
"""


def test_a_refusal_that_a_program_keeps_to_itself_fails_the_test(tmp_path: Path, own: Path, etc: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]")
    (tmp_path / "test_hidden.py").write_text(HIDDEN.format(own=str(own), etc=str(etc)))
    command = [sys.executable, "-m", "pytest", "-p", "guarding", "-p", "no:cacheprovider", "test_hidden.py"]
    environment = {name: text for name, text in os.environ.items() if not name.startswith("TESTS_")}
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 1, ended.stdout
    assert f"shutil.rmtree: {etc} is no test's" in ended.stdout
    assert "1 passed, 1 error" in ended.stdout
    assert whole(etc)
