"""A trial whose counters contradict the path that its workers state is found out; what can't be proved is not judged."""

import pytest

from behaviour import Behaviour
from middlemark.analysis.experiment.path import contradiction
from middlemark.results.counts import InterfaceTraffic, MessagePath, PathProof
from middlemark.results.record import TrialRecord
from shared_runs import SharedRuns

SUITE = """
suite: ways
trials: 1
middlewares: udp
workloads: {workload: imu, size: 64 kB, windows: {window: 1 s}}
topologies: C1-3
"""
NETWORK, MEMORY, SOCKET = MessagePath.NETWORK, MessagePath.SHARED_MEMORY, MessagePath.LOCAL_SOCKET


@pytest.fixture(scope="module")
def record(runs: SharedRuns) -> TrialRecord:
    """Of 200 messages of 64 kB for three subscribers."""
    [trial] = runs.run(SUITE, {"udp": Behaviour()}).stored_trials()
    return trial.read_record()


def told(record: TrialRecord, paths: tuple[MessagePath, ...], sent_bytes: int, segments: tuple[str, ...] = ()) -> str:
    """What is found where the workers state these paths and interfaces transmitted so many bytes."""
    traffic = InterfaceTraffic(
        interface="lo", received_bytes=0, received_packets=0, sent_bytes=sent_bytes, sent_packets=1
    )
    stated = {name: effective.model_copy(update={"paths": paths}) for name, effective in record.effective.items()}
    proof = dict.fromkeys(record.path, PathProof(interfaces=(traffic,), shared_memory=segments))
    return contradiction(record.model_copy(update={"effective": stated, "path": proof}))


@pytest.mark.parametrize(
    ("paths", "sent_bytes", "segments", "expected"),
    [
        ((NETWORK,), 13_000_000, (), ""),
        ((NETWORK,), 1_000_000, (), "messages take the network, but only 1000000 bytes left through interfaces"),
        ((NETWORK,), 1_000_000, ("s",), "messages take the network, but only 1000000 bytes left through interfaces"),
        ((MEMORY,), 1_000_000, ("s",), ""),
        ((MEMORY,), 13_000_000, ("s",), "messages take shared memory, but 13000000 bytes left through lo, enough for the payload"),
        ((MEMORY,), 0, (), "messages take shared memory, but no application had any mapped"),
        ((SOCKET,), 0, (), ""),
        ((SOCKET,), 13_000_000, (), "messages take a local socket, but 13000000 bytes left through lo, enough for the payload"),
        ((NETWORK, MEMORY), 13_000_000, (), ""),
        ((NETWORK, MEMORY), 0, ("s",), ""),
        ((), 13_000_000, (), ""),
    ],
)  # fmt: skip
def test_counters_that_contradict_the_stated_paths_are_told(
    record: TrialRecord, paths: tuple[MessagePath, ...], sent_bytes: int, segments: tuple[str, ...], expected: str
) -> None:
    assert told(record, paths, sent_bytes, segments) == expected


def test_a_trial_with_an_application_that_ended_within_the_window_proves_nothing(record: TrialRecord) -> None:
    ended = record.model_copy(update={"interrupted": (next(iter(record.path)),)})
    assert told(ended, (NETWORK,), 0) == ""


def test_little_traffic_on_an_interface_may_be_of_other_programs(record: TrialRecord) -> None:
    few = record.model_copy(
        update={
            "counts": record.counts.model_copy(
                update={"publishers": tuple(each.model_copy(update={"sent": 2}) for each in record.counts.publishers)}
            )
        }
    )
    assert told(few, (MEMORY,), 900_000, ("s",)) == ""
