"""Whatever is killed of campaigns, at whatever instant, nothing is left, and what was not disturbed is measured."""

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
    pytest.mark.timeout(600),  # a dozen short trials, of which a busy machine takes seconds for each
    pytest.mark.skipif("udp" not in executables.workers(), reason="the worker `udp` is not built"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root makes namespaces everywhere"),
]

KILLS, SEED = 10, 4
SCRIPT = Path(__file__).with_name("soak.py")
PLACES = ("src", "tests/support", "tests/support/guarded", "tests/support/campaigns", "tests/pipeline/kills")


def test_after_ten_kills_nothing_is_left_and_every_trial_is_stored(tmp_path: Path) -> None:
    paths = os.pathsep.join(str(ROOT / place) for place in PLACES)
    command = [sys.executable, str(SCRIPT), str(KILLS), str(SEED), str(tmp_path)]
    ended = subprocess.run(command, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True, check=False)
    assert ended.returncode in {0, 1}, ended.stderr
    found = json.loads(ended.stdout)
    assert found["problems"] == []
    assert found["all_kills"] == sum(found["kills"].values()) >= KILLS
    assert found["kills"]["front"] >= 1
    assert found["trials"] > found["disturbed"]
