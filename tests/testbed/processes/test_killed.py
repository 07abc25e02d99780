"""Whoever builds test-beds may be killed at any instant: a sweep finds the machine as it was."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from testbeds import can_limit, needs_namespaces


@needs_namespaces
def test_fifty_kills_at_random_instants_leave_nothing_behind() -> None:
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    script = Path(__file__).with_name("killed.py")
    limited = "limited" if can_limit() else "free"
    with tempfile.TemporaryDirectory(prefix="k") as temporary, tempfile.TemporaryDirectory(prefix="k") as state:
        result = subprocess.run(
            ["unshare", *user, "--net", "--mount", sys.executable, str(script), "50", "0.3", limited],
            env={**os.environ, "TMPDIR": temporary, "XDG_STATE_HOME": state},
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["after"] == found["before"]
    # There was something to remove, of every kind.
    wanted = {"process", "folder", "cgroup"} if limited == "limited" else {"process", "folder"}
    assert wanted <= found["removed"].keys(), found["removed"]
