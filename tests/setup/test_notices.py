"""A notice names each part and holds each text once; a part that is passed on without either is a complaint."""

from pathlib import Path

import pytest

import notices
from components import Component


def part(kind: str, name: str, licence: str = "MIT", *texts: Path) -> Component:
    return Component(kind, name, "1.0", licence, texts, f"pkg:generic/{name}@1.0")


@pytest.fixture
def mit(tmp_path: Path) -> Path:
    path = tmp_path / "LICENSE"
    path.write_text("Permission is granted\n", encoding="utf-8")
    return path


def test_a_notice_names_all_parts_and_has_each_text_once(mit: Path) -> None:
    parts = [part("bundled", "ddsc", "EPL-2.0", mit), part("crate", "serde", "MIT", mit), part("program", "mosquitto")]
    text = notices.notice("middlemark-worker-x", parts)
    assert text.count("Permission is granted") == 1
    assert "ddsc 1.0: EPL-2.0" in text
    assert "ddsc 1.0, serde 1.0\n" in text
    assert "mosquitto 1.0" in text


def test_only_what_is_passed_on_needs_a_licence_and_its_text(mit: Path) -> None:
    parts = [part("crate", "no-text"), part("bundled", "no-licence", "", mit), part("library", "libc6", "unknown")]
    assert notices.unnamed(parts) == ["no-text 1.0", "no-licence 1.0"]


def test_a_notice_that_is_missing_or_of_other_parts_is_not_current(tmp_path: Path) -> None:
    path = notices.beside(tmp_path / "middlemark-worker-x")
    assert path.name == "middlemark-worker-x.NOTICE"
    assert not notices.is_current(path, "new")
    path.write_text("old", encoding="utf-8")
    assert not notices.is_current(path, "new")
    path.write_text("new", encoding="utf-8")
    assert notices.is_current(path, "new")
