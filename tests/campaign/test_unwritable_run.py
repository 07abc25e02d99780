"""A run folder that can't be written gives one clear error, and leaves a run that can be gone on with."""

import os
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from middlemark.campaign.campaign import resume_run, run_new
from middlemark.errors import StoreError
from middlemark.results.progress import Event, StepReached
from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import RunFolder
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
