"""Another user of the machine writes nothing of a campaign of root, and reads nothing that tells what is measured."""

import json
import os
import shutil
import subprocess
import sys

import pytest

import watched
from middlemark.worker import executables
from ssh_server import sshd

OF_DDS = ("fastdds", "cyclonedds", "opendds", "rustdds", "dustdds")
MIDDLEWARES = ("uds", "shm", "zenoh", *OF_DDS, "iceoryx2", "vsomeip", "mqtt")
SUITE = """
suite: watched
trials: 1
middlewares: {middleware}
workloads: [{{workload: imu, rate: 100 Hz}}]
topologies: {topology}
{more}
windows: {{first_message: 60 s, warm_up: 50 ms, window: 300 ms, drain: 100 ms}}
disturbance: {{steal: 100 %, repeats: 0}}
"""
TWO_MACHINES = """
  - topology: two_machines
    hosts: [{name: here, kind: local}, {name: there, kind: ssh, ssh: "TARGET"}]
    applications:
      - {name: publisher_0, host: here, roles: [publisher]}
      - {name: subscriber_0, host: there, roles: [subscriber]}
"""
IN_PLACES_OF_ITS_OWN = """
for place in {places}; do mount -t tmpfs -o mode=1777 tmpfs $place || exit 77; done; exec "$0" "$@"
"""

pytestmark = [
    pytest.mark.worker,
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user as well"),
]


def suite(middleware: str, topology: str = "C1-1", more: str = "") -> str:
    return SUITE.format(middleware=middleware, topology=topology, more=more)


def assert_closed_to_others(how: str, text: str, *seen: str) -> None:
    """Nothing of the campaign is open to others; `seen` are parts of names that have to be among what was looked at."""
    script = IN_PLACES_OF_ITS_OWN.format(places=" ".join(watched.EMPTY))
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script]
    ended = subprocess.run(
        [*command, sys.executable, watched.__file__, how, text],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode == 77:
        pytest.skip("no file system can be mounted here")
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout.splitlines()[-1])
    assert told["outcomes"] == [outcome for outcome in told["outcomes"] if outcome in {"valid", "invalid"}] != []
    assert [part for part in seen if not any(part in path for path in told["seen"])] == [], told["seen"]
    assert told["masks"] == ["0077"]
    assert told["open"] == {}, json.dumps(told["open"], indent=1)


KNOWN = {
    "iceoryx2": ".global_mgmt", "fastdds": "fastrtps_", "shm": "middlemark_mm", "vsomeip": ".lck", "zenoh": ".zenoh",
}  # fmt: skip
"""Part of what is known to be made where all users come: that the test has looked at it."""


@pytest.mark.timeout(900)  # a trial of each middleware, and a busy machine takes seconds for each
def test_nobody_else_reads_or_writes_what_a_campaign_of_root_makes() -> None:
    built = [name for name in MIDDLEWARES if name in executables.workers()]
    parts = [KNOWN[name] for name in built if name in KNOWN]
    assert_closed_to_others("here", suite(f"[{', '.join(built)}]"), *parts)


def test_nobody_else_reads_or_writes_what_observers_leave() -> None:
    assert_closed_to_others("here", suite("uds", more="observe: [resources, capture]"))


HOSTS = "[{topology: D1-1, link: {delay: 1 ms}}]"
"""In namespaces, with a relay on each link."""


@pytest.mark.timeout(300)
def test_nobody_else_reads_or_writes_what_hosts_in_namespaces_leave() -> None:
    built = [name for name in ("udp", "zenoh") if name in executables.workers()]
    assert_closed_to_others("here", suite(f"[{', '.join(built)}]", HOSTS, "observe: wire"))


@pytest.mark.timeout(300)
@pytest.mark.parametrize("middleware", ["mqtt", "zenoh"])
def test_nobody_else_reads_or_writes_what_brokers_and_routers_leave(middleware: str) -> None:
    if middleware not in executables.workers():
        pytest.skip(f"there is no worker of {middleware} here")
    options = "{mode: client}" if middleware == "zenoh" else "{}"
    topologies = "[brokered-1, brokered-2, routed-3]"
    assert_closed_to_others("here", suite(f"{{middleware: {middleware}, options: {options}}}", topologies))


@pytest.mark.containers
@pytest.mark.skipif(not shutil.which("podman"), reason="needs podman")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("topology", ["C1-1", HOSTS], ids=["machine", "namespaces"])
@pytest.mark.parametrize("deployment", ["single_container", "multi_container"])
def test_nobody_else_reads_or_writes_what_containers_leave(deployment: str, topology: str) -> None:
    assert_closed_to_others("here", suite("udp", topology, f"conditions: [{{deployment: {deployment}}}]"))


@pytest.mark.timeout(300)
def test_nobody_else_reads_or_writes_what_a_run_is_exported_and_served_as() -> None:
    assert_closed_to_others("shown", suite("udp"), str(watched.KEPT / "runs"))


@pytest.mark.timeout(300)
def test_nobody_else_reads_or_writes_the_blocks_of_a_fleet() -> None:
    assert_closed_to_others("fleet", suite("udp"))


@pytest.mark.skipif(sshd() is None, reason="needs an SSH server")
@pytest.mark.timeout(300)
def test_nobody_else_reads_or_writes_what_is_left_on_another_machine() -> None:
    assert_closed_to_others("apart", suite("udp", topology=TWO_MACHINES), str(watched.FAR))
