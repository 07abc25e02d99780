"""Workers are built from the quickest on, each is told of and counts at once, and one that is left out says why."""

import importlib.util
import json
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "setup" / "workers.py"
SPEC = importlib.util.spec_from_file_location("setup_workers", SCRIPT)
assert SPEC is not None
assert SPEC.loader is not None
workers = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(workers)

CARGO = """#!/bin/sh
for package; do :; done
name=${package#--package=}
printf '   Compiling %s v0.1.0\\r\\n    Building [===>     ] 3/17: libc, serde\\r' "$name" >&2
case $name in *-slow) echo 'error: slow@0.1.0: no libslow here' >&2; exit 101 ;; esac
mkdir -p "$CARGO_TARGET_DIR/release" && touch "$CARGO_TARGET_DIR/release/$name"
"""
"""A cargo that says how far it is, and builds nothing."""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of two workers, of which the first by name is the slower one."""
    for name, more in (("a-slow", "[package.metadata.build]\nseconds = 300\n"), ("b-quick", "")):
        folder = tmp_path / "workers" / name.replace("-", "_")
        (folder / "src").mkdir(parents=True)
        (folder / "src" / "main.rs").touch()
        (folder / "Cargo.toml").write_text(f'[package]\nname = "middlemark-worker-{name}"\n{more}')
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "cargo").write_text(CARGO)
    (tmp_path / "bin" / "cargo").chmod(0o755)
    monkeypatch.setattr(workers, "ROOT", tmp_path)
    monkeypatch.setenv("CARGO_TARGET_DIR", str(tmp_path / "target"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    return tmp_path


def test_the_quickest_is_built_first_and_each_says_how_long_it_takes(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert workers.build_all(workers.executable_packages()) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    told = captured.out.splitlines()
    assert told[0] == "setup: 2 of 2 programs are built for the first time: about 5 min on 2 cores"
    assert told[2:] == [
        "setup: building middlemark-worker-b-quick (1 of 2), about 5 s",
        "setup: middlemark-worker-b-quick is ready after 0 s",
        "setup: building middlemark-worker-a-slow (2 of 2), about 5 min",
        "setup: middlemark-worker-a-slow is left out: no libslow here",
    ]
    entries = json.loads((checkout / "target/release/middlemark-workers.json").read_text())["workers"]
    assert [(entry["worker"], entry["status"]) for entry in entries] == [("a-slow", "left_out"), ("b-quick", "built")]


@pytest.mark.usefixtures("checkout")
def test_what_was_built_or_tried_before_is_no_first_time(capsys: pytest.CaptureFixture[str]) -> None:
    workers.build_all(workers.executable_packages())
    capsys.readouterr()
    workers.build_all(workers.executable_packages())
    assert capsys.readouterr().out.splitlines()[0] == "setup: building middlemark-worker-b-quick (1 of 2)"


@pytest.mark.usefixtures("checkout")
def test_how_far_a_long_build_is_is_told_also_where_nobody_watches(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(workers, "BETWEEN_LINES_S", 0.0)
    assert workers.compiled("middlemark-worker-b-quick") == (0, "")
    assert capsys.readouterr().out == "setup: middlemark-worker-b-quick: 3 of 17 crates after 0 s\n"


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ("error: middlemark-worker-x@0.1.0: X is not installed: apt install x", "X is not installed: apt install x"),
        (
            "   Compiling x\nerror: linking with `cc` failed: exit status: 1\n",
            "linking with `cc` failed: exit status: 1",
        ),
        ("error[E0308]: mismatched types", "error[E0308]: mismatched types"),
        ("Killed\n", "Killed"),
        ("", "cargo said nothing"),
    ],
)
def test_the_reason_is_what_the_build_script_said(log: str, reason: str) -> None:
    assert workers.reason(log) == reason
