"""Keeps CPUs awake for a trial, or the CPUs of a host busy to a degree beside the applications.

One `spinner` a CPU, in a control group that is idle as a whole, keeps a CPU awake and takes nothing from who is
measured; one stress-ng a CPU loads it, and what it had of the CPU's time is the degree reached. Whether a trial wants
either, its plan says.
"""

from __future__ import annotations

import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from middlemark.errors import EnvironmentNotReady
from middlemark.testbed.hosts.host import Host
from middlemark.testbed.machine.readiness import Fact
from middlemark.testbed.processes import cgroup, child, ledger
from middlemark.testbed.processes.cgroup import Hierarchy
from middlemark.testbed.processes.ledger import Ledger

SPINNER = Path(__file__).with_name("spinner.py")
PROGRAM = "stress-ng"
STARTING_S = 5.0


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
    # The idle class counts within a scheduling group only. Between groups, of which containers, hosts with limits and,
    # with `sched_autogroup_enabled`, sessions have one each, a spinner would take an equal share from who is measured.
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
        cgroup.create_group(group, hierarchy, "cpu", {"cpu.idle": "1"})
    except EnvironmentNotReady:  # no root, or a kernel before 5.15: the least weight has to do
        return False
    return True


def _start(cpu: int, group: Path | None, ledger: Ledger) -> tuple[subprocess.Popen[bytes], str]:
    members = [str(group / cgroup.MEMBERS)] if group else []
    command = [sys.executable, "-I", "-S", str(SPINNER), str(cpu), *members]
    nowhere = subprocess.DEVNULL
    return child.start(f"keeps CPU {cpu} awake", command, ledger, stdout=nowhere, stderr=nowhere)


def awake_fact() -> Fact:
    """What `doctor` says of keeping CPUs awake."""
    with ledger.opened() as entries, _idle_group(entries) as group:
        said = "spinners in an idle control group" if group else "spinners of the least weight: up to 1.5 % of a CPU"
    return Fact(
        "keep_awake",
        said,
        group is not None,
        "run as root, with a kernel from 5.15 on and the controller `cpu`, so that spinners take nothing",
    )


@dataclass(frozen=True)
class Reading:
    """The CPU time of one stressor at an instant."""

    at_ns: int
    cpu_ns: int


@dataclass(frozen=True)
class CpuLoad:
    """A load that runs; where applications take CPU time from it, it reaches less than was requested."""

    asked_percent: float
    stressors: Mapping[int, tuple[psutil.Process, ...]]
    """By CPU: the processes that are pinned to it."""

    def read(self) -> dict[int, Reading]:
        """Where the stressors are now, by CPU."""
        return {cpu: Reading(time.monotonic_ns(), _spent_ns(members)) for cpu, members in self.stressors.items()}

    def reached_percent(self, since: Mapping[int, Reading], until: Mapping[int, Reading]) -> dict[int, float]:
        """How busy they kept each of the CPUs between two readings."""
        return {
            cpu: 100 * (until[cpu].cpu_ns - since[cpu].cpu_ns) / max(until[cpu].at_ns - since[cpu].at_ns, 1)
            for cpu in self.stressors
        }


@contextmanager
def loaded(host: Host, cpus: Sequence[int], percent: float, ledger: Ledger) -> Iterator[CpuLoad]:
    """Keeps these CPUs of the host busy while the context lasts; a stressor on each of them when it begins."""
    if shutil.which(PROGRAM) is None:
        raise EnvironmentNotReady(
            f"CPU load needs {PROGRAM}, which is not installed", remedy=f"sudo apt-get install {PROGRAM}"
        )
    with ExitStack() as stack:
        started = {cpu: stack.enter_context(_started(host, cpu, percent, ledger)) for cpu in cpus}
        yield CpuLoad(percent, {cpu: _at_work(process, host) for cpu, process in started.items()})


@contextmanager
def _started(host: Host, cpu: int, percent: float, ledger: Ledger) -> Iterator[subprocess.Popen[bytes]]:
    """One program for one CPU: a single one for all would leave it to the scheduler which of them are kept busy."""
    stressor, mark = child.start(
        f"keeps CPU {cpu} of {host.name} busy to {percent:g} %",
        host.command([PROGRAM, "--quiet", "--cpu", "1", "--cpu-load", f"{percent:g}", "--taskset", str(cpu)]),
        ledger,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        yield stressor
    finally:
        ledger.remove(mark)
        stressor.wait()
        if stressor.stderr:
            stressor.stderr.close()


def _at_work(stressor: subprocess.Popen[bytes], host: Host) -> tuple[psutil.Process, ...]:
    """The program's processes, when the one that works is there."""
    process, deadline = psutil.Process(stressor.pid), time.monotonic() + STARTING_S
    while not (children := process.children(recursive=True)):
        if stressor.poll() is not None or time.monotonic() > deadline:
            said = _last_words(stressor)
            raise EnvironmentNotReady(
                f"{PROGRAM} did not load {host.name}: {said or f'no stressor after {STARTING_S:g} s'}",
                remedy=f"run it by hand: {PROGRAM} --cpu 1 --cpu-load 50 --timeout 1",
            )
        with suppress(subprocess.TimeoutExpired):
            stressor.wait(0.005)
    return process, *children


def _spent_ns(members: Sequence[psutil.Process]) -> int:
    spent_s = 0.0
    for member in members:
        with suppress(psutil.NoSuchProcess):
            times = member.cpu_times()
            spent_s += times.user + times.system
    return int(spent_s * 1e9)


def _last_words(stressors: subprocess.Popen[bytes]) -> str:
    if stressors.poll() is None or stressors.stderr is None:
        return ""
    return stressors.stderr.read().decode(errors="replace").strip()
