"""Keeps CPUs busy to a degree beside the applications, or from sleeping, while trials run.

A load is one stress-ng a CPU; what it had of the CPU's time is the degree reached. CPUs stay awake where the
kernel's idle loop can poll, as `/dev/cpu_dma_latency` has it do: no process is added. Elsewhere one `spinner` a CPU, in
a control group that is idle as a whole, runs when nothing else wants to. Whether a trial wants either, its plan says.
"""

from __future__ import annotations

import os
import secrets
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import psutil

from middlemark.errors import EnvironmentBroke, EnvironmentNotReady
from middlemark.installation.answers import is_kill
from middlemark.testbed.hosts.host import Host
from middlemark.testbed.machine.readiness import Fact
from middlemark.testbed.processes import cgroup, child, ledger
from middlemark.testbed.processes.cgroup import Hierarchy
from middlemark.testbed.processes.ledger import Ledger

PROGRAM = "stress-ng"
STARTING_S = 5.0
SPINNER = Path(__file__).with_name("spinner.py")
CPU_DMA_LATENCY = Path("/dev/cpu_dma_latency")
SHALLOWEST_STATE = "/sys/devices/system/cpu/cpu{cpu}/cpuidle/state0/name"


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


def spent_ns(members: Iterable[psutil.Process]) -> int:
    """The CPU time of these processes so far; nothing of those that are gone."""
    spent_s = 0.0
    for member in members:
        with suppress(psutil.NoSuchProcess):
            times = member.cpu_times()
            spent_s += times.user + times.system
    return int(spent_s * 1e9)


def has_ended(process: psutil.Process) -> bool:
    """Whether it runs no more, waited for or not."""
    try:
        return process.status() in {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD}
    except psutil.NoSuchProcess:
        return True


def _last_words(stressors: subprocess.Popen[bytes]) -> str:
    if stressors.poll() is None or stressors.stderr is None:
        return ""
    return stressors.stderr.read().decode(errors="replace").strip()


class Means(StrEnum):
    """By what CPUs are kept awake, in words."""

    IDLE_LOOP = "the idle loop polls (/dev/cpu_dma_latency)"
    IDLE_SPINNERS = "spinners in an idle control group"
    LIGHT_SPINNERS = "spinners of the least weight"


COST = {
    Means.IDLE_LOOP: "no process, no CPU time from others",
    Means.IDLE_SPINNERS: "no CPU time from others",
    Means.LIGHT_SPINNERS: "up to 1.5 % of a CPU",
}


@dataclass(frozen=True)
class KeptAwake:
    """CPUs that do not sleep."""

    means: Means
    spinners: Mapping[int, psutil.Process] = field(default_factory=dict)
    """By CPU."""

    def spent_ns(self) -> int:
        """The CPU time of the spinners so far."""
        return spent_ns(self.spinners.values())

    def ended(self) -> list[str]:
        """The spinners that ended by themselves or were ended, in words."""
        gone = [cpu for cpu, spinner in self.spinners.items() if has_ended(spinner)]
        return [f"the process that kept CPU {cpu} awake" for cpu in gone]


@contextmanager
def kept_awake(cpus: Sequence[int], ledger: Ledger) -> Iterator[KeptAwake]:
    """Keeps these CPUs awake while the context lasts."""
    with ExitStack() as stack:
        if _idle_loop_polls(cpus) and _latency_held(stack):
            yield KeptAwake(Means.IDLE_LOOP)
        else:
            yield stack.enter_context(_spinning(cpus, ledger))


class Wakefulness:
    """Keeps CPUs awake from the first trial that asks for it until one that does not: `close` must follow.

    Between trials, too: the host of a virtual machine moves CPUs that go to sleep, and measures of two CPUs with them.
    """

    def __init__(self, cpus: Sequence[int], ledger: Ledger) -> None:
        self._cpus, self._ledger = cpus, ledger
        self._stack = ExitStack()
        self._awake: KeptAwake | None = None

    def keep(self, *, is_wanted: bool) -> KeptAwake | None:
        """How they are kept awake from now on; None where they may sleep. What has ended is begun anew."""
        if self._awake is not None and (not is_wanted or self._awake.ended()):
            self.close()
        if is_wanted and self._awake is None:
            self._awake = self._stack.enter_context(kept_awake(self._cpus, self._ledger))
        return self._awake

    def close(self) -> None:
        """Lets them sleep."""
        self._awake = None
        self._stack.close()


def _idle_loop_polls(cpus: Iterable[int]) -> bool:
    """Whether the shallowest idle state of each CPU is polling, the only one that a latency of zero allows."""
    try:
        return all(Path(SHALLOWEST_STATE.format(cpu=cpu)).read_text("ascii").strip() == "POLL" for cpu in cpus)
    except OSError:
        return False


def _latency_held(stack: ExitStack) -> bool:
    """Whether the kernel took the demand for no latency; it holds until the file is closed, by whatever end."""
    try:
        file = stack.enter_context(CPU_DMA_LATENCY.open("wb", buffering=0))
        file.write(struct.pack("i", 0))
    except OSError:
        return False
    return True


@contextmanager
def _spinning(cpus: Sequence[int], ledger: Ledger) -> Iterator[KeptAwake]:
    with _idle_group(ledger) as group:
        spinners = [_start(cpu, group, ledger) for cpu in cpus]
        means = Means.IDLE_SPINNERS if group else Means.LIGHT_SPINNERS
        try:
            processes = [psutil.Process(spinner.pid) for spinner, _ in spinners]
            yield KeptAwake(means, dict(zip(cpus, processes, strict=True)))
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
    with ledger.opened() as entries, kept_awake(sorted(os.sched_getaffinity(0)), entries) as awake:
        means = awake.means
    return Fact(
        "keep_awake",
        f"{means}: {COST[means]}",
        means is not Means.LIGHT_SPINNERS,
        "run as root, with a kernel from 5.15 on and the controller `cpu`, so that spinners take nothing",
    )
