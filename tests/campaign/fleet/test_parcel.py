"""A parcel brings the trials that were handed out, whole, or is refused."""

import io
import tarfile
from pathlib import Path

import pytest

from middlemark.campaign.campaign import run_new
from middlemark.campaign.fleet.parcel import Parcel, check_digest, packed, stored, unpacked
from middlemark.errors import StoreError
from middlemark.plan import Trial
from middlemark.results.run_folder import RunFolder
from staged import placed, suite_text


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    run_new(tmp_path / "there", placed(suite_text()))
    return RunFolder(tmp_path / "there")


@pytest.fixture
def trials(run: RunFolder) -> tuple[Trial, ...]:
    return run.read_manifest().trials


def add(path: Path, name: str, kind: bytes = tarfile.REGTYPE) -> None:
    with tarfile.open(path, "a") as archive:
        member = tarfile.TarInfo(name)
        member.type, member.linkname, content = kind, "/etc/passwd", b"junk"
        member.size = len(content) if kind == tarfile.REGTYPE else 0
        archive.addfile(member, io.BytesIO(content))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_was_packed_is_stored_elsewhere_as_it_was(
    run: RunFolder, trials: tuple[Trial, ...], tmp_path: Path
) -> None:
    parcel = packed(run, trials, tmp_path / "1.tar")
    check_digest(parcel, tmp_path / "1.tar")
    here = RunFolder(tmp_path / "here")
    here.trials_path.mkdir(parents=True)
    (record,) = stored(here, unpacked(tmp_path / "1.tar", trials), trials, "one", ())
    there = run.trial(record.trial.id)
    assert record == there.read_record().model_copy(update={"testbed": "one"})
    assert here.trial(record.trial.id).read_record() == record
    sent, arrived = contents(there.path), contents(here.trial(record.trial.id).path)
    assert sent.keys() == arrived.keys()
    assert {name for name in sent if sent[name] != arrived[name]} == {"trial.json"}


def test_what_arrived_otherwise_than_it_was_sent_is_refused(
    run: RunFolder, trials: tuple[Trial, ...], tmp_path: Path
) -> None:
    parcel = packed(run, trials, tmp_path / "1.tar")
    with (tmp_path / "1.tar").open("r+b") as file:
        file.seek(600)
        file.write(b"x")
    with pytest.raises(StoreError, match="SHA-256"):
        check_digest(parcel, tmp_path / "1.tar")


@pytest.mark.parametrize("name", ["../../escaped", "/escaped", "1-x/../../escaped"])
def test_what_would_leave_the_folder_stays_out(
    run: RunFolder, trials: tuple[Trial, ...], tmp_path: Path, name: str
) -> None:
    packed(run, trials, tmp_path / "1.tar")
    add(tmp_path / "1.tar", name)
    unpacked(tmp_path / "1.tar", trials)
    assert not list(tmp_path.rglob("escaped"))


@pytest.mark.parametrize(
    ("name", "kind"), [("{}/link.parquet", tarfile.SYMTYPE), ("9-other/trial.json", tarfile.REGTYPE)]
)
def test_links_and_other_trials_are_refused(
    run: RunFolder, trials: tuple[Trial, ...], tmp_path: Path, name: str, kind: bytes
) -> None:
    packed(run, trials, tmp_path / "1.tar")
    add(tmp_path / "1.tar", name.format(trials[0].id), kind)
    with pytest.raises(StoreError):
        unpacked(tmp_path / "1.tar", trials)


def test_a_parcel_without_one_of_its_trials_is_refused(
    run: RunFolder, trials: tuple[Trial, ...], tmp_path: Path
) -> None:
    packed(run, (), tmp_path / "1.tar")
    with pytest.raises(StoreError, match="not of the trials"):
        unpacked(tmp_path / "1.tar", trials)


def test_a_parcel_is_unpacked_again_where_an_attempt_ended_midway(
    run: RunFolder, trials: tuple[Trial, ...], tmp_path: Path
) -> None:
    packed(run, trials, tmp_path / "whole.tar")
    whole = (tmp_path / "whole.tar").read_bytes()
    (tmp_path / "1.tar").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(StoreError, match="can't be read"):
        unpacked(tmp_path / "1.tar", trials)
    assert any((tmp_path / "1.trials").rglob("*"))
    (tmp_path / "1.tar").write_bytes(whole)
    (folder,) = unpacked(tmp_path / "1.tar", trials)
    assert contents(folder.path) == contents(run.trial(trials[0].id).path)


def test_a_parcel_is_fetched_in_bounded_pieces() -> None:
    parcel = Parcel(path="/x", size_bytes=9 << 20, sha256="0" * 64)
    assert list(parcel.offsets) == [0, 4 << 20, 8 << 20]
