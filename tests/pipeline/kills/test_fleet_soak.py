"""Whatever is killed of a fleet, at whatever instant, each trial is stored once and holds what was programmed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from middlemark.worker import executables
from pages import ROOT

pytestmark = [
    pytest.mark.worker,
    pytest.mark.timeout(900),  # sixteen trials, which start anew after each kill
    pytest.mark.skipif("synthetic" not in executables.workers(), reason="the worker `synthetic` is not built"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root makes namespaces everywhere"),
]

KILLS, SEED = 5, 2
PLACES = (
    "src",
    "tests/support",
    "tests/support/guarded",
    "tests/support/campaigns",
    "tests/pipeline",
    "tests/pipeline/kills",
)


def test_after_five_kills_every_trial_is_there_once_as_programmed(tmp_path: Path) -> None:
    paths = os.pathsep.join(str(ROOT / place) for place in PLACES)
    command = [sys.executable, str(Path(__file__).with_name("fleet_soak.py")), str(KILLS), str(SEED), str(tmp_path)]
    ended = subprocess.run(command, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True, check=False)
    assert ended.returncode in {0, 1}, ended.stderr
    counted = json.loads(ended.stdout)
    assert counted["problems"] == []
    assert counted["all_kills"] == KILLS
    assert counted["trials"] >= 16
