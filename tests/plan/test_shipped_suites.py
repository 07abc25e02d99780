"""The suites that ship expand to the matrices that their headers promise."""

from collections import Counter, defaultdict

import pytest

from middlemark.plan import Experiment, expand, order_trials, plan_trials
from middlemark.plan.trial.duration import campaign_duration_ns
from middlemark.suite import load_suite
from pages import ROOT

BUILT = [
    "cyclonedds",
    "dustdds",
    "fastdds",
    "iceoryx2",
    "mqtt",
    "rustdds",
    "shm",
    "synthetic",
    "tcp",
    "udp",
    "uds",
    "vsomeip",
    "zenoh",
]
MEASURED = [middleware for middleware in BUILT if middleware != "synthetic"]


def shipped(name: str) -> tuple[Experiment, ...]:
    return expand(load_suite(name).suite, available=BUILT)


def test_every_worker_is_in_these_matrices_but_the_one_of_a_library_of_ones_own() -> None:
    workers = {main.parents[1].name for main in ROOT.glob("workers/*/src/main.rs")}
    assert workers - {"opendds"} == set(BUILT)


def test_automotive_is_4_messages_8_topologies_2_reliabilities_for_each_middleware() -> None:
    experiments = shipped("automotive")
    assert Counter(each.middleware for each in experiments) == dict.fromkeys(MEASURED, 4 * 8 * 2)
    points = {(e.middleware, e.workload, e.topology, e.factors["reliability"]) for e in experiments}
    assert len(points) == len(experiments)
    assert {e.factors.get("link") for e in experiments if e.topology.startswith("D")} == {"1 Gbit/s"}
    assert {e.factors.get("link") for e in experiments if e.topology.startswith("C")} == {None}


def test_automotive_has_every_point_of_the_evaluation() -> None:
    """It has 136: all of Fast DDS, Zenoh with best effort, vSomeIP with reliable, and with best effort for the IMU."""
    points = [(e.middleware, e.factors["reliability"], e.workload) for e in shipped("automotive")]
    evaluated = [
        (middleware, reliability, workload)
        for middleware, reliability, workload in points
        if middleware == "fastdds"
        or (middleware, reliability) in {("zenoh", "best_effort"), ("vsomeip", "reliable")}
        or (middleware, reliability, workload) == ("vsomeip", "best_effort", "imu")
    ]
    assert len(evaluated) == 136


def test_sizes_has_every_middleware_as_shipped_and_tuned_and_nobody_waits() -> None:
    experiments = shipped("sizes")
    assert Counter((e.middleware, e.profile) for e in experiments) == {
        (middleware, profile): 6 for middleware in MEASURED for profile in ("default", "tuned")
    }
    assert {e.factors["congestion"] for e in experiments} == {"drop"}


@pytest.mark.parametrize(("middleware", "durability"), [("fastdds", "transient_local"), ("zenoh", "volatile")])
def test_automotive_asks_for_the_durability_that_a_middleware_has(middleware: str, durability: str) -> None:
    experiments = [e for e in shipped("automotive") if e.middleware == middleware]
    asked = {(e.factors["reliability"], e.factors["history"], e.factors["durability"]) for e in experiments}
    assert asked == {("best_effort", "keep_all", "volatile"), ("reliable", "keep_all", durability)}


def test_brokered_has_a_router_or_broker_wherever_the_topology_has_a_place_for_one() -> None:
    experiments = shipped("brokered")
    zenoh = {(e.topology, e.factors["option.mode"]) for e in experiments if e.middleware == "zenoh"}
    between = ["brokered-1", "brokered-2", "routed-3"]
    assert zenoh == {(topology, "client") for topology in between} | {("peer-to-peer", "peer")}
    assert {e.topology for e in experiments if e.middleware == "mqtt"} == set(between)
    assert {e.factors.get("level") for e in experiments if e.middleware == "mqtt"} == {"0", "1", "2"}


def test_faults_strike_a_service_only_where_there_is_one() -> None:
    struck = {
        (e.middleware, e.factors.get("option.mode"), e.factors["faults"])
        for e in shipped("faults")
        if e.factors["faults"] in {"broker_restart", "router_restart", "routing_manager_restart"}
    }
    assert struck == {
        ("mqtt", None, "broker_restart"),
        ("zenoh", "client", "router_restart"),
        ("vsomeip", None, "routing_manager_restart"),
    }


def test_deployment_is_every_packing_at_every_size() -> None:
    experiments = shipped("deployment")
    assert len(experiments) == 4 * 6 * 5
    assert {e.factors["deployment"] for e in experiments} == {
        "bare_metal",
        "single_container, ipc private",
        "multi_container, ipc private",
        "multi_container, ipc shareable",
        "multi_container, ipc host",
    }


def test_autoware_is_one_stack_in_three_deployments() -> None:
    experiments = shipped("autoware")
    assert Counter(each.middleware for each in experiments) == dict.fromkeys(
        ["tcp", "zenoh", "fastdds", "cyclonedds"], 3
    )
    stack = experiments[0]
    assert len(stack.nodes) == 23
    sizes = [stream.size_bytes for stream in stack.streams]
    assert (min(sizes), max(sizes)) == (1_000, 1_000_000)


def test_the_driving_stack_asks_for_no_more_than_three_fifths_of_a_core() -> None:
    """So that two cores sustain it, the middleware beside it."""
    stack = shipped("autoware")[0]
    rates = {stream.name: stream.pattern.rate_hz for stream in stack.streams if stream.pattern.kind == "computed"}
    demand = 0.0
    for node in stack.nodes:
        sends = [rates[stream] or 0.0 for stream in node.outputs]
        mean_ns = {"constant": lambda c: c.time_ns, "normal": lambda c: c.mean_ns}[node.compute.kind](node.compute)
        demand += max(sends, default=0.0) * mean_ns / 1e9
    assert demand == pytest.approx(0.46, abs=0.01)


def test_the_image_pipeline_runs_at_three_rates_and_without_one() -> None:
    experiments = [each for each in shipped("image_pipeline") if each.middleware == "zenoh"]
    points = Counter((each.topology, each.factors.get("rate", "maximum")) for each in experiments)
    assert points == dict.fromkeys(
        [(topology, rate) for topology in ("C1-1", "D1-1") for rate in ("10 Hz", "30 Hz", "60 Hz", "maximum")], 1
    )
    assert {stream.size_bytes for each in experiments for stream in each.streams} == {920_000}


@pytest.mark.parametrize("name", ["automotive", "autoware", "brokered", "deployment", "faults", "image_pipeline"])
def test_one_middleware_of_a_suite_takes_minutes(name: str) -> None:
    experiments = [e for e in shipped(name) if e.middleware == "zenoh"]
    suite = load_suite(name).suite
    assert campaign_duration_ns(order_trials(experiments, blocks=suite.trials, seed=suite.seed)) < 20 * 60 * 10**9


def test_every_host_that_moves_has_a_link_that_changes_meanwhile() -> None:
    links = [link for each in shipped("mobility") for link in each.links if link.mobility is not None]
    rates = {
        str(link.mobility): {point.outgoing.rate_bits_per_s for point in link.trace}
        for link in links
        if link.mobility is not None and link.mobility.speed is not None
    }
    assert sorted(link.mobility.speed for link in links if link.mobility and link.mobility.speed) == (
        5 * [1.0] + 5 * [10.0] + 5 * [15.0]
    )
    assert min(map(len, rates.values())) >= 3, rates


def test_security_has_every_level_that_a_middleware_has_at_the_same_messages() -> None:
    experiments = shipped("security")
    points: defaultdict[tuple[str, object], defaultdict[str, set[tuple[str, str]]]] = defaultdict(
        lambda: defaultdict(set)
    )
    for each in experiments:
        at = (each.workload, each.factors["size"])
        points[each.middleware, each.options.get("mode")][each.factors["security"]].add(at)
    whole = {
        who: {level for level, measured in levels.items() if measured == levels["none"]}
        for who, levels in points.items()
    }
    every = {"none", "authenticated", "encrypted"}
    of_a_host = dict.fromkeys([(name, None) for name in ("iceoryx2", "shm", "uds", "vsomeip")], every - {"encrypted"})
    of_both = dict.fromkeys([("cyclonedds", None), ("fastdds", None), ("mqtt", None), ("zenoh", "client")], every)
    lacking = dict.fromkeys([("tcp", None), ("zenoh", None)], every - {"authenticated"})
    assert whole == of_a_host | of_both | lacking
    assert all(levels.keys() == every for levels in points.values())  # what is lacking says why
    assert {e.options.get("shared_memory") for e in experiments if e.middleware == "zenoh"} == {False}


@pytest.mark.parametrize(("name", "minutes"), [("security", 35), ("discovery", 70)])
def test_a_suite_of_what_users_choose_by_is_short_enough_to_be_run(name: str, minutes: int) -> None:
    trials = plan_trials(load_suite(name).suite, available=BUILT)
    assert campaign_duration_ns(trials) < minutes * 60e9


def test_discovery_is_from_2_to_64_participants_and_from_10_to_2000_endpoints() -> None:
    experiments = [e for e in shipped("discovery") if e.middleware == "tcp"]
    assert {len(e.applications) for e in experiments if e.workload == "participants"} == {2, 4, 8, 16, 32, 64}
    endpoints = {sum(len(a.endpoints) for a in e.applications) for e in experiments if e.workload == "endpoints"}
    assert endpoints == {10, 40, 200, 800, 2000}
    assert {e.factors["faults"] for e in experiments if e.workload == "late_joiner"} == {"late_joiner"}
    between_hosts = {"cyclonedds", "dustdds", "fastdds", "mqtt", "rustdds", "tcp", "vsomeip", "zenoh"}
    assert {e.middleware for e in shipped("discovery")} == between_hosts
