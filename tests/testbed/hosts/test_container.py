"""Processes run in containers as the deployment says, are heard and known like any other, and leave nothing behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from middlemark.errors import EnvironmentNotReady
from middlemark.plan.topology.network import Host as PlannedHost
from middlemark.suite import ContainerIpc, ContainerNetwork, Deployment, DeploymentKind, HostKind
from middlemark.testbed.hosts import container, limits
from middlemark.testbed.hosts.container import deployed, process_of
from middlemark.testbed.hosts.host import Host, LocalHost
from middlemark.testbed.hosts.rootfs import Contents
from middlemark.testbed.processes import abandoned, ledger, procfs
from middlemark.testbed.processes.ledger import Ledger, state_folder
from middlemark.testbed.processes.podman import Runtime, Storage
from testbeds import HEARS_LINES, answers_each_line_and_ends_as_it_said, needs_namespaces, on, traces, two_hosts, until

SHELL = Path("/bin/sh")
CONTAINED = [
    Deployment(deployment=kind, ipc=ipc)
    for kind in (DeploymentKind.SINGLE_CONTAINER, DeploymentKind.MULTI_CONTAINER)
    for ipc in ContainerIpc
]
DEADLINE_S = 20.0

pytestmark = pytest.mark.containers


@pytest.fixture(autouse=True, scope="module")
def engine() -> None:
    try:
        container.runtime()
    except EnvironmentNotReady as missing:
        pytest.skip(missing.missing)


@pytest.fixture
def entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    used: list[Storage] = []

    def create(storage: Storage, runtime: Runtime) -> None:
        used.append(storage)
        really_create(storage, runtime)

    really_create = Storage.create
    monkeypatch.setattr(Storage, "create", create)
    with ledger.opened() as opened:
        yield opened
    assert [left for storage in used for left in traces(storage)] == []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "trial"
    path.mkdir()
    return path


def shell(host: Host, script: str, mark: str = "") -> subprocess.Popen[str]:
    return subprocess.Popen(
        host.command([str(SHELL), "-c", script]),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {procfs.MARK_VARIABLE: mark},
    )


def said(host: Host, script: str) -> str:
    with shell(host, script) as process:
        output, _ = process.communicate(timeout=DEADLINE_S)
    return output


def test_bare_metal_is_the_host_itself(entries: Ledger, folder: Path) -> None:
    host = LocalHost()
    with deployed(host, Deployment(), Contents(SHELL), folder, entries) as itself:
        assert itself is host


@pytest.mark.parametrize("deployment", CONTAINED, ids=str)
def test_lines_go_both_ways_as_they_come_and_the_exit_status_is_passed(
    deployment: Deployment, entries: Ledger, folder: Path
) -> None:
    with (
        deployed(LocalHost(), deployment, Contents(SHELL), folder, entries) as host,
        shell(host, HEARS_LINES) as process,
    ):
        answers_each_line_and_ends_as_it_said(process)


@pytest.mark.parametrize("deployment", CONTAINED, ids=str)
def test_a_worker_is_found_on_the_machine_and_killed_there(
    deployment: Deployment, entries: Ledger, folder: Path
) -> None:
    with deployed(LocalHost(), deployment, Contents(SHELL), folder, entries) as host:
        mark = entries.enter("process", "shell")
        with shell(host, "echo up; read -r line", mark) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "up\n"
            found = process_of(mark, SHELL)
            assert found is not None
            assert found.pid != process.pid
            os.kill(found.pid, signal.SIGKILL)
            assert process.wait(DEADLINE_S) == 128 + signal.SIGKILL


@pytest.mark.parametrize("kind", [DeploymentKind.SINGLE_CONTAINER, DeploymentKind.MULTI_CONTAINER])
def test_what_a_worker_started_in_its_container_is_paused_with_it(
    kind: DeploymentKind, entries: Ledger, folder: Path
) -> None:
    with deployed(LocalHost(), Deployment(deployment=kind), Contents(SHELL), folder, entries) as host:
        mark = entries.enter("process", "shell")
        with shell(host, "(echo up; while :; do :; done) & read -r line; kill $!", mark) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "up\n"
            found = process_of(mark, SHELL)
            assert found is not None
            (child,) = psutil.Process(found.pid).children()
            procfs.signal_family(found.pid, signal.SIGSTOP)
            until(lambda: child.status() == psutil.STATUS_STOPPED)
            assert psutil.Process(process.pid).status() != psutil.STATUS_STOPPED
            procfs.signal_family(found.pid, signal.SIGCONT)
            until(lambda: child.status() != psutil.STATUS_STOPPED)
            process.communicate("\n", timeout=DEADLINE_S)


@pytest.mark.parametrize("kind", [DeploymentKind.SINGLE_CONTAINER, DeploymentKind.MULTI_CONTAINER])
def test_the_folder_of_the_trial_is_the_same_inside(kind: DeploymentKind, entries: Ledger, folder: Path) -> None:
    with deployed(LocalHost(), Deployment(deployment=kind), Contents(SHELL), folder, entries) as host:
        said(host, f"echo written > {folder}/from_inside")
    assert (folder / "from_inside").read_text() == "written\n"


@pytest.mark.parametrize("deployment", CONTAINED, ids=str)
def test_shared_memory_is_seen_by_whom_the_deployment_says(
    deployment: Deployment, entries: Ledger, folder: Path
) -> None:
    name = Path("/dev/shm", folder.parent.parent.name + "-deployment")  # noqa: S108
    entries.enter("file", name)
    script = f"echo mine > {name}; echo done; read -r line"
    with deployed(LocalHost(), deployment, Contents(SHELL), folder, entries) as host, shell(host, script) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "done\n"
        seen_by_second = said(host, f"if [ -e {name} ]; then echo seen; fi") == "seen\n"
        seen_by_machine = name.exists()
        first.communicate("\n")
    one_memory = deployment.deployment is DeploymentKind.SINGLE_CONTAINER or deployment.ipc is not ContainerIpc.PRIVATE
    assert seen_by_second == one_memory
    assert seen_by_machine == (deployment.ipc is ContainerIpc.HOST)


def test_shared_memory_of_its_own_is_as_large_as_the_machines(entries: Ledger, folder: Path) -> None:
    deployment = Deployment(deployment=DeploymentKind.MULTI_CONTAINER)
    with deployed(LocalHost(), deployment, Contents(SHELL), folder, entries) as host:
        script = "while read -r _ where _ how _; do if [ $where = /dev/shm ]; then echo $how; fi; done < /proc/mounts"
        options = said(host, script).strip().split(",")
    status = os.statvfs("/dev/shm")  # noqa: S108
    assert f"size={status.f_frsize * status.f_blocks // 1024}k" in options


def test_nothing_of_the_machine_but_the_worker_and_the_folder_is_inside(entries: Ledger, folder: Path) -> None:
    deployment = Deployment(deployment=DeploymentKind.MULTI_CONTAINER)
    with deployed(LocalHost(), deployment, Contents(SHELL), folder, entries) as host:
        assert (
            said(host, "echo /home/* /root/* /usr/bin/* /opt/*/*")
            == "/home/* /root/* /usr/bin/cat /opt/middlemark/sh\n"
        )
        assert said(host, "echo 2> /dev/null > /opt/x || echo refused") == "refused\n"


@pytest.mark.parametrize("deployment", CONTAINED, ids=str)
def test_a_container_has_no_privilege_and_can_get_none(deployment: Deployment, entries: Ledger, folder: Path) -> None:
    script = "while read name value; do case $name in CapEff:|CapBnd:|NoNewPrivs:) echo $name$value;; esac; done"
    with deployed(LocalHost(), deployment, Contents(SHELL), folder, entries) as host:
        status = dict(line.split(":") for line in said(host, f"{script} < /proc/self/status").split())
    assert {name: int(value, 16) for name, value in status.items()} == {"CapEff": 0, "CapBnd": 0, "NoNewPrivs": 1}


@pytest.mark.usefixtures("entries")
@pytest.mark.parametrize("deployment", [CONTAINED[0], CONTAINED[3], CONTAINED[4]], ids=str)
def test_a_killed_front_leaves_no_running_container_and_a_sweep_removes_the_rest(
    deployment: Deployment, folder: Path
) -> None:
    program = f"""
import os, signal, subprocess, sys
from pathlib import Path
from middlemark.suite import Deployment
from middlemark.testbed.hosts.container import deployed
from middlemark.testbed.hosts.host import LocalHost
from middlemark.testbed.hosts.rootfs import Contents
from middlemark.testbed.processes import abandoned, ledger
from middlemark.testbed.processes.ledger import state_folder
deployment = Deployment.model_validate_json({deployment.model_dump_json()!r})
with ledger.opened() as entries:
    with deployed(LocalHost(), deployment, Contents(Path("/bin/sh")), Path({str(folder)!r}), entries) as host:
        mark = entries.enter("process", "shell")
        worker = subprocess.Popen(host.command(["/bin/sh", "-c", "echo up; read -r line"]), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ | {{"MIDDLEMARK_MARK": mark}})
        assert worker.stdout.readline() == "up\\n"
        print(mark, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    mark = killed.stdout.strip()
    until(lambda: not procfs.marked([mark])[mark])
    storages = [Storage(Path(removed.what)) for removed in abandoned.sweep() if removed.kind == "containers"]
    assert len(storages) == 1
    assert traces(storages[0]) == []


def test_a_stopped_worker_does_not_outlive_the_sweep(entries: Ledger, folder: Path) -> None:
    deployment = Deployment(deployment=DeploymentKind.MULTI_CONTAINER)
    with deployed(LocalHost(), deployment, Contents(SHELL), folder, entries) as host:
        mark = entries.enter("process", "shell")
        process = shell(host, "echo up; read -r line", mark)
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        found = process_of(mark, SHELL)
        assert found is not None
        os.kill(found.pid, signal.SIGSTOP)
    assert not procfs.is_alive(found)
    process.communicate(timeout=DEADLINE_S)


@pytest.mark.skipif(limits.limits_fact().ready is False, reason="no control groups to limit hosts with")
@pytest.mark.parametrize("deployment", [CONTAINED[0], CONTAINED[3]], ids=str)
def test_the_limits_of_the_host_hold_for_its_containers_together(
    deployment: Deployment, entries: Ledger, folder: Path
) -> None:
    cpu = max(os.sched_getaffinity(0))
    planned = PlannedHost(name="small", kind=HostKind.LOCAL, cpus=(cpu,), cpu_quota=0.5, memory_bytes=256 << 20)
    with deployed(LocalHost(), deployment, Contents(SHELL), folder, entries, planned=planned) as host:
        seen = "while read -r name value; do if [ $name = Cpus_allowed_list: ]; then echo $value; fi; done"
        assert said(host, f"{seen} < /proc/self/status") == f"{cpu}\n"
        began_ns = time.monotonic_ns()
        times = said(host, "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done; times").split()
        took_s = (time.monotonic_ns() - began_ns) / 1e9
        worked_s = sum(float(each.split("m")[1].rstrip("s")) for each in times[:2])
        assert worked_s < 0.6 * took_s + 0.05


@needs_namespaces
@pytest.mark.parametrize("deployment", CONTAINED, ids=str)
def test_containers_on_a_host_of_namespaces_have_its_network_and_its_folder(
    deployment: Deployment, entries: Ledger
) -> None:
    with two_hosts(shown=(state_folder().parent,)) as testbed:
        around = testbed.hosts["host_0"]
        folder, _ = around.create_folder("mm00aaaaaaaaaa", entries)
        with deployed(around, deployment, Contents(SHELL), folder, entries) as host:
            assert host.address == around.address
            assert not host.shares_memory
            interfaces = "while IFS=: read -r name _; do echo $name; done < /proc/net/dev"
            assert set(said(host, interfaces).split()[-2:]) == {"lo", around.interface}
            said(host, f"echo here > {folder}/inside")
            said(host, "echo here > /dev/shm/inside")
        assert (around.collect(folder, folder) / "inside").read_text() == "here\n"
        seen = on(around, "sh", "-c", "ls /dev/shm")
        assert seen == ("inside" if deployment.ipc is ContainerIpc.HOST else "")


@pytest.mark.parametrize("network", [ContainerNetwork.HOST, ContainerNetwork.NONE])
@pytest.mark.parametrize("kind", [DeploymentKind.SINGLE_CONTAINER, DeploymentKind.MULTI_CONTAINER])
def test_a_container_has_the_network_that_the_deployment_says(
    kind: DeploymentKind, network: ContainerNetwork, entries: Ledger, folder: Path
) -> None:
    deployment = Deployment(deployment=kind, network=network)
    interfaces = "while read -r line; do echo $line; done < /proc/net/dev"
    with deployed(LocalHost(), deployment, Contents(SHELL), folder, entries) as host:
        inside = {line.split(":")[0] for line in said(host, interfaces).splitlines() if ":" in line}
    outside = {line.split(":")[0].strip() for line in Path("/proc/net/dev").read_text().splitlines() if ":" in line}
    assert inside == (outside if network is ContainerNetwork.HOST else {"lo"})


def test_a_program_that_is_not_there_says_so(entries: Ledger, folder: Path) -> None:
    deployment = Deployment(deployment=DeploymentKind.MULTI_CONTAINER)
    with deployed(LocalHost(), deployment, Contents(SHELL), folder, entries) as host:
        failed = subprocess.run(host.command(["/no/program"]), capture_output=True, text=True, check=False)
    assert failed.returncode == 127
    assert "/no/program" in failed.stderr
