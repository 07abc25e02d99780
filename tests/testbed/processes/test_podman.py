"""A private storage of Podman goes with its control groups, whoever is still in them."""

import os
import subprocess
import uuid
from pathlib import Path

import pytest

from middlemark.testbed.processes.cgroup import MEMBERS
from middlemark.testbed.processes.podman import CGROUPS, Storage


def test_a_monitor_that_has_not_left_its_group_keeps_no_storage(tmp_path: Path) -> None:
    storage = Storage(tmp_path / f"middlemark-{uuid.uuid4().hex[:10]}")
    hierarchy = CGROUPS / "pids" if (CGROUPS / "pids").is_dir() else CGROUPS
    group = hierarchy / storage.folder.name
    if not os.access(hierarchy, os.W_OK):
        pytest.skip(f"{hierarchy} can't be written: run as root")
    storage.folder.mkdir()
    (group / "conmon").mkdir(parents=True)
    with subprocess.Popen(["sleep", "60"]) as monitor:
        (group / "conmon" / MEMBERS).write_text(str(monitor.pid))
        storage.remove()
    assert not group.exists()
    assert not storage.folder.exists()
