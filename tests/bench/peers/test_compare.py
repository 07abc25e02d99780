"""What a peer is given and started with is in the ledger; both sides are measured while the CPUs stay where they are."""

import os
from collections.abc import Callable, Sequence

import pytest

import compare
import distance
import processes
from middlemark.testbed.processes import ledger
from pairs import PAIRS
from peer import Command, Cores, Measured, Metric, Site


def test_a_peer_and_its_memory_are_in_the_ledger_as_long_as_they_are_there() -> None:
    with ledger.opened() as entries:
        folder = compare.memory_folder(entries)
        command = Command(("sleep", "60"), (min(os.sched_getaffinity(0)),))
        with processes.peer_process(command, folder / "0.log", entries) as process:
            (folder.parent / f"{folder.name}-of-a-library").touch()
            memory, peer = ledger.read(entries.path)
        assert process.returncode is not None
        assert [left.kind for left in ledger.read(entries.path)] == ["shared_memory"]
    assert (memory.kind, memory.what) == ("shared_memory", folder.name)
    assert (peer.kind, peer.what) == ("process", "sleep")
    assert peer.process is not None
    assert peer.process.pid == process.pid
    assert not list(folder.parent.glob(f"{folder.name}*"))


@pytest.fixture
def case() -> compare.Case:
    return compare.Case(PAIRS[0], Site(Cores.TWO, 0, 1))


def measured(monkeypatch: pytest.MonkeyPatch, distances_ns: Sequence[float]) -> list[str]:
    """Both sides say which measurement they are; the CPUs are this far apart, one after the other."""
    told: list[str] = []

    def side(name: str) -> Callable[[compare.Case, float], Measured]:
        def measure(_case: compare.Case, _seconds: float) -> Measured:
            told.append(name)
            return {Metric.RATE: float(len(told))}

        return measure

    left_ns = iter(distances_ns)
    monkeypatch.setattr(distance, "measured_ns", lambda _site: next(left_ns))
    monkeypatch.setattr(compare, "_ours", side("ours"))
    monkeypatch.setattr(compare, "_peers", side("peers"))
    return told


def test_a_pair_is_measured_again_where_the_cpus_were_moved(
    monkeypatch: pytest.MonkeyPatch, case: compare.Case
) -> None:
    told = measured(monkeypatch, [77, 78, 330, 330, 331, 325, 330, 77, 76, 330, 328, 329])
    values, failed = compare.run([case], blocks=2, seconds=0.1)
    assert told == ["ours", "peers", "ours", "peers", "peers", "ours", "peers", "ours"]
    assert values[case] == [({Metric.RATE: 3.0}, {Metric.RATE: 4.0}), ({Metric.RATE: 8.0}, {Metric.RATE: 7.0})]
    assert not failed


def test_a_pair_whose_cpus_are_moved_again_and_again_has_failed(
    monkeypatch: pytest.MonkeyPatch, case: compare.Case
) -> None:
    measured(monkeypatch, [77, 330, 330] * compare.ATTEMPTS)
    values, (reason,) = compare.run([case], blocks=1, seconds=0.1)
    assert not values
    assert reason.startswith("udp/sockperf (ping_pong 64 B")
    assert reason.endswith(f"the host moved the CPUs in each of {compare.ATTEMPTS} attempts")


def test_ends_on_one_core_have_no_distance() -> None:
    assert distance.measured_ns(Site(Cores.ONE, 1, 1)) is None
    assert distance.is_one([None, None, None])
