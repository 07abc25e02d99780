"""The page on tuning holds what the workers that are built describe."""

import subprocess
import sys
from pathlib import Path

import pytest

from middlemark.worker import executables

SCRIPT = Path(__file__).resolve().parents[2] / "setup/pages/tuning.py"


@pytest.mark.skipif(not executables.workers(), reason="no worker is built")
def test_the_tables_are_what_the_workers_describe() -> None:
    checked = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
