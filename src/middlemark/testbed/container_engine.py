"""Which way of running containers works on this machine, found by running one.

Podman's own choice fails where control groups are mounted in both versions or limits can't be raised, so each runtime
that is installed is tried with each way of making control groups. It keeps nothing; `container` uses what it finds.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from functools import cache
from itertools import product
from pathlib import Path

from middlemark.errors import EnvironmentNotReady
from middlemark.testbed import ledger
from middlemark.testbed.container_storage import Runtime, Storage, parent_folder
from middlemark.testbed.ledger import Ledger
from middlemark.testbed.machine import Fact
from middlemark.testbed.root_filesystem import Contents, root_filesystem

RUNTIMES = ("crun", "runc")
TRIAL_S = 30.0
REMEDY = "apt-get install podman runc crun; deployment: bare_metal needs none of them"


def held_open() -> Path:
    """The program that lives as long as its standard input: the first process of a container that is for others."""
    return Path(shutil.which("cat") or "/bin/cat")


def new_storage(runtime: Runtime, entries: Ledger) -> tuple[Storage, str]:
    """A storage of its own, and its mark in the ledger."""
    storage = Storage(parent_folder() / f"middlemark-{secrets.token_hex(5)}")
    mark = entries.enter("containers", storage.folder)
    storage.create(runtime)
    return storage, mark


def runtime() -> Runtime:
    """The first way that works."""
    if shutil.which("podman") is None:
        raise EnvironmentNotReady("there is no podman on this machine, so nothing can run in containers", remedy=REMEDY)
    return _working()


@cache
def _working() -> Runtime:
    reasons = []
    with ledger.opened() as entries:
        for candidate in _candidates():
            reason = _refusal(candidate, entries)
            if reason is None:
                return candidate
            reasons.append(f"{candidate.name} ({candidate.cgroup_manager}): {reason}")
    problem = "; ".join(reasons) or f"none of {', '.join(RUNTIMES)} is installed"
    raise EnvironmentNotReady(f"podman can't run a container on this machine: {problem}", remedy=REMEDY)


def fact() -> Fact:
    """What `doctor` says of containers."""
    try:
        found = runtime()
    except EnvironmentNotReady as missing:
        return Fact("containers", missing.missing, ready=False, remedy=missing.remedy or REMEDY)
    return Fact("containers", f"{_podman_version()} with {found.name} ({found.cgroup_manager})", ready=True)


def _candidates() -> list[Runtime]:
    managers = ("cgroupfs",) if os.geteuid() == 0 else ("systemd", "cgroupfs")
    return [Runtime(name, manager) for name, manager in product(RUNTIMES, managers) if shutil.which(name)]


def _refusal(candidate: Runtime, entries: Ledger) -> str | None:
    """Why a container that does nothing can't be run this way; None where it can."""
    storage, mark = new_storage(candidate, entries)
    root = root_filesystem(Contents(held_open()), entries)
    program = str(Contents(held_open()).inside(str(held_open())))
    arguments = ["run", "--rm", "--read-only", "--network=host", f"--cgroup-parent={storage.cgroup_parent}"]
    command = storage.command([*arguments, "--rootfs", str(root), program, "/dev/null"])
    try:
        tried = subprocess.run(command, capture_output=True, text=True, timeout=TRIAL_S, check=False)
    except subprocess.TimeoutExpired:
        return f"it does not come back within {TRIAL_S:.0f} s"
    finally:
        entries.remove(mark)
    return None if tried.returncode == 0 else (tried.stderr.strip().splitlines() or ["it says nothing"])[-1]


def _podman_version() -> str:
    asked = subprocess.run(["podman", "--version"], capture_output=True, text=True, check=False)
    return asked.stdout.strip().replace(" version", "")
