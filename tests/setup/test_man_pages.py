"""Each command has a manual page, with all that its `--help` says."""

import subprocess
import sys
from pathlib import Path

import pytest

from pages import ROOT

SCRIPT = ROOT / "setup" / "pages" / "man.py"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("man") / "man1"
    subprocess.run((sys.executable, SCRIPT, made), check=True)
    return made


def text(page: Path) -> str:
    return page.read_text().replace(r"\-", "-")


def test_each_command_has_a_page_and_is_named_in_the_first_one(folder: Path) -> None:
    names = {path.stem for path in folder.iterdir()}
    assert {"middlemark", "middlemark-run", "middlemark-testbed-join", "middlemark-topology-show"} <= names
    first = text(folder / "middlemark.1")
    assert [name for name in names if name.count("-") == 1 and f"{name}(1)" not in first] == []


def test_a_page_has_each_option_with_its_help_and_the_whole_first_sentence(folder: Path) -> None:
    page = text(folder / "middlemark-run.1")
    assert "middlemark-run - Run a suite: its trials in interleaved random order, then the report.\n" in page
    for option, help_text in (
        ("--resume", "Continue this run"),
        ("--through", "With --fleet: return blocks"),
        ("--help", ""),
    ):
        assert f"\\fB{option}" in page
        assert help_text in page
    assert "A shipped suite's name, or a file." in page


def test_what_means_something_to_roff_is_no_command_of_a_page(folder: Path) -> None:
    known = (".TH", ".SH", ".PP", ".TP", ".B ")
    for page in folder.iterdir():
        lines = page.read_text().splitlines()
        assert [line for line in lines if line.startswith((".", "'")) and not line.startswith(known)] == []
        assert "`" not in page.read_text()
