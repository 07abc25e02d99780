"""A reason that differs in sizes and streams alone is told once, with all of them."""

from collections.abc import Callable

import pytest

from middlemark.analysis.experiment.refused import Refused, refused_once
from middlemark.plan import Experiment, expand
from middlemark.suite import parse_suite

SUITE = """
suite: sweep
middlewares: fake
workloads:
  - {workload: imu, rate: 200 Hz, size: [400 B, 1 KiB, 2 KiB, 64 KiB]}
  - {workload: radar, rate: 20 Hz, size: 64 kB}
"""
EXPERIMENTS = expand(parse_suite(SUITE, file="sweep.yaml"), available=["fake"])


def too_large(experiment: Experiment) -> str:
    (stream,) = experiment.streams
    return f"{stream.size_bytes} bytes on '{stream.name}': at most 1400 bytes are sent"


def told(reason: Callable[[Experiment], str], *sizes: str) -> tuple[Refused, ...]:
    return refused_once((each, reason(each)) for each in EXPERIMENTS if not sizes or each.factors["size"] in sizes)


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        (["400 B"], "400 B on 'imu'"),  # and not a part of 1400 bytes
        (["64 kB"], "64 kB on 'radar'"),
        (["1.024 kB", "2.048 kB"], "1 KiB and 2 KiB on 'imu'"),
        (["1.024 kB", "2.048 kB", "65.536 kB"], "1 KiB to 64 KiB on 'imu'"),
        (["2.048 kB", "64 kB"], "2 KiB and 64 kB on 'imu' and 'radar'"),
    ],
)
def test_sizes_and_streams_stand_together(sizes: list[str], words: str) -> None:
    assert told(too_large, *sizes) == (Refused("fake", f"{words}: at most 1400 bytes are sent", len(sizes)),)


def test_a_reason_that_names_the_size_alone_is_told_once() -> None:
    (refused,) = told(lambda each: f"a message of {each.streams[0].size_bytes} bytes is too large: at most 300 B")
    assert str(refused) == "fake, 5 experiments: a message of 400 B to 64 KiB is too large: at most 300 B"


def test_a_reason_that_names_the_stream_alone_is_told_once() -> None:
    (refused,) = told(lambda each: f"reliable for '{each.streams[0].name}': it sends nothing again")
    assert str(refused) == "fake, 5 experiments: reliable for 'imu' and 'radar': it sends nothing again"


def test_other_reasons_stay_apart() -> None:
    def reason(experiment: Experiment) -> str:
        return too_large(experiment) if experiment.workload == "radar" else "it has no such delivery"

    assert told(reason) == (
        Refused("fake", "it has no such delivery", 4),
        Refused("fake", "64 kB on 'radar': at most 1400 bytes are sent", 1),
    )
