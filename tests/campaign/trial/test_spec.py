"""What each process of a trial is told follows from the plan, the description and the environment, and from nothing else."""

from pathlib import Path

import pytest

from middlemark.campaign.trial.environment import TrialEnvironment
from middlemark.campaign.trial.spec import Specs, process_specs
from middlemark.plan import Trial, expand, order_trials
from middlemark.suite import parse_suite
from middlemark.testbed import testbed
from middlemark.testbed.hosts.host import LocalHost
from middlemark.testbed.processes.slot import Slot
from middlemark.worker.available import TrialWorkers, Worker
from middlemark.worker.contract import (
    Capabilities,
    Deliveries,
    DeliveryDescription,
    Description,
    LackingDelivery,
    Library,
    OptionDescription,
    PortHolders,
    ServiceNeed,
    TextOption,
    When,
)
from middlemark.worker.description import CONTRACT_VERSION
from staged import planned

MIXED = """
windows: {window: 2 s}
workloads:
  - workload: mixed
    pattern: pipeline
    nodes:
      - {node: fast, rate: 100 Hz, outputs: [{stream: often, size: 64 B}]}
      - {node: slow, rate: 1 Hz, outputs: [{stream: seldom, size: 64 B}]}
      - {node: sink, inputs: [often, seldom]}
"""
SLOT = Slot(domain=7, first_port=9300, ports=100, name="mm07abc", token=99)


def described(*services: ServiceNeed, ports: PortHolders = "nothing") -> Description:
    return Description(
        contract_version=CONTRACT_VERSION,
        middleware="toy",
        title="Toy",
        summary="A toy.",
        library=Library(name="toy", version="1", origin="tests"),
        capabilities=Capabilities(
            patterns=["periodic"],
            transports=["udp"],
            reliabilities=["reliable"],
            durabilities=["volatile"],
            histories=["keep_all"],
            congestion=["block"],
            deliveries=Deliveries(
                default="own_thread",
                has=[DeliveryDescription(delivery="own_thread", how="h", source="s")],
                lacks=[LackingDelivery(delivery=name, reason="r") for name in ("library_thread", "polling")],
            ),
            largest_message_bytes=100,
            zero_copy=False,
            same_process=True,
            security=[],
            between_hosts=False,
        ),
        services=list(services),
        ports=ports,
        profiles={},
        options=[OptionDescription(name="mode", kind=TextOption(), default="peer", summary="m")],
    )


def specs(trial: Trial, description: Description | None = None) -> Specs:
    hosts, folder = {"local": LocalHost()}, Path("/run/mm07abc")
    workers = TrialWorkers.alike(Worker(Path("/workers/toy"), description or described()))
    return process_specs(trial, TrialEnvironment(workers, SLOT, hosts, folder, (0, 1, 2, 3), testbed.Testbed(hosts)))


@pytest.mark.parametrize(("named", "told"), [("default", "own_thread"), ("polling", "polling")])
def test_an_application_is_told_a_delivery_that_is_no_default(named: str, told: str) -> None:
    trial = planned(f"workloads: imu\ndelivery: {named}")
    assert {each.delivery for each in specs(trial).applications.values()} == {told}


def test_every_process_of_a_trial_has_the_same_rendezvous_and_streams() -> None:
    told = specs(planned("workloads: imu\ntopologies: C2-2"))
    assert list(told.applications) == ["publisher_0", "publisher_1", "subscriber_0", "subscriber_1"]
    applications = list(told.applications.values())
    assert all(each.rendezvous == applications[0].rendezvous for each in applications)
    assert all(each.streams == applications[0].streams for each in applications)
    assert applications[0].rendezvous.model_dump() == {
        "name": "mm07abc", "token": 99, "domain": 7, "first_port": 9300, "ports": 100, "folder": "/run/mm07abc",
    }  # fmt: skip
    (stream,) = applications[0].streams
    assert [each.application for each in stream.publishers] == ["publisher_0", "publisher_1"]
    assert {each.address for each in stream.subscribers} == {"127.0.0.1"}
    assert told.applications["subscriber_1"].endpoints[0].model_dump() == {
        "stream": "imu", "role": "subscriber", "index": 1,
    }  # fmt: skip


@pytest.mark.parametrize("serialisation", [None, "cdr"])
def test_a_worker_is_told_of_a_payload_and_of_a_requested_serialisation(
    serialisation: str | None,
) -> None:
    requested = f", serialisation: {serialisation}" if serialisation else ""
    told = specs(planned(f"workloads: {{workload: camera, payload: image{requested}}}")).applications["publisher_0"]
    (stream,) = told.streams
    said = {"kind": "image"} | ({"serialisation": serialisation} if serialisation else {})
    assert stream.model_dump(exclude_none=True)["payload"] == said


def test_one_application_holds_all_endpoints_of_the_same_process() -> None:
    told = specs(planned("workloads: imu\ntopologies: {topology: C1-1, placement: same_process}"))
    (application,) = told.applications.values()
    assert [(each.role, each.index) for each in application.endpoints] == [("publisher", 0), ("subscriber", 0)]


REQUESTS = "pattern: request_response, size: 64 B"
EXPONENTIAL = "{distribution: exponential, mean: 1 ms}"
SEED = object()
"""In place of the seed of the trial's block."""


@pytest.mark.parametrize(
    ("workload", "pattern"),
    [
        (
            "{workload: imu, rate: 100 Hz}",
            {"kind": "periodic", "rate_hz": 100.0, "arrival": {"kind": "fixed"}},
        ),
        (
            "{workload: b, pattern: burst, size: 1 kB, rate: 10 Hz, messages: 5}",
            {"kind": "burst", "rate_hz": 10.0, "messages": 5},
        ),
        (
            "{workload: u, pattern: unthrottled, size: 1 kB, messages: 9}",
            {"kind": "unthrottled", "approach_hz": 100.0, "messages": 9},
        ),
        (
            "{workload: p, pattern: ping_pong, size: 64 B, answer: 1 kB, interval: 1 ms, patience: 2 s}",
            {
                "kind": "ping_pong", "approach_hz": 100.0, "answer_bytes": 1000, "interval_ns": 1_000_000,
                "patience_ns": 2_000_000_000, "messages": None,
            },
        ),
        (
            f"{{workload: s, {REQUESTS}, response: 1 kB, outstanding: 3, server_time: 2 ms}}",
            {
                "kind": "request_response", "pace": {"kind": "closed", "approach_hz": 100.0}, "response_bytes": 1000,
                "outstanding": 3, "timeout_ns": 1_000_000_000, "server_time": {"kind": "constant", "time_ns": 2_000_000},
                "seed": SEED,
            },
        ),
        (
            f"{{workload: s, {REQUESTS}, rate: 50 Hz, timeout: 2 s, server_time: {EXPONENTIAL}}}",
            {
                "kind": "request_response",
                "pace": {"kind": "open", "rate_hz": 50.0, "arrival": {"kind": "fixed"}}, "response_bytes": 64,
                "outstanding": 64, "timeout_ns": 2_000_000_000,
                "server_time": {"kind": "exponential", "mean_ns": 1_000_000}, "seed": SEED,
            },
        ),
    ],
)  # fmt: skip
def test_a_pattern_is_told_in_the_words_of_the_contract(workload: str, pattern: dict[str, object]) -> None:
    trial = planned(f"workloads: [{workload}]")
    told = specs(trial)
    expected = {name: trial.seed if value is SEED else value for name, value in pattern.items()}
    assert told.applications["publisher_0"].streams[0].pattern.model_dump() == expected


def test_a_poisson_schedule_has_the_seed_of_the_trials_block() -> None:
    trial = planned("workloads: [{workload: imu, arrival: poisson}]")
    told = specs(trial)
    arrival = told.applications["publisher_0"].streams[0].pattern.model_dump()["arrival"]
    assert arrival == {"kind": "poisson", "seed": trial.seed}


def test_placement_and_recording_are_the_plans() -> None:
    conditions = "{cpus: spread, scheduling: fifo, priority: 20, spin: 50 us}"
    text = f"workloads: [{{workload: imu, rate: 100 Hz}}]\nconditions: {conditions}\nrecording: {{samples: 500}}"
    told = specs(planned(f"{text}\nwindows: {{window: 2 s, drain: 300 ms}}\nverify: true"))
    first, second = told.applications.values()
    assert (first.placement.cpus, second.placement.cpus) == ([0, 1], [2, 3])
    assert first.placement.scheduling.model_dump() == {"kind": "fifo", "priority": 20}
    assert first.placement.spin_ns == 50_000
    assert (first.recording.samples, first.recording.late_after_ns) == (500, 300_000_000)
    assert first.recording.messages >= 200
    assert first.recording.folder == "/run/mm07abc/samples"
    assert first.verify


def test_services_are_those_that_the_options_ask_for_and_all_applications_know_them() -> None:
    description = described(
        ServiceNeed(service="router", per="network", when=[When(option="mode", values=["client"])]),
        ServiceNeed(service="daemon", per="host", when=[]),
    )
    told = specs(planned("workloads: imu"), description)
    assert list(told.services) == ["daemon_0"]
    text = "workloads: [{workload: p, pattern: ping_pong, size: 64 B, answer: 5 kB}]"
    text += "\nmiddlewares: [{middleware: toy, options: {mode: client}}]"
    suite = parse_suite(f"suite: x\n{text}", file="x.yaml")
    (trial,) = order_trials(expand(suite, available=["toy"]), blocks=1, seed=3)
    told = specs(trial, description)
    assert list(told.services) == ["router_0", "daemon_0"]
    assert told.services["router_0"].largest_message_bytes == 5000
    addresses = [(each.service, each.index, each.address) for each in told.applications["publisher_0"].services]
    assert addresses == [("router", 0, "127.0.0.1"), ("daemon", 0, "127.0.0.1")]
    assert [told.services[name].services for name in told.services] == [[], []]
    assert [str(address) for address in told.services["router_0"].addresses] == ["127.0.0.1"]


def test_a_service_is_told_the_queue_and_patience_and_whether_any_stream_blocks() -> None:
    description = described(ServiceNeed(service="daemon", per="host", when=[]))
    asked = {
        "reliability: best_effort": ("drop", 16 << 20, 5_000_000_000),
        "reliability: reliable, patience: 7 ms, queue: 1 MB": ("block", 1_000_000, 7_000_000),
    }
    for qos, wanted in asked.items():
        service = specs(planned(f"workloads: {{workload: imu, qos: {{{qos}}}}}"), description).services["daemon_0"]
        assert (service.congestion, service.queue_bytes, service.patience_ns) == wanted


def test_a_plan_older_than_queue_and_patience_has_the_defaults() -> None:
    trial = planned("workloads: imu")
    (stream,) = trial.experiment.streams
    before = stream.model_copy(update={"qos": stream.qos.model_copy(update={"patience_ns": None, "queue_bytes": None})})
    experiment = trial.experiment.model_copy(update={"streams": (before,)})
    told = specs(trial.model_copy(update={"experiment": experiment})).applications["publisher_0"]
    assert told == specs(trial).applications["publisher_0"]


def test_a_search_for_the_highest_rate_reserves_memory_for_every_sample() -> None:
    text = (
        "workloads: [{workload: stream, pattern: capacity, size: 64 B, search: {lowest: 10 kHz, highest: 20 kHz}}]\n"
        "windows: {window: 2 s}\nrecording: {samples: 500}"
    )
    told = specs(planned(text))
    assert {each.recording.samples for each in told.applications.values()} == {20_001}


def test_a_stream_with_fewer_messages_than_another_says_so() -> None:
    told = specs(planned(MIXED)).applications["sink"]
    messages = {stream.name: stream.messages for stream in told.streams}
    assert messages["often"] is None
    assert 0 < (messages["seldom"] or 0) < told.recording.messages


def test_where_each_endpoint_takes_a_port_streams_get_no_message_bound() -> None:
    told = specs(planned(MIXED), described(ports="endpoints")).applications["sink"]
    assert {stream.messages for stream in told.streams} == {None}
