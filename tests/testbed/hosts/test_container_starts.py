"""A container that does not start is a lack of this machine only where nobody disturbed its start."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from middlemark.errors import EnvironmentBroke, EnvironmentNotReady
from middlemark.suite import Deployment, DeploymentKind
from middlemark.testbed.hosts import container
from middlemark.testbed.hosts.container import deployed
from middlemark.testbed.hosts.host import LocalHost
from middlemark.testbed.hosts.rootfs import Contents
from middlemark.testbed.processes import ledger
from middlemark.testbed.processes.ledger import Ledger
from middlemark.testbed.processes.podman import Runtime

pytestmark = pytest.mark.containers


@pytest.fixture(autouse=True, scope="module")
def engine() -> None:
    try:
        container.runtime()
    except EnvironmentNotReady as missing:
        pytest.skip(missing.missing)


@pytest.fixture
def entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with ledger.opened() as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "trial"
    path.mkdir()
    return path


@pytest.mark.usefixtures("entries")
def test_a_way_to_run_containers_that_failed_once_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(["broken pipe", None])
    monkeypatch.setattr(container, "_candidates", lambda: [Runtime("runc", "cgroupfs")])
    monkeypatch.setattr(container, "_refusal", lambda *_: next(answers))
    assert container._working.__wrapped__() == Runtime("runc", "cgroupfs")


@pytest.mark.usefixtures("entries")
def test_a_container_that_was_killed_while_it_was_tried_is_no_lack_of_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    killed = subprocess.CompletedProcess((), -9, "", "")
    monkeypatch.setattr(container, "_candidates", lambda: [Runtime("runc", "cgroupfs")])
    monkeypatch.setattr(container.subprocess, "run", lambda *_, **__: killed)
    with pytest.raises(EnvironmentBroke, match="was killed"):
        container._working.__wrapped__()


def test_a_holder_that_does_not_start_where_one_could_be_run_has_broken(
    monkeypatch: pytest.MonkeyPatch, entries: Ledger, folder: Path
) -> None:
    monkeypatch.setattr(container, "held_open", lambda: Path("/bin/false"))
    deployment = Deployment(deployment=DeploymentKind.SINGLE_CONTAINER)
    with pytest.raises(EnvironmentBroke), deployed(LocalHost(), deployment, Contents(Path("/bin/sh")), folder, entries):
        pytest.fail("its first process ends at once")
