"""The properties of the native part: none is left out, and one that fails is a finding."""

import re
from pathlib import Path

import native

PROPERTY = re.compile(r"\bfn whatever_\w+")


def crates_with_properties() -> set[str]:
    sources = [path for folder in ("workers", "observers") for path in (native.ROOT / folder).glob("*/src/**/*.rs")]
    return {
        f"middlemark-{path.relative_to(native.ROOT).parts[1]}" for path in sources if PROPERTY.search(path.read_text())
    }


def test_every_crate_that_has_properties_is_tried() -> None:
    assert crates_with_properties() == set(native.CRATES)


def test_every_property_that_is_drawn_has_the_name_by_which_it_is_tried() -> None:
    texts = [path.read_text() for crate in native.CRATES for path in native.folder_of(crate).glob("src/**/*.rs")]
    drawn = [name for text in texts for name in re.findall(r"#\[test\]\n\s*fn (\w+)\([^)]*\bin\b", text)]
    assert drawn
    assert [name for name in drawn if not name.startswith("whatever_")] == []


def program(tmp_path: Path, script: str) -> Path:
    path = tmp_path / "tests"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o700)
    return path


def test_a_round_counts_its_inputs_and_a_property_that_fails_is_a_finding(tmp_path: Path) -> None:
    tried = native.Tried("crate")
    native.try_round(program(tmp_path, "echo 'test result: ok. 2 passed; 0 failed'"), tmp_path, 7, 50, tried)
    assert (tried.inputs, tried.findings) == (100, [])
    native.try_round(program(tmp_path, "echo seed $PROPTEST_RNG_SEED; exit 101"), tmp_path, 7, 50, tried)
    assert (tried.inputs, tried.findings) == (100, ["seed 7: status 101\nseed 7\n"])


def test_a_property_that_takes_more_than_its_memory_is_a_finding(tmp_path: Path) -> None:
    tried = native.Tried("crate")
    native.try_round(program(tmp_path, "exec head -c 2G /dev/zero | tail -c 2G > /dev/null"), tmp_path, 7, 1, tried)
    assert [finding.splitlines()[0] for finding in tried.findings] == ["seed 7: status 1"]
