"""An archive from another machine brings samples, and nothing else comes through."""

import io
import os
import shutil
import tarfile
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from middlemark.testbed.processes import archive
from middlemark.testbed.processes.archive import Refused, unpack

NAME = "subscriber_0.received.npy"


def member(name: str = NAME, content: bytes = b"rows", **fields: object) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for field, value in fields.items():
        setattr(info, field, value)
    return info, content


def packed(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as made:
        for info, content in members:
            made.addfile(info, io.BytesIO(content))
    return out.getvalue()


def unpacked(content: bytes, into: Path, within_s: float = 30, *, ends: bool = True) -> None:
    read_end, write_end = os.pipe()

    def write() -> None:
        with open(write_end, "wb", closefd=ends) as pipe:
            try:
                pipe.write(content)
            except BrokenPipeError:
                return

    writing = threading.Thread(target=write)
    writing.start()
    try:
        unpack(read_end, into, within_s)
    finally:
        os.close(read_end)
        writing.join()
        if not ends:
            os.close(write_end)


def test_samples_arrive_readable_for_their_user_alone(tmp_path: Path) -> None:
    unpacked(packed(member(f"./{NAME}", b"a" * 70_000, mode=0o6777), member("a.beyond.hlog")), tmp_path)
    assert (tmp_path / NAME).read_bytes() == b"a" * 70_000
    assert {path.name: path.stat().st_mode & 0o7022 for path in tmp_path.iterdir()} == {NAME: 0, "a.beyond.hlog": 0}


@pytest.mark.parametrize("name", ["/etc/x.npy", "../x.npy", "a/../../x.npy", "a/x.npy", "x.py", ".npy/..", "x.npy\n"])
def test_what_is_not_named_as_samples_are_is_passed_over(tmp_path: Path, name: str) -> None:
    (tmp_path / "into").mkdir()
    unpacked(packed(member(name), member()), tmp_path / "into")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [NAME]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE])
def test_what_is_no_regular_file_is_refused(tmp_path: Path, kind: bytes) -> None:
    with pytest.raises(Refused, match="no regular file"):
        unpacked(packed(member(content=b"", type=kind, linkname="/etc/passwd", devmajor=1, devminor=5)), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_comes_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="twice"):
        unpacked(packed(member(), member()), tmp_path)


def test_more_than_there_may_be_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_BYTES", 10)
    with pytest.raises(Refused, match="more than"):
        unpacked(packed(member("other", b"a" * 11)), tmp_path)


def test_a_header_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_HEADER_BYTES", 1 << 20)
    info, content = member("x" * 10)
    info.pax_headers = {"comment": "y" * (4 << 20)}
    with pytest.raises(Refused, match="beside its files"):
        unpacked(packed((info, content)), tmp_path)


@pytest.mark.parametrize("content", [b"", b"junk" * 1000, packed(member())[:700]], ids=["nothing", "junk", "cut off"])
def test_what_is_no_whole_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(Refused, match="can't be read"):
        unpacked(content, tmp_path)


def test_an_archive_that_does_not_end_is_waited_for_only_so_long(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="in time"):
        unpacked(b"", tmp_path, 0.2, ends=False)


GOOD = packed(member(), member("a.beyond.hlog"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2047), st.binary(min_size=1, max_size=20), st.integers(0, len(GOOD)))
def test_an_archive_with_any_bytes_altered_writes_nothing_elsewhere(
    tmp_path: Path, at: int, altered: bytes, end: int
) -> None:
    into = tmp_path / "into"
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir()
    with suppress(Refused):
        unpacked((GOOD[:at] + altered + GOOD[at + len(altered) :])[:end], into)
    assert list(tmp_path.iterdir()) == [into]
    assert all(path.is_file() and not path.is_symlink() for path in into.iterdir())
