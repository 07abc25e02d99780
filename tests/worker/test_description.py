"""A worker is asked for its description, and nothing that it answers costs more than an error."""

import os
import shutil
from pathlib import Path

import pytest

from middlemark.errors import WorkerFailed
from middlemark.worker import description, executables
from middlemark.worker.contract import Description, PortHolders, ServiceNeed
from middlemark.worker.description import describe, needed_ports
from staged import planned


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("exec cat /dev/zero", "more than"),
        ("exec cat /dev/zero >&2", "more than"),
        ("exec sleep 600", "not ended"),
        ("setsid sleep 3 & exit 0", "not ended"),
        ("echo '{'; exit 0", "did not print a description"),
        ("head -c 1000000 /dev/zero | tr '\\0' '['", "did not print a description"),
        ("exit 3", "failed"),
    ],
    ids=["output", "errors", "time", "child", "cut off", "deep", "status"],
)
def test_a_worker_that_describes_itself_badly_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, why: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(description, "DEADLINE_S", 1.0)
    worker = tmp_path / "middlemark-worker-odd"
    worker.write_text(f"#!/bin/sh\n{script}\n")
    worker.chmod(0o755)
    with pytest.raises(WorkerFailed, match=why):
        describe(worker)


DAEMON = ServiceNeed(service="daemon", per="host", when=[])


def needed(workload: str, holders: PortHolders, *services: ServiceNeed) -> int:
    """Of two publishers and three subscribers, each an application."""
    description = Description.model_construct(ports=holders, services=list(services), options=[], profiles={})
    return needed_ports(planned(f"workloads: [{workload}]\ntopologies: C2-3").experiment, description)


@pytest.mark.parametrize(
    ("holders", "of_messages", "with_answers"),
    [("endpoints", 5, 10), ("publishers", 2, 5), ("subscribers", 3, 5), ("applications", 5, 5), ("nothing", 0, 0)],
)
def test_a_trial_needs_one_port_and_one_for_each_that_takes_one(
    holders: PortHolders, of_messages: int, with_answers: int
) -> None:
    assert needed("imu", holders) == 1 + of_messages
    assert needed("{workload: p, pattern: ping_pong, size: 64 B, answer: 64 B}", holders) == 1 + with_answers


def test_each_service_needs_a_port_too() -> None:
    assert needed("imu", "nothing", DAEMON) == 1 + needed("imu", "nothing")


@pytest.mark.worker
@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user as well")
def test_what_another_user_kept_is_not_read_and_nothing_is_kept_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with `sudo -E`, which keeps that user's folders."""
    theirs = tmp_path / "theirs"
    monkeypatch.setenv("XDG_CACHE_HOME", str(theirs))
    worker = executables.workers()["synthetic"]
    right = describe(worker)
    folder = theirs / "middlemark/descriptions"
    (kept,) = folder.iterdir()
    assert folder.stat().st_mode & 0o077 == 0
    kept.write_text(right.model_copy(update={"middleware": "another"}).model_dump_json())
    os.chown(folder, 65534, 65534)
    assert describe(worker) == right
    shutil.rmtree(theirs)
    theirs.mkdir()
    os.chown(theirs, 65534, 65534)
    assert describe(worker) == right
    assert list(theirs.iterdir()) == []
