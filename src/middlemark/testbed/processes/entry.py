"""The entries of a ledger: what its lines may say, and which names they may have removed.

A ledger is read by whoever sweeps, root more often than not: an entry names only what Middlemark gives such names to.
The same is checked before an entry is written. It writes and removes nothing: `ledger` does.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from middlemark.errors import StoreError
from middlemark.results.files import read_bytes
from middlemark.testbed.processes.procfs import SHARED_MEMORY, Identity

Kind = Literal["process", "folder", "file", "shared_memory", "containers", "remote_folder", "cgroup", "setting"]
MOST_CHARACTERS, MOST_LEDGER_BYTES = 4096, 64 << 20
_SLOT = r"mm\d{2}[0-9a-f]{10}"
_NAMES = {
    "folder": rf"{_SLOT}(-[\w.-]+)?|(unfinished|middlemark-block)-[0-9a-f]{{12}}|middlemark-ssh-\d+-[0-9a-f]{{8}}",
    "file": rf"{_SLOT}-(kernel-path\.npy|capture\.pcapng)",
    "containers": r"middlemark-[0-9a-f]{10}",
    "remote_folder": rf"{_SLOT}|mm-[0-9a-f]{{12}}",
    "cgroup": rf"{_SLOT}-[\w.-]+|middlemark-awake-[0-9a-f]{{8}}",
}
"""By kind, the last part of a path."""
_TARGET = r"[A-Za-z0-9_\[][A-Za-z0-9_.:@%\[\]+-]{0,254}"
"""As suites have it: with a dash at its start it would be an option of the SSH client."""
_SETTING = r"/proc/sys/net/ipv4/neigh/default/gc_thresh[23]=\d{1,9}"
"""With the value that it had."""
_PLACES = {"cgroup": Path("/sys/fs/cgroup")}
"""Where all of a kind lie."""


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    mark: Annotated[str, Field(pattern=r"^[0-9a-f]{1,16}$")]


class Created(_Line):
    """One thing that was, or was about to be, created."""

    op: Literal["create"] = "create"
    kind: Kind
    what: Annotated[str, Field(max_length=MOST_CHARACTERS)]
    """A path, for a process what it does, for shared memory the unique name that is part of all its files' names; for a
    folder elsewhere, where that is; for a setting of the kernel, its path and what it was."""


class Started(_Line):
    """Who an entered process is."""

    op: Literal["started"] = "started"
    pid: Annotated[int, Field(gt=1)]
    start_ticks: int
    boot_id: str

    @property
    def process(self) -> Identity:
        """The same in one value."""
        return Identity(self.pid, self.start_ticks, self.boot_id)


class Struck(_Line):
    """It is entered no more."""

    op: Literal["remove", "forget"]


Line = Created | Started | Struck
_LINE: TypeAdapter[Line] = TypeAdapter(Annotated[Line, Field(discriminator="op")])


def parsed(text: str) -> Line:
    """What a line says; raises a ValueError with the reason why it can't be one."""
    try:
        line = _LINE.validate_json(text)
    except ValidationError as error:
        raise ValueError(error.errors(include_url=False, include_input=False)[0]["msg"]) from error
    if isinstance(line, Created):
        check_name(line.kind, line.what)
    return line


def check_name(kind: Kind, name: str) -> None:
    """Refuses, with a ValueError, what Middlemark gives no such name."""
    if "\0" in name:
        raise ValueError("no name has a zero byte")
    if kind == "shared_memory":
        if re.fullmatch(_SLOT, name) is None:
            raise ValueError(f"{name!r} is no name of a slot")
    elif kind == "setting":
        if re.fullmatch(_SETTING, name, re.ASCII) is None:
            raise ValueError(f"{name!r} is no setting that is put back")
    elif kind != "process":
        if kind == "remote_folder" and re.fullmatch(_TARGET, name.rpartition(":/")[0]) is None:
            raise ValueError(f"{name!r} names no other machine")
        _check_path(kind, Path("/" + name.rpartition(":/")[2]) if kind == "remote_folder" else Path(name))


def _check_path(kind: Kind, path: Path) -> None:
    if not path.is_absolute() or ".." in path.parts:
        raise ValueError(f"{path} is no absolute path")
    if kind == "file" and path.parent == SHARED_MEMORY:
        return  # shared memory that a middleware made under a name of its own
    if re.fullmatch(_NAMES[kind], path.name, re.ASCII) is None or not path.is_relative_to(_PLACES.get(kind, "/")):
        raise ValueError(f"{path} is no {kind.replace('_', ' ')} of Middlemark's")


@dataclass
class Entry:
    """One thing that was, or was about to be, created."""

    mark: str
    kind: Kind
    what: str
    """A path, for a process what it does, for shared memory the unique name that is part of all its files' names; for a
    folder elsewhere, where that is; for a setting of the kernel, its path and what it was."""
    process: Identity | None = None
    """Who it is; None where the owner was killed between entering and starting it: its mark finds it then."""


def read_entries(path: Path) -> tuple[list[Entry], list[str]]:
    """The entries of a ledger that were not removed, and what is wrong with lines that are none.

    A line that was cut off by a kill counts as not written.
    """
    entries: dict[str, Entry] = {}
    problems = []
    try:
        text = read_bytes(path, MOST_LEDGER_BYTES).decode(errors="replace") if os.path.lexists(path) else ""
    except StoreError as error:
        return [], [error.problem]
    for number, line in enumerate(filter(None, text.splitlines()), start=1):
        try:
            _apply(parsed(line), entries)
        except ValueError as error:
            if line.endswith("}"):
                problems.append(f"line {number}: {error}")
    return list(entries.values()), problems


def _apply(line: Line, entries: dict[str, Entry]) -> None:
    match line:
        case Created():
            entries[line.mark] = Entry(line.mark, line.kind, line.what)
        case Started() if line.mark in entries:
            entries[line.mark].process = line.process
        case Struck():
            entries.pop(line.mark, None)
