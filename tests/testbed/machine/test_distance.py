"""How far apart two CPUs are is measured where they are this process's, and nowhere else."""

import os
from pathlib import Path

import pytest

from middlemark.errors import EnvironmentNotReady
from middlemark.testbed.machine import distance
from middlemark.testbed.machine.distance import cpu_distance_ns

CPUS = sorted(os.sched_getaffinity(0))
NOWHERE = 1023


@pytest.mark.skipif(len(CPUS) < 2, reason="this machine has one CPU")
def test_two_cpus_hand_a_cache_line_to_each_other_in_some_nanoseconds() -> None:
    found_ns = cpu_distance_ns(CPUS[0], CPUS[1])
    assert found_ns is not None
    assert 1 < found_ns < 1e6


def test_a_cpu_that_is_not_there_has_no_distance() -> None:
    assert cpu_distance_ns(CPUS[0], NOWHERE) is None


def test_without_the_probe_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Path:
        raise EnvironmentNotReady(f"there is no {name}", remedy="make workers")

    monkeypatch.setattr(distance, "executable", missing)
    assert cpu_distance_ns(CPUS[0], CPUS[0]) is None
