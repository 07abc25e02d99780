"""Files are read only where they are regular and small enough, and written whole in the place of whatever lies there."""

import os
from pathlib import Path

import pytest

from middlemark.errors import StoreError
from middlemark.results.files import read_bytes, size_bytes, write_bytes, write_text, write_with


def test_a_link_in_the_place_of_a_file_is_replaced_and_not_followed(tmp_path: Path) -> None:
    keys = tmp_path / "authorized_keys"
    keys.write_text("mine")
    (tmp_path / "report.html").symlink_to(keys)
    write_text(tmp_path / "report.html", "the report")
    assert keys.read_text() == "mine"
    assert not (tmp_path / "report.html").is_symlink()
    assert (tmp_path / "report.html").read_text() == "the report"


def test_what_is_written_halfway_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    write_text(tmp_path / "x.json", "old")

    def broken(partial: Path) -> None:
        partial.write_text("ha")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_with(tmp_path / "x.json", broken)
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]
    assert (tmp_path / "x.json").read_text() == "old"


def test_two_writers_of_one_file_have_partial_files_of_their_own(tmp_path: Path) -> None:
    seen = []

    def outer(partial: Path) -> None:
        seen.append(partial)
        write_with(tmp_path / "x", seen.append)

    write_with(tmp_path / "x", outer)
    assert len({*seen}) == 2
    assert all(path.parent == tmp_path for path in seen)


def test_a_file_has_the_permissions_that_any_new_file_has(tmp_path: Path) -> None:
    (tmp_path / "usual").write_text("")
    write_bytes(tmp_path / "ours", b"")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_folder_in_the_place_of_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "report.html").mkdir()
    with pytest.raises(StoreError, match=r"report\.html"):
        write_text(tmp_path / "report.html", "the report")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_pipes_links_and_devices_are_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/etc/hostname")
    (tmp_path / "device").symlink_to("/dev/zero")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "link", "device", "folder", "nothing"):
        for read in (size_bytes, lambda path: read_bytes(path, 1 << 20)):
            with pytest.raises(StoreError, match=name):
                read(tmp_path / name)


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "manifest.json").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(StoreError, match="1099511627776 bytes"):
        read_bytes(tmp_path / "manifest.json", 1 << 29)
