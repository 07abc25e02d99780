"""Keeps the CPUs of a host busy to a degree beside the applications, by stress-ng, and measures the degree reached.

The reached load is the CPU time that the stressors themselves had, as a share of the loaded CPUs' time: where the
applications take CPU time from them it is below the asked one. Which hosts are loaded is the plan's to say.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import psutil

from middlemark.errors import EnvironmentNotReady
from middlemark.testbed import marked_process
from middlemark.testbed.host import Host
from middlemark.testbed.ledger import Ledger

PROGRAM = "stress-ng"
STARTING_S = 5.0


@dataclass(frozen=True)
class Reading:
    """The stressors' CPU time at an instant."""

    at_ns: int
    cpu_ns: int


@dataclass(frozen=True)
class CpuLoad:
    """A load that runs."""

    asked_percent: float
    cpus: int
    _process: psutil.Process

    def read(self) -> Reading:
        """Where the stressors are now."""
        spent_s = 0.0
        with suppress(psutil.NoSuchProcess):
            for process in (self._process, *self._process.children(recursive=True)):
                with suppress(psutil.NoSuchProcess):
                    times = process.cpu_times()
                    spent_s += times.user + times.system
        return Reading(time.monotonic_ns(), int(spent_s * 1e9))

    def reached_percent(self, since: Reading, until: Reading) -> float:
        """How busy they kept each of the CPUs between two readings."""
        return 100 * (until.cpu_ns - since.cpu_ns) / max((until.at_ns - since.at_ns) * self.cpus, 1)


@contextmanager
def loaded(host: Host, cpus: Sequence[int], percent: float, ledger: Ledger) -> Iterator[CpuLoad]:
    """Keeps these CPUs of the host busy while the context lasts; a stressor on each of them when it begins."""
    if shutil.which(PROGRAM) is None:
        raise EnvironmentNotReady(
            f"CPU load needs {PROGRAM}, which is not installed", remedy=f"sudo apt-get install {PROGRAM}"
        )
    listed = ",".join(map(str, cpus))
    command = [PROGRAM, "--quiet", "--cpu", str(len(cpus)), "--cpu-load", f"{percent:g}", "--taskset", listed]
    stressors, mark = marked_process.start(
        f"keeps CPUs {listed} of {host.name} busy to {percent:g} %",
        host.command(command),
        ledger,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        _wait_for_stressors(stressors, len(cpus), host)
        yield CpuLoad(percent, len(cpus), psutil.Process(stressors.pid))
    finally:
        ledger.remove(mark)
        stressors.wait()
        if stressors.stderr:
            stressors.stderr.close()


def _wait_for_stressors(stressors: subprocess.Popen[bytes], count: int, host: Host) -> None:
    process, deadline = psutil.Process(stressors.pid), time.monotonic() + STARTING_S
    while len(process.children(recursive=True)) < count:
        if stressors.poll() is not None or time.monotonic() > deadline:
            said = _last_words(stressors)
            raise EnvironmentNotReady(
                f"{PROGRAM} did not load {host.name}: {said or f'no stressor after {STARTING_S:g} s'}",
                remedy=f"run it by hand: {PROGRAM} --cpu {count} --cpu-load 50 --timeout 1",
            )
        with suppress(subprocess.TimeoutExpired):
            stressors.wait(0.005)


def _last_words(stressors: subprocess.Popen[bytes]) -> str:
    if stressors.poll() is None or stressors.stderr is None:
        return ""
    return stressors.stderr.read().decode(errors="replace").strip()
