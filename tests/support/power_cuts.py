"""A disk that loses at a power cut whatever was not made durable: it follows what a writer does, and cuts anywhere.

It looks at a folder after each call that changes names or makes something durable. What a cut leaves: of a file the
content at its last `fsync`, or what it had come to, or a part of that; of a folder the names at its last `fsync`, and of
each later change either the old or the new, as a kernel may write them back in any order.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

NAMING = ("mkdir", "rename", "replace", "unlink", "remove", "rmdir", "open", "link", "symlink")


@dataclass(frozen=True)
class Moment:
    """The folder at one moment: names of folders, and contents of files, by a number that no other file ever has."""

    names: dict[int, dict[str, int]]
    contents: dict[int, bytes]
    durable_names: dict[int, dict[str, int]]
    durable_contents: dict[int, bytes]


@dataclass
class LossyDisk:
    """Follows what happens below a folder, which is durable itself and the first of its numbers."""

    root: Path
    moments: list[Moment] = field(default_factory=list)
    _numbers: dict[int, int] = field(default_factory=dict)
    """By inode, of those that are there now."""
    _next: int = 0
    _durable_names: dict[int, dict[str, int]] = field(default_factory=dict)
    _durable_contents: dict[int, bytes] = field(default_factory=dict)

    @contextmanager
    def following(self) -> Iterator[None]:
        """All calls of this process are followed within."""
        self._look()
        self._durable_names[0] = {}
        patches = [patch.object(os, name, self._then_looking(getattr(os, name))) for name in NAMING]
        patches.append(patch.object(os, "fsync", self._syncing(os.fsync)))
        for each in patches:
            each.start()
        try:
            yield
        finally:
            for each in patches:
                each.stop()

    def _then_looking(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*given: Any, **named: Any) -> Any:  # noqa: ANN401 - as many calls, as many kinds
            answer = call(*given, **named)
            self._look()
            return answer

        return called

    def _syncing(self, call: Callable[[int], None]) -> Callable[[int], None]:
        def called(file: int) -> None:
            call(file)
            names, contents = self._seen()
            number = self._numbers.get(os.fstat(file).st_ino)
            if number in names:
                self._durable_names[number] = dict(names[number])
            elif number in contents:
                self._durable_contents[number] = contents[number]
            self._look()

        return called

    def _look(self) -> None:
        names, contents = self._seen()
        durable = ({n: dict(each) for n, each in self._durable_names.items()}, dict(self._durable_contents))
        self.moments.append(Moment(names, contents, *durable))

    def _seen(self) -> tuple[dict[int, dict[str, int]], dict[int, bytes]]:
        names: dict[int, dict[str, int]] = {}
        contents: dict[int, bytes] = {}
        inodes: dict[int, int] = {}
        self._enter(self.root, inodes, names, contents)
        self._numbers = inodes
        return names, contents

    def _enter(
        self, path: Path, inodes: dict[int, int], names: dict[int, dict[str, int]], contents: dict[int, bytes]
    ) -> int:
        inode = path.lstat().st_ino
        number = self._numbers.get(inode)
        if number is None:
            number, self._next = self._next, self._next + 1
        inodes[inode] = number
        if path.is_dir():
            names[number] = {each.name: self._enter(each, inodes, names, contents) for each in path.iterdir()}
        else:
            contents[number] = path.read_bytes()
        return number


def after_cut(moment: Moment, into: Path, chance: random.Random) -> None:
    """Make the folder as a power cut at this moment may have left it."""
    _folder(moment, 0, into, chance)


def _folder(moment: Moment, number: int, path: Path, chance: random.Random) -> None:
    path.mkdir()
    old, new = moment.durable_names.get(number, {}), moment.names.get(number, {})
    for name in sorted({*old, *new}):
        kept = (old if chance.random() < 0.5 else new).get(name)
        if kept is None:
            continue
        if kept in moment.names or kept in moment.durable_names:
            _folder(moment, kept, path / name, chance)
        else:
            (path / name).write_bytes(_content(moment, kept, chance))


def _content(moment: Moment, number: int, chance: random.Random) -> bytes:
    durable = moment.durable_contents.get(number)
    new = moment.contents.get(number, durable or b"")
    if durable == new:
        return new
    return chance.choice([durable or b"", new, new[: chance.randrange(len(new) + 1)]])
