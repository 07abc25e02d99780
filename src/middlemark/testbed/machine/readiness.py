"""What this machine is and whether it is fit to measure on: one `Fact` each, with its remedy where it isn't.

What can't be read is measured in this very process: what a reading of the clock costs, how late a sleeper wakes, and
how many CPUs other work keeps busy meanwhile. The facts go into a run's manifest and are what `middlemark doctor`
shows; nothing here changes the machine.
"""

from __future__ import annotations

import hmac
import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

READINGS = 20_000
SLEEPS, SLEEP_NS = 200, 1_000_000
CpuSeconds = tuple[float, float, float]
"""An instant, and until then the CPU time of all work on this machine, and of this process."""
_WORKING, _STOLEN = (0, 1, 2, 5, 6), 7
"""Of the fields of `/proc/stat`: user, nice, system, irq and softirq; steal."""


def clock_reading() -> tuple[int, int]:
    """The median distance of two readings in a row, and the smallest step above zero, in nanoseconds."""
    stamps = [time.monotonic_ns() for _ in range(READINGS)]
    steps = [after - before for before, after in pairwise(stamps)]
    return int(statistics.median(steps)), min(step for step in steps if step > 0)


def wake_up_error() -> tuple[int, int]:
    """How much too late a sleep ends: median and 99th percentile, in nanoseconds."""
    errors = []
    for _ in range(SLEEPS):
        due = time.monotonic_ns() + SLEEP_NS
        time.sleep(SLEEP_NS / 1e9)
        errors.append(time.monotonic_ns() - due)
    errors.sort()
    return int(statistics.median(errors)), errors[round(0.99 * (SLEEPS - 1))]


Value = str | int | float | list[str]


@dataclass(frozen=True)
class Fact:
    """One thing about the machine."""

    name: str
    """Ends in its unit."""
    value: Value
    ready: bool | None
    """Whether it is as a measurement wants it; None where nothing is wanted."""
    remedy: str = ""
    """What to do where it is not ready."""


def facts() -> list[Fact]:
    """Everything that is known about this machine; takes about a quarter of a second, for what is measured."""
    before = _cpu_seconds()
    clock = clock_facts()
    return [*identity(), *readiness(), _busy_cpus(before, _cpu_seconds()), *clock]


def identity() -> list[Fact]:
    """What the machine is."""
    return [
        Fact("machine_id", _machine_id(), None),
        Fact("kernel", platform.release(), None),
        Fact("distribution", _distribution(), None),
        Fact("cpu_model", _first_after("/proc/cpuinfo", "model name") or platform.machine(), None),
        Fact("cpus", len(os.sched_getaffinity(0)), None),
        Fact("memory_bytes", os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), None),
        Fact("virtualisation", _virtualisation(), None),
        Fact("container", _container(), None),
    ]


def readiness() -> list[Fact]:
    """What can be read of the machine's state now."""
    checks: list[Callable[[], Fact]] = [
        _governor, _turbo, _idle_states, _isolated_cpus, _steal, _transparent_huge_pages, _clock_source,
        partial(_socket_buffer, "rmem_max"), partial(_socket_buffer, "wmem_max"),
    ]  # fmt: skip
    return [check() for check in checks]


def clock_facts() -> list[Fact]:
    """What the clock and the timers cost, and how late a sleeper wakes."""
    cost, step = clock_reading()
    median, p99 = wake_up_error()
    return [
        Fact("clock_cost_ns", cost, cost < 200, "the clock needs a system call: see clock_source"),
        Fact("clock_resolution_ns", step, step < 1000, "the clock is coarse: see clock_source"),
        Fact("wake_up_error_median_ns", median, median < 200_000, "the CPUs sleep deeply: use keep_awake in the suite"),
        Fact("wake_up_error_p99_ns", p99, p99 < 2_000_000, "the machine is busy or shared: close other work"),
    ]


def _governor() -> Fact:
    governors = _of_each_cpu("cpufreq/scaling_governor")
    remedy = "sudo cpupower frequency-set -g performance"
    if not governors:
        return Fact("governor", "not visible", None)
    return Fact("governor", ", ".join(governors), governors == ["performance"], remedy)


def _turbo() -> Fact:
    intel = _read("/sys/devices/system/cpu/intel_pstate/no_turbo")
    generic = _read("/sys/devices/system/cpu/cpufreq/boost")
    if intel is None and generic is None:
        return Fact("turbo", "not visible", None)
    on = intel == "0" if intel is not None else generic == "1"
    file = "intel_pstate/no_turbo" if intel is not None else "cpufreq/boost"
    off = 1 if intel is not None else 0
    return Fact("turbo", "on" if on else "off", not on, f"echo {off} | sudo tee /sys/devices/system/cpu/{file}")


def _idle_states() -> Fact:
    states = _of_each_cpu("cpuidle/state*/name")
    deep = [state for state in states if state not in {"POLL", "C1", "C1E"} and not state.startswith("haltpoll")]
    value = states or [_read("/sys/devices/system/cpu/cpuidle/current_driver") or "not visible"]
    return Fact(
        "idle_states",
        value,
        not deep if states else None,
        "use keep_awake in the suite, or boot with intel_idle.max_cstate=1" if states else "",
    )


def _isolated_cpus() -> Fact:
    return Fact("isolated_cpus", _read("/sys/devices/system/cpu/isolated") or "none", None)


def _busy_cpus(before: CpuSeconds, after: CpuSeconds) -> Fact:
    """By other work between two instants: the load average would still tell of what has ended a minute ago."""
    elapsed, everyone, this_process = (late - early for early, late in zip(before, after, strict=True))
    busy = max(everyone - this_process, 0.0) / elapsed
    return Fact("busy_cpus", round(busy, 2), busy < 0.5, "wait until other work has ended: top")


def _cpu_seconds() -> CpuSeconds:
    ticks = _cpu_ticks()
    working = sum(ticks[field] for field in _WORKING)
    return time.monotonic(), working / os.sysconf("SC_CLK_TCK"), time.process_time()


def _steal() -> Fact:
    ticks = _cpu_ticks()
    share = ticks[_STOLEN] / max(sum(ticks[: _STOLEN + 1]), 1)
    return Fact("steal_percent_since_boot", round(100 * share, 3), share < 0.01, "use a dedicated machine")


def _cpu_ticks() -> list[int]:
    """The time of all CPUs since boot, by what they did (proc(5))."""
    return [int(field) for field in (_read("/proc/stat") or "").splitlines()[0].split()[1:]]


def _transparent_huge_pages() -> Fact:
    text = _read("/sys/kernel/mm/transparent_hugepage/enabled") or "[not visible]"
    return Fact("transparent_huge_pages", text[text.index("[") + 1 : text.index("]")], None)


def _clock_source() -> Fact:
    source = _read("/sys/devices/system/clocksource/clocksource0/current_clocksource") or "not visible"
    return Fact("clock_source", source, source in {"tsc", "kvm-clock", "arch_sys_counter"}, "boot with clocksource=tsc")


def _socket_buffer(name: str) -> Fact:
    size = int(_read(f"/proc/sys/net/core/{name}") or 0)
    enough = 4 << 20
    return Fact(f"{name}_bytes", size, size >= enough, f"sudo sysctl -w net.core.{name}={enough}")


def _of_each_cpu(pattern: str) -> list[str]:
    """The distinct contents of a file that each CPU has."""
    return sorted({path.read_text().strip() for path in Path("/sys/devices/system/cpu").glob(f"cpu[0-9]*/{pattern}")})


def _machine_id() -> str:
    """The same as long as the machine's installation lasts; made from its id, which is not for others to know.

    A keyed hash, as machine-id(5) requires.
    """
    machine_id = _read("/etc/machine-id") or _read("/var/lib/dbus/machine-id")
    return hmac.digest(machine_id.encode(), b"middlemark", "sha256").hex()[:16] if machine_id else "unknown"


def _distribution() -> str:
    return (_first_after("/etc/os-release", "PRETTY_NAME", "=") or "unknown").strip('"')


def _virtualisation() -> str:
    flags = _first_after("/proc/cpuinfo", "flags") or ""
    vendor = _read("/sys/class/dmi/id/sys_vendor") or _read("/sys/hypervisor/type") or "unknown"
    return f"virtual machine ({vendor})" if " hypervisor " in f" {flags} " else "none"


def _container() -> str:
    if Path("/run/.containerenv").exists():
        return "podman"
    return "docker" if Path("/.dockerenv").exists() else "none"


def _first_after(path: str, key: str, separator: str = ":") -> str | None:
    for line in (_read(path) or "").splitlines():
        name, separated, value = line.partition(separator)
        if separated and name.strip() == key:
            return value.strip()
    return None


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return None
