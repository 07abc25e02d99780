"""Which processes live and what CPU time they spent, as `/proc` tells it, and how marked ones are ended.

A process is known by its pid together with its start time and the boot, so that a pid used again is never hit, or by a
mark in its environment that its children inherit. Nothing here goes by a process's name.
"""

from __future__ import annotations

import signal
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psutil

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - where the kernel's shared memory is
MARK_VARIABLE = "MIDDLEMARK_MARK"
PATIENCE_S = 2.0


@dataclass(frozen=True)
class Identity:
    """One process of one boot of this machine."""

    pid: int
    start_ticks: int
    boot_id: str


@cache
def boot_id() -> str:
    """The kernel's name of this boot."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def identity(pid: int) -> Identity | None:
    """Who has this pid now; None where nobody has, or only a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = stat[stat.rindex(")") + 2 :].split()  # the name may hold spaces and brackets
    return None if fields[0] in "ZX" else Identity(pid, int(fields[19]), boot_id())


def is_alive(process: Identity) -> bool:
    """Whether this very process still runs."""
    return identity(process.pid) == process


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


def marked(marks: Iterable[str]) -> dict[str, list[Identity]]:
    """The living processes that have one of the marks in their environment, by mark."""
    wanted = {f"{MARK_VARIABLE}={mark}".encode(): mark for mark in marks}
    processes: dict[str, list[Identity]] = {mark: [] for mark in wanted.values()}
    for folder in Path("/proc").iterdir() if wanted else ():
        if not folder.name.isdigit():
            continue
        try:
            environment = (folder / "environ").read_bytes()
        except OSError:  # gone meanwhile, or another user's
            continue
        for variable in wanted.keys() & set(environment.split(b"\0")):
            process = identity(int(folder.name))
            if process is not None:
                processes[wanted[variable]].append(process)
    return processes


def end(processes: Iterable[Identity], patience_s: float = PATIENCE_S) -> None:
    """Tells each of the processes to end, and kills those that don't within the patience; returns when none is left."""
    handles = []
    for process in set(processes):
        try:
            handle = psutil.Process(process.pid)
        except psutil.NoSuchProcess:
            continue
        # The handle refuses to signal a pid that was used again after it was taken, so this check stays true.
        if is_alive(process):
            handles.append(handle)
    for number in (signal.SIGTERM, signal.SIGKILL):
        for handle in handles:
            _send(handle, number)
        _, handles = psutil.wait_procs(handles, timeout=patience_s)


def _send(handle: psutil.Process, number: signal.Signals) -> None:
    try:
        handle.send_signal(number)
        handle.send_signal(signal.SIGCONT)  # a stopped process takes no SIGTERM
    except psutil.NoSuchProcess:
        return


def signal_family(pid: int, number: signal.Signals) -> None:
    """Signals a process and all that descend from it; says nothing of those that are gone.

    Parents come first, so that none reacts to what befalls its children; going on, they come last, for the same reason.
    """
    if number is signal.SIGSTOP:
        _stop(_family(pid)[:1])
        return
    family = _family(pid)
    for member in reversed(family) if number is signal.SIGCONT else family:
        with suppress(psutil.NoSuchProcess):
            member.send_signal(number)


def _stop(members: list[psutil.Process]) -> None:
    """A process is stopped before its children are listed, so that it starts no others."""
    for member in members:
        with suppress(psutil.NoSuchProcess):
            member.send_signal(signal.SIGSTOP)
            _stop(member.children())


def _family(pid: int) -> list[psutil.Process]:
    """A process and all that descend from it, parents first; empty where it is gone."""
    try:
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def resident_bytes(pid: int) -> int | None:
    """The resident memory of a process and all that descend from it now; None where it is gone."""
    resident = []
    for member in _family(pid):
        with suppress(psutil.NoSuchProcess):
            resident.append(int(member.memory_info().rss))
    return sum(resident) if resident else None


def memory_kills() -> int:
    """How many processes the kernel has killed since it booted, as the machine or a control group had no memory."""
    counters = Path("/proc/vmstat").read_text().splitlines()
    return next((int(line.split()[1]) for line in counters if line.startswith("oom_kill ")), 0)


def shared_memory(pid: int) -> set[Path]:
    """The files in /dev/shm that a process has mapped or open.

    Shared memory has a name without folders (shm_open(3)): what lies deeper is a file of some user's, such as the log
    of a process whose run folder is there.
    """
    held: set[str] = set()
    try:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            held.add(line.partition("/")[2])
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            held.add(str(descriptor.readlink()).removeprefix("/"))
    except OSError:  # it ended while being read
        pass
    paths = {Path("/" + name) for name in held if not name.endswith(" (deleted)")}
    return {path for path in paths if path.parent == SHARED_MEMORY}
