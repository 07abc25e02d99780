"""The program that draws is put together once, and what lies in its place is used only if it is that program."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import vl_convert

from middlemark.report.output import packing


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[str]]:
    """How often it was put together."""
    calls: list[str] = []

    def bundle() -> str:
        calls.append("")
        return "draw()"

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(vl_convert, "javascript_bundle", bundle)
    packing.program.cache_clear()
    yield calls
    packing.program.cache_clear()


def again() -> str:
    packing.program.cache_clear()
    return packing.program()


def test_it_is_put_together_once(made: list[str]) -> None:
    assert packing.program() == again() == "draw()"
    assert len(made) == 1


def test_what_was_altered_or_cut_is_put_together_anew(made: list[str], tmp_path: Path) -> None:
    packing.program()
    (kept,) = tmp_path.rglob("vega-*.js")
    for other in (kept.read_bytes() + b"!", kept.read_bytes()[:-1], b"", b"\xff\n"):
        kept.write_bytes(other)
        assert again() == "draw()"
    assert len(made) == 5


def test_a_link_to_elsewhere_is_not_followed(made: list[str], tmp_path: Path) -> None:
    packing.program()
    (kept,) = tmp_path.rglob("vega-*.js")
    elsewhere = kept.rename(tmp_path / "elsewhere")
    kept.symlink_to(elsewhere)
    assert again() == "draw()"
    assert not kept.is_symlink()
    assert len(made) == 2


def test_what_another_user_put_there_is_not_used(made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    packing.program()
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    again()
    assert len(made) == 2


def test_without_a_place_to_keep_it_it_is_put_together_each_time(
    made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")
    assert packing.program() == again() == "draw()"
    assert len(made) == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_in_another_users_cache_nothing_is_kept(made: list[str], tmp_path: Path) -> None:
    os.chown(tmp_path, 65534, -1)
    assert packing.program() == again() == "draw()"
    assert len(made) == 2
    assert list(tmp_path.iterdir()) == []
