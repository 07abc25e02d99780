"""Keeps CPUs from sleeping, within trials and between them.

They stay awake where the kernel's idle loop can poll, as `/dev/cpu_dma_latency` has it do: no process is added.
Elsewhere one `spinner` a CPU, in a control group that is idle as a whole, runs when nothing else wants to. Whether a
trial wants it, its plan says; `cpu_load` keeps CPUs busy.
"""

from __future__ import annotations

import os
import secrets
import struct
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import psutil

from middlemark.errors import EnvironmentNotReady
from middlemark.testbed.machine.readiness import Fact
from middlemark.testbed.processes import cgroup, child, ledger
from middlemark.testbed.processes.cgroup import Hierarchy
from middlemark.testbed.processes.ledger import Ledger
from middlemark.testbed.processes.procfs import has_ended, spent_ns

SPINNER = Path(__file__).with_name("spinner.py")
CPU_DMA_LATENCY = Path("/dev/cpu_dma_latency")
SHALLOWEST_STATE = "/sys/devices/system/cpu/cpu{cpu}/cpuidle/state0/name"


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
