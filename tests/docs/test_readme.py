"""The README's suite is the matrix that it says, and the Rust that it asks for is the one that the crates need."""

import re
import tomllib
from pathlib import Path

import pytest

from middlemark.plan import expand
from middlemark.suite import parse_suite
from pages import ROOT, blocks


def test_the_suite_of_the_readme_expands_to_its_whole_matrix() -> None:
    (example,) = blocks(ROOT / "README.md", "yaml")
    experiments = expand(parse_suite(example, file="README.md"), available=["cyclonedds", "fastdds", "zenoh"])
    assert len(experiments) == 3 * 2 * 2 * 2


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "docs/guide/install.md"], ids=lambda page: page.name)
def test_a_page_asks_for_the_rust_that_the_crates_need(page: Path) -> None:
    needed = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["rust-version"]
    assert re.findall(r"Rust(?: toolchain ≥)? (1\.\d+)", page.read_text()) == [needed]
