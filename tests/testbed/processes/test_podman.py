"""A private storage of Podman goes with its control groups, whoever is still in them."""

import os
import subprocess
import uuid
from pathlib import Path

import pytest

from middlemark.testbed.processes import podman
from middlemark.testbed.processes.cgroup import MEMBERS
from middlemark.testbed.processes.podman import CGROUPS, Runtime, Storage


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


def test_a_process_that_ends_while_it_is_looked_at_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its folder is still there, and nothing in it can be looked up any more."""
    stat = Path.stat

    def ended(path: Path, **given: bool) -> os.stat_result:
        if path.name == "cmdline":
            raise ProcessLookupError(3, os.strerror(3), str(path))
        return stat(path, **given)

    monkeypatch.setattr(Path, "stat", ended)
    assert podman._processes_of(Path("/run/middlemark-0123456789")) == []


def test_a_storage_goes_where_podman_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it may where what it waits for was killed."""
    storage = Storage(tmp_path / f"middlemark-{uuid.uuid4().hex[:10]}")
    storage.create(Runtime("runc", "cgroupfs"))
    program = tmp_path / "bin" / "podman"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(podman, "REMOVAL_S", 0.05)
    storage.remove()
    assert not storage.folder.exists()
