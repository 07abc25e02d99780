"""Keeps CPUs awake for a trial, so that the time a sleeping or virtual CPU takes to wake is not in its figures.

It starts one `spinner` a CPU, entered in the ledger, and ends them with the context. Whether a trial wants this is its
plan's to say.

The idle class counts within a scheduling group only. Between groups, of which containers, hosts with limits and, with
`sched_autogroup_enabled`, sessions have one each, a spinner would take an equal share from who is measured: so spinners
are in a control group that is idle as a whole (`cpu.idle`); where none can be made, their session has the least weight.
"""

from __future__ import annotations

import secrets
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from middlemark.errors import EnvironmentNotReady
from middlemark.testbed import cgroup, marked_process
from middlemark.testbed.cgroup import Hierarchy
from middlemark.testbed.ledger import Ledger, opened
from middlemark.testbed.machine import Fact

SPINNER = Path(__file__).with_name("spinner.py")


@contextmanager
def kept_awake(cpus: Iterable[int], ledger: Ledger) -> Iterator[None]:
    """Keeps these CPUs awake while the context lasts."""
    with _idle_group(ledger) as group:
        spinners = [_start(cpu, group, ledger) for cpu in cpus]
        try:
            yield
        finally:
            for spinner, _ in spinners:
                spinner.kill()
            for spinner, _ in spinners:
                spinner.communicate()
            ledger.remove(*(mark for _, mark in spinners))


@contextmanager
def _idle_group(ledger: Ledger) -> Iterator[Path | None]:
    """A group whose processes run only when nothing else wants to; None where the kernel has none."""
    hierarchy = cgroup.hierarchies().get("cpu")
    if hierarchy is None:
        yield None
        return
    group = hierarchy.top / f"middlemark-awake-{secrets.token_hex(4)}"
    mark = ledger.enter("cgroup", group)
    try:
        yield group if _is_made_idle(group, hierarchy) else None
    finally:
        ledger.remove(mark)


def _is_made_idle(group: Path, hierarchy: Hierarchy) -> bool:
    try:
        cgroup.create(group, hierarchy, "cpu", {"cpu.idle": "1"})
    except EnvironmentNotReady:  # no root, or a kernel before 5.15: the least weight has to do
        return False
    return True


def _start(cpu: int, group: Path | None, ledger: Ledger) -> tuple[subprocess.Popen[bytes], str]:
    members = [str(group / cgroup.MEMBERS)] if group else []
    command = [sys.executable, "-I", "-S", str(SPINNER), str(cpu), *members]
    nowhere = subprocess.DEVNULL
    return marked_process.start(f"keeps CPU {cpu} awake", command, ledger, stdout=nowhere, stderr=nowhere)


def fact() -> Fact:
    """What `doctor` says of keeping CPUs awake."""
    with opened() as ledger, _idle_group(ledger) as group:
        said = "spinners in an idle control group" if group else "spinners of the least weight: up to 1.5 % of a CPU"
    return Fact(
        "keep_awake",
        said,
        group is not None,
        "run as root, with a kernel from 5.15 on and the controller `cpu`, so that spinners take nothing",
    )
