"""A run as one file: packed with a digest that is of its content alone, unpacked whole or not at all.

Only regular files are packed and unpacked, under the names that a run's files have; nothing in an archive is trusted.
The file may lie in a `store`.
"""

from __future__ import annotations

import os
import re
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from middlemark.errors import EnvironmentNotReady, StoreError, UsageError
from middlemark.results import store
from middlemark.results.files import (
    PRIVATE,
    file_digest,
    is_there,
    make_folder,
    opened_regular,
    sync_all,
    write_text,
    write_with,
    writing,
)
from middlemark.results.run_folder import RunFolder
from middlemark.testbed.processes.archive import MOST_BYTES, MOST_HEADER_BYTES, Refused, unpack

UNPACKED_WITHIN_S: Final = 3600.0
_NAME: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}"
_FILE: Final = re.compile(rf"({_NAME}/){{0,3}}{_NAME}", re.ASCII)
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


def pack(run: RunFolder, target: str) -> str:
    """Pack a run into a file or URL, with its digest beside it in the form of `sha256sum`; gives the digest.

    The same content gives the same digest, whoever packs it and when.
    """
    run.read_outline()
    with run.locked(), tempfile.TemporaryDirectory(prefix="middlemark-pack-") as folder:
        if store.is_url(target):
            packed = Path(folder, "run.tar")
            digest = _packed(run, packed)
            store.put(packed, target)
            store.put(write_text(Path(folder, "sha256"), _line(digest, target)), f"{target}.sha256")
        else:
            digest = _packed(run, Path(target))
            write_text(Path(f"{target}.sha256"), _line(digest, target))
    return digest


def unpack_run(source: str, into: Path, expected: str | None = None) -> str | None:
    """Unpack a run from a file or URL into a new folder; gives the digest that it was held against, None for none.

    That is `expected`, or the one that lies beside the file.
    """
    if os.path.lexists(into):
        raise StoreError(into, "it is there already", "name another folder")
    with tempfile.TemporaryDirectory(prefix="middlemark-unpack-") as folder:
        beside = f"{source}.sha256"
        packed = store.fetch(source, Path(folder, "run.tar"), MOST_BYTES) if store.is_url(source) else Path(source)
        digest = expected if expected is not None else _stored_digest(beside, Path(folder, "sha256"))
        if digest is not None and _DIGEST.fullmatch(digest) is None:
            raise UsageError(f"{digest!r} is no SHA-256", remedy="64 hexadecimal digits in lower case")
        _check_digest(packed, digest)
        _unpacked(packed, into)
    return digest


def _packed(run: RunFolder, target: Path) -> str:
    write_with(target, lambda partial: _fill(run, partial))
    return file_digest(target)


def _fill(run: RunFolder, partial: Path) -> None:
    with tarfile.open(partial, "w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(_names(run.path)):
            with opened_regular(run.path / name) as file, os.fdopen(file, "rb", closefd=False) as stream:
                member = tarfile.TarInfo(name)
                member.size, member.mode = os.fstat(file).st_size, 0o600
                archive.addfile(member, stream)


def _names(folder: Path) -> Iterator[str]:
    """Of all files of a run; what a writer that was killed left under a name with a dot is none."""
    for below, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in (*files, *(name for name in folders if Path(below, name).is_symlink())):
            path = Path(below, name).relative_to(folder).as_posix()
            if name.startswith("."):
                continue
            if _FILE.fullmatch(path) is None:
                raise StoreError(folder / path, "no file of a run has such a name", "take it out of the run folder")
            yield path


def _line(digest: str, target: str) -> str:
    return f"{digest}  {target.rpartition('/')[2]}\n"


def _check_digest(packed: Path, digest: str | None) -> None:
    actual = file_digest(packed)
    if digest not in {None, actual}:
        raise StoreError(packed, f"it is not what was packed: its SHA-256 is {actual}, not {digest}", "fetch it again")


def _stored_digest(beside: str, into: Path) -> str | None:
    try:
        path = store.fetch(beside, into, MOST_HEADER_BYTES) if store.is_url(beside) else Path(beside)
        with opened_regular(path) as file:
            return os.read(file, 64).decode("ascii", "replace")
    except (EnvironmentNotReady, StoreError):
        return None


def _unpacked(packed: Path, into: Path) -> None:
    """By way of a folder beside it, so that a run is there whole or not at all."""
    arriving = into.absolute().with_name(f".{into.name}.unpacking")
    with writing(arriving):
        shutil.rmtree(arriving, ignore_errors=True)  # of one that was killed
        make_folder(arriving, PRIVATE)
    try:
        with opened_regular(packed) as file:
            unpack(file, arriving, UNPACKED_WITHIN_S, expected=_FILE)
        if not is_there(arriving / "manifest.json"):
            raise StoreError(packed, "it is no packed run: it has no manifest.json", "pack one with `middlemark pack`")
        RunFolder(arriving).read_manifest()
        sync_all(arriving)
        with writing(into):
            arriving.rename(into)
    except Refused as refused:
        raise StoreError(packed, f"it is no packed run: {refused}", "pack one with `middlemark pack`") from refused
    finally:
        shutil.rmtree(arriving, ignore_errors=True)
