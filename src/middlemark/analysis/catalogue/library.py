"""The runs in some folders, looked for again at each look; each is read only as far as a list needs.

What was read is kept until the run changes, also in the index of its folder. A run that can't be read is named, and
the others are shown. What runs estimate `estimates` reads, which of them are selected `selection` says.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from middlemark.analysis.catalogue.index import Entry, Index
from middlemark.errors import MiddlemarkError, UsageError
from middlemark.results.files import is_there
from middlemark.results.manifest import RunHead, RunOutline
from middlemark.results.run_folder import RunFolder


@dataclass(frozen=True)
class ListedRun:
    """A run as the list has it."""

    folder: RunFolder
    outline: RunOutline
    stamp: str
    """Another one after the run changed."""

    @property
    def name(self) -> str:
        """That of its folder."""
        return self.folder.path.name

    @property
    def head(self) -> RunHead:
        """What tells it from others."""
        return self.outline.head

    @property
    def entry(self) -> Entry:
        """What it is in the index of its folder."""
        return Entry(self.name, self.stamp)

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
    whole: frozenset[Path] = frozenset()
    """The folders of which all runs were looked at."""


@dataclass
class Library:
    """The runs in some folders: each a run itself, or a folder of runs."""

    folders: Sequence[Path]
    trust: bool = False
    """Whether runs of other users are read."""
    _known: dict[Path, dict[Entry, RunOutline]] = field(default_factory=dict)
    """By folder of runs."""

    def look(self) -> Shelf:
        """Find all runs; the outlines of those that changed are read again."""
        runs: list[ListedRun] = []
        unreadable: list[str] = []
        places, whole = self._places()
        for folder, names in places.items():
            listed, problems = self._look_into(folder, names)
            runs += listed
            unreadable += problems
            self._keep(folder, listed, is_whole=folder in whole)
        return Shelf(tuple(sorted(runs, key=lambda run: run.head.started_at)), tuple(unreadable), whole)

    def _places(self) -> tuple[dict[Path, dict[str, None]], frozenset[Path]]:
        """The names of what may be a run by the folder that it lies in; and the folders that were wholly named."""
        places: dict[Path, dict[str, None]] = {}
        whole = set()
        for folder in self.folders:
            real = Path(os.path.realpath(folder))
            try:
                if is_there(real / "manifest.json"):
                    _place(places, real)
                else:
                    for entry in sorted(os.scandir(real), key=lambda entry: entry.name):
                        _place(places, Path(os.path.realpath(entry)) if entry.is_symlink() else real / entry.name)
                    whole.add(real)
            except OSError as error:
                raise UsageError(
                    f"{folder}: there is no such folder to read: {error.strerror}",
                    remedy="give run folders, or a folder of runs",
                ) from error
        return places, frozenset(whole)

    def _look_into(self, folder: Path, names: Iterable[str]) -> tuple[list[ListedRun], list[str]]:
        if folder not in self._known:
            self._known[folder] = Index(folder).outlines()
        runs, problems = [], []
        for name in names:
            try:
                if is_there(folder / name / "manifest.json"):
                    runs.append(self._listed(folder, name))
            except MiddlemarkError as error:
                problems.append(str(error))
        return runs, problems

    def _listed(self, folder: Path, name: str) -> ListedRun:
        run = RunFolder(folder / name, is_trusted=self.trust)
        stamp = run.stamp()
        outline = self._known[folder].get(Entry(name, stamp))
        return ListedRun(run, outline if outline is not None else run.read_outline(), stamp)

    def _keep(self, folder: Path, runs: Sequence[ListedRun], *, is_whole: bool) -> None:
        """Where anything changed, the index is written anew."""
        before = self._known[folder]
        now = ({} if is_whole else before) | {run.entry: run.outline for run in runs}
        if now.keys() != before.keys():
            Index(folder).keep_outlines(now)
        self._known[folder] = now


def _place(places: dict[Path, dict[str, None]], run: Path) -> None:
    places.setdefault(run.parent, {})[run.name] = None
