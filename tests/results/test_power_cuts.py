"""A power cut at any write leaves a run that opens: each trial that counts is whole, and the others run again."""

import random
from pathlib import Path

import polars as pl
import pytest

from behaviour import Behaviour
from middlemark.errors import StoreError
from middlemark.results.manifest import Manifest
from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import RunFolder
from power_cuts import LossyDisk, after_cut
from run_builder import build_run

CUTS = 200
SUITE = "suite: small\ntrials: 3\nmiddlewares: all\nworkloads: [{workload: imu, windows: {window: 100 ms}}]\n"
Stored = tuple[TrialRecord, pl.DataFrame, pl.DataFrame]


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> tuple[Manifest, dict[str, Stored]]:
    """What a campaign has to store."""
    run = build_run(tmp_path_factory.mktemp("built") / "run", SUITE, {"one": Behaviour()})
    stored = {
        trial.id: (trial.read_record(), trial.read_received(), trial.read_published()) for trial in run.stored_trials()
    }
    return run.read_manifest(), stored


@pytest.fixture(scope="module")
def disk(campaign: tuple[Manifest, dict[str, Stored]], tmp_path_factory: pytest.TempPathFactory) -> LossyDisk:
    """What the disk saw while it was stored as a campaign stores it, the second trial after an attempt was cut off."""
    manifest, stored = campaign
    found = LossyDisk(tmp_path_factory.mktemp("disk"))
    with found.following(), RunFolder.created(found.root / "run", manifest) as run:
        for number, (name, (record, received, published)) in enumerate(stored.items()):
            for attempt in range(2 if number == 1 else 1):
                trial = run.trial(name)
                trial.clear()
                trial.write_specs({})
                (trial.logs_path / "publisher_0.log").write_text(f"attempt {attempt}")
                trial.write_samples(received.lazy(), published.lazy(), [])
                trial.write_events(["{}"] * 100)
            trial.finish(record)
            run.write_manifest(manifest)
    return found


def test_after_a_power_cut_at_any_write_the_run_opens_and_what_counts_is_whole(
    campaign: tuple[Manifest, dict[str, Stored]], disk: LossyDisk, tmp_path: Path
) -> None:
    manifest, stored = campaign
    chance = random.Random("power")
    counted = set()
    for cut in range(CUTS):
        at = chance.randrange(len(disk.moments))
        after_cut(disk.moments[at], tmp_path / str(cut), chance)
        run = RunFolder(tmp_path / str(cut) / "run")
        try:
            assert run.read_manifest() == manifest
        except StoreError as error:
            assert "does not exist" in error.problem or "it is not a run" in error.problem  # noqa: PT017
            assert not list(run.path.glob("trials/*/trial.json"))
            continue
        found = list(run.stored_trials())
        counted.add(len(found))
        for trial in found:
            record, received, published = stored[trial.id]
            assert trial.read_record_of(next(each for each in manifest.trials if each.id == trial.id)) == record
            assert trial.read_received().equals(received)
            assert trial.read_published().equals(published)
            assert (trial.logs_path / "publisher_0.log").read_text().startswith("attempt")
            assert trial.events_path.read_text() == "{}\n" * 100
        for missing in manifest.trials[len(found) :]:
            run.trial(missing.id).clear()
    assert counted == {0, 1, 2, 3}


def test_what_was_finished_is_there_after_any_later_cut(
    campaign: tuple[Manifest, dict[str, Stored]], disk: LossyDisk, tmp_path: Path
) -> None:
    """A trial that the campaign has gone on from is never lost."""
    manifest, stored = campaign
    after_cut(disk.moments[-1], tmp_path / "cut", random.Random(1))
    assert [trial.id for trial in RunFolder(tmp_path / "cut/run").stored_trials()] == list(stored)
    assert RunFolder(tmp_path / "cut/run").read_manifest() == manifest


def test_a_writer_that_makes_nothing_durable_is_found_out(
    campaign: tuple[Manifest, dict[str, Stored]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cuts see what they look for: samples that were renamed into place and never made durable."""
    manifest, stored = campaign
    (tmp_path / "disk").mkdir()
    disk = LossyDisk(tmp_path / "disk")
    monkeypatch.setattr("middlemark.results.files.sync", lambda _: None)
    name, (record, received, published) = next(iter(stored.items()))
    with disk.following(), RunFolder.created(disk.root / "run", manifest) as run:
        run.trial(name).clear()
        run.trial(name).write_samples(received, published)
        run.trial(name).finish(record)
    chance = random.Random("power")
    half = 0
    for cut in range(50):
        after_cut(disk.moments[-1], tmp_path / str(cut), chance)
        trial = RunFolder(tmp_path / str(cut) / "run").trial(name)
        try:
            whole = (
                trial.record_path.is_file() and trial.read_record() == record and trial.read_received().equals(received)
            )
        except StoreError:
            whole = False
        half += trial.record_path.is_file() and not whole
    assert half
