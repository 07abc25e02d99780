"""Whenever a campaign is killed, the next clean-up leaves the machine as it was before."""

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from command_line import MIDDLEMARK
from left_behind import left_of
from middlemark.worker import executables

pytestmark = [
    pytest.mark.worker,
    pytest.mark.timeout(900),  # twenty campaigns are started, and a busy machine takes seconds for each
    pytest.mark.skipif("udp" not in executables.workers(), reason="the worker `udp` is not built"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root makes namespaces everywhere"),
]

KILLS = 20
LONGEST_S = 1.5
"""By then the first trials are over, or, of those that are killed while they start, the first is under way."""
SCRIPT = Path(__file__).with_name("killed_campaigns.py")
# Hosts in namespaces, a shaped link with its relay, CPU load, containers, limits: all that is made, in short trials.
SUITE = f"""
suite: killed
trials: 20
middlewares: udp
workloads: imu
topologies:
  - {{topology: D1-1, link: {{delay: 1 ms}}, hosts: [{{name: host_0, cpu_quota: 50 %}}]}}
conditions:
  - {{cpu_load: 10 %, keep_awake: true}}
  {"- {deployment: single_container}" if shutil.which("podman") else "- {}"}
windows: {{warm_up: 20 ms, window: 100 ms, drain: 100 ms}}
disturbance: {{steal: 100 %, repeats: 0}}
"""


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Folders of its own for all that a campaign makes; short, as paths of sockets have to be."""
    with tempfile.TemporaryDirectory(prefix="mmk", dir="/tmp") as folder:
        yield os.environ | {"XDG_STATE_HOME": str(tmp_path / "state"), "TMPDIR": folder}


def test_twenty_campaigns_killed_at_random_instants_leave_nothing(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "killed.yaml").write_text(SUITE)
    mark = secrets.token_hex(2)
    kills = subprocess.run(
        [sys.executable, SCRIPT, tmp_path / "killed.yaml", tmp_path, str(KILLS), str(LONGEST_S), mark],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert kills.returncode == 0, kills.stderr
    assert json.loads(kills.stdout)["leaving"] > KILLS / 2, "most were killed while there was something to remove"
    subprocess.run([*MIDDLEMARK, "clean"], env=environment, check=True, capture_output=True)
    deadline = time.monotonic() + 15
    while (left := left_of(environment, mark)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert left == {}
    assert list(Path(environment["XDG_STATE_HOME"], "middlemark/ledgers").glob("*")) == []
