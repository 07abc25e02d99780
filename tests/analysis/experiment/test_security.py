"""A trial whose applications or captured frames contradict the level of security that it requests is found out."""

import pytest

from behaviour import Behaviour
from middlemark.analysis.experiment.security import unlike_security
from middlemark.results.counts import MessagePath
from middlemark.results.record import CapturedLink, CaptureRecord, TrialRecord
from middlemark.suite import Security
from shared_runs import SharedRuns

SUITE = """
suite: levels
trials: 1
middlewares: udp
workloads: {workload: imu, windows: {window: 1 s}}
topologies: TOPOLOGY
"""


@pytest.fixture(scope="module")
def trial(runs: SharedRuns) -> TrialRecord:
    """Of messages that stay on one host."""
    [trial] = runs.run(SUITE.replace("TOPOLOGY", "C1-3"), {"udp": Behaviour()}).stored_trials()
    return trial.read_record()


@pytest.fixture(scope="module")
def between_hosts(runs: SharedRuns) -> TrialRecord:
    """Of messages that pass the links of two hosts."""
    [trial] = runs.run(SUITE.replace("TOPOLOGY", "D1-1"), {"udp": Behaviour()}).stored_trials()
    return trial.read_record()


def captured(trial: TrialRecord, security: Security, readable: int | None, *, lost: int = 0) -> str:
    """What is found where applications keep this level, and so many headers can be read in the captured frames."""
    experiment = trial.trial.experiment
    conditions = experiment.conditions.model_copy(update={"security": security})
    planned = trial.trial.model_copy(update={"experiment": experiment.model_copy(update={"conditions": conditions})})
    links = tuple(
        CapturedLink(host=host.name, network="lan", captured=9, cut=0, beyond=0, lost=lost) for host in experiment.hosts
    )
    frames = CaptureRecord(snap_bytes=65_535, most_bytes=10**8, file_bytes=9000, links=links, readable_headers=readable)
    stated = {
        name: effective.model_copy(update={"security": security, "paths": (MessagePath.NETWORK,)})
        for name, effective in trial.effective.items()
    }
    update = {"trial": planned, "effective": stated, "path": {}, "capture": frames}
    return unlike_security(trial.model_copy(update=update))


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
    between_hosts: TrialRecord, security: Security, readable: int | None, lost: int, expected: str
) -> None:
    assert captured(between_hosts, security, readable, lost=lost) == expected


def test_messages_that_stay_on_a_host_need_not_be_in_captured_frames(trial: TrialRecord) -> None:
    assert captured(trial, NONE, 0) == ""


def test_an_application_that_keeps_another_level_than_requested_is_told(trial: TrialRecord) -> None:
    stated = {
        name: effective.model_copy(update={"security": AUTHENTICATED}) for name, effective in trial.effective.items()
    }
    found = unlike_security(trial.model_copy(update={"effective": stated}))
    assert found.startswith("the trial requests security none, but publisher_0 keeps authenticated, ")
