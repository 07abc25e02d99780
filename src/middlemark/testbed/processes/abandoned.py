"""The ledgers of processes that are gone: what they list is swept, and what can't be reached any more is forgotten.

A ledger that somebody holds is left alone, and one that another could have written is told and not done. `ledger` is a
living process's own, and removes what a sweep finds.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from middlemark.testbed.processes import procfs
from middlemark.testbed.processes.entry import Kind, Struck, read_entries
from middlemark.testbed.processes.ledger import remove_all, state_folder
from middlemark.testbed.processes.remote import RemoteFolder

PATIENCE_S, POLL_S = 5.0, 0.002
NAMES = ("*.jsonl", "*.new")
"""Of ledgers; earlier builds gave one the second until it was locked, and left it where they were killed before."""


@dataclass(frozen=True)
class Removed:
    """What a sweep found and removed."""

    kind: Kind | Literal["ledger"]
    """`ledger`: nothing of it was removed, or not all, as it can't be trusted."""
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
    """Removes what ledgers list whose owners are gone; of a machine that does not answer all entries stay."""
    removed: list[Removed] = []
    unanswered: dict[str, str] = {}
    for path, _ in _ledgers(removed):
        entries, problems = read_entries(path)
        left, reasons = remove_all(entries, unanswered)
        removed += [Removed(entry.kind, entry.what, path.stem, reasons.get(entry.mark)) for entry in left]
        removed += [_untrusted(path, "; ".join(problems[:3]))] if problems else []
        if not reasons and not problems:
            path.unlink(missing_ok=True)
    return removed


def _untrusted(path: Path, problem: str) -> Removed:
    return Removed("ledger", str(path), path.stem, f"{problem}; look at it, then delete it")


def out_of_reach(swept: Iterable[Removed]) -> list[str]:
    """The machines on which something could not be removed."""
    return list(
        dict.fromkeys(_target(removed.what) for removed in swept if removed.problem and removed.kind == "remote_folder")
    )


def forget(target: str) -> list[Forgotten]:
    """Strikes out the folders on a machine that is gone for good."""
    forgotten = []
    for path, file in _ledgers([]):
        entries, problems = read_entries(path)
        folders = [entry for entry in entries if entry.kind == "remote_folder" and _target(entry.what) == target]
        # Whoever was killed while it wrote has left a line without an end.
        lines = [b"", *(Struck(op="forget", mark=entry.mark).model_dump_json().encode() for entry in folders), b""]
        if folders:
            os.write(file, b"\n".join(lines))
        if len(folders) == len(entries) and not problems:
            path.unlink(missing_ok=True)
        forgotten += [Forgotten(entry.kind, entry.what, path.stem) for entry in folders]
    return forgotten


def _target(name: str) -> str:
    return RemoteFolder.parsed(name).target


def _ledgers(refused: list[Removed]) -> Iterator[tuple[Path, int]]:
    """The ledgers that nobody holds, each open for more lines and locked until the next one is requested.

    Those that are not this user's own, or that others may write, are added to the refused ones.
    """
    folder = state_folder() / "ledgers"
    for path in sorted(path for name in NAMES for path in folder.glob(name)):
        try:
            file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:  # its owner, or another sweep, was quicker
            continue
        except OSError as error:
            refused.append(_untrusted(path, f"it can't be opened: {error.strerror}"))
            continue
        try:
            if not _lock(file, path):
                continue
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o022:
                refused.append(_untrusted(path, "it is no file that only the user who runs this can write"))
            else:
                yield path, file
        finally:
            os.close(file)


def _lock(file: int, path: Path) -> bool:
    """Locks a ledger; false while its owner lives, or another sweep is at it.

    A process that a killed owner had just started holds the owner's lock too, until it becomes its program.
    """
    owner, _, _ = path.name.partition("-")
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            is_owned = not owner.isdigit() or procfs.identity(int(owner)) is not None
            if is_owned or time.monotonic() > deadline:
                return False
            time.sleep(POLL_S)
        else:
            return True
