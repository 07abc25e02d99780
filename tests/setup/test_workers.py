"""Why a worker was left out is told in the words of its build script."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "setup" / "workers.py"
SPEC = importlib.util.spec_from_file_location("setup_workers", SCRIPT)
assert SPEC is not None
assert SPEC.loader is not None
workers = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(workers)


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
