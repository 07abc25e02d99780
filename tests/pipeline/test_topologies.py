"""Real middleware between hosts that are really apart: what is reachable is measured exactly, what is not is said."""

import os
import re
import shutil
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import pytest

from middlemark.campaign import order
from middlemark.campaign.campaign import run_new
from middlemark.plan import NoCommunication, NotApplicable, Valid
from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import RunFolder
from middlemark.suite import LoadedSuite, parse_suite
from middlemark.worker import executables

BUILT = executables.workers()
BROADCAST_OVER_IP = re.compile(rb"\xff{6}.{6}\x08\x00", re.DOTALL)
MULTICAST_OF_DISCOVERY = bytes.fromhex("01005e60e000")
"""Of 224.224.224.0, RFC 1112, section 6.4."""
BRIEFLY = "workloads: {workload: imu, windows: {first_message: 2 s}}"
"""For messages that can't arrive. Others have longer, as vSomeIP waits up to 3 s before it offers anything."""
BETWEEN_HOSTS = ("udp", "tcp", "zenoh", "cyclonedds", "fastdds", "opendds", "rustdds", "dustdds", "vsomeip", "mqtt")
OF_DDS = sorted({"cyclonedds", "dustdds", "fastdds", "rustdds"} & BUILT.keys())

pytestmark = [
    pytest.mark.worker,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root makes namespaces everywhere"),
]

OF_BOTH = pytest.mark.skipif(
    not {"fastdds", "cyclonedds"} <= BUILT.keys(), reason="the workers `fastdds` and `cyclonedds` are not both built"
)

Campaign = Callable[[str], list[TrialRecord]]


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    """Runs a suite of short trials with the workers that are built; gives the records."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def run(points: str) -> list[TrialRecord]:
        text = f"""
suite: apart
trials: 1
windows: {{first_message: 20 s, warm_up: 50 ms, window: 300 ms, drain: 2 s}}
disturbance: {{steal: 100 %}}
{points}
"""
        suite = LoadedSuite(file="apart.yaml", text=text, suite=parse_suite(text, file="apart.yaml"))
        run_new(tmp_path / "run", order.order_suite(suite, [], None))
        return [folder.read_record() for folder in RunFolder(tmp_path / "run").stored_trials()]

    return run


def is_complete(record: TrialRecord) -> bool:
    sent = {each.publisher: each.sent for each in record.counts.publishers}
    return record.outcome == Valid() and all(
        each.received + each.late == sent[each.publisher] for each in record.counts.subscribers
    )


def built(*names: str) -> list[object]:
    """As parameters: those that are not built are skipped, with the reason."""
    skip = {name: pytest.mark.skip(reason=f"the worker `{name}` is not built") for name in names if name not in BUILT}
    return [pytest.param(name, marks=skip.get(name, ())) for name in names]


@pytest.mark.parametrize("middleware", built(*BETWEEN_HOSTS))
def test_two_publishers_reach_two_subscribers_on_four_hosts(campaign: Campaign, middleware: str) -> None:
    (record,) = campaign(f"middlewares: {middleware}\nworkloads: imu\ntopologies: D2-2")
    assert is_complete(record), record.outcome
    assert len(record.counts.subscribers) == 4


@pytest.mark.parametrize("middleware", built("zenoh", "vsomeip"))
@pytest.mark.parametrize("reliability", ["reliable", "best_effort"])
def test_servers_answer_clients_of_other_hosts(campaign: Campaign, middleware: str, reliability: str) -> None:
    (record,) = campaign(
        f"middlewares: {middleware}\nqos: {{reliability: {reliability}}}\ntopologies: D2-2\n"
        "workloads: {workload: ask, pattern: request_response, size: 64 B, rate: 50 Hz}"
    )
    assert is_complete(record), record.outcome
    assert len(record.counts.subscribers) == 4


@pytest.mark.parametrize("middleware", built("vsomeip"))
@pytest.mark.parametrize(("workload", "topology"), [("imu", "C1-1"), ("ping_pong", "C1-1"), ("imu", "D2-1")])
def test_requests_without_a_response_are_accounted_as_other_messages(
    campaign: Campaign, middleware: str, workload: str, topology: str
) -> None:
    (record,) = campaign(
        f"middlewares: {{middleware: {middleware}, options: {{one_way: method}}}}\n"
        f"workloads: {workload}\ntopologies: {topology}"
    )
    assert record.outcome == Valid()
    assert workload == "ping_pong" or is_complete(record)
    assert all("MT_REQUEST_NO_RETURN" in each.settings["mapping"] for each in record.effective.values())


@pytest.mark.parametrize("middleware", built("vsomeip"))
def test_a_request_without_a_response_goes_to_no_more_than_one(campaign: Campaign, middleware: str) -> None:
    (record,) = campaign(
        f"middlewares: {{middleware: {middleware}, options: {{one_way: method}}}}\nworkloads: imu\ntopologies: C1-2"
    )
    assert isinstance(record.outcome, NotApplicable)
    assert record.outcome.capability == "option"


@pytest.mark.parametrize("middleware", built("zenoh", "mqtt"))
@pytest.mark.parametrize("topology", ["brokered-1", "brokered-2", "routed-3"])
def test_services_carry_messages_between_networks(campaign: Campaign, middleware: str, topology: str) -> None:
    options = "{mode: client}" if middleware == "zenoh" else "{}"
    (record,) = campaign(
        f"middlewares: {{middleware: {middleware}, options: {options}}}\nworkloads: ping_pong\ntopologies: {topology}"
    )
    assert record.outcome == Valid()
    assert sum(each.received for each in record.counts.subscribers) > 0
    assert len([name for name in record.resources if not name.startswith(("publisher", "subscriber"))]) == (
        2 if topology == "routed-3" else 1
    )


@pytest.mark.parametrize("middleware", built("udp"))
def test_hosts_that_share_no_network_do_not_reach_each_other(campaign: Campaign, middleware: str) -> None:
    (record,) = campaign(f"middlewares: {middleware}\n{BRIEFLY}\ntopologies: routed-3")
    assert record.outcome.kind == "no_communication"


@pytest.mark.parametrize("middleware", built("shm", "iceoryx2"))
def test_shared_memory_between_hosts_is_not_applicable(campaign: Campaign, middleware: str) -> None:
    (record,) = campaign(f"middlewares: {middleware}\nworkloads: imu\ntopologies: D1-1")
    assert isinstance(record.outcome, NotApplicable)
    assert record.outcome.capability == "between_hosts"


@pytest.mark.parametrize("middleware", built("vsomeip"))
def test_hosts_find_each_other_by_broadcast_and_no_frame_is_multicast(
    campaign: Campaign, middleware: str, tmp_path: Path
) -> None:
    records = campaign(
        f"middlewares: {{middleware: {middleware}, profiles: tuned, options: {{discovery: broadcast}}}}\n"
        "workloads: imu\ntopologies: D1-3\nobserve: capture\ncapture: {snap: 64 B}"
    )
    assert [is_complete(each) for each in records] == [True, True], [each.outcome for each in records]
    assert [len(each.counts.subscribers) for each in records] == [3, 3]
    captures = [each.capture_path for each in RunFolder(tmp_path / "run").stored_trials()]
    (frames,) = [path.read_bytes() for path in captures if path.exists()]
    assert BROADCAST_OVER_IP.search(frames)
    assert MULTICAST_OF_DISCOVERY not in frames


@pytest.mark.parametrize("middleware", built("vsomeip"))
def test_hosts_that_are_only_named_to_each_other_are_not_applicable(campaign: Campaign, middleware: str) -> None:
    (record,) = campaign(
        f"middlewares: {{middleware: {middleware}, options: {{discovery: peers}}}}\nworkloads: imu\ntopologies: D1-1"
    )
    assert isinstance(record.outcome, NotApplicable)
    assert record.outcome.capability == "option"


@pytest.mark.parametrize("middleware", built("tcp"))
def test_a_link_that_is_cut_and_mended_delays_a_reliable_stream_and_loses_nothing(
    campaign: Campaign, middleware: str
) -> None:
    (record,) = campaign(f"""
middlewares: {middleware}
workloads: imu
topologies: D1-1
conditions:
  faults:
    timeline: cut
    events: [{{at: 50 ms, do: link_down, of: host_1}}, {{at: 150 ms, do: link_up, of: host_1/lan}}]
""")
    assert is_complete(record), record.outcome
    assert [fault.action for fault in record.faults] == ["link_down", "link_up"]


@pytest.mark.parametrize("middleware", built("mqtt"))
def test_a_broker_that_comes_back_has_its_clients_again(campaign: Campaign, middleware: str) -> None:
    (record,) = campaign(f"""
middlewares: {{middleware: {middleware}, options: {{client_retry_ms: 20}}}}
workloads: {{workload: imu, windows: {{window: 2 s}}}}
conditions:
  faults:
    timeline: restarted
    events: [{{at: 100 ms, do: kill, of: broker_0}}, {{at: 150 ms, do: restart, of: broker_0}}]
""")
    assert record.outcome == Valid()
    (subscriber,) = record.counts.subscribers
    (publisher,) = record.counts.publishers
    assert publisher.refused > 0
    assert subscriber.received > publisher.intended / 2


@pytest.mark.parametrize("middleware", built("udp"))
def test_a_partition_loses_what_crosses_it_and_its_links_are_whole_afterwards(
    campaign: Campaign, middleware: str
) -> None:
    (record,) = campaign(f"""
middlewares: {middleware}
workloads: {{workload: imu, windows: {{window: 2 s}}}}
topologies: D1-1
conditions:
  faults:
    timeline: parted
    events: [{{at: 50 ms, do: partition, of: host_1}}]
""")
    assert [fault.action for fault in record.faults] == ["partition"]
    assert [link.problem for link in record.links] == [None] * 4
    received = sum(each.received for each in record.counts.subscribers)
    assert 0 < received < sum(each.sent for each in record.counts.publishers)


@pytest.mark.skipif(shutil.which("podman") is None, reason="Podman is not installed")
@pytest.mark.parametrize("middleware", built("shm"))
@pytest.mark.parametrize(
    ("deployment", "kind"),
    [
        ("single_container", "valid"),
        ("{deployment: multi_container, ipc: shareable}", "valid"),
        ("{deployment: multi_container, ipc: private}", "no_communication"),
    ],
)
def test_containers_share_memory_only_as_they_are_told_to(
    campaign: Campaign, middleware: str, deployment: str, kind: str
) -> None:
    workloads = "workloads: imu" if kind == "valid" else BRIEFLY
    (record,) = campaign(f"middlewares: {middleware}\n{workloads}\nconditions: {{deployment: {deployment}}}")
    assert record.outcome.kind == kind
    if kind == "valid":
        assert all(path.mapped for path in record.path.values())


@pytest.mark.skipif("udp" not in BUILT, reason="the worker `udp` is not built")
def test_a_datagram_on_the_wire_is_its_payload_and_three_headers(campaign: Campaign) -> None:
    records = campaign(
        "middlewares: udp\nobserve: wire\nworkloads: [{workload: imu, rate: 500 Hz, size: 1 kB}]\ntopologies: D1-1"
    )
    (record,) = (each for each in records if each.trial.observation)
    assert record.outcome == Valid()
    window = [each for each in record.wire if each.phase == "window"]
    assert {each.host for each in window} == {"host_0", "host_1"}
    (sender,) = (each for each in window if each.sent_packets > 100)
    assert sender.sent_bytes == pytest.approx(sender.sent_packets * (14 + 20 + 8 + 1000), rel=0.01)
    assert sender.sent_packets == pytest.approx(150, abs=15)


SILENT = {("fastdds", "dustdds")}
"""Publishers of which these subscribers have nothing."""


def pairs() -> list[object]:
    """Every two implementations of DDS that are built, on one host and on several."""
    ended = "Fast DDS 2.9.1 is ended by an assertion of its own where several readers announce one multicast address"
    silent = "RustDDS 0.15.1 announces a port for its writers that Fast DDS may have if both start at once on a host"
    lease = "Dust DDS 0.16.0 reads the infinite lease that Fast DDS states as a finite one"
    skip = {
        **{(*pair, topology): pytest.mark.skip(reason=lease) for pair in SILENT for topology in ("C1-1", "D2-2")},
        ("fastdds", "rustdds", "D2-2"): pytest.mark.skip(reason=ended),
        ("rustdds", "fastdds", "C1-1"): pytest.mark.skip(reason=silent),
    }
    places = [(*pair, topology) for pair in permutations(OF_DDS, 2) for topology in ("C1-1", "D2-2")]
    return [pytest.param(*place, marks=skip.get(place, ())) for place in places]


@pytest.mark.parametrize(("publishers", "subscribers", "topology"), pairs())
def test_implementations_of_dds_understand_each_other(
    campaign: Campaign, publishers: str, subscribers: str, topology: str
) -> None:
    ask = "{workload: ask, pattern: request_response, size: 64 B, rate: 50 Hz}"
    workloads = ["imu"] if (subscribers, publishers) in SILENT else ["imu", ask]  # a response is a message back
    records = campaign(
        f"middlewares: {{publishers: {publishers}, subscribers: {subscribers}}}\ntopologies: {topology}\nverify: true\n"
        f"delivery: own_thread\nqos: {{reliability: reliable}}\nworkloads: [{', '.join(workloads)}]"
    )
    assert [record.outcome for record in records] == [Valid()] * len(workloads)
    assert all(map(is_complete, records))


@OF_BOTH
def test_a_pair_of_different_types_says_whom_each_side_did_not_meet(campaign: Campaign) -> None:
    (record,) = campaign(
        "middlewares: {publishers: fastdds, subscribers: cyclonedds, options: {zero_copy: true}}\n"
        "topologies: C1-1\nworkloads: {workload: imu, windows: {first_message: 2 s}}"
    )
    assert isinstance(record.outcome, NoCommunication)
    (writer,), (reader,) = record.outcome.reasons["publisher_0"], record.outcome.reasons["subscriber_0"]
    assert "(middlemark::Array1000) met no reader" in writer
    assert "(middlemark::Sequence1000) met no writer" in reader
