"""The runs in some folders: which there are, and which are selected; what they estimate is `estimates`'.

Folders are looked through again at each look, and each run is read only as far as a list needs; what was read is kept
until the run changes, also in the `index` of its folder. A run that can't be read is named, and the others are shown.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

from middlemark.analysis.catalogue.index import Entry, Index
from middlemark.errors import MiddlemarkError, UsageError
from middlemark.results.files import is_there
from middlemark.results.manifest import RunHead, RunOutline
from middlemark.results.run_folder import RunFolder

if TYPE_CHECKING:
    from collections.abc import Mapping


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
class RunLibrary:
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


@dataclass(frozen=True)
class RunSelection:
    """The conditions that selected runs meet; what is empty is no condition."""

    middleware: str = ""
    """Its name."""
    version: str = ""
    """Of that middleware's library, or of any: `1.10` is that and 1.10.2, not 1.1 or 1.100."""
    workload: str = ""
    machine: str = ""
    """A part of its processor or its id, in small letters or capitals."""
    suite: str = ""
    tag: str = ""
    since: str = ""
    """The first day on which a run may have begun, as `2026-01-31` (UTC)."""
    until: str = ""
    """The last one."""

    def __post_init__(self) -> None:
        """Refuses what is no day."""
        for name in ("since", "until"):
            _day(getattr(self, name), name)

    @classmethod
    def of(cls, form: Mapping[str, str]) -> Self:
        """What fields of a form say; others are passed over."""
        return cls(**{field.name: form.get(field.name, "").strip() for field in fields(cls)})

    @property
    def conditions(self) -> dict[str, str]:
        """What is not empty, by name."""
        return {field.name: getattr(self, field.name) for field in fields(self) if getattr(self, field.name)}

    def of_shelf(self, shelf: Shelf) -> Shelf:
        """The runs that are selected."""
        return (
            Shelf(tuple(run for run in shelf.runs if self.matches(run)), shelf.unreadable) if self.conditions else shelf
        )

    def matches(self, run: ListedRun) -> bool:
        """Whether all that is said is true of a run."""
        head = run.head
        began = datetime.fromisoformat(head.started_at).date()
        since, until = _day(self.since, "since"), _day(self.until, "until")
        return (
            self._has_middleware(run)
            and self.workload in {"", *run.outline.workloads}
            and self.suite in {"", head.suite}
            and self.tag in {"", *head.tags}
            and self.machine.casefold() in head.machine_identity.casefold()
            and (since is None or since <= began)
            and (until is None or began <= until)
        )

    def _has_middleware(self, run: ListedRun) -> bool:
        sides = (*run.head.middlewares.items(), *run.head.base.items())
        versions = [middleware.library.version for name, middleware in sides if self.middleware in {"", name}]
        if not self.version:
            return bool(versions) or not self.middleware
        return any(f"{version}.".startswith(f"{self.version}.") for version in versions)


def _day(text: str, name: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as error:
        raise UsageError(f"`{name}` is {text!r}, which is no day", remedy="write it as 2026-01-31") from error
