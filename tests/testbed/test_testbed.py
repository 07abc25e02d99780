"""Hosts in namespaces: what joins them, what keeps them apart, and that nothing of them is left."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

import testbeds
from middlemark.errors import EnvironmentNotReady, UsageError
from middlemark.plan.topology.network import Host, Network
from middlemark.suite import HostKind
from middlemark.testbed.processes import child, ledger, procfs, slot
from middlemark.testbed.testbed import PlannedTestbed, built
from testbeds import ANSWERING, ASKING, LAN, needs_namespaces, netns, on, plain, started, two_hosts

SERVING = """
import socket, sys
s = socket.create_server((sys.argv[1], 7000))
print("ready", flush=True)
sys.stdin.read()
"""
REACHING = """
import socket, sys
def answers(address):
    try:
        socket.create_connection((address, 7000), timeout=0.3).close()
    except OSError:
        return "no"
    return "yes"
print(*map(answers, sys.argv[1:]))
"""
LISTENING = """
import socket, sys
kept = []
for name in sys.argv[1:]:
    kept.append(socket.socket(socket.AF_UNIX))
    kept[-1].bind(name.replace("@", chr(0)))
    kept[-1].listen()
print("ready", flush=True)
sys.stdin.read()
"""
CONNECTING = """
import socket, sys
try:
    socket.socket(socket.AF_UNIX).connect(sys.argv[1].replace("@", chr(0)))
except OSError as error:
    print(type(error).__name__)
"""


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@needs_namespaces
@pytest.mark.parametrize("multicast", [False, True])
def test_hosts_reach_each_other_over_their_network(*, multicast: bool) -> None:
    with two_hosts() as testbed:
        asker, answerer = testbed.hosts["host_0"], testbed.hosts["host_1"]
        address = answerer.address_for(asker)
        assert address is not None
        group = "239.1.2.3"
        child = started(answerer, ANSWERING, address, group)
        assert on(asker, sys.executable, "-c", ASKING, group if multicast else address) == f"cba {address}"
        child.communicate(timeout=10)
        counts = testbed.counters()["host_0/lan"]
        assert counts.outgoing.packets >= 1
        assert counts.incoming.bytes >= 14 + 20 + 8 + 3


@needs_namespaces
def test_hosts_share_no_name_no_shared_memory_and_no_temporary_folder() -> None:
    here = {os.uname().nodename, "host-0", "host-1"}
    with two_hosts() as testbed:
        assert {on(host, "hostname") for host in testbed.hosts.values()} == here - {os.uname().nodename}
        for folder in ("/dev/shm", "/tmp", "/var/tmp", tempfile.gettempdir()):  # noqa: S108
            on(testbed.hosts["host_0"], "touch", f"{folder}/of_host_0")
            assert "of_host_0" in on(testbed.hosts["host_0"], "ls", folder)
            assert "of_host_0" not in on(testbed.hosts["host_1"], "ls", folder)
            assert not Path(folder, "of_host_0").exists()
        assert not any(host.shares_memory for host in testbed.hosts.values())


@needs_namespaces
@pytest.mark.parametrize("name", ["@middlemark-test", "/tmp/middlemark-test", "/dev/shm/middlemark-test"])  # noqa: S108
def test_a_local_socket_of_one_host_is_not_on_the_other(name: str) -> None:
    with two_hosts() as testbed:
        child = started(testbed.hosts["host_0"], LISTENING, name)
        assert on(testbed.hosts["host_0"], sys.executable, "-c", CONNECTING, name) == ""
        refused = on(testbed.hosts["host_1"], sys.executable, "-c", CONNECTING, name)
        assert refused in {"ConnectionRefusedError", "FileNotFoundError"}
        child.communicate(timeout=10)


@needs_namespaces
def test_a_hosts_shared_memory_is_at_least_half_as_large_as_the_machines() -> None:
    def size(path: str) -> int:
        return os.statvfs(path).f_blocks * os.statvfs(path).f_frsize

    with two_hosts() as testbed:
        there = on(testbed.hosts["host_0"], "df", "--output=size", "-B1", str(ledger.SHARED_MEMORY)).split()[-1]
        assert int(there) >= size(str(ledger.SHARED_MEMORY)) / 2


@needs_namespaces
def test_a_trials_folder_has_one_path_on_all_hosts_and_is_collected_from_outside(tmp_path: Path) -> None:
    with (
        ledger.opened() as entries,
        slot.reserved() as reserved,
        built(PlannedTestbed(netns("host_0", "host_1"), LAN, plain(*LAN)), reserved, entries) as testbed,
    ):
        found = []
        for host in testbed.hosts.values():
            folder, _ = host.create_folder(reserved.name, entries)
            found.append(folder)
            on(host, "sh", "-c", f"hostname > {folder}/name")
            assert (host.collect(folder, tmp_path) / "name").read_text() == host.name.replace("_", "-") + "\n"
        assert len(set(found)) == 1
        assert len(str(found[0])) < 60
        assert not found[0].exists()


@needs_namespaces
def test_a_shown_folder_can_be_read_and_not_changed_though_it_is_temporary(tmp_path: Path) -> None:
    program = tmp_path / "workers" / "program"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho works\n")
    program.chmod(0o755)
    with two_hosts(shown=(program.parent,)) as testbed:
        host = testbed.hosts["host_0"]
        assert on(host, str(program)) == "works"
        assert on(host, "sh", "-c", f"rm {program} 2>&1 || true").endswith("Read-only file system")
    assert program.exists()


@needs_namespaces
def test_a_link_that_is_down_carries_nothing_until_it_is_up_again() -> None:
    with two_hosts() as testbed:
        asker, answerer = testbed.hosts["host_0"], testbed.hosts["host_1"]
        for target in ("host_1", "host_1/lan"):
            testbed.link_down(target)
            state = on(answerer, "ip", "-brief", "link", "show", "eth0")
            assert "NO-CARRIER" in state
            testbed.link_up(target)
            child = started(answerer, ANSWERING, answerer.address, "239.1.2.3")
            assert on(asker, sys.executable, "-c", ASKING, answerer.address).startswith("cba")
            child.communicate(timeout=10)
        with pytest.raises(UsageError, match="no link `host_2`"):
            testbed.link_down("host_2")


@needs_namespaces
def test_hosts_on_one_side_of_a_partition_reach_only_each_other() -> None:
    names = ("host_0", "host_1", "host_2", "host_3")
    lan = (Network(name="lan", hosts=names),)
    with (
        ledger.opened() as entries,
        slot.reserved() as reserved,
        built(PlannedTestbed(netns(*names), lan, plain(*lan)), reserved, entries) as testbed,
        ExitStack() as serving,
    ):
        hosts = testbed.hosts
        for name in names:
            serving.callback(started(hosts[name], SERVING, hosts[name].address).communicate, timeout=10)

        def reached(asker: str) -> set[str]:
            others = [name for name in names if name != asker]
            said = on(hosts[asker], sys.executable, "-c", REACHING, *(hosts[name].address for name in others))
            return {name for name, answered in zip(others, said.split(), strict=True) if answered == "yes"}

        def comes_to_reach(asker: str, expected: set[str]) -> bool:
            """A host goes on for seconds to hold another unreachable that did not answer while they were parted."""
            deadline_s = time.monotonic() + 20
            while (found := reached(asker)) != expected and time.monotonic() < deadline_s:
                pass
            return found == expected

        testbed.partition("host_2")
        testbed.partition("host_3/lan")
        assert comes_to_reach("host_0", {"host_1"})
        assert comes_to_reach("host_2", {"host_3"})
        testbed.heal("host_3")
        assert comes_to_reach("host_3", {"host_0", "host_1"})
        testbed.heal("host_2")
        assert comes_to_reach("host_2", {"host_0", "host_1", "host_3"})


@needs_namespaces
def test_test_beds_at_the_same_time_have_networks_of_their_own() -> None:
    with two_hosts() as one, two_hosts() as other:
        assert {host.address for host in one.hosts.values()}.isdisjoint(host.address for host in other.hosts.values())
        for testbed in (one, other):
            asker, answerer = testbed.hosts["host_0"], testbed.hosts["host_1"]
            child = started(answerer, ANSWERING, answerer.address, "239.1.2.3")
            assert on(asker, sys.executable, "-c", ASKING, answerer.address) == f"cba {answerer.address}"
            child.communicate(timeout=10)


@needs_namespaces
def test_nothing_is_made_in_this_machines_namespaces_and_nothing_is_left(tmp_path: Path) -> None:
    with (
        ledger.opened() as entries,
        slot.reserved() as reserved,
        built(PlannedTestbed(netns("host_0", "host_1"), LAN, plain(*LAN)), reserved, entries) as testbed,
    ):
        names = {name for _, name in socket.if_nameindex()}
        assert names.isdisjoint({"net0", "h0n0", "h1n0"})
        assert reserved.name not in Path("/proc/self/mounts").read_text()
        folder = testbed.hosts["host_0"].collect(Path(tempfile.gettempdir(), "x"), tmp_path).parent
        assert folder.is_dir()
        holders = [entry.process for entry in ledger.read(entries.path) if entry.process is not None]
        assert len(holders) == 3
    assert not list(Path(tempfile.gettempdir()).glob(f"{reserved.name}*"))
    assert not any(procfs.is_alive(process) for process in holders)
    assert list((tmp_path / "state/middlemark/ledgers").iterdir()) == []


def test_this_machine_alone_needs_nothing_but_a_group_for_its_processes() -> None:
    with ledger.opened() as entries, slot.reserved() as reserved:
        with built(PlannedTestbed([Host(name="local", kind=HostKind.LOCAL)]), reserved, entries) as testbed:
            assert testbed.hosts["local"].command(["true"])[-1] == "true"
            assert testbed.counters() == {}
            assert {entry.kind for entry in ledger.read(entries.path)} <= {"cgroup"}
        assert ledger.read(entries.path) == []


def test_a_network_of_namespaces_and_this_machine_is_refused() -> None:
    hosts = [*netns("host_0"), Host(name="local", kind=HostKind.LOCAL)]
    network = Network(name="lan", hosts=("host_0", "local"))
    with (
        ledger.opened() as entries,
        slot.reserved() as reserved,
        pytest.raises(UsageError, match=r"`local` \(local\)"),
        built(PlannedTestbed(hosts, [network], plain(network)), reserved, entries),
    ):
        pytest.fail("it was built")


def test_a_tool_that_is_missing_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child.shutil, "which", lambda *_, **__: None)
    with pytest.raises(EnvironmentNotReady, match="apt-get install util-linux"):
        child.required("nsenter")


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="changes its user, which needs root")
@needs_namespaces
def test_an_ordinary_user_has_hosts_too_in_a_user_namespace() -> None:
    script = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "import testbeds\n"
        "with testbeds.two_hosts() as testbed:\n"
        "    host = testbed.hosts['host_0']\n"
        "    print(testbeds.on(host, 'hostname'), host.address_for(testbed.hosts['host_1']) == host.address)\n"
    )
    with tempfile.TemporaryDirectory() as state:
        Path(state).chmod(0o777)
        paths = [str(Path(testbeds.__file__).parent), str(Path(ledger.__file__).parents[3])]
        result = subprocess.run(
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", sys.executable, "-c", script, *paths],
            env={**os.environ, "XDG_STATE_HOME": state, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    if "Permission denied" in result.stderr and "python" in result.stderr:
        pytest.skip("another user can't read this Python")
    assert (result.stdout, result.returncode) == ("host-0 True\n", 0), result.stderr


def test_a_machine_elsewhere_is_given_no_limits() -> None:
    host = Host(name="robot", kind=HostKind.SSH, ssh="robot", cpu_quota=0.5)
    with (
        ledger.opened() as entries,
        slot.reserved() as reserved,
        pytest.raises(UsageError, match="`robot` is another machine"),
        built(PlannedTestbed([host]), reserved, entries),
    ):
        pytest.fail("it was built")
