"""Workers are found by their names, the first folder wins."""

import json
import shutil
from pathlib import Path

import pytest

from middlemark import installation
from middlemark.errors import EnvironmentNotReady
from middlemark.worker import executables
from toy_workers import install

pytestmark = pytest.mark.usefixtures("own_folders")


def test_the_first_folder_that_has_a_worker_wins(tmp_path: Path) -> None:
    install(tmp_path / "target/release", "toy")
    install(tmp_path / "target/release", "built")
    second = install(tmp_path / "b", "toy")
    assert executables.worker("toy") == second
    first = install(tmp_path / "a", "toy")
    assert executables.worker("toy") == first
    assert executables.worker("built") == tmp_path / "target/release/middlemark-worker-built"


def test_files_that_are_not_executable_are_not_listed_as_workers(tmp_path: Path) -> None:
    install(tmp_path / "a", "toy").chmod(0o644)
    install(tmp_path / "a", "toy.d")
    (tmp_path / "a/middlemark-worker-folder").mkdir()
    assert not {"toy", "toy.d", "folder"} & executables.workers().keys()


def test_a_missing_worker_is_said_with_the_reason_of_the_build(tmp_path: Path) -> None:
    (tmp_path / "target/release").mkdir(parents=True)
    record = {
        "workers": [{"worker": "toy", "status": "left_out", "reason": "no libtoy-dev", "seconds": 1.0, "more": 1}]
    }
    (tmp_path / "target/release/middlemark-workers.json").write_text(json.dumps(record))
    with pytest.raises(EnvironmentNotReady, match="no libtoy-dev"):
        executables.worker("toy")


def test_a_wheels_own_programs_come_before_a_checkouts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "target/release", "toy")
    of_wheel = install(tmp_path / "native", "toy")
    monkeypatch.setattr(installation, "WHEEL_PROGRAMS", tmp_path / "native")
    assert executables.worker("toy") == of_wheel


def test_a_worker_that_can_not_be_loaded_gives_way_to_its_alternative(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    loadable, alternative = tmp_path / "a/middlemark-worker-toy", tmp_path / "a/alternatives/middlemark-worker-toy"
    shutil.copy("/bin/true", loadable)
    install(alternative.parent, "toy")
    assert executables.workers()["toy"] == loadable
    content = loadable.read_bytes()
    assert b"libc.so.6" in content
    loadable.write_bytes(content.replace(b"libc.so.6", b"libx.so.6"))
    assert executables.workers()["toy"] == alternative
