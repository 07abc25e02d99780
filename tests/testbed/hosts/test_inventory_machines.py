"""A suite is measured on the machines of an inventory: two servers of SSH on this computer stand for them."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from middlemark.campaign import order
from middlemark.campaign.campaign import run_new
from middlemark.plan import Valid
from middlemark.results.run_folder import RunFolder
from middlemark.suite import Inventory, LoadedSuite, Machine, parse_suite, suite_on_machines
from middlemark.testbed.processes import remote
from middlemark.worker import executables
from ssh_server import nothing_is_left, serving, sshd

pytestmark = [
    pytest.mark.skipif(sshd() is None, reason="there is no sshd: apt-get install openssh-server"),
    pytest.mark.skipif(os.geteuid() != 0, reason="sshd separates privileges as root only"),
]


@pytest.fixture
def two_machines(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Two servers with temporary files of their own, and one configuration for both."""
    folders = [tmp_path_factory.mktemp("machine") for _ in range(2)]
    apart, preparation = ["--mount", "--fork", "--kill-child"], "mount -t tmpfs tmpfs /tmp"
    with serving(folders[0], apart, preparation) as first, serving(folders[1], apart, preparation) as second:
        known = "UserKnownHostsFile " + " ".join(f"{folder}/known" for folder in folders)
        keys = [f"IdentityFile {folder}/user" for folder in folders]
        (folders[0] / "both").write_text("\n".join(["IdentitiesOnly yes", known, *keys, ""]))
        monkeypatch.setenv(remote.CONFIGURATION_VARIABLE, str(folders[0] / "both"))
        monkeypatch.setenv("XDG_STATE_HOME", str(folders[0] / "state"))
        yield [first, second]
        nothing_is_left(folders[0] / "state")


@pytest.mark.worker
@pytest.mark.skipif("udp" not in executables.workers(), reason="the worker `udp` is not built")
def test_machines_of_an_inventory_take_the_place_of_hosts_in_namespaces(
    two_machines: list[str], tmp_path: Path
) -> None:
    text = """
suite: placed
trials: 1
middlewares: udp
workloads: imu
topologies: [D1-1, D1-3]
windows: {warm_up: 50 ms, window: 300 ms, drain: 1 s}
disturbance: {steal: 100 %}
"""
    written = LoadedSuite(file="placed.yaml", text=text, suite=parse_suite(text, file="placed.yaml"))
    suite, left_out = suite_on_machines(
        written, Inventory(machines=tuple(Machine(ssh=target) for target in two_machines))
    )
    assert left_out.keys() == {"D1-3"}
    run_new(tmp_path / "run", order.order_suite(suite, [], None))
    run = RunFolder(tmp_path / "run")
    (record,) = (folder.read_record() for folder in run.stored_trials())
    assert record.outcome == Valid()
    assert record.clocks.keys() == {"host_0", "host_1"}
    assert {(each.host, each.to, each.network) for each in record.links} == {("host_0", "host_1", "lan")}
