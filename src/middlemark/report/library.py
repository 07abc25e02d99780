"""The runs below some folders, found anew at each look and read once: their manifests, estimates and findings.

A run is known by its place in the list, never by a path that a reader gives. It writes nothing; a run that can't be
read is named, the others are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import polars as pl

from middlemark.analysis.history import PastRun
from middlemark.analysis.run import RunFindings, analyse
from middlemark.analysis.summary import SCHEMA, summary_table
from middlemark.errors import MiddlemarkError, StoreError, UsageError
from middlemark.results.paths import is_there
from middlemark.results.run_folder import RunFolder
from middlemark.results.tables import read_table


@dataclass(frozen=True)
class Shelf:
    """What was found at one look."""

    runs: tuple[tuple[RunFolder, PastRun], ...]
    """In the order in which they began."""
    unreadable: tuple[str, ...]


@dataclass
class Library:
    """The runs in some folders: each a run itself, or a folder of runs."""

    folders: Sequence[Path]
    trust: bool = False
    """Whether runs of other users are read."""
    _read: dict[Path, tuple[int, PastRun]] = field(default_factory=dict)

    def look(self) -> Shelf:
        """Find all runs; those that changed are read again."""
        found, unreadable = [], []
        for path in self._paths():
            try:
                found.append((self._folder(path), self._past_run(path)))
            except MiddlemarkError as error:
                unreadable.append(str(error))
        return Shelf(tuple(sorted(found, key=lambda each: each[1].manifest.started_at)), tuple(unreadable))

    def _paths(self) -> list[Path]:
        paths = []
        for folder in self.folders:
            if not folder.is_dir():
                raise UsageError(f"{folder}: there is no such folder", remedy="give run folders, or a folder of runs")
            own = [folder] if (folder / "manifest.json").is_file() else sorted(folder.iterdir())
            paths += [path.resolve() for path in own if (path / "manifest.json").is_file()]
        return list(dict.fromkeys(paths))

    def _folder(self, path: Path) -> RunFolder:
        return RunFolder(path, is_trusted=self.trust)

    def _past_run(self, path: Path) -> PastRun:
        folder = self._folder(path)
        changed_ns = _changed_ns(folder)
        known = self._read.get(path)
        if known is None or known[0] != changed_ns:
            known = changed_ns, PastRun(path.name, folder.read_manifest(), _estimates(folder))
            self._read[path] = known
        return known[1]


def _changed_ns(folder: RunFolder) -> int:
    parts = (folder.manifest_path, folder.trials_path, folder.summary_path)
    return max(part.stat().st_mtime_ns for part in parts if part.exists())


def _estimates(folder: RunFolder) -> pl.DataFrame:
    """As stored; computed where a run was never reported, or what is there is not such a table."""
    if is_there(folder.summary_path):
        try:
            return read_table(folder.summary_path, SCHEMA)
        except StoreError:  # whatever it is, what it was made of tells the same
            pass
    return summary_table(analyse(folder))


def findings(folder: RunFolder) -> RunFindings:
    """A run analysed; the last few are kept."""
    return _findings(folder, _changed_ns(folder))


@lru_cache(maxsize=4)
def _findings(folder: RunFolder, _changed: int) -> RunFindings:
    return analyse(folder)
