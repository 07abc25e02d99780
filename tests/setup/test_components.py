"""The parts of an executable: crates with texts, what a manifest declares, and installed packages with their licence."""

from pathlib import Path

import pytest

import components
from components import ROOT


def test_a_crate_without_its_text_gets_that_of_a_licence_that_may_be_chosen() -> None:
    assert components.standard_text("EPL-2.0 OR Apache-2.0") == (ROOT / "LICENSE",)
    assert components.standard_text("MIT")[0].read_text(encoding="utf-8").startswith("MIT License")
    assert components.standard_text("EPL-2.0 AND Apache-2.0") == ()
    assert components.standard_text("MPL-2.0") == ()


def test_the_texts_of_a_crate_are_those_that_it_is_published_with(tmp_path: Path) -> None:
    for name in ("LICENSE-MIT", "NOTICE.md", "Cargo.toml", "licensing.rs"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    crate = {
        "name": "a",
        "version": "1",
        "license": "MIT/Apache-2.0",
        "authors": [],
        "manifest_path": tmp_path / "Cargo.toml",
    }
    part = components.component_of(crate)
    assert [text.name for text in part.texts] == ["LICENSE-MIT", "NOTICE.md"]
    assert part.licence == "MIT OR Apache-2.0"


@pytest.mark.parametrize(
    ("text", "licence"),
    [
        (
            "Format: 1.0\n\nFiles: debian/*\nLicense: GPL-2+\n\nFiles: *\nCopyright: A\nLicense: EPL-2.0 or EDL-1.0\n",
            "EPL-2.0 or EDL-1.0",
        ),
        ("Format: 1.0\n\nFiles: a b\nLicense: BSL-1.0\n text\n", "BSL-1.0"),
        ("This is the Debian package of a library.\nLicense:\n", "as its text says"),
    ],
)
def test_debian_names_the_licence_of_all_files_or_of_the_first(text: str, licence: str) -> None:
    assert components.licence_by_debian(text) == licence


@pytest.mark.parametrize(
    "package", ["middlemark-worker-cyclonedds", "middlemark-worker-vsomeip", "middlemark-kernel-path"]
)
def test_what_a_manifest_says_to_be_bundled_is_there_with_its_texts(package: str) -> None:
    parts = list(components.bundled_of(package, Path("middlemark-observer")))
    assert parts
    assert all(text.is_file() for part in parts for text in part.texts)


def test_each_crate_of_the_worker_for_zenoh_can_be_passed_on_with_its_text() -> None:
    parts = list(components.crates_of("middlemark-worker-zenoh"))
    assert {"zenoh", "zenoh-transport", "serde_json"} <= {part.name for part in parts}
    assert [part.name for part in parts if not part.licence or not part.texts or part.sha256 is None] == []
