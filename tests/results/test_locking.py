"""A run folder has one writer, from before anything in it is read, and a trial's folder is emptied only where it lies."""

import multiprocessing
from multiprocessing.synchronize import Barrier, Event
from pathlib import Path

import pytest

from middlemark.errors import StoreError
from middlemark.results.manifest import Manifest
from middlemark.results.run_folder import RunFolder
from middlemark.results.trial_folder import TrialFolder

ROUNDS = 60


def manifest(seed: int) -> Manifest:
    text, at = "suite: x\n" * 2000, "2026-01-01T00:00:00+00:00"
    return Manifest(middlemark_version="0", suite="x", suite_text=text, seed=seed, trials=(), started_at=at)


def start(path: Path, seed: int, together: Barrier, refused: Event, said: Path) -> None:
    """What a campaign does first; it then goes on until the other one has been refused."""
    own = manifest(seed)
    together.wait()
    try:
        with RunFolder.created(path, own):
            assert refused.wait(60)
            said.write_text("wrote")
    except StoreError:
        refused.set()


def test_of_two_campaigns_in_one_folder_one_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    forked = multiprocessing.get_context("fork")
    for number in range(ROUNDS):
        run, together, refused = tmp_path / f"run-{number}", forked.Barrier(2), forked.Event()
        says = [tmp_path / f"{number}-{seed}" for seed in (0, 1)]
        both = [forked.Process(target=start, args=(run, n, together, refused, said)) for n, said in enumerate(says)]
        for each in both:
            each.start()
        for each in both:
            each.join()
        assert sorted(said.exists() for said in says) == [False, True]
        assert RunFolder(run).read_manifest() == manifest(seed=int(says[1].exists()))


def test_what_is_emptied_for_a_trial_is_its_own_folder_and_nothing_else(tmp_path: Path) -> None:
    outside, run = tmp_path / "outside", RunFolder(tmp_path / "run")
    outside.mkdir()
    (outside / "precious").write_text("mine")
    run.trials_path.mkdir(parents=True)
    for name in ("../../outside", "..", ".", "", str(outside)):
        with pytest.raises(StoreError):
            run.trial(name).clear()
        with pytest.raises(StoreError):
            TrialFolder(run.trials_path / name).clear()
    (run.trials_path / "1-x").symlink_to(outside)
    with pytest.raises(StoreError, match="symbolic link"):
        run.trial("1-x").clear()
    with pytest.raises(StoreError, match="it is not the folder of a trial"):
        TrialFolder(outside).clear()
    assert (outside / "precious").read_text() == "mine"


def test_links_within_a_trial_are_removed_and_what_they_lead_to_stays(tmp_path: Path) -> None:
    outside, run = tmp_path / "outside", RunFolder(tmp_path / "run")
    outside.mkdir()
    (outside / "precious").write_text("mine")
    trial = run.trial("1-x")
    trial.path.mkdir(parents=True)
    (trial.path / "logs").symlink_to(outside)
    trial.clear()
    assert (outside / "precious").read_text() == "mine"
    assert [path.name for path in trial.path.iterdir()] == ["logs"]
    assert not trial.logs_path.is_symlink()


def test_trials_that_lie_elsewhere_are_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    run = RunFolder(tmp_path / "run")
    run.path.mkdir()
    (run.path / "trials").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="symbolic link"):
        list(run.stored_trials())
    with pytest.raises(StoreError, match="symbolic link"):
        run.trial("1-x")
