"""A trial whose counters contradict the path that its workers state is found out; what can't be proved is not judged."""

from dataclasses import dataclass, replace

import pytest

from behaviour import Behaviour
from middlemark.analysis.experiment.path import contradiction, transmitted
from middlemark.results.counts import InterfaceTraffic, MessagePath, PathProof
from middlemark.results.record import CapturedLink, CaptureRecord, TrialRecord
from middlemark.results.streaming import Frame
from middlemark.results.trial_folder import TrialFolder
from middlemark.suite import Security
from shared_runs import SharedRuns

SUITE = """
suite: ways
trials: 1
middlewares: udp
workloads: {workload: imu, size: 64 kB, windows: {window: 1 s}}
topologies: C1-3
"""
NETWORK, MEMORY, SOCKET = MessagePath.NETWORK, MessagePath.SHARED_MEMORY, MessagePath.LOCAL_SOCKET


@dataclass(frozen=True)
class Judged:
    """A trial, and what it stored."""

    record: TrialRecord
    received: Frame


def judged(trial: TrialFolder) -> Judged:
    return Judged(trial.read_record(), trial.read_received())


@pytest.fixture(scope="module")
def trial(runs: SharedRuns) -> Judged:
    """Of 200 messages of 64 kB for three subscribers."""
    [trial] = runs.run(SUITE, {"udp": Behaviour()}).stored_trials()
    return judged(trial)


@pytest.fixture(scope="module")
def overloaded(runs: SharedRuns) -> Judged:
    """Of as many, of which three of four were sent after the window."""
    [trial] = runs.run(SUITE, {"udp": Behaviour(slow_publisher=4.0)}).stored_trials()
    return judged(trial)


@pytest.fixture(scope="module")
def between_hosts(runs: SharedRuns) -> Judged:
    """Of messages that pass the links of two hosts."""
    [trial] = runs.run(SUITE.replace("C1-3", "D1-1"), {"udp": Behaviour()}).stored_trials()
    return judged(trial)


def told(trial: Judged, paths: tuple[MessagePath, ...], sent_bytes: int, segments: tuple[str, ...] = ()) -> str:
    """What is found where the workers state these paths and interfaces transmitted so many bytes."""
    traffic = InterfaceTraffic(
        interface="lo", received_bytes=0, received_packets=0, sent_bytes=sent_bytes, sent_packets=1
    )
    stated = {name: effective.model_copy(update={"paths": paths}) for name, effective in trial.record.effective.items()}
    proof = dict.fromkeys(trial.record.path, PathProof(interfaces=(traffic,), shared_memory=segments))
    return contradiction(trial.record.model_copy(update={"effective": stated, "path": proof}), trial.received)


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
    trial: Judged, paths: tuple[MessagePath, ...], sent_bytes: int, segments: tuple[str, ...], expected: str
) -> None:
    assert told(trial, paths, sent_bytes, segments) == expected


def test_a_trial_with_an_application_that_ended_within_the_window_proves_nothing(trial: Judged) -> None:
    ended = trial.record.model_copy(update={"interrupted": (next(iter(trial.record.path)),)})
    assert told(replace(trial, record=ended), (NETWORK,), 0) == ""


def test_little_traffic_on_an_interface_may_be_of_other_programs(trial: Judged) -> None:
    publishers = tuple(each.model_copy(update={"sent": 2}) for each in trial.record.counts.publishers)
    counts = trial.record.counts.model_copy(update={"publishers": publishers})
    few = trial.record.model_copy(update={"counts": counts})
    assert told(replace(trial, record=few), (MEMORY,), 900_000, ("s",)) == ""


def test_messages_that_arrived_after_the_window_are_not_missed_on_interfaces(overloaded: Judged) -> None:
    of_the_window = 50 * 66_000
    assert told(overloaded, (NETWORK,), of_the_window) == ""
    assert told(overloaded, (NETWORK,), of_the_window // 4) != ""


def test_bytes_of_a_window_are_not_divided_among_messages_sent_after_it(trial: Judged, overloaded: Judged) -> None:
    assert transmitted([trial.record]) is not None
    assert transmitted([overloaded.record]) is None
    assert transmitted([overloaded.record, trial.record]) == transmitted([trial.record])


def captured(trial: Judged, security: Security, readable: int | None, *, lost: int = 0) -> str:
    """What is found where applications keep this level, and so many headers can be read in the captured frames."""
    experiment = trial.record.trial.experiment
    conditions = experiment.conditions.model_copy(update={"security": security})
    planned = trial.record.trial.model_copy(
        update={"experiment": experiment.model_copy(update={"conditions": conditions})}
    )
    links = tuple(
        CapturedLink(host=host.name, network="lan", captured=9, cut=0, beyond=0, lost=lost) for host in experiment.hosts
    )
    frames = CaptureRecord(snap_bytes=65_535, most_bytes=10**8, file_bytes=9000, links=links, readable_headers=readable)
    stated = {
        name: effective.model_copy(update={"security": security, "paths": (NETWORK,)})
        for name, effective in trial.record.effective.items()
    }
    update = {"trial": planned, "effective": stated, "path": {}, "capture": frames}
    return contradiction(trial.record.model_copy(update=update), trial.received)


NONE, AUTHENTICATED, ENCRYPTED = Security
READ = "the trial requests security encrypted, but {} of its messages can be read in the captured frames"
UNREAD = (
    "the trial requests security {}, under which messages can be read on their way, but no header of one is in the "
    "captured frames"
)


@pytest.mark.parametrize(
    ("security", "readable", "lost", "expected"),
    [
        (NONE, 400, 0, ""),
        (AUTHENTICATED, 400, 0, ""),
        (ENCRYPTED, 0, 0, ""),
        (ENCRYPTED, 400, 0, READ.format("400 headers")),
        (ENCRYPTED, 1, 7, READ.format("1 header")),
        (NONE, 0, 0, UNREAD.format("none")),
        (AUTHENTICATED, 0, 0, UNREAD.format("authenticated")),
        (NONE, 0, 1, ""),
        (NONE, None, 0, ""),
        (ENCRYPTED, None, 0, ""),
    ],
)
def test_captured_frames_that_contradict_the_level_of_security_are_told(
    between_hosts: Judged, security: Security, readable: int | None, lost: int, expected: str
) -> None:
    assert captured(between_hosts, security, readable, lost=lost) == expected


def test_messages_that_stay_on_a_host_need_not_be_in_captured_frames(trial: Judged) -> None:
    assert captured(trial, NONE, 0) == ""


def test_an_application_that_keeps_another_level_than_requested_is_told(trial: Judged) -> None:
    stated = {
        name: effective.model_copy(update={"security": AUTHENTICATED})
        for name, effective in trial.record.effective.items()
    }
    found = contradiction(trial.record.model_copy(update={"effective": stated}), trial.received)
    assert found.startswith("the trial requests security none, but publisher_0 keeps authenticated, ")
