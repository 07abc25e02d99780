"""The ledger of everything that Middlemark creates on this machine, so that all of it can be removed again.

Every creation is entered before it happens, in an append-only file of the process that owns it; whatever ends that
process, the file stays, and a sweep removes what the ledgers of ended processes list. It creates nothing but its own
folder, which is this user's alone: what a ledger says is done by whoever sweeps.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from middlemark.errors import EnvironmentNotReady, InternalError, StoreError
from middlemark.installation.user_folders import nearest_existing, other_owner, user_name
from middlemark.testbed.processes import cgroup, procfs, setting
from middlemark.testbed.processes.entry import (
    Created,
    Entry,
    Kind,
    Line,
    Started,
    Struck,
    check_name,
    read_entries,
)
from middlemark.testbed.processes.podman import Storage
from middlemark.testbed.processes.procfs import SHARED_MEMORY
from middlemark.testbed.processes.remote import RemoteFolder, Unanswered, Unreachable


@dataclass
class Ledger:
    """The ledger of one process; use `opened`."""

    path: Path
    _file: Any
    _entries: dict[str, Entry] = field(default_factory=dict)

    def enter(self, kind: Kind, name: str | Path) -> str:
        """Enters what is about to be created; the mark identifies it and, in a process's environment, its children."""
        entry = Entry(secrets.token_hex(8), kind, str(name))
        try:
            check_name(kind, entry.what)
        except ValueError as error:  # no sweep would remove it
            raise InternalError(f"it can't be entered in the ledger: {error}") from error
        self._entries[entry.mark] = entry
        self._append(Created(mark=entry.mark, kind=kind, what=entry.what))
        return entry.mark

    def started(self, mark: str, pid: int) -> None:
        """Adds to an entered process who it is."""
        process = procfs.identity(pid)
        if process is not None:
            self._entries[mark].process = process
            self._append(Started(mark=mark, **asdict(process)))

    def remove(self, *marks: str) -> None:
        """Removes what these marks identify, where it still exists, then their entries.

        Keeps entries that can't be removed.
        """
        _, reasons = remove_all([self._entries[mark] for mark in marks if mark in self._entries])
        for mark in marks:
            if mark not in reasons and self._entries.pop(mark, None) is not None:
                with suppress(StoreError):  # then a sweep finds nothing where it looks
                    self._append(Struck(op="remove", mark=mark))

    def close(self) -> None:
        """Removes all that is left, and the ledger, unless something is out of reach: a later sweep tries again."""
        self.remove(*self._entries)
        if not self._entries:
            self.path.unlink(missing_ok=True)
        os.close(self._file)

    def _append(self, line: Line) -> None:
        text = line.model_dump_json().encode() + b"\n"
        try:
            before = os.fstat(self._file).st_size
            written = os.write(self._file, text)
            if written < len(text):  # what is cut off would take what follows on its line with it
                os.ftruncate(self._file, before)
                raise _unwritable(self.path, os.strerror(errno.ENOSPC))
        except OSError as error:
            raise _unwritable(self.path, error.strerror) from error


@contextmanager
def opened() -> Iterator[Ledger]:
    """This process's ledger, locked as long as the process lives; closed when the context ends, however it ends."""
    folder = state_folder() / "ledgers"
    try:
        ledger = _created(folder)
    except OSError as error:
        raise _unwritable(folder, error.strerror) from error
    try:
        yield ledger
    finally:
        ledger.close()


def _unwritable(place: Path, why: str | None) -> StoreError:
    """Not what a trial lacks, which would be its outcome: once there is space, it runs again."""
    return StoreError(
        place,
        f"it can't be written ({why}), so nothing can be created that could be removed again",
        "free some space, or set XDG_STATE_HOME to a folder that can; then go on with --resume",
    )


def _created(folder: Path) -> Ledger:
    for parent in (folder.parent, folder):
        make_private(parent)
    while True:
        path = folder / f"{os.getpid()}-{secrets.token_hex(4)}.jsonl"
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
        fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(file).st_nlink:
            return Ledger(path, file)
        os.close(file)  # a sweep has locked it first, and took it for one whose owner is gone


def read(path: Path) -> list[Entry]:
    """The entries of a ledger that were not removed."""
    return read_entries(path)[0]


def remove_all(entries: list[Entry], unanswered: dict[str, str] | None = None) -> tuple[list[Entry], dict[str, str]]:
    """Ends the processes first, then removes all else.

    Gives the entries of which something was left, and by mark the reason why something of them still is. The machines
    that are `unanswered`, with the reason, are not tried again; those that don't answer now are added.
    """
    left, reasons = _end_processes([entry for entry in entries if entry.kind == "process"]), {}
    unanswered = {} if unanswered is None else unanswered
    for entry in entries:
        try:
            if _remove(entry, unanswered):
                left.append(entry)
        except Unreachable as lost:
            left.append(entry)
            reasons[entry.mark] = str(lost)
    return left, reasons


def _end_processes(entries: list[Entry]) -> list[Entry]:
    """Gives those that still ran."""
    running = procfs.marked(entry.mark for entry in entries)
    for entry in entries:
        if entry.process is not None and procfs.is_alive(entry.process):
            running[entry.mark].append(entry.process)
    procfs.end(process for group in running.values() for process in group)
    return [entry for entry in entries if running[entry.mark]]


def _remove(entry: Entry, unanswered: dict[str, str]) -> bool:
    """Removes what an entry names, unless it is a process; gives whether anything was there."""
    if entry.kind == "remote_folder":
        return _remove_there(RemoteFolder.parsed(entry.what), unanswered)
    if entry.kind == "setting":
        return setting.put_back(entry.what)
    paths = _paths(entry)
    for path in paths:
        _delete(entry.kind, path)
    return bool(paths)


def _remove_there(folder: RemoteFolder, unanswered: dict[str, str]) -> bool:
    """A machine that does not answer is tried once, as each attempt takes seconds."""
    if folder.target in unanswered:
        raise Unanswered(unanswered[folder.target])
    try:
        return folder.remove()
    except Unanswered as lost:
        unanswered[folder.target] = str(lost)
        raise


def _paths(entry: Entry) -> list[Path]:
    """The files and folders that an entry names, as far as they exist."""
    match entry.kind:
        case "process":
            return []
        case "shared_memory":
            return [path for path in SHARED_MEMORY.glob("*") if entry.what in path.name]
        case _:
            return [Path(entry.what)] if os.path.lexists(entry.what) else []


def _delete(kind: Kind, path: Path) -> None:
    if kind == "containers":
        Storage(path).remove()
    elif kind == "cgroup":
        cgroup.remove_group(path)
    elif path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def state_folder() -> Path:
    """The per-user folder for what outlives a process: ledgers and slots."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state"
    return Path(base, "middlemark")


def make_private(folder: Path) -> None:
    """A folder that is this user's, and that nobody else reads or writes: what a ledger there says is done."""
    nearest = nearest_existing(folder)
    owner = other_owner(nearest)
    if owner is not None:  # it would be made in a folder of a user who could not use it any more
        raise _not_own(nearest, owner)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise _not_own(folder, user_name(status.st_uid))
    if stat.S_IMODE(status.st_mode) & 0o077:
        folder.chmod(0o700)


def _not_own(folder: Path, owner: str) -> EnvironmentNotReady:
    user = user_name(os.geteuid())
    return EnvironmentNotReady(
        f"{folder} is not a folder of the user who runs this ({user}), but of {owner}",
        remedy="`sudo -E` keeps that user's folders; run it with root's own: sudo -H env -u XDG_STATE_HOME middlemark …"
        if os.geteuid() == 0
        else f"set XDG_STATE_HOME to a folder of your own, or have this one given back: sudo chown -R {user} {folder}",
    )
