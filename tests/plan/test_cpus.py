"""CPUs are shared out as the suite's rule says."""

import pytest

from middlemark.plan import expand, share_cpus
from middlemark.suite import parse_suite


def shares(cpus: str, topology: str, available: list[int]) -> list[tuple[int, ...]]:
    text = f"suite: mine\nmiddlewares: udp\nworkloads: imu\ntopologies: {topology}\nconditions: {{cpus: {cpus}}}\n"
    [experiment] = expand(parse_suite(text, file="mine.yaml"), available=["udp"])
    return list(share_cpus(experiment, available).values())


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
