"""A suite expands to the product of its lists, less what it excludes, each point once and named by its factors."""

import json
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from middlemark.errors import EnvironmentNotReady, UsageError
from middlemark.plan import Experiment, KeepAll, KeepLast, PingPong, expand, only, varying_factors
from middlemark.suite import Conditions, Exclusion, load_suite, parse_suite

BUILT = ["shm", "udp", "zenoh"]


def experiments(text: str, available: list[str] = BUILT) -> tuple[Experiment, ...]:
    return expand(parse_suite(text, file="mine.yaml"), available=available)


def suite(**parts: object) -> str:
    return json.dumps({"suite": "mine", "middlewares": "udp", "workloads": "imu"} | parts)


def subset(values: list[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(values), min_size=1, max_size=2, unique=True)


@given(
    middlewares=subset(BUILT),
    profiles=subset(["default", "tuned"]),
    workloads=subset(["imu", "camera", "ping_pong", "burst"]),
    sizes=subset(["64 B", "1 kB", "4 MB"]),
    reliabilities=subset(["best_effort", "reliable"]),
    topologies=subset(["C1-1", "C3-1", "C1-3"]),
    awake=st.lists(st.booleans(), min_size=1, unique=True),
)
def test_the_matrix_is_the_product_of_its_lists(  # noqa: PLR0913, PLR0917 - as many lists as a suite has
    middlewares: list[str],
    profiles: list[str],
    workloads: list[str],
    sizes: list[str],
    reliabilities: list[str],
    topologies: list[str],
    awake: list[bool],
) -> None:
    found = experiments(
        suite(
            middlewares=middlewares,
            profiles=profiles,
            workloads=workloads,
            sizes=sizes,
            qos=[{"reliability": reliability} for reliability in reliabilities],
            topologies=topologies,
            conditions=[{"keep_awake": each} for each in awake],
        )
    )
    points = {
        (
            e.middleware,
            e.profile,
            e.workload,
            e.factors["size"],
            e.factors["reliability"],
            e.topology,
            e.conditions.keep_awake,
        )
        for e in found
    }
    assert points == set(product(middlewares, profiles, workloads, sizes, reliabilities, topologies, awake))
    assert len({e.id for e in found}) == len(found) == len(points)


def test_deliveries_widen_the_matrix_and_without_any_an_experiment_is_the_one_it_was() -> None:
    (plain,) = experiments(suite())
    assert plain.delivery is None
    assert "delivery" not in plain.factors
    found = experiments(suite(delivery=["default", "library_thread", "polling"], exclude=[{"delivery": "polling"}]))
    assert [each.factors["delivery"] for each in found] == ["default", "library_thread"]
    assert [each.factors["delivery"] for each in only(found, ["delivery=default"])] == ["default"]
    of_one = suite(middlewares=["shm", {"middleware": "udp", "delivery": "polling"}], delivery="own_thread")
    assert [each.delivery for each in experiments(of_one)] == ["own_thread", "polling"]


def test_lists_within_a_workload_and_of_options_widen_the_matrix() -> None:
    found = experiments(
        suite(
            middlewares=[{"middleware": "zenoh", "options": {"transport": ["tcp", "udp"], "shm": True}}],
            workloads=[{"workload": "camera", "rate": ["20 Hz", "50 Hz"], "size": ["1 MB", "4000 kB"]}],
        )
    )
    shown = sorted(" ".join(e.factors[f] for f in ("option.transport", "option.shm", "size", "rate")) for e in found)
    assert shown == [
        "tcp true 1 MB 20 Hz",
        "tcp true 1 MB 50 Hz",
        "tcp true 4 MB 20 Hz",
        "tcp true 4 MB 50 Hz",
        "udp true 1 MB 20 Hz",
        "udp true 1 MB 50 Hz",
        "udp true 4 MB 20 Hz",
        "udp true 4 MB 50 Hz",
    ]


def test_what_stands_nearer_to_the_workload_wins() -> None:
    [near, far] = experiments(
        suite(
            workloads=[{"workload": "imu", "size": "2 kB", "qos": {"durability": "transient_local"}}, "radar"],
            sizes="64 B",
            qos={"reliability": "reliable"},
            windows={"window": "1 s", "drain": "100 ms"},
        )
    )
    assert (near.factors["size"], near.factors["reliability"]) == ("2 kB", "best_effort")
    assert near.factors["durability"] == "transient_local"
    assert (far.factors["size"], far.factors["reliability"]) == ("64 B", "reliable")


def test_a_workload_changes_only_the_windows_that_it_names() -> None:
    [own, shared] = experiments(
        suite(
            workloads=[{"workload": "imu", "windows": {"window": "3 s"}}, "radar"],
            windows={"window": "1 s", "drain": "100 ms"},
        )
    )
    assert (own.windows.window_ns, own.windows.drain_ns) == (3_000_000_000, 100_000_000)
    assert (shared.windows.window_ns, shared.windows.drain_ns) == (1_000_000_000, 100_000_000)


def test_late_is_what_comes_after_the_drain_unless_the_suite_says_otherwise() -> None:
    [experiment] = experiments(suite())
    assert experiment.windows.late_after_ns == experiment.windows.drain_ns
    [experiment] = experiments(suite(recording={"late_after": "50 ms"}))
    assert experiment.windows.late_after_ns == 50_000_000


def test_history_is_given_in_the_words_of_the_contract() -> None:
    last, keep_all = experiments(suite(qos=[{"depth": 4}, {"history": "keep_all"}]))
    assert last.streams[0].qos.history == KeepLast(depth=4)
    assert keep_all.streams[0].qos.history == KeepAll()
    assert "depth" not in keep_all.factors


def test_an_answer_is_as_large_as_its_message_unless_the_suite_says_otherwise() -> None:
    same, small = experiments(
        suite(workloads=[{"workload": "ping_pong", "size": "1 kB"}, {"workload": "ping_pong", "answer": "32 B"}])
    )
    answers = [e.streams[0].pattern.answer_bytes for e in (same, small) if isinstance(e.streams[0].pattern, PingPong)]
    assert answers == [1000, 32]


def test_each_role_of_a_topology_is_an_application_of_its_own() -> None:
    [experiment] = experiments(suite(topologies="C3-1"))
    [stream] = experiment.streams
    assert stream.publishers == ("publisher_0", "publisher_1", "publisher_2")
    assert stream.subscribers == ("subscriber_0",)
    assert [len(application.endpoints) for application in experiment.applications] == [1, 1, 1, 1]
    assert [e.index for a in experiment.applications for e in a.endpoints] == [0, 1, 2, 0]


def test_same_process_puts_all_roles_into_one_application() -> None:
    [experiment] = experiments(suite(topologies={"topology": "C2-2", "placement": "same_process"}))
    [application] = experiment.applications
    assert [(e.role.value, e.index) for e in application.endpoints] == [
        ("publisher", 0),
        ("publisher", 1),
        ("subscriber", 0),
        ("subscriber", 1),
    ]
    assert experiment.streams[0].publishers == (application.name, application.name)


def test_rules_exclude_the_points_that_have_all_their_values() -> None:
    found = experiments(
        suite(
            middlewares="all",
            workloads=["imu", "camera"],
            profiles=["default", "tuned"],
            exclude=[{"middleware": ["udp", "shm"], "workload": "camera"}, {"profile": "tuned", "size": "1000 B"}],
        )
    )
    assert sorted(f"{e.middleware} {e.workload} {e.profile}" for e in found) == [
        "shm imu default",
        "udp imu default",
        "zenoh camera default",
        "zenoh camera tuned",
        "zenoh imu default",
    ]


def test_an_experiment_has_the_same_id_in_every_suite() -> None:
    [one] = experiments(suite(suite="one", seed=1, trials=3, windows={"window": "1 s"}))
    many = experiments(suite(suite="two", seed=2, trials=9, workloads=["radar", {"workload": "imu", "size": "1000 B"}]))
    assert one.id in {e.id for e in many}


def test_the_same_experiment_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="has this experiment twice: middleware=udp"):
        experiments(suite(sizes=["4 MB", "4000 kB"]))


def test_a_suite_that_excludes_everything_is_refused() -> None:
    with pytest.raises(UsageError, match="excludes every experiment"):
        experiments(suite(exclude=[{"workload": "imu"}]))


def test_a_matrix_beyond_all_measure_is_refused() -> None:
    sizes = [f"{size} B" for size in range(100, 1100)]
    rates = [f"{rate} Hz" for rate in range(1, 101)]
    with pytest.raises(UsageError, match="has 100000 points"):
        experiments(suite(workloads={"workload": "imu", "size": sizes, "rate": rates}))


def test_a_middleware_without_a_worker_is_an_unready_environment() -> None:
    with pytest.raises(EnvironmentNotReady, match=r"(?s)names `connextdds`.*available: shm, udp, zenoh"):
        experiments(suite(middlewares=["udp", "connextdds"]))


def test_without_any_worker_the_remedy_is_to_build_them() -> None:
    with pytest.raises(EnvironmentNotReady, match="make workers"):
        experiments(suite(middlewares="all"), available=[])


def test_an_experiment_survives_being_stored() -> None:
    for experiment in experiments(suite(workloads=["imu", "burst", "unthrottled", "ping_pong"], middlewares="all")):
        assert Experiment.model_validate_json(experiment.model_dump_json()) == experiment


def test_accounting_is_reserved_for_every_message_of_the_window() -> None:
    texts = [
        {"workload": "imu"},
        {"workload": "burst"},
        {"workload": "unthrottled", "messages": 5000},
        {"workload": "ping_pong", "interval": "10 ms"},
    ]
    found = experiments(suite(workloads=texts, windows={"window": "2 s"}))
    assert [e.most_messages() for e in found] == [401, 100 * 21, 5000, 201]


def test_the_factors_that_tell_experiments_apart() -> None:
    assert varying_factors(experiments(suite(middlewares="all", sizes=["1 kB", "2 kB"]))) == ("middleware", "size")
    assert varying_factors(experiments(suite())) == ("middleware",)


def test_quick_is_three_workloads_for_every_built_middleware_but_the_synthetic() -> None:
    found = expand(load_suite("quick").suite, available=["synthetic", "udp", "zenoh"])
    assert [e.key for e in found] == snapshot(
        [
            "middleware=udp profile=default workload=imu pattern=periodic size=1 kB rate=200 Hz arrival=fixed reliability=best_effort history=keep_all durability=volatile congestion=drop topology=C1-1 placement=separate cpus=spread scheduling=other spin=0 ns keep_awake=true",
            "middleware=udp profile=default workload=camera pattern=periodic size=4 MB rate=20 Hz arrival=fixed reliability=reliable history=keep_all durability=volatile congestion=block topology=C1-1 placement=separate cpus=spread scheduling=other spin=0 ns keep_awake=true",
            "middleware=udp profile=default workload=ping_pong pattern=ping_pong size=64 B reliability=best_effort history=keep_all durability=volatile congestion=drop topology=C1-1 placement=separate cpus=spread scheduling=other spin=0 ns keep_awake=true",
            "middleware=zenoh profile=default workload=imu pattern=periodic size=1 kB rate=200 Hz arrival=fixed reliability=best_effort history=keep_all durability=volatile congestion=drop topology=C1-1 placement=separate cpus=spread scheduling=other spin=0 ns keep_awake=true",
            "middleware=zenoh profile=default workload=camera pattern=periodic size=4 MB rate=20 Hz arrival=fixed reliability=reliable history=keep_all durability=volatile congestion=block topology=C1-1 placement=separate cpus=spread scheduling=other spin=0 ns keep_awake=true",
            "middleware=zenoh profile=default workload=ping_pong pattern=ping_pong size=64 B reliability=best_effort history=keep_all durability=volatile congestion=drop topology=C1-1 placement=separate cpus=spread scheduling=other spin=0 ns keep_awake=true",
        ]
    )


def test_links_loads_deployments_and_faults_may_be_excluded() -> None:
    whole = {
        "topologies": "D1-1",
        "windows": {"window": "4 s"},
        "conditions": [
            {"link": {"rate": "1 Gbit/s", "loss": "1 %"}},
            {"cpu_load": {"level": "50 %", "hosts": "publishers"}},
            {"deployment": {"deployment": "multi_container", "ipc": "host"}},
            {"faults": "rejoin"},
            {},
        ],
    }
    assert len(experiments(suite(**whole))) == 5
    rules = [
        {"link": {"rate": "1 Gbit/s", "loss": "1 %"}},
        {"cpu_load": {"level": "50 %", "hosts": "publishers"}},
        {"deployment": {"deployment": "multi_container", "ipc": "host"}},
        {"faults": "rejoin"},
    ]
    for number in range(len(rules)):
        assert len(experiments(suite(**whole, exclude=rules[: number + 1]))) == 4 - number


def test_a_workload_may_bring_what_goes_wrong_and_the_windows_for_it() -> None:
    found = experiments(suite(workloads=["imu", "rejoin"], topologies="D1-1"))
    assert [e.factors.get("faults") for e in found] == [None, "rejoin"]
    assert [[event.action for event in e.timeline] for e in found] == [[], ["kill", "restart"]]
    assert [e.windows.window_ns for e in found] == [2_000_000_000, 6_000_000_000]


def test_every_condition_may_be_excluded() -> None:
    assert set(Conditions.model_fields) <= set(Exclusion.model_fields)


def test_faults_of_a_condition_and_windows_of_a_suite_override_a_workloads() -> None:
    parts = {"topologies": "D1-1", "conditions": {"faults": "pause"}, "windows": {"window": "4 s"}}
    (found,) = experiments(suite(workloads="rejoin", **parts))
    assert found.factors["faults"] == "pause"
    assert (found.windows.window_ns, found.windows.drain_ns) == (4_000_000_000, 2_000_000_000)
    (longer,) = experiments(suite(workloads={"workload": "rejoin", "windows": {"window": "5 s"}}, **parts))
    assert longer.windows.window_ns == 5_000_000_000


def test_any_workload_may_be_given_faults() -> None:
    struck = {"timeline": "struck", "events": [{"after": 3, "do": "kill", "of": "publisher_0"}]}
    (found,) = experiments(suite(workloads={"workload": "imu", "faults": struck}))
    assert found.factors["faults"] == "struck"
    assert [(event.at_ns, event.target) for event in found.timeline] == [(15_000_000, "publisher_0")]


def test_a_middleware_may_have_qos_of_its_own() -> None:
    own = {"middleware": "zenoh", "qos": [{"reliability": "reliable"}, {"congestion": "block"}]}
    found = experiments(suite(middlewares=["udp", own], qos={"depth": 3}))
    asked = [[e.factors.get(name) for name in ("reliability", "history", "depth", "congestion")] for e in found]
    assert asked == [
        ["best_effort", "keep_last", "3", "drop"],
        ["reliable", "keep_all", None, "block"],
        ["best_effort", "keep_all", None, "block"],
    ]


def test_patience_and_queue_are_factors_where_they_are_not_as_by_default() -> None:
    found = experiments(suite(qos=[{}, {"patience": "20 ms", "queue": "1 MB"}]))
    assert [(e.factors.get("publish_patience"), e.factors.get("queue")) for e in found] == [
        (None, None),
        ("20 ms", "1 MB"),
    ]
    qos = [e.streams[0].qos for e in found]
    assert [(each.patience_ns, each.queue_bytes) for each in qos] == [
        (5_000_000_000, 16 << 20),
        (20_000_000, 1_000_000),
    ]


def test_an_excluded_point_need_not_make_sense() -> None:
    parts = {
        "topologies": ["D1-1", "D1-2"],
        "windows": {"window": "4 s"},
        "conditions": {"faults": "late_joiner"},
        "exclude": [{"topology": "D1-1", "faults": "late_joiner"}],
    }
    assert [e.topology for e in experiments(suite(**parts))] == ["D1-2"]


def test_none_excludes_what_leaves_an_option_as_it_is() -> None:
    found = experiments(
        suite(
            middlewares=["zenoh", {"middleware": "zenoh", "options": {"mode": "client"}}],
            exclude=[{"options": {"mode": "none"}}],
        )
    )
    assert [e.options for e in found] == [{"mode": "client"}]
