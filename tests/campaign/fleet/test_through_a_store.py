"""Blocks come back through a folder or store that all machines reach, and through the scheduler where they can't."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from distributed import Client, Future

import prepared
from fleets import PATIENCE_S, PATIENT, fleet, until
from middlemark.campaign.campaign import run_new
from middlemark.campaign.fleet import blocks, detached, roster, testbed
from middlemark.campaign.fleet.front import connected
from middlemark.errors import EnvironmentNotReady
from middlemark.results import store
from middlemark.results.run_folder import RunFolder
from object_stores import URL, object_store
from staged import placed, suite_text

pytestmark = PATIENT
Task = Callable[..., object]
BLOCKS = suite_text(topology="[C1-1, C1-2]").replace("trials: 1", "trials: 2")
NO_TEST_BED = "tcp://127.0.0.1:9"


@pytest.fixture
def pieces(monkeypatch: pytest.MonkeyPatch) -> list[Task]:
    """Those that the front takes through the scheduler."""
    submit, taken = Client.submit, list[Task]()

    def noted(client: Client, task: Task, *arguments: object, **options: object) -> Future[object]:
        taken.extend([task] if task is testbed.piece else [])
        return submit(client, task, *arguments, **options)

    monkeypatch.setattr(Client, "submit", noted)
    return taken


def by(address: str, through: Path | str) -> blocks.Connect:
    return lambda run: connected(address, run, None, str(through))


def outcomes(folder: Path) -> list[str]:
    return [each.read_record().outcome.kind for each in RunFolder(folder / "run").stored_trials()]


def test_blocks_come_back_through_a_shared_folder_which_is_empty_at_the_end(tmp_path: Path, pieces: list[Task]) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    with fleet(tmp_path, "one", "two") as beds:
        run_new(tmp_path / "run", placed(BLOCKS), None, by(beds.address, shared))
        until(lambda: not list(shared.iterdir()), "a block is left in the shared folder")
    assert outcomes(tmp_path) == ["valid"] * 4
    assert not pieces


def test_a_block_that_is_spoilt_in_the_store_comes_through_the_scheduler(
    tmp_path: Path, pieces: list[Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch = store.fetch

    def spoilt(location: str, into: Path, most_bytes: int) -> Path:
        fetch(location, into, most_bytes)
        if into.suffix == ".tar":
            into.write_bytes(b"x" + into.read_bytes()[1:])
        return into

    monkeypatch.setattr(store, "fetch", spoilt)
    with fleet(tmp_path, "one") as beds:
        run_new(tmp_path / "run", placed(suite_text()), None, by(beds.address, tmp_path))
    assert outcomes(tmp_path) == ["valid"]
    assert pieces


def test_a_block_that_can_t_be_put_into_the_store_comes_through_the_scheduler(
    tmp_path: Path, pieces: list[Task]
) -> None:
    store_of_this_process = "memory://blocks"
    with fleet(tmp_path, "one") as beds:
        run_new(tmp_path / "run", placed(suite_text()), None, by(beds.address, store_of_this_process))
    assert outcomes(tmp_path) == ["valid"]
    assert pieces


def test_a_store_that_can_t_be_written_is_told_before_anything_is_measured(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentNotReady, match="none"):
        run_new(tmp_path / "run", placed(suite_text()), None, by(NO_TEST_BED, tmp_path / "none"))


def test_what_a_killed_test_bed_left_in_the_store_is_removed_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roster, "ANSWERED_WITHIN_S", 1.0)
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "somebody-else-s.tar").touch()

    def connect(run: RunFolder) -> AbstractAsyncContextManager[blocks.TestBeds]:
        (shared / f"{detached.name_of(run.read_manifest())}-1-{'0' * 12}.tar").touch()
        return connected(NO_TEST_BED, run, None, str(shared))

    with pytest.raises(EnvironmentNotReady, match="no scheduler answers"):
        run_new(tmp_path / "run", placed(suite_text()), None, connect)
    assert [path.name for path in shared.iterdir()] == ["somebody-else-s.tar"]


def test_blocks_come_back_through_an_object_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "suite.yaml").write_text(BLOCKS)
    words = ("run", tmp_path / "suite.yaml", "--out", tmp_path / "run", "--json", "--through", URL)
    with object_store(tmp_path) as objects:
        for name, value in objects.environment.items():
            monkeypatch.setenv(name, value)
        with fleet(tmp_path, "one") as beds:
            front = prepared.start(prepared.FRONT, (*words, "--fleet", beds.address), tmp_path / "front.log")
            front.join(PATIENCE_S)
            assert front.exitcode == 0
            until(lambda: not objects.names(), "a block is left in the store")
        written, read = (set(objects.requests(method)) for method in ("PUT", "GET"))
    assert outcomes(tmp_path) == ["valid"] * 4
    assert len(written - {f"{name_of_run(tmp_path)}.tar"}) == 2
    assert written <= read


def name_of_run(folder: Path) -> str:
    return detached.name_of(RunFolder(folder / "run").read_manifest())
