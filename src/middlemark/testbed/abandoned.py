"""What ledgers list whose owners are gone: removed wherever it can be reached, forgotten only where the user says so.

`ledger` knows what an entry is and how it is removed; the ledgers of living processes are left alone. Of a machine that
does not answer nobody can tell what is on it, so that its entries stay until it does, or is said to be gone for good.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from middlemark.testbed.ledger import Kind, read, remove_all, state_folder
from middlemark.testbed.remote import RemoteFolder


@dataclass(frozen=True)
class Removed:
    """What a sweep found and removed."""

    kind: Kind
    what: str
    owner: str
    """The ledger it was in."""
    problem: str | None = None
    """Why it could not be removed and is still in the ledger; None where it is gone."""


@dataclass(frozen=True)
class Forgotten:
    """What is entered no more, though nobody has removed it."""

    kind: Kind
    what: str
    owner: str
    """The ledger it was in."""


def sweep() -> list[Removed]:
    """Removes what ledgers list whose owners are gone."""
    removed = []
    unanswered: dict[str, str] = {}
    for path, _ in _ledgers():
        left, kept = remove_all(read(path), unanswered)
        removed += [Removed(entry.kind, entry.what, path.stem, kept.get(entry.mark)) for entry in left]
        if not kept:
            path.unlink(missing_ok=True)
    return removed


def out_of_reach(swept: Iterable[Removed]) -> list[str]:
    """The machines on which something could not be removed."""
    return list(dict.fromkeys(_target(each.what) for each in swept if each.problem is not None))


def forget(target: str) -> list[Forgotten]:
    """Strikes out the folders on a machine that is gone for good."""
    forgotten = []
    for path, file in _ledgers():
        entries = read(path)
        own = [each for each in entries if each.kind == "remote_folder" and _target(each.what) == target]
        # Whoever was killed while it wrote has left a line without an end.
        lines = [b"", *(json.dumps({"op": "forget", "mark": entry.mark}).encode() for entry in own), b""]
        if own:
            os.write(file, b"\n".join(lines))
        if len(own) == len(entries):
            path.unlink(missing_ok=True)
        forgotten += [Forgotten(entry.kind, entry.what, path.stem) for entry in own]
    return forgotten


def _target(what: str) -> str:
    return RemoteFolder.parsed(what).target


def _ledgers() -> Iterator[tuple[Path, int]]:
    """Those that nobody holds, open for more lines and locked until the next is asked for."""
    for path in sorted((state_folder() / "ledgers").glob("*.jsonl")):
        try:
            file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
        except FileNotFoundError:  # its owner, or another sweep, was quicker
            continue
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            continue
        try:
            yield path, file
        finally:
            os.close(file)
