"""Builds test-beds in child processes and kills each at a random instant; says what was found and what is left.

It is run in namespaces of its own, so that all that it sees of interfaces and mounts is its doing.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from middlemark.plan.topology.network import Host, Link, Network
from middlemark.suite import Direction, HostKind
from middlemark.testbed.network import shaping
from middlemark.testbed.processes import abandoned, ledger, slot
from middlemark.testbed.testbed import PlannedTestbed, built

NAMES = ("kill_0", "kill_1")
LAN = Network(name="lan", hosts=NAMES)


def build(limited: str) -> None:
    """Builds and removes test-beds with something of each kind in them until it is killed."""
    more = {"cpu_quota": 0.5, "memory_bytes": 10**9} if limited == "limited" else {}
    hosts = [Host.model_validate({"name": name, "kind": HostKind.NETNS, **more}) for name in NAMES]
    shaped = Direction(rate_bits_per_s=10**8, delay_ns=0 if shaping.relay_missing() else 10**6)
    links = [
        Link(host=NAMES[0], network="lan", outgoing=shaped, offloads=False),
        Link(host=NAMES[1], network="lan"),
    ]
    with ledger.opened() as entries:
        while True:
            with slot.reserved() as reserved, built(PlannedTestbed(hosts, [LAN], links), reserved, entries) as testbed:
                for host in testbed.hosts.values():
                    folder, mark = host.create_folder(reserved.name, entries)
                    script = f"echo x > /dev/shm/killed-{reserved.name}; echo x > {folder}/x; exec cat"
                    program = subprocess.Popen(host.command(["sh", "-c", script]), stdin=subprocess.PIPE)
                    program.communicate()
                    entries.remove(mark)


def machine(state: str) -> dict[str, object]:
    """What there is of everything that a test-bed might leave."""
    return {
        "processes": [pid for pid in psutil.pids() if _is_ours(pid, state)],
        "interfaces": subprocess.run(["ip", "-oneline", "link"], capture_output=True, text=True, check=True).stdout,
        "namespaces": subprocess.run(["ip", "netns"], capture_output=True, text=True, check=True).stdout,
        "mounts": Path("/proc/self/mounts").read_text(),
        "groups": sorted(str(path) for path in Path("/sys/fs/cgroup").glob("**/*-kill_*")),
        "shared memory": sorted(str(path) for path in ledger.SHARED_MEMORY.glob("killed-*")),
        "temporary": _names(Path(tempfile.gettempdir())),
        "ledgers": _names(Path(state, "middlemark", "ledgers")),
    }


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _is_ours(pid: int, state: str) -> bool:
    try:
        return pid != os.getpid() and state.encode() in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False


def main() -> None:
    times, longest_s, limited = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
    state = os.environ["XDG_STATE_HOME"]
    random.seed(7)
    Path(state, "middlemark", "ledgers").mkdir(parents=True)
    before = machine(state)
    removed: dict[str, int] = {}
    for _ in range(times):
        child = os.fork()
        if child == 0:
            build(limited)
        time.sleep(random.uniform(0, longest_s))  # the instant of the kill is what is random here
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        for each in abandoned.sweep():
            removed[each.kind] = removed.get(each.kind, 0) + 1
    deadline = time.monotonic() + 10
    # What a front was just starting when it was killed holds its ledger until it has begun: the next sweep gets it.
    while (after := machine(state)) != before and time.monotonic() < deadline:
        time.sleep(0.05)
        abandoned.sweep()
    print(json.dumps({"before": before, "after": after, "removed": removed}))


if __name__ == "__main__":
    main()
