"""A test-bed is a machine with others that it reaches by SSH: each has its own under the names of the suite."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from fleets import PATIENT, fleet
from middlemark.campaign.campaign import run_new
from middlemark.campaign.fleet.front import connected
from middlemark.errors import EnvironmentNotReady
from middlemark.plan import Valid
from middlemark.results.run_folder import RunFolder
from middlemark.suite import load_inventory
from middlemark.testbed.hosts.inventory import machines_of
from middlemark.testbed.processes import remote
from middlemark.worker import executables
from ssh_server import serving, sshd
from staged import placed

pytestmark = [
    PATIENT,
    pytest.mark.worker,
    pytest.mark.skipif(sshd() is None, reason="there is no sshd: apt-get install openssh-server"),
    pytest.mark.skipif(os.geteuid() != 0, reason="sshd separates privileges as root only"),
    pytest.mark.skipif("udp" not in executables.workers(), reason="the worker `udp` is not built"),
]

TEXT = """
suite: with_machines
trials: 2
middlewares: udp
workloads: imu
topologies:
  topology: pair
  hosts: [{name: here, kind: local}, {name: there, kind: ssh, ssh: far}]
  applications:
    - {name: publisher_0, host: here, roles: [publisher]}
    - {name: subscriber_0, host: there, roles: [subscriber]}
windows: {warm_up: 50 ms, window: 300 ms, drain: 1 s}
disturbance: {steal: 100 %}
"""
BEDS = ("one", "two")


@pytest.fixture
def configurations(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """By test-bed a configuration of the SSH client, in which `far` is a machine of its own, and `again` is the same."""
    with ExitStack() as servers:
        found = {}
        for name in BEDS:
            folder = tmp_path_factory.mktemp(name)
            apart = ["--mount", "--fork", "--kill-child"]
            target = servers.enter_context(serving(folder, apart, "mount -t tmpfs tmpfs /tmp"))
            user, _, address = target.partition("@")
            host, _, port = address.partition(":")
            known = (folder / "config").read_text()
            (folder / "aliases").write_text(
                f"Host far again\n  HostName {host}\n  Port {port}\n  User {user}\nHost *\n{known}"
            )
            found[name] = folder / "aliases"
        yield found


def inventory(folder: Path, *names: str) -> str:
    file = folder / f"{'-'.join(names)}.yaml"
    file.write_text("machines: [" + ", ".join(f"{{ssh: {name}}}" for name in names) + "]\n")
    return str(file)


def test_each_test_bed_measures_on_machines_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, configurations: dict[str, Path]
) -> None:
    monkeypatch.delenv("MIDDLEMARK_WORKERS")
    with fleet(tmp_path) as beds:
        for name, configuration in configurations.items():
            variables = {remote.CONFIGURATION_VARIABLE: str(configuration), "TMPDIR": "/tmp"}  # noqa: S108 - as there
            beds.join(name, "--hosts", inventory(tmp_path, "far"), **variables)
            assert "far: " in beds.log(name).read_text()
        run_new(tmp_path / "run", placed(TEXT), None, lambda run: connected(beds.address, run, None))
    run = RunFolder(tmp_path / "run")
    records = [folder.read_record() for folder in run.stored_trials()]
    assert [record.outcome for record in records] == [Valid()] * 2
    assert {record.testbed for record in records} == set(BEDS)
    assert all(record.clocks.keys() == {"there"} for record in records)
    machines = [bed.hosts["far"] for bed in run.read_manifest().testbeds.values()]
    assert len({machine.started for machine in machines}) == 2
    for name in BEDS:
        assert not list((tmp_path / f"state-{name}/middlemark/ledgers").iterdir())


def test_one_machine_under_two_names_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, configurations: dict[str, Path]
) -> None:
    monkeypatch.setenv(remote.CONFIGURATION_VARIABLE, str(configurations["one"]))
    with pytest.raises(EnvironmentNotReady, match="far and again are one machine"):
        machines_of(load_inventory(inventory(tmp_path, "far", "again")))
    (machine,) = machines_of(load_inventory(inventory(tmp_path, "far"))).values()
    assert (machine.kernel, machine.architecture) == (os.uname().release, os.uname().machine)


def test_a_machine_that_can_not_be_reached_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, configurations: dict[str, Path]
) -> None:
    monkeypatch.setenv(remote.CONFIGURATION_VARIABLE, str(configurations["one"]))
    with pytest.raises(EnvironmentNotReady, match=r"nowhere\.invalid"):
        machines_of(load_inventory(inventory(tmp_path, "nowhere.invalid")))


def test_a_missing_ssh_client_is_named_with_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = inventory(tmp_path, "far")
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(EnvironmentNotReady, match="apt-get install openssh-client"):
        machines_of(load_inventory(file))


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("hello\n", "unknown key `hello`"),
        ("kernel=6.1\narchitecture=x86_64\ncpus=2\n", "started"),
        ("started=some-boot 22\nkernel=6.1\narchitecture=other\ncpus=2\n", "of another architecture"),
        ("started=some-boot 22\nkernel=6.1\narchitecture=other\ncpus=many\n", "cpus"),
    ],
)
def test_an_answer_that_is_no_machine_s_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, reason: str
) -> None:
    monkeypatch.setattr(remote, "run_script", lambda *_: answer)
    with pytest.raises(EnvironmentNotReady, match=reason):
        machines_of(load_inventory(inventory(tmp_path, "far")))
