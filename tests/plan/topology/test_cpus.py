"""CPUs are shared out as the suite's rule says."""

import pytest

from middlemark.plan import Experiment, expand, loaded_hosts, meeting_cpus, service_cpus, share_cpus
from middlemark.suite import parse_suite


def planned(cpus: str, topology: str) -> Experiment:
    text = f"suite: mine\nmiddlewares: udp\nworkloads: imu\ntopologies: {topology}\nconditions: {{cpus: {cpus}}}\n"
    [experiment] = expand(parse_suite(text, file="mine.yaml"), available=["udp"])
    return experiment


def shares(cpus: str, topology: str, available: list[int]) -> list[tuple[int, ...]]:
    return list(share_cpus(planned(cpus, topology), available).values())


@pytest.mark.parametrize(
    ("cpus", "topology", "available", "expected"),
    [
        ("any", "C1-1", [0, 1], [(), ()]),
        ("same_core", "C1-1", [0, 1], [(1,), (1,)]),
        ("spread", "C1-1", [0, 1], [(0,), (1,)]),
        ("spread", "C1-1", [2, 3, 5, 7], [(2, 3), (5, 7)]),
        ("spread", "C1-1", [0, 1, 2, 3, 4], [(0, 1), (2, 3)]),
        ("spread", "C3-1", [0, 1], [(0,), (1,), (0,), (1,)]),
        ("spread", "C1-1", [4], [(4,), (4,)]),
        ("{publishers: [0, 2], subscribers: [1]}", "C2-2", [0, 1, 2], [(0, 2), (0, 2), (1,), (1,)]),
    ],
)
def test_each_application_has_its_cpus(
    cpus: str, topology: str, available: list[int], expected: list[tuple[int, ...]]
) -> None:
    assert shares(cpus, topology, available) == expected


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("any", [(2, 3), ()]),
        ("spread", [(2, 3), (0, 1)]),
        ("same_core", [(3,), (1,)]),
    ],
)
def test_a_host_with_cpus_of_its_own_keeps_its_applications_on_them(rule: str, expected: list[tuple[int, ...]]) -> None:
    assert shares(rule, "{topology: D1-1, hosts: [{name: host_0, cpus: [2, 3]}]}", [0, 1, 2, 3]) == expected


@pytest.mark.parametrize(
    ("cpus", "topology", "expected"),
    [
        ("any", "C1-1", ()),
        ("same_core", "C1-1", (1,)),
        ("spread", "C1-1", (0, 1)),
        ("spread", "{topology: D1-1, hosts: [{name: host_0, cpus: [2, 3]}]}", (2, 3)),
        ("{publishers: [0], subscribers: [1]}", "C1-1", (0, 1)),
        ("{publishers: [0], subscribers: [1], services: [3]}", "C1-1", (3,)),
    ],
)
def test_a_service_runs_on_the_cpus_of_its_hosts_applications_unless_it_has_its_own(
    cpus: str, topology: str, expected: tuple[int, ...]
) -> None:
    experiment = planned(cpus, topology)
    host = experiment.hosts[0].name
    assert service_cpus(experiment, host, share_cpus(experiment, [0, 1])) == expected


def test_hosts_on_the_same_cpus_each_spread_their_own_applications() -> None:
    topology = "{topology: D1-1, hosts: [{name: host_0, cpus: [0, 1]}, {name: host_1, cpus: [0, 1]}]}"
    assert shares("spread", topology, [0, 1]) == [(0, 1), (0, 1)]


def test_where_all_cpus_belong_to_other_hosts_the_rest_share_all() -> None:
    topology = "{topology: D1-2, hosts: [{name: host_0, cpus: [0, 1]}]}"
    assert shares("spread", topology, [0, 1]) == [(0, 1), (0,), (1,)]


def test_the_cpus_of_a_machine_behind_ssh_are_its_own_business() -> None:
    topology = (
        "{topology: D1-1, hosts: [{name: host_0, kind: ssh, ssh: a}, {name: host_1, kind: ssh, ssh: b, cpus: [7]}]}"
    )
    assert shares("spread", topology, [0, 1]) == [(), (7,)]


@pytest.mark.parametrize(
    ("load", "topology", "expected"),
    [
        ("50 %", "D2-1", ("host_0", "host_1", "host_2")),
        ("{level: 50 %, hosts: publishers}", "D2-1", ("host_0", "host_1")),
        ("{level: 50 %, hosts: subscribers}", "D2-1", ("host_2",)),
        ("{level: 50 %, hosts: publishers}", "C2-2", ("local",)),
    ],
)
def test_the_hosts_whose_applications_have_the_requested_role_are_loaded(
    load: str, topology: str, expected: tuple[str, ...]
) -> None:
    text = f"suite: mine\nmiddlewares: udp\nworkloads: imu\ntopologies: {topology}\nconditions: {{cpu_load: {load}}}\n"
    [experiment] = expand(parse_suite(text, file="mine.yaml"), available=["udp"])
    assert set(loaded_hosts(experiment)) == set(expected)


def test_without_the_condition_no_host_is_loaded() -> None:
    text = "suite: mine\nmiddlewares: udp\nworkloads: imu\ntopologies: D1-1\n"
    [experiment] = expand(parse_suite(text, file="mine.yaml"), available=["udp"])
    assert loaded_hosts(experiment) == ()


@pytest.mark.parametrize(
    ("cpus", "available", "expected"),
    [
        ("spread", (2, 3, 5), (2, 3)),
        ("same_core", (2, 3), None),
        ("any", (4, 6, 7), (4, 6)),
        ("any", (4,), None),
    ],
)
def test_applications_meet_on_the_first_two_cpus_that_they_may_use(
    cpus: str, available: tuple[int, ...], expected: tuple[int, int] | None
) -> None:
    assert meeting_cpus(planned(cpus, "C1-1"), available) == expected
