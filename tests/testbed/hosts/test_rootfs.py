"""A root file system holds what a worker needs and no more, and is kept by its contents."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from middlemark.testbed.hosts.rootfs import WORKERS, Contents, files_of, root_filesystem
from middlemark.testbed.processes import ledger
from middlemark.testbed.processes.ledger import Ledger


@pytest.fixture
def entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with ledger.opened() as opened:
        yield opened


@pytest.fixture
def worker(tmp_path: Path) -> Path:
    """An executable with a library of its own, found beside it, and that library's plug-in."""
    folder = tmp_path / "build"
    libraries = folder / "own/lib"
    libraries.mkdir(parents=True)
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    (folder / "own.c").write_text("int own(void) { return 3; }")
    (folder / "main.c").write_text("int own(void); int main(void) { return own(); }")
    for name in ("libown.so", "libplug.so"):
        subprocess.run([compiler, "-shared", "-o", libraries / name, folder / "own.c"], check=True)
    path = folder / "middlemark-worker-own"
    find = ["-L", str(libraries), "-lown", "-Wl,-rpath,$ORIGIN/own/lib"]
    subprocess.run([compiler, "-o", path, folder / "main.c", *find], check=True)
    return path


def test_the_worker_its_libraries_and_the_loader_are_in_it(worker: Path, entries: Ledger) -> None:
    root = root_filesystem(Contents(worker), entries)
    inside = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file() and "etc" not in path.parts}
    assert "opt/middlemark/middlemark-worker-own" in inside
    assert "opt/middlemark/own/lib/libown.so" in inside
    assert "opt/middlemark/own/lib/libplug.so" in inside
    assert any("libc.so" in name for name in inside)
    assert any("ld-" in name for name in inside)
    assert len(inside) == 5


def test_it_runs_with_nothing_else(worker: Path, entries: Ledger) -> None:
    root = root_filesystem(Contents(worker), entries)
    apart = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc", f"--root={root}"]
    ran = subprocess.run([*apart, str(WORKERS / worker.name)], check=False)
    assert ran.returncode == 3


def test_the_same_contents_are_built_once_and_others_apart(worker: Path, entries: Ledger) -> None:
    first = root_filesystem(Contents(worker), entries)
    assert root_filesystem(Contents(worker), entries) == first
    worker.write_bytes(worker.read_bytes() + b"\0")
    assert root_filesystem(Contents(worker), entries) != first


def test_programs_that_the_worker_executes_keep_their_paths(worker: Path) -> None:
    program = Path("/usr/bin/env")
    assert files_of(Contents(worker, (program,)))[program] == program
    assert Contents(worker, (program,)).inside(str(program)) == str(program)
