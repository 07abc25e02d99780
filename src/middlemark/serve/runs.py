"""The runs below some folders, searched again for each page; each is read only as far as the page needs.

What was read is kept until the run changes. A run is known by its place in the list, never by a path that a reader
gives; a run that can't be read is named, and the others are shown.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import polars as pl

from middlemark.analysis.compare.history import PastRun, rows_of_metric
from middlemark.analysis.dataframes import SCHEMA, summary_table
from middlemark.analysis.run import RunFindings, analyse
from middlemark.errors import MiddlemarkError, StoreError, UsageError
from middlemark.results.files import is_there
from middlemark.results.manifest import RunHead
from middlemark.results.run_folder import RunFolder
from middlemark.results.tables import read_table
from middlemark.suite.metrics import Metric

KEPT_ROWS, KEPT_TABLES, KEPT_FINDINGS = 4096, 32, 4
"""Of how many runs there stay the rows of a metric, all estimates where none are stored, and the findings."""


@dataclass(frozen=True)
class ListedRun:
    """A run as the list has it."""

    folder: RunFolder
    head: RunHead
    n_trials: int
    """That are planned."""
    changed_ns: int

    @property
    def name(self) -> str:
        """That of its folder."""
        return self.folder.path.name

    @property
    def has_report(self) -> bool:
        """Whether there is one to open."""
        return is_there(self.folder.report_path)


@dataclass(frozen=True)
class Shelf:
    """What was found at one look."""

    runs: tuple[ListedRun, ...]
    """In the order in which they began."""
    unreadable: tuple[str, ...]


@dataclass
class Library:
    """The runs in some folders: each a run itself, or a folder of runs."""

    folders: Sequence[Path]
    trust: bool = False
    """Whether runs of other users are read."""
    _listed: dict[Path, ListedRun] = field(default_factory=dict)

    def look(self) -> Shelf:
        """Find all runs; the heads of those that changed are read again."""
        runs: dict[Path, ListedRun] = {}
        unreadable = []
        for path in self._paths():
            try:
                if is_there(path / "manifest.json"):
                    runs[path.resolve()] = self._listed_run(path.resolve())
            except MiddlemarkError as error:
                unreadable.append(str(error))
        self._listed = runs
        return Shelf(tuple(sorted(runs.values(), key=lambda run: run.head.started_at)), tuple(unreadable))

    def _paths(self) -> list[Path]:
        """Where a run may be."""
        paths: list[Path] = []
        for folder in self.folders:
            try:
                paths += [folder] if is_there(folder / "manifest.json") else sorted(folder.iterdir())
            except OSError as error:
                raise UsageError(
                    f"{folder}: there is no such folder to read: {error.strerror}",
                    remedy="give run folders, or a folder of runs",
                ) from error
        return paths

    def _listed_run(self, path: Path) -> ListedRun:
        folder = RunFolder(path, is_trusted=self.trust)
        changed_ns = _changed_ns(folder)
        listed = self._listed.get(path)
        if listed is not None and listed.changed_ns == changed_ns:
            return listed
        return ListedRun(folder, *folder.read_head(), changed_ns)


def past_runs(shelf: Shelf, metric: Metric) -> tuple[list[PastRun], Shelf]:
    """The runs with their estimates of a metric, and the list with those named that have none to read."""
    runs, unreadable = [], list(shelf.unreadable)
    for run in shelf.runs:
        try:
            runs.append(PastRun(run.name, run.head, _rows(run.folder, run.changed_ns, metric)))
        except MiddlemarkError as error:
            unreadable.append(str(error))
    return runs, Shelf(shelf.runs, tuple(unreadable))


@lru_cache(KEPT_ROWS)
def _rows(folder: RunFolder, changed_ns: int, metric: Metric) -> pl.DataFrame:
    """As stored; computed where a run was never reported, or what is there is not such a table."""
    if is_there(folder.summary_path):
        try:
            return read_table(folder.summary_path, SCHEMA).filter(rows_of_metric(metric))
        except StoreError:  # whatever it is, what it was made of tells the same
            pass
    return _computed(folder, changed_ns).filter(rows_of_metric(metric))


@lru_cache(KEPT_TABLES)
def _computed(folder: RunFolder, _changed_ns: int) -> pl.DataFrame:
    return summary_table(analyse(folder))


def _changed_ns(folder: RunFolder) -> int:
    parts = (folder.manifest_path, folder.trials_path, folder.summary_path)
    try:
        return max(part.lstat().st_mtime_ns for part in parts if os.path.lexists(part))
    except (OSError, ValueError) as error:  # it goes at this moment
        raise StoreError(folder.path, "it can't be read now", "look again") from error


def findings(folder: RunFolder) -> RunFindings:
    """A run analysed; the last few are kept."""
    return _findings(folder, _changed_ns(folder))


@lru_cache(KEPT_FINDINGS)
def _findings(folder: RunFolder, _changed: int) -> RunFindings:
    return analyse(folder)
