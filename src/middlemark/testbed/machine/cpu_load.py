"""Keeps CPUs busy to a degree beside the applications, one stress-ng a CPU, while a trial runs.

What it had of the CPU's time is the degree reached. Whether a trial wants it, its plan says; `wakefulness` keeps CPUs
from sleeping.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass

import psutil

from middlemark.errors import EnvironmentBroke, EnvironmentNotReady
from middlemark.installation.answers import is_kill
from middlemark.testbed.hosts.host import Host
from middlemark.testbed.processes import child
from middlemark.testbed.processes.ledger import Ledger
from middlemark.testbed.processes.procfs import has_ended, spent_ns

PROGRAM = "stress-ng"
STARTING_S = 5.0


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
        return {cpu: Reading(time.monotonic_ns(), spent_ns(members)) for cpu, members in self.stressors.items()}

    def reached_percent(self, since: Mapping[int, Reading], until: Mapping[int, Reading]) -> dict[int, float]:
        """How busy they kept each of the CPUs between two readings."""
        return {
            cpu: 100 * (until[cpu].cpu_ns - since[cpu].cpu_ns) / max(until[cpu].at_ns - since[cpu].at_ns, 1)
            for cpu in self.stressors
        }

    def ended(self) -> list[str]:
        """What of it ended by itself or was ended, in words."""
        return [
            f"{PROGRAM}, which kept CPU {cpu} busy to {self.asked_percent:g} %"
            for cpu, members in self.stressors.items()
            if any(map(has_ended, members))
        ]


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
    while not (children := _children(process)):
        if stressor.poll() is not None or time.monotonic() > deadline:
            words = _last_words(stressor)
            is_broken = stressor.returncode is not None and is_kill(stressor.returncode)
            raise (EnvironmentBroke if is_broken else EnvironmentNotReady)(
                f"{PROGRAM} did not load {host.name}: {words or f'no stressor after {STARTING_S:g} s'}",
                remedy=f"run it by hand: {PROGRAM} --cpu 1 --cpu-load 50 --timeout 1",
            )
        with suppress(subprocess.TimeoutExpired):
            stressor.wait(0.005)
    return process, *children


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def _last_words(stressors: subprocess.Popen[bytes]) -> str:
    if stressors.poll() is None or stressors.stderr is None:
        return ""
    return stressors.stderr.read().decode(errors="replace").strip()
