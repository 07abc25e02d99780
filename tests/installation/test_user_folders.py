"""To whom a folder belongs is named, through links too, and nothing is cached in another user's."""

import os
from pathlib import Path

import pytest

from middlemark.installation.user_folders import (
    cache_folder,
    make_cache_folder,
    nearest_existing,
    other_owner,
    user_name,
)

ANOTHER = 54321
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")


def test_ones_own_folder_has_no_other_owner(tmp_path: Path) -> None:
    assert other_owner(tmp_path) is None


def test_a_folder_of_root_has_no_other_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: ANOTHER)
    assert other_owner(Path("/")) is None
    assert other_owner(tmp_path) == (None if own == 0 else user_name(own))


@as_root
def test_another_users_folder_is_named_by_its_user(tmp_path: Path) -> None:
    os.chown(tmp_path, ANOTHER, -1)
    assert other_owner(tmp_path) == str(ANOTHER)


@as_root
@pytest.mark.parametrize("theirs", ["link", "folder"])
def test_a_link_counts_as_much_as_what_it_leads_to(tmp_path: Path, theirs: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    os.chown(tmp_path / theirs, ANOTHER, -1, follow_symlinks=False)
    assert other_owner(tmp_path / "link") == str(ANOTHER)


def test_the_nearest_is_the_folder_itself_or_the_lowest_that_exists(tmp_path: Path) -> None:
    assert nearest_existing(tmp_path) == tmp_path
    assert nearest_existing(tmp_path / "a" / "b") == tmp_path


def test_a_user_has_a_name_or_a_number() -> None:
    assert user_name(0) == "root"
    assert user_name(ANOTHER) == str(ANOTHER)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


def test_it_is_made_for_its_user_alone(cache: Path) -> None:
    assert cache_folder() == cache / "middlemark"
    make_cache_folder(cache_folder() / "kind")
    assert (cache / "middlemark/kind").stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
@pytest.mark.parametrize("theirs", ["", "middlemark", "middlemark/kind"])
def test_nothing_is_made_in_another_users(cache: Path, theirs: str) -> None:
    (cache / theirs).mkdir(parents=True)
    for path in (cache, *cache.rglob("*")):
        os.chown(path, ANOTHER, -1)
    before = sorted(cache.rglob("*"))
    with pytest.raises(PermissionError, match="another user"):
        make_cache_folder(cache_folder() / "kind")
    assert sorted(cache.rglob("*")) == before
