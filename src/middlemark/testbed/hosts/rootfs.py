"""The root file system of a container: a worker, the programs it executes, and exactly the libraries they need.

It is copied from this machine, needs no registry, and is kept under the state folder by the hash of its contents.
It is never written to again: `container` gives it to containers to be read only.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from middlemark.errors import EnvironmentNotReady
from middlemark.results.files import file_digest, writing
from middlemark.testbed.processes.ledger import Ledger, state_folder

WORKERS = Path("/opt/middlemark")
"""Where the worker is in a container: its own folder may lie below one that is new in a container."""
SYSTEM_FOLDERS = ("/bin/", "/sbin/", "/lib", "/usr/")
KEPT_UNUSED_S = 7 * 24 * 3600.0
EMPTY_FOLDERS = ("dev", "proc", "run", "sys", "tmp", "var/tmp")
ETC = {
    "passwd": "root:x:0:0:root:/:/none\nnobody:x:65534:65534:nobody:/:/none\n",
    "group": "root:x:0:\nnogroup:x:65534:\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    "hosts": "127.0.0.1 localhost\n",
    # Podman mounts over these; they are there so that it creates nothing.
    "hostname": "",
    "resolv.conf": "",
}


@dataclass(frozen=True)
class Contents:
    """What a container can execute."""

    worker: Path
    programs: tuple[Path, ...] = ()
    """Programs of this machine that the worker executes; they keep their paths."""

    def inside(self, program: str) -> str:
        """The path in the container of a program of this machine."""
        return str(WORKERS / self.worker.name) if program == str(self.worker) else program


def root_filesystem(contents: Contents, ledger: Ledger) -> Path:
    """The folder of the root file system with these contents, built unless it is kept from an earlier time."""
    files = files_of(contents)
    store = state_folder() / "root_filesystems"
    folder = store / _content_hash(files)
    if folder.is_dir():
        os.utime(folder)
        return folder
    unfinished = store / f"unfinished-{secrets.token_hex(6)}"
    with writing(folder):
        store.mkdir(parents=True, exist_ok=True)
        _forget_unused(store)
        mark = ledger.enter("folder", unfinished)
        try:
            _build(unfinished, files)
            _put_in_place(unfinished, folder)
        finally:
            ledger.remove(mark)
    return folder


def _put_in_place(unfinished: Path, folder: Path) -> None:
    try:
        unfinished.rename(folder)
    except OSError:  # another run was quicker
        if not folder.is_dir():
            raise


def files_of(contents: Contents) -> dict[Path, Path]:
    """Which file of this machine goes where in the root file system."""
    executables = {contents.worker, *contents.programs, *_bundled(contents.worker)}
    sources = executables.union(*(_libraries(executable) for executable in executables))
    return {_place(source, contents.worker): source for source in sorted(sources)}


def _bundled(worker: Path) -> set[Path]:
    """What the build put into the worker's own folder of libraries."""
    return {file for file in worker.with_name(f"{worker.name}.lib").rglob("*") if file.is_file()}


def _place(source: Path, worker: Path) -> Path:
    """What lies below the worker's folder, where its libraries are looked for, keeps its place beside it."""
    is_beside = source == worker or (
        source.is_relative_to(worker.parent) and not str(source).startswith(SYSTEM_FOLDERS)
    )
    return WORKERS / source.relative_to(worker.parent) if is_beside else source


def _libraries(executable: Path) -> set[Path]:
    """All shared libraries of a file, and the loader; beside a library that isn't the system's lie its plug-ins."""
    libraries = set(_needed(executable))
    for library in sorted(libraries):
        if not str(library).startswith(SYSTEM_FOLDERS):
            for plug_in in library.parent.glob("*.so*"):
                libraries |= {plug_in, *_needed(plug_in)}
    return libraries


@cache
def _needed(executable: Path) -> frozenset[Path]:
    listing = subprocess.run(
        ["ldd", executable], capture_output=True, text=True, check=False, env={"LC_ALL": "C"} | os.environ
    )
    libraries = set()
    for line in listing.stdout.splitlines():  # `name => path (address)`, `path (address)` or `name => not found`
        name, _, target = line.partition("=>")
        if target.strip() == "not found":
            raise EnvironmentNotReady(
                f"{executable} needs {name.strip()}, which is not on this machine", remedy="build the workers again"
            )
        path = (target or name).split("(")[0].strip()
        if path.startswith("/"):
            libraries.add(Path(path))
    return frozenset(libraries)


def _content_hash(files: Mapping[Path, Path]) -> str:
    digest = hashlib.sha256(repr(sorted(ETC.items())).encode())
    for target, source in sorted(files.items()):
        status = source.stat()
        digest.update(f"{target}\0{file_hash(source, status.st_size, status.st_mtime_ns)}\n".encode())
    return digest.hexdigest()[:32]


@cache
def file_hash(path: Path, size_bytes: int, changed_ns: int) -> str:
    """The SHA-256 of a file, which is read once for each size and time of change."""
    del size_bytes, changed_ns
    return file_digest(path.resolve())


def _build(folder: Path, files: Mapping[Path, Path]) -> None:
    for name in (*EMPTY_FOLDERS, "etc"):
        (folder / name).mkdir(parents=True)
    for name, text in ETC.items():
        (folder / "etc" / name).write_text(text)
    (folder / "etc/mtab").symlink_to("/proc/mounts")
    for target, source in files.items():
        copy = folder / target.relative_to("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, copy)


def _forget_unused(store: Path) -> None:
    """Removes what no run has used for a week: each build of a worker leaves one."""
    for folder in store.iterdir():
        if time.time() - folder.stat().st_mtime > KEPT_UNUSED_S:
            shutil.rmtree(folder, ignore_errors=True)
