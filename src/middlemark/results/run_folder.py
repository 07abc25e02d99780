"""The folder of a run: where the manifest, the trials and the report lie, and one writer of it at a time.

It interprets nothing: `manifest` says what the run's own file holds, `trial_folder` has what is in the folder of a
trial. Nothing that is read is trusted: `files` joins names and opens what lies there, up to a size.

    <run>/manifest.json
    <run>/trials/<trial id>/trial.json spec.json events.jsonl received.parquet published.parquet resources.json logs/
                              metrics.json sketches.parquet
                              *.beyond.hlog executions.parquet inputs.parquet outputs.parquet
                              processes.parquet machine.parquet kernel_path.parquet capture.pcapng
    <run>/summary.parquet
    <run>/report.html

The folder of a reproduced paper has such a folder for each of its suites, and two files of its own:

    <reproduction>/reproduction.json
    <reproduction>/<suite>/
    <reproduction>/report.html
"""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pydantic_core

from middlemark.errors import StoreError, SuiteError, UsageError
from middlemark.plan import SharedExperiments
from middlemark.results.files import (
    MOST_MANIFEST_BYTES,
    MOST_RECORD_BYTES,
    MOST_TRIALS,
    PRIVATE,
    RESTORE,
    check_is_text,
    check_owner,
    folder_inside,
    inside,
    is_there,
    make_folder,
    read_bytes,
    read_model,
    write_model,
    write_pieces,
    writing,
)
from middlemark.results.manifest import Manifest, Planned, Reproduction, RunHead, RunOutline
from middlemark.results.trial_folder import TrialFolder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True)
class RunFolder:
    """The folder of one run."""

    path: Path
    is_trusted: bool = False
    """Whether it may be another user's."""

    @property
    def manifest_path(self) -> Path:
        """What was requested, and what it ran on."""
        return inside(self.path, "manifest.json")

    @property
    def trials_path(self) -> Path:
        """One folder a trial."""
        return folder_inside(self.path, "trials")

    @property
    def summary_path(self) -> Path:
        """The estimates, one row an experiment, stream and metric."""
        return inside(self.path, "summary.parquet")

    @property
    def report_path(self) -> Path:
        """The report to read."""
        return inside(self.path, "report.html")

    def read_manifest(self) -> Manifest:
        """Read `manifest.json`; where there is none this is not a run folder."""
        self._check_is_run()
        return read_model(self.manifest_path, Manifest, MOST_MANIFEST_BYTES, SharedExperiments())

    def read_outline(self) -> RunOutline:
        """The head of `manifest.json`, and what is planned; at the stored trials themselves it does not look."""
        self._check_is_run()
        path = self.manifest_path
        try:
            document = pydantic_core.from_json(read_bytes(path, MOST_MANIFEST_BYTES))
            if not isinstance(document, dict):
                raise StoreError(path, "it can't be read: it is no object", RESTORE)
            head = RunHead.model_validate({name: document[name] for name in RunHead.model_fields if name in document})
            planned = Planned.model_validate(document)
        except ValueError as cause:  # pydantic's own is one
            raise StoreError(path, f"it can't be read: {str(cause).splitlines()[0]}", RESTORE) from cause
        return RunOutline(head=head, n_trials=len(planned.trials), workloads=planned.workloads)

    def stamp(self) -> str:
        """What is another after the manifest, the list of trials or the estimates were written again; reads none."""
        self._check_is_run()
        paths = (self.manifest_path, self.trials_path, self.summary_path)
        return " ".join(map(_state, paths))

    def _check_is_run(self) -> None:
        if not self.path.is_dir():
            raise StoreError(
                self.path, "the folder does not exist", "give the folder that `middlemark run` printed at its end"
            )
        check_is_text(self.path)
        if not self.is_trusted:
            check_owner(self.path)
        if not is_there(self.manifest_path):
            raise StoreError(
                self.path,
                "it is not a run: it has no manifest.json",
                "give the folder that `middlemark run` printed at its end",
            )

    def write_manifest(self, manifest: Manifest) -> None:
        """Write `manifest.json`, first of all."""
        write_pieces(self.manifest_path, _written(manifest))

    def trial(self, trial_id: str) -> TrialFolder:
        """The folder of a trial, whether or not it is there yet."""
        return TrialFolder(folder_inside(self.trials_path, trial_id))

    def stored_trials(self) -> Iterator[TrialFolder]:
        """Every trial that is stored completely, by id; one that can't be a trial's says so when it is read."""
        if not self.trials_path.is_dir():
            return
        names = [path.name for path in self.trials_path.iterdir() if is_there(path / "trial.json")]
        if len(names) > MOST_TRIALS:
            raise StoreError(self.trials_path, f"it has {len(names)} trials, and at most {MOST_TRIALS} are read")
        yield from (TrialFolder(self.trials_path / name) for name in sorted(names))

    @classmethod
    @contextmanager
    def created(cls, path: Path, manifest: Manifest) -> Iterator[RunFolder]:
        """A new run folder with its manifest, locked for this process from before it looks whether there is a run."""
        with writing(path):
            make_folder(path, PRIVATE)
        run = cls(path)
        with run.locked():
            if is_there(run.manifest_path):
                raise StoreError(path, "it already contains a run", f"continue it: middlemark run --resume {path}")
            with writing(path):
                run.trials_path.mkdir(exist_ok=True)
            run.write_manifest(manifest)
            yield run

    @contextmanager
    def locked(self) -> Iterator[None]:
        """An existing folder, locked for this process before anything in it is read."""
        with writing(self.path):  # the folder, as the manifest is replaced when a campaign decides on further trials
            file = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                text = "another middlemark is writing into it"
                raise StoreError(self.path, text, "wait until that run has ended") from error
            yield
        finally:
            os.close(file)


_NO_TRIALS = '\n "trials": []'
"""Within the JSON of a manifest that has none; in its strings no line ends."""


def _written(manifest: Manifest) -> Iterator[bytes]:
    """Its JSON, each trial in a line of its own: the text of all would take most of the memory of a large plan."""
    before, after = manifest.model_copy(update={"trials": ()}).model_dump_json(indent=1).split(_NO_TRIALS)
    yield f'{before}\n "trials": ['.encode()
    for place, trial in enumerate(manifest.trials):
        yield f"{',' if place else ''}\n  {trial.model_dump_json()}".encode()
    yield f"\n ]{after}".encode()


def _state(path: Path) -> str:
    """Where a file or folder lies, how long it is and when it was last changed, which nobody can set back."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return "-"
    except OSError as error:
        raise StoreError(path, f"it can't be read: {error.strerror}") from error
    return f"{status.st_ino}:{status.st_size}:{status.st_ctime_ns}"


_REPRODUCED = "give the folder that `middlemark reproduce` printed at its end"


@dataclass(frozen=True)
class ReproductionFolder:
    """The folder of one reproduced paper."""

    path: Path
    is_trusted: bool = False
    """Whether it may be another user's."""

    @property
    def file_path(self) -> Path:
        """What is reproduced."""
        return inside(self.path, "reproduction.json")

    @property
    def report_path(self) -> Path:
        """The report to read."""
        return inside(self.path, "report.html")

    @classmethod
    def created(cls, path: Path, reproduction: Reproduction) -> ReproductionFolder:
        """A new folder that says what is reproduced in it."""
        with writing(path):
            make_folder(path, PRIVATE)
        folder = cls(path)
        if is_there(folder.file_path):
            problem = "it already contains a reproduced paper"
            raise StoreError(path, problem, f"continue it: middlemark reproduce --resume {path}")
        write_model(folder.file_path, reproduction)
        return folder

    def read(self) -> Reproduction:
        """Read `reproduction.json`; where there is none this is no such folder."""
        if not self.path.is_dir():
            raise StoreError(self.path, "the folder does not exist", _REPRODUCED)
        check_is_text(self.path)
        if not self.is_trusted:
            check_owner(self.path)
        if not is_there(self.file_path):
            raise StoreError(self.path, "it is no reproduced paper: it has no reproduction.json", _REPRODUCED)
        reproduction = read_model(self.file_path, Reproduction, MOST_RECORD_BYTES)
        try:
            _ = reproduction.paper
        except (SuiteError, UsageError) as error:
            raise StoreError(self.file_path, f"its paper can't be read: {error.text}", RESTORE) from error
        return reproduction

    def run(self, suite: str) -> RunFolder:
        """The run of a suite, whether or not it is there yet."""
        return RunFolder(folder_inside(self.path, suite), self.is_trusted)

    def stored_runs(self, reproduction: Reproduction) -> Mapping[str, RunFolder]:
        """By suite: the runs that have begun."""
        runs = {suite.suite: self.run(suite.suite) for suite in reproduction.paper.paper.suites}
        return {name: run for name, run in runs.items() if is_there(run.manifest_path)}
