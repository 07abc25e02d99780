"""An index goes when the folder that it is of has gone, with what an index consists of and nothing else."""

import shutil
from pathlib import Path

import pytest

from middlemark.analysis.catalogue import index as indexes
from middlemark.analysis.catalogue.index import Index


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(indexes, "cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache" / "runs"


def made(folder: Path) -> Path:
    """The index of a folder, which is there."""
    folder.mkdir()
    Index(folder).keep_outlines({})
    return Index(folder).path


def test_with_a_new_index_those_of_folders_that_are_gone_are_removed(tmp_path: Path, cache: Path) -> None:
    gone, there = made(tmp_path / "gone"), made(tmp_path / "there")
    (tmp_path / "gone").rmdir()
    Index(tmp_path / "there").keep_outlines({})
    assert gone.exists(), "only a new index is worth a look at all others"
    new = made(tmp_path / "new")
    assert set(cache.iterdir()) == {there, new}


def test_an_index_that_does_not_say_which_folder_it_is_of_is_made_again(tmp_path: Path, cache: Path) -> None:
    unnamed, used = made(tmp_path / "unnamed"), made(tmp_path / "used")
    (unnamed / "folder").unlink()
    (used / "folder").unlink()
    Index(tmp_path / "used").keep_outlines({})
    assert (set(cache.iterdir()), (used / "outlines.parquet").exists()) == ({used}, True)


def test_what_is_no_part_of_an_index_stays(tmp_path: Path, cache: Path) -> None:
    gone = made(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    (gone / "notes.txt").touch()
    (cache / "elsewhere").mkdir()
    (cache / ("0" * 16)).symlink_to(tmp_path, target_is_directory=True)
    made(tmp_path / "new")
    assert [path.name for path in gone.iterdir()] == ["notes.txt"]
    assert (cache / "elsewhere").is_dir()
    assert (tmp_path / "new").is_dir()


def test_an_index_of_a_folder_that_comes_back_is_made_again(tmp_path: Path) -> None:
    away = made(tmp_path / "away")
    shutil.move(tmp_path / "away", tmp_path / "elsewhere")
    made(tmp_path / "new")
    assert not away.exists()
    shutil.move(tmp_path / "elsewhere", tmp_path / "away")
    Index(tmp_path / "away").keep_outlines({})
    assert (away / "outlines.parquet").exists()
