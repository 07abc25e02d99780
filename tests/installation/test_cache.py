"""A folder of the cache is its user's alone, and nothing is made in another user's, as `sudo -E` would have it."""

import os
from pathlib import Path

import pytest

from middlemark.installation.cache import cache_folder, make_cache_folder

ANOTHER = 54321


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
