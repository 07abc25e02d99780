"""`--only` leaves the experiments that are asked for, and names what there is where there is no such thing."""

import pytest
from inline_snapshot import snapshot

from middlemark.errors import UsageError
from middlemark.plan import expand, only
from middlemark.suite import load_suite, parse_suite

EXPERIMENTS = expand(load_suite("quick").suite, available=["shm", "udp", "zenoh"])


def chosen(*conditions: str) -> list[str]:
    return sorted(f"{e.middleware} {e.workload}" for e in only(EXPERIMENTS, conditions))


def test_without_a_filter_everything_stays() -> None:
    assert len(chosen()) == 9


def test_values_of_one_factor_are_alternatives_and_factors_must_all_hold() -> None:
    assert chosen("middleware=udp", "middleware=shm", "workload=imu") == ["shm imu", "udp imu"]
    assert chosen("middleware=udp, shm", "workload=imu") == ["shm imu", "udp imu"]


@pytest.mark.parametrize("size", ["4 MB", "4MB", "4000 kB", "4000000 B"])
def test_a_quantity_may_be_written_in_any_way(size: str) -> None:
    assert chosen(f"size={size}", "middleware=udp") == ["udp camera"]


def told(*conditions: str) -> str:
    with pytest.raises(UsageError) as raised:
        only(EXPERIMENTS, conditions)
    return str(raised.value)


MISTAKES = {
    "an unknown factor names all factors": (
        ("midleware=udp",),
        snapshot("""\
`--only midleware=udp`: no factor `midleware`
factors: arrival, congestion, cpus, durability, history, keep_awake, middleware, pattern, placement, profile, rate, reliability, scheduling, size, spin, topology, workload\
"""),
    ),
    "an unknown value names all values": (
        ("middleware=mqtt",),
        snapshot("""\
`--only middleware=mqtt`: no experiment has this middleware
middleware: shm, udp, zenoh\
"""),
    ),
    "a condition without a value": (
        ("udp",),
        snapshot("""\
`--only udp` is not of the form `factor=value`
write `--only factor=value`\
"""),
    ),
    "conditions that no experiment satisfies together": (
        ("workload=imu", "size=4 MB"),
        snapshot("""\
no experiment of the suite has workload=imu and size=4 MB
see all of them with `--dry-run`\
"""),
    ),
}


@pytest.mark.parametrize(("conditions", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_filter_that_matches_nothing_is_refused_with_the_possible_values(
    conditions: tuple[str, ...], said: str
) -> None:
    assert told(*conditions) == said


def test_a_value_with_commas_is_named_whole_and_with_or_without_spaces() -> None:
    text = """
suite: x
middlewares: udp
workloads: imu
topologies: D1-1
conditions: [{link: {rate: 1 Gbit/s, delay: 10 ms}}, {link: {rate: 1 Gbit/s}}, {deployment: {deployment: multi_container, ipc: host}}]
"""
    experiments = expand(parse_suite(text, file="x.yaml"), available=["udp"])
    for condition, links in [
        ("link=1 Gbit/s, 10 ms", ["1 Gbit/s, 10 ms"]),
        ("link=1Gbit/s,10ms", ["1 Gbit/s, 10 ms"]),
        ("link=1Gbit/s", ["1 Gbit/s"]),
        ("deployment=multi_container,ipc host", [None]),
    ]:
        assert [e.factors.get("link") for e in only(experiments, [condition])] == links
