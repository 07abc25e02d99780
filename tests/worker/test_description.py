"""A worker is asked once for each state of its file, and nothing that it answers costs more than an error."""

import os
import shutil
from pathlib import Path

import pytest

from middlemark.errors import WorkerFailed
from middlemark.worker import description, executables
from middlemark.worker.contract import Description, PortHolders, ServiceNeed, When
from middlemark.worker.description import CONTRACT_VERSION, describe, needed_ports
from staged import planned
from toy_workers import DESCRIPTION, install


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


@pytest.mark.usefixtures("own_folders")
def test_a_worker_is_described_again_only_when_its_file_has_changed(tmp_path: Path) -> None:
    path = install(tmp_path / "a", "toy")
    for _ in range(3):
        assert describe(path).library.version == "1.2.3"
    assert (tmp_path / "a/asked").read_text().splitlines() == ["asked"]
    library = {**DESCRIPTION["library"], "version": "1.3"}  # type: ignore[dict-item]
    install(tmp_path / "a", "toy", DESCRIPTION | {"library": library})
    assert describe(path).library.version == "1.3"


@pytest.mark.usefixtures("own_folders")
def test_a_worker_of_another_contract_version_is_refused_whatever_else_it_says(tmp_path: Path) -> None:
    path = install(tmp_path / "a", "toy", {"contract_version": 99, "something": "new"})
    with pytest.raises(WorkerFailed, match="version 99 of the worker contract"):
        describe(path)


@pytest.mark.usefixtures("own_folders")
@pytest.mark.parametrize("answer", [{"contract_version": CONTRACT_VERSION}, [], DESCRIPTION | {"unknown": 1}])
def test_an_answer_that_is_no_description_is_refused(tmp_path: Path, answer: object) -> None:
    with pytest.raises(WorkerFailed, match="did not print a description"):
        describe(install(tmp_path / "a", "toy", answer))


@pytest.mark.usefixtures("own_folders")
def test_a_worker_that_fails_is_quoted(tmp_path: Path) -> None:
    path = install(tmp_path / "a", "toy", more="echo libtoy.so.3 is missing >&2; exit 127")
    with pytest.raises(WorkerFailed, match=r"libtoy\.so\.3 is missing"):
        describe(path)


def test_a_suite_overrides_the_profile_and_the_profile_the_defaults() -> None:
    toy = Description.model_validate(DESCRIPTION)
    assert description.resolved_options(toy, "default", {}) == {"express": False, "depth": 1}
    assert description.resolved_options(toy, "tuned", {"depth": 4}) == {"express": True, "depth": 4}
    assert description.resolved_options(toy, "tuned", {"express": False}) == {"express": False, "depth": 1}


def test_a_delivery_is_the_suites_else_the_profiles_else_the_default() -> None:
    toy = Description.model_validate(DESCRIPTION)
    assert description.resolved_delivery(toy, "default", None) == "own_thread"
    assert description.resolved_delivery(toy, "tuned", None) == "polling"
    assert description.resolved_delivery(toy, "tuned", "library_thread") == "library_thread"


def test_profiles_that_set_the_same_count_once() -> None:
    tuned = DESCRIPTION["profiles"]["tuned"]  # type: ignore[index]
    others = {"tuned_latency": tuned, "tuned_throughput": {"summary": "t", "options": {"express": True}}}
    toy = Description.model_validate(DESCRIPTION | {"profiles": DESCRIPTION["profiles"] | others})  # type: ignore[operator]
    assert description.distinct_profiles(toy) == ("default", "tuned", "tuned_throughput")


@pytest.mark.parametrize(
    ("when", "needed"),
    [
        ([], True),
        ([When(option="mode", values=["client", "peer"])], True),
        ([When(option="mode", values=["client"])], False),
        ([When(option="mode", values=["peer"]), When(option="shared", values=[False])], False),
        ([When(option="count", values=[True])], False),
        ([When(option="unknown", values=["x"])], False),
    ],
)
def test_a_service_is_needed_where_every_condition_holds(when: list[When], *, needed: bool) -> None:
    resolved = {"mode": "peer", "shared": True, "count": 1}
    assert description.is_needed(ServiceNeed(service="router", per="network", when=when), resolved) is needed


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
