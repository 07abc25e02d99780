"""Runs that tests share: whoever asks for the same one looks at what was built, and analysed, once.

A test that changes a run takes a copy, and what others look at is checked to be as it was built. `run_builder` builds the
runs, `golden/` holds those that were stored.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import middlemark
from behaviour import Behaviour
from middlemark.analysis.run import RunFindings, analyse
from middlemark.results.run_folder import RunFolder
from pages import ROOT
from run_builder import build_run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from middlemark.analysis.dataframes import LoadedRun

GOLDEN = ROOT / "tests" / "golden"


class SharedRuns:
    """What was built, loaded and analysed so far."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._built: dict[object, RunFolder] = {}
        self._as_built: dict[Path, dict[Path, tuple[int, int]]] = {}
        self._findings: dict[Path, RunFindings] = {}
        self._loaded: dict[str, LoadedRun] = {}

    def run(self, suite_text: str, behaviours: Mapping[str, Behaviour], *, seed: int = 1) -> RunFolder:
        """A run that `run_builder` builds, to be looked at only."""
        key = (suite_text, tuple(behaviours.items()), seed)
        if key not in self._built:
            run = build_run(self._folder / str(len(self._built)) / "run", suite_text, behaviours, seed=seed)
            self._built[key] = run
            self._as_built[run.path] = _files(run.path)
        return self._built[key]

    def copy(self, path: Path, suite_text: str, behaviours: Mapping[str, Behaviour], *, seed: int = 1) -> RunFolder:
        """The same, to be changed."""
        return RunFolder(shutil.copytree(self.run(suite_text, behaviours, seed=seed).path, path))

    def findings(self, suite_text: str, behaviours: Mapping[str, Behaviour], *, seed: int = 1) -> RunFindings:
        """What there is to say of a run that is looked at only."""
        run = self.run(suite_text, behaviours, seed=seed)
        if run.path not in self._findings:
            self._findings[run.path] = analyse(run)
        return self._findings[run.path]

    def golden(self, name: str) -> LoadedRun:
        """A stored run."""
        if name not in self._loaded:
            self._loaded[name] = middlemark.load(GOLDEN / name)
        return self._loaded[name]

    def changed(self) -> list[str]:
        """Which files of the runs that are looked at only are no longer as they were built."""
        return [
            str(file)
            for run, before in self._as_built.items()
            for file, _ in sorted(before.items() ^ _files(run).items())
        ]


def _files(run: Path) -> dict[Path, tuple[int, int]]:
    stats = {path: path.stat() for path in run.rglob("*") if path.is_file()}
    return {path: (stat.st_size, stat.st_mtime_ns) for path, stat in stats.items()}
