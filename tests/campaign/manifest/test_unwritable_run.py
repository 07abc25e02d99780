"""A run folder or state folder that can't be written gives one clear error, and leaves a run that can be gone on with."""

import errno
import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from command_line import middlemark
from middlemark.analysis.run import analyse
from middlemark.campaign.campaign import resume_run, run_new
from middlemark.errors import ExitCode, StoreError
from middlemark.report.output.data import write_summary
from middlemark.report.output.html import write_report
from middlemark.results import files
from middlemark.results.progress import Event, StepReached
from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import RunFolder
from middlemark.testbed.processes import abandoned
from middlemark.testbed.processes.ledger import state_folder
from staged import marked_processes, placed, suite_text


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for a manifest and not much more."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = os.geteuid() == 0 and shutil.which("mount") is not None
    options = ["-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if not mounted or subprocess.run(["mount", *options], capture_output=True, check=False).returncode:
        pytest.skip("a file system can't be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_said_with_what_to_do_and_resume_completes(small_disk: Path) -> None:
    filler = small_disk / "filler"
    run = small_disk / "run"
    text = suite_text().replace("trials: 1", "trials: 3")
    filler.write_bytes(b"." * (12 << 10))
    with pytest.raises(StoreError, match="not enough space") as caught:
        run_new(run, placed(text))
    assert "--resume" in (caught.value.remedy or "")
    assert marked_processes() == set()
    subprocess.run(["mount", "-o", "remount,size=4m", str(small_disk)], check=True)
    resume_run(run)
    kinds = [folder.read_record().outcome.kind for folder in RunFolder(run).stored_trials()]
    assert kinds == ["valid"] * 3


def test_a_full_folder_for_samples_is_told_and_the_trial_runs_again(
    small_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no failure of the worker that found no space there, which would be kept."""
    monkeypatch.setattr(tempfile, "tempdir", str(small_disk))
    (small_disk / "filler").write_bytes(b"." * (60 << 10))
    run = tmp_path / "run"
    with pytest.raises(StoreError, match="not enough space") as caught:
        run_new(run, placed(suite_text()))
    assert caught.value.path.is_relative_to(small_disk)
    assert list(RunFolder(run).stored_trials()) == []
    subprocess.run(["mount", "-o", "remount,size=4m", str(small_disk)], check=True)
    resume_run(run)
    assert [trial.read_record().outcome.kind for trial in RunFolder(run).stored_trials()] == ["valid"]


def test_a_file_that_may_not_grow_is_said_in_the_same_way(campaign: Callable[..., list[TrialRecord]]) -> None:
    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)

    class LimitWhenStoring:
        def observe(self, event: Event) -> None:
            if isinstance(event, StepReached) and event.step == "storing":
                resource.setrlimit(resource.RLIMIT_FSIZE, (1000, unlimited[1]))

    try:
        with pytest.raises(StoreError, match="not enough space"):
            campaign(suite_text(), LimitWhenStoring())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)


@pytest.mark.parametrize("blocked", ["file", "permission"])
def test_an_output_folder_that_is_not_writable_is_said_before_any_trial(tmp_path: Path, blocked: str) -> None:
    parent = tmp_path / "parent"
    if blocked == "file":
        parent.write_text("a file, no folder")
    elif os.geteuid() == 0:
        parent = Path("/proc/middlemark-test")  # where even root can't make a folder
    else:
        parent.mkdir(mode=0o500)
    with pytest.raises(StoreError) as caught:
        run_new(parent / "run", placed(suite_text()))
    assert str(parent) in str(caught.value)


def test_a_folder_with_a_run_is_not_overwritten(campaign: Callable[..., list[TrialRecord]], tmp_path: Path) -> None:
    campaign(suite_text())
    before = (tmp_path / "run/manifest.json").read_bytes()
    with pytest.raises(StoreError, match="--resume"):
        run_new(tmp_path / "run", placed(suite_text()))
    assert (tmp_path / "run/manifest.json").read_bytes() == before


def test_two_writers_of_one_run_are_refused(campaign: Callable[..., list[TrialRecord]], tmp_path: Path) -> None:
    campaign(suite_text())
    with RunFolder(tmp_path / "run").locked(), pytest.raises(StoreError, match="another middlemark"):
        resume_run(tmp_path / "run")


def test_resuming_a_complete_run_runs_nothing(campaign: Callable[..., list[TrialRecord]], tmp_path: Path) -> None:
    campaign(suite_text())
    record = next(RunFolder(tmp_path / "run").stored_trials()).record_path
    before = record.stat().st_mtime_ns
    resume_run(tmp_path / "run")
    assert record.stat().st_mtime_ns == before


def test_resuming_what_is_no_run_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        resume_run(tmp_path)


FILES = (
    "manifest.json", "spec.json", "events.jsonl", "received.parquet", "published.parquet",
    "sketches.parquet", "metrics.json", "resources.json", "trial.json", "summary.parquet", "report.html",
)  # fmt: skip
"""All that is written of a run without observers and pipelines, in this order."""


def go_on(run: Path) -> None:
    """As `middlemark run` does, from wherever it is."""
    if (run / "manifest.json").exists():
        resume_run(run)
    else:
        run_new(run, placed(suite_text()))
    findings = analyse(RunFolder(run))
    write_summary(findings)
    write_report(findings)


@contextmanager
def at_each_file(monkeypatch: pytest.MonkeyPatch, before: Callable[[Path], None]) -> Iterator[None]:
    """Has something happen before a file of a run gets its content."""
    new_beside = files._new_beside

    def told(path: Path) -> Path:
        before(path)
        return new_beside(path)

    with monkeypatch.context() as patched:
        patched.setattr(files, "_new_beside", told)
        yield


def unfinished(run: Path) -> list[Path]:
    return list(run.rglob(".*.partial"))


def test_a_disk_that_is_full_at_any_file_of_a_run_is_told_and_resume_completes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, seen = tmp_path / "run", []
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    for name in FILES:

        def fill(path: Path, name: str = name) -> None:
            if path.name == name:
                resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))

        try:
            with at_each_file(monkeypatch, fill), pytest.raises(StoreError, match="not enough space") as caught:
                go_on(run)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        assert (caught.value.exit_code, caught.value.remedy) == (
            ExitCode.ENVIRONMENT,
            "free some space; a trial runs again with --resume",
        )
        assert name in str(caught.value) or caught.value.path.name == name
        assert unfinished(run) == []
        assert not list(run.rglob(name))
        assert marked_processes() == set()
        assert abandoned.sweep() == []
    with at_each_file(monkeypatch, lambda path: seen.append(path.name)):
        go_on(run)
    assert set(seen) <= set(FILES)
    assert [trial.read_record().outcome.kind for trial in RunFolder(run).stored_trials()] == ["valid"]
    assert {path.name for path in run.rglob("*") if path.is_file()} - set(FILES) == {
        "publisher_0.log",
        "subscriber_0.log",
    }


def test_a_disk_that_is_full_at_any_entry_of_the_ledger_is_told_and_resume_completes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No trial is stored as one that this machine can't run: what it lacked was space for a moment."""
    run, write = tmp_path / "run", os.write
    entries, refused = 0, 0
    while not list(RunFolder(run).stored_trials()):
        entries, left = entries + 1, entries

        def full(file: int, text: bytes) -> int:
            nonlocal left
            if b'"create"' in text:
                left -= 1
                if left < 0:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return write(file, text)

        with monkeypatch.context() as patched:
            patched.setattr(os, "write", full)
            if told := refusal_of(run):
                refused += 1
                assert str(state_folder()) in str(told)
                assert "--resume" in (told.remedy or "")
        assert marked_processes() == set()
        assert abandoned.sweep() == []
        assert entries < 50
    assert refused >= 4
    assert [trial.read_record().outcome.kind for trial in RunFolder(run).stored_trials()] == ["valid"]


def refusal_of(run: Path) -> StoreError | None:
    try:
        go_on(run)
    except StoreError as told:
        return told
    return None


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, which can be mounted again to be read only."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    if os.geteuid() or not shutil.which("mount") or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a file system can't be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def mounted_again(disk: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(disk)], check=True)


def test_a_run_folder_that_becomes_read_only_is_told_and_resume_completes(disk: Path) -> None:
    class LoseWhenStoring:
        def observe(self, event: Event) -> None:
            if isinstance(event, StepReached) and event.step == "storing":
                mounted_again(disk, "ro")

    with pytest.raises(StoreError, match="can't be written to") as caught:
        run_new(disk / "run", placed(suite_text()), LoseWhenStoring())
    assert caught.value.exit_code == ExitCode.ENVIRONMENT
    assert unfinished(disk) == []
    with pytest.raises(StoreError, match="can't be written to"):
        resume_run(disk / "run")
    assert marked_processes() == set()
    mounted_again(disk, "rw")
    go_on(disk / "run")
    assert [trial.read_record().outcome.kind for trial in RunFolder(disk / "run").stored_trials()] == ["valid"]


def test_a_state_folder_that_is_read_only_is_told_before_any_trial(
    disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(disk))
    mounted_again(disk, "ro")
    with pytest.raises(StoreError, match="Read-only") as caught:
        run_new(tmp_path / "run", placed(suite_text()))
    assert str(disk) in str(caught.value)
    assert "XDG_STATE_HOME" in (caught.value.remedy or "")
    mounted_again(disk, "rw")
    go_on(tmp_path / "run")
    assert [trial.read_record().outcome.kind for trial in RunFolder(tmp_path / "run").stored_trials()] == ["valid"]


def test_the_command_says_it_in_one_message_with_its_exit_code(disk: Path) -> None:
    (disk / "suite.yaml").write_text(suite_text())
    mounted_again(disk, "ro")
    ended = middlemark("run", disk / "suite.yaml", "--out", disk / "run")
    assert ended.returncode == ExitCode.ENVIRONMENT
    assert f"{disk / 'run'}: it can't be written to" in ended.stderr
    assert "--out" in ended.stderr
    assert "Traceback" not in ended.stderr
