"""A host has the CPUs, the CPU time and the memory that it is given, and no other host pays for it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from middlemark.errors import EnvironmentNotReady
from middlemark.plan.topology.network import Host
from middlemark.suite import HostKind
from middlemark.testbed.hosts import limits
from middlemark.testbed.processes import cgroup, ledger, procfs, slot
from middlemark.testbed.processes.cgroup import Hierarchy
from middlemark.testbed.testbed import PlannedTestbed, built
from testbeds import can_limit, needs_namespaces

pytestmark = pytest.mark.timed

ECU = Host(name="ecu", kind=HostKind.NETNS, cpus=(0, 1), cpu_quota=0.5, memory_bytes=64_000_000)
V1, V2 = Hierarchy(Path("/sys/fs/cgroup/x"), 1), Hierarchy(Path("/sys/fs/cgroup"), 2)
BUSY = """
import sys, time
begin, used = time.monotonic(), time.process_time()
while time.monotonic() - begin < 1:
    pass
print((time.process_time() - used) / (time.monotonic() - begin))
"""


needs_limits = pytest.mark.skipif(not can_limit(), reason="needs root and the controllers cpu, cpuset and memory")


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def run(host: Host, *program: str) -> subprocess.CompletedProcess[str]:
    """A program on a host of its own with the host's limits."""
    with (
        ledger.opened() as entries,
        slot.reserved() as reserved,
        built(PlannedTestbed([host]), reserved, entries) as testbed,
    ):
        command = testbed.hosts[host.name].command(program)
        return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)


@pytest.mark.root
@needs_limits
@needs_namespaces
@pytest.mark.parametrize("kind", [HostKind.LOCAL, HostKind.NETNS])
def test_half_a_core_is_half_a_core(kind: HostKind) -> None:
    host = Host(name="ecu", kind=kind, cpu_quota=0.5)
    with (
        ledger.opened() as entries,
        slot.reserved() as reserved,
        built(PlannedTestbed([host]), reserved, entries) as testbed,
    ):
        command = testbed.hosts["ecu"].command([sys.executable, "-c", BUSY])
        share = float(subprocess.run(command, capture_output=True, timeout=30, check=True).stdout)
        state = (cgroup.hierarchies()["cpu"].top / f"{reserved.name}-ecu" / "cpu.stat").read_text().split()
    # Other programs may take from its half, so that only much more would be wrong.
    assert 0.02 < share < 0.6
    assert share < 0.4 or int(state[state.index("nr_throttled") + 1]) > 20


@pytest.mark.root
@needs_limits
def test_a_host_has_only_its_cpus() -> None:
    cpu = max(os.sched_getaffinity(0))
    found = run(
        Host(name="ecu", kind=HostKind.LOCAL, cpus=(cpu,)),
        sys.executable,
        "-c",
        "import os; print(sorted(os.sched_getaffinity(0)))",
    )
    assert found.stdout == f"[{cpu}]\n"


@pytest.mark.root
@needs_limits
def test_who_takes_more_memory_than_the_host_has_is_killed_and_nobody_else() -> None:
    script = "kept = bytearray(int(__import__('sys').argv[1])); print(len(kept))"
    host = Host(name="ecu", kind=HostKind.LOCAL, memory_bytes=64_000_000)
    within = run(host, sys.executable, "-c", script, "16000000")
    assert within.stdout == "16000000\n"
    beyond = run(host, "sh", "-c", f'{sys.executable} -c "{script}" 256000000; echo "status $?"')
    assert beyond.stdout == "status 137\n"


@pytest.mark.root
@needs_limits
def test_what_a_limited_host_starts_is_ended_and_its_groups_are_removed() -> None:
    with ledger.opened() as entries, slot.reserved() as reserved:
        with built(
            PlannedTestbed([ECU.model_copy(update={"kind": HostKind.LOCAL})], (), ()), reserved, entries
        ) as testbed:
            child = subprocess.Popen(testbed.hosts["ecu"].command(["sh", "-c", "echo in; sleep 600 & wait"]), stdout=-1)
            assert child.stdout is not None
            assert child.stdout.readline() == b"in\n"
            groups = [hierarchy.top / f"{reserved.name}-ecu" for hierarchy in cgroup.hierarchies().values()]
            assert all(str(child.pid) in (group / cgroup.MEMBERS).read_text().split() for group in groups)
        assert not any(group.exists() for group in groups)
        assert procfs.identity(child.pid) is None
        child.wait(timeout=5)
        child.stdout.close()


def test_a_host_without_limits_is_in_no_group_where_none_can_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroup, "gathering", lambda: None)
    with (
        ledger.opened() as entries,
        limits.limited(Host(name="free", kind=HostKind.LOCAL), "mm00aaaaaaaaaa", entries) as prefix,
    ):
        assert prefix == ()
        assert ledger.read(entries.path) == []


def test_a_controller_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroup, "hierarchies", dict)
    with (
        ledger.opened() as entries,
        pytest.raises(EnvironmentNotReady, match=r"`ecu` has limits.*missing: cpu, cpuset, memory"),
        limits.limited(ECU, "mm00aaaaaaaaaa", entries),
    ):
        pytest.fail("it was limited")


def test_limits_are_written_for_either_version() -> None:
    assert limits.settings(ECU, "cpu", V2) == {"cpu.max": "5000 10000"}
    assert limits.settings(ECU, "cpu", V1) == {"cpu.cfs_period_us": "10000", "cpu.cfs_quota_us": "5000"}
    assert limits.settings(ECU.model_copy(update={"cpu_quota": 0.05}), "cpu", V2) == {"cpu.max": "5000 100000"}
    assert limits.settings(ECU, "cpuset", V2) == {"cpuset.cpus": "0,1"}
    assert limits.settings(ECU, "cpuset", V1)["cpuset.cpus"] == "0,1"
    assert limits.settings(ECU, "memory", V2)["memory.max"] == "64000000"
    assert limits.settings(ECU, "memory", V1)["memory.limit_in_bytes"] == "64000000"


def test_controllers_are_found_in_either_version(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpu cpuset\n")
    mounts = f"cgroup /m cgroup rw,memory 0 0\ncgroup2 {tmp_path} cgroup2 rw 0 0\nproc /proc proc rw 0 0\n"
    assert cgroup.hierarchies(mounts) == {
        "memory": Hierarchy(Path("/m"), 1),
        "cpu": Hierarchy(tmp_path, 2),
        "cpuset": Hierarchy(tmp_path, 2),
    }
