"""A suite expands to the product of its lists, less what it excludes, each point once and named by its factors."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from middlemark.errors import EnvironmentNotReady, UsageError
from middlemark.plan import Experiment, expand, only
from middlemark.suite import Conditions, Exclusion, load_suite
from planned_experiments import BUILT, experiments, suite


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
            {"security": "encrypted"},
            {},
        ],
    }
    assert len(experiments(suite(**whole))) == 6
    rules = [
        {"link": {"rate": "1 Gbit/s", "loss": "1 %"}},
        {"cpu_load": {"level": "50 %", "hosts": "publishers"}},
        {"deployment": {"deployment": "multi_container", "ipc": "host"}},
        {"faults": "rejoin"},
        {"security": "encrypted"},
    ]
    for number in range(len(rules)):
        assert len(experiments(suite(**whole, exclude=rules[: number + 1]))) == 5 - number


def test_every_condition_may_be_excluded() -> None:
    assert set(Conditions.model_fields) <= set(Exclusion.model_fields)


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
