"""What of the machine a host may have: CPUs, CPU time, memory and processes, by control groups that all of these join.

It renders what the kernel is told and has the groups entered, made and removed; `cgroup` touches them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from middlemark.errors import EnvironmentNotReady
from middlemark.plan.topology import network as plan
from middlemark.testbed.machine.readiness import Fact
from middlemark.testbed.processes import cgroup
from middlemark.testbed.processes.cgroup import Controller, Hierarchy
from middlemark.testbed.processes.ledger import Ledger

# CPU time is allotted in each period. A short one stops a host often and briefly, as a slow CPU would; the kernel gives
# out no less than 1 ms.
PERIOD_US, LONG_PERIOD_US, LEAST_US = 10_000, 100_000, 1000
# Processes and threads of one host: far more than any trial needs, and far fewer than the machine can have.
MOST_PROCESSES = 1 << 14
_UNCOUNTED = "however many"


@contextmanager
def limited(host: plan.Host, slot: str, ledger: Ledger) -> Iterator[tuple[str, ...]]:
    """The prefix that a host's programs are started with, so that its limits hold, and none of them outlives it."""
    hierarchies = _hierarchies(host)
    name = f"{slot}-{host.name}"
    groups = list(dict.fromkeys(hierarchy.top / name for hierarchy in hierarchies.values()))
    marks = [ledger.enter("cgroup", group) for group in groups]
    try:
        _make(host, name, hierarchies)
        yield cgroup.joining_group(groups)
    finally:
        ledger.remove(*marks)


def limit(host: plan.Host, name: str) -> None:
    """Makes the groups of this name that hold a host's limits; they must be in the ledger already."""
    hierarchies = {key: hierarchy for key, hierarchy in _hierarchies(host).items() if settings(host, key, hierarchy)}
    _make(host, name, hierarchies)


def _make(host: plan.Host, name: str, hierarchies: Mapping[Controller, Hierarchy]) -> None:
    for controller, hierarchy in hierarchies.items():
        cgroup.create_group(hierarchy.top / name, hierarchy, controller, settings(host, controller, hierarchy))


def _hierarchies(host: plan.Host) -> dict[Controller, Hierarchy]:
    """Where the controllers are that a host's limits need."""
    controllers = [controller for controller in cgroup.CONTROLLERS if _is_limited(host, controller)]
    hierarchies = cgroup.hierarchies() if controllers else {}
    missing = [controller for controller in controllers if controller not in hierarchies]
    if missing:
        raise EnvironmentNotReady(
            f"the host `{host.name}` has limits, and the kernel's controllers are missing: {', '.join(missing)}",
            remedy="run outside of a container; or leave `cpus`, `cpu_quota` and `memory` of hosts out",
        )
    limiting = {controller: hierarchies[controller] for controller in controllers}
    # A process can be in one group of version 2 only, and that of a limit gathers as well.
    is_gathered = any(hierarchy.version == 2 for hierarchy in limiting.values())
    gathering = hierarchies.get("pids") if is_gathered else cgroup.gathering()
    return limiting | ({"pids": gathering} if gathering else {})


def _is_limited(host: plan.Host, controller: Controller) -> bool:
    match controller:
        case "cpu":
            return host.cpu_quota is not None
        case "cpuset":
            return bool(host.cpus)
        case "memory":
            return host.memory_bytes is not None
        case "pids":
            return False


def settings(host: plan.Host, controller: Controller, hierarchy: Hierarchy) -> Mapping[str, str]:
    """The files of the host's group and what is written into them, in this order."""
    match controller:
        case "cpu":
            return _cpu(host.cpu_quota or 0, hierarchy)
        case "cpuset":
            cpus = ",".join(str(cpu) for cpu in host.cpus)
            if hierarchy.version == 2:
                return {"cpuset.cpus": cpus}
            return {"cpuset.mems": _of_the_parent(hierarchy.top / "cpuset.mems"), "cpuset.cpus": cpus}
        case "memory":
            limit = str(host.memory_bytes)
            # Without swap: what a host doesn't fit into, it hasn't.
            if hierarchy.version == 2:
                return {"memory.max": limit} | ({"memory.swap.max": "0"} if _has_swap() else {})
            return {"memory.limit_in_bytes": limit, "memory.swappiness": "0"}
        case "pids":
            return {cgroup.MOST_MEMBERS: str(MOST_PROCESSES)} if cgroup.counts_members(hierarchy) else {}


def _cpu(quota: float, hierarchy: Hierarchy) -> Mapping[str, str]:
    period_us = PERIOD_US if quota * PERIOD_US >= LEAST_US else LONG_PERIOD_US
    quota_us = round(quota * period_us)
    if hierarchy.version == 2:
        return {"cpu.max": f"{quota_us} {period_us}"}
    return {"cpu.cfs_period_us": str(period_us), "cpu.cfs_quota_us": str(quota_us)}


def _of_the_parent(file: Path) -> str:
    """A new group of version 1 has no memory nodes of its own."""
    try:
        return file.read_text().strip()
    except OSError:
        return "0"


def _has_swap() -> bool:
    return len(Path("/proc/swaps").read_text().splitlines()) > 1


def limits_fact() -> Fact:
    """What `doctor` says of limits."""
    hierarchies = cgroup.hierarchies()
    needed = [controller for controller in cgroup.CONTROLLERS if controller != "pids"]
    available = {controller: hierarchies[controller] for controller in needed if controller in hierarchies}
    closed = [controller for controller, hierarchy in available.items() if not os.access(hierarchy.top, os.W_OK)]
    words = [
        f"{controller} (cgroup v{hierarchy.version}{', root only' if controller in closed else ''})"
        for controller, hierarchy in available.items()
    ]
    missing = [controller for controller in needed if controller not in available]
    remedy = f"missing: {', '.join(missing)}; run outside of a container" if missing else "run as root"
    return Fact("host_limits", ", ".join(words) or "none", not missing and not closed, remedy)


def gathering_fact() -> Fact:
    """What `doctor` says of ending what a worker started, and of how much it can start."""
    place = cgroup.gathering()
    remedy = (
        "run as root, or from a session with a control group of its own: systemd-run --user --scope -p Delegate=yes"
    )
    if place is None:
        return Fact("ending_processes", f"by their mark only, {_UNCOUNTED}", False, remedy)
    counted = f"at most {MOST_PROCESSES}" if cgroup.counts_members(place) else _UNCOUNTED
    return Fact("ending_processes", f"by control group (v{place.version}), {counted}", True, remedy)
