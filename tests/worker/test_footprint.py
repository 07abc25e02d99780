"""The parts of an executable are those that binutils counts, and each library is found once."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from middlemark.cli.main import app
from middlemark.errors import EnvironmentNotReady
from middlemark.worker import executables
from middlemark.worker.executables import libraries
from middlemark.worker.footprint import Size, footprint, needed_c_library, needed_libraries, size

SHELL = Path("/bin/sh").resolve()
CAT = Path("/bin/cat").resolve()


@pytest.mark.skipif(shutil.which("size") is None, reason="needs binutils: apt-get install binutils")
@pytest.mark.parametrize("path", [SHELL, CAT, *list(executables.workers().values())[:2]], ids=lambda path: path.name)
def test_the_parts_add_up_to_what_binutils_says(path: Path) -> None:
    told = subprocess.run(["size", str(path)], capture_output=True, text=True, check=True).stdout.splitlines()[1]
    text, data, bss = (int(figure) for figure in told.split()[:3])
    found = size(path)
    assert (found.text_bytes + found.read_only_bytes, found.data_bytes, found.bss_bytes) == (text, data, bss)
    assert found.text_bytes > 0
    assert found.read_only_bytes > 0


def test_the_loader_and_the_c_library_are_needed() -> None:
    names = [path.name for path in libraries(SHELL)]
    assert any(name.startswith(("libc.so", "libc-")) for name in names)
    assert any(name.startswith("ld-") for name in names)


def test_a_file_says_which_libraries_it_needs_and_how_new_the_c_library_must_be(tmp_path: Path) -> None:
    assert any(name.startswith("libc.so") for name in needed_libraries(SHELL))
    assert needed_libraries(SHELL) <= {path.name for path in libraries(SHELL)}
    assert (2, 0) < needed_c_library(SHELL) < (3, 0)
    (loader,) = (path for path in libraries(SHELL) if path.name.startswith("ld-"))
    assert needed_c_library(loader) == (0, 0)
    (tmp_path / "text").write_text("no program")
    with pytest.raises(EnvironmentNotReady, match="only what is compiled"):
        needed_libraries(tmp_path / "text")


def test_a_library_that_two_programs_need_counts_once() -> None:
    parts = footprint(SHELL, [CAT])
    paths = [part.path for part in parts]
    assert len(paths) == len(set(paths))
    assert [part.kind for part in parts[:2]] == ["worker", "program"]
    assert {part.kind for part in parts[2:]} == {"library"}


def test_a_library_that_came_with_a_worker_is_a_plugin_unless_the_loader_loads_it(tmp_path: Path) -> None:
    worker = tmp_path / "middlemark-worker-toy"
    shutil.copy(CAT, worker)
    beside = tmp_path / "middlemark-worker-toy.lib"
    beside.mkdir()
    (library,) = (path for path in libraries(CAT) if path.name.startswith(("libc.so", "libc-")))
    (beside / library.name).symlink_to(library)
    shutil.copy(library, beside / "libplugin.so.1.0")
    (beside / "libplugin.so.1").symlink_to(beside / "libplugin.so.1.0")
    kinds = {part.path.name: part.kind for part in footprint(worker)}
    assert kinds[library.name] == "library"
    assert kinds["libplugin.so.1.0"] == "plugin"
    assert "libplugin.so.1" not in kinds


def test_sizes_are_added_part_by_part() -> None:
    assert Size(1, 2, 3, 4) + Size(10, 20, 30, 40) == Size(11, 22, 33, 44)
    assert Size(1, 2, 3, 4).total_bytes == 10


def test_a_script_has_no_footprint(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    with pytest.raises(EnvironmentNotReady, match="script can't be measured"):
        size(script)


@pytest.mark.skipif("udp" not in executables.workers(), reason="the worker `udp` is not built")
def test_the_command_tells_people_and_programs_the_same() -> None:
    told = json.loads(CliRunner().invoke(app, ["footprint", "udp", "--json"]).stdout)
    shown = CliRunner().invoke(app, ["footprint", "udp"], env={"COLUMNS": "200"}).stdout
    worker = told["udp"][0]
    assert worker["kind"] == "worker"
    assert f"{worker['text_bytes'] / 1024:.1f}" in shown
    assert "all together" in shown
