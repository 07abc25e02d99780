"""A test that fails is tried once more and named; a test that fails again, or too many of them, fail the run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "setup" / "try_twice.py"
PASSES = "def test_passes(): pass\n"
FAILS_ONCE = """
from pathlib import Path
def test_fails_{0}():
    tried = Path(__file__).with_name("tried_{0}")
    if not tried.exists():
        tried.touch()
        raise AssertionError
"""
FAILS = "def test_fails(): raise AssertionError\n"


def tried(folder: Path, text: str, *, most: int) -> tuple[int, str]:
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_some.py").write_text(text)
    command = [sys.executable, str(SCRIPT), str(most), "test_some.py"]
    bare = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=bare, check=False)
    return done.returncode, done.stdout


def test_a_run_without_failures_is_not_tried_again(tmp_path: Path) -> None:
    status, output = tried(tmp_path, PASSES, most=3)
    assert status == 0
    assert "once more" not in output


def test_a_test_that_fails_once_is_listed_and_the_run_passes(tmp_path: Path) -> None:
    status, output = tried(tmp_path, PASSES + FAILS_ONCE.format(1), most=1)
    assert status == 0
    assert output.endswith("Second tries, to be mended:\n  test_some.py::test_fails_1\n")


def test_a_test_that_fails_twice_fails_the_run(tmp_path: Path) -> None:
    status, output = tried(tmp_path, PASSES + FAILS, most=1)
    assert status == 1
    assert output.endswith("test_some.py::test_fails\n")


def test_more_failures_than_second_tries_fail_the_run_at_once(tmp_path: Path) -> None:
    status, output = tried(tmp_path, FAILS_ONCE.format(1) + FAILS_ONCE.format(2), most=1)
    assert status == 1
    assert output.endswith("2 tests failed; no more than 1 are tried once more.\n")


@pytest.mark.parametrize("text", ["def test_(:\n", ""])
def test_what_pytest_says_of_no_tests_is_the_run_s_exit_status(tmp_path: Path, text: str) -> None:
    assert tried(tmp_path, text, most=3)[0] in {2, 5}
