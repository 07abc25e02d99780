"""The run folder while a campaign writes it: one writer at a time, one trial at a time, the trial's record last.

A kill at any instant loses at most the trial under way: its folder has no `trial.json`, and `fresh` empties it. What
each file holds is `run_folder`'s business; what can't be written becomes one `StoreError` with its remedy.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import polars as pl
from pydantic import BaseModel

from middlemark.errors import StoreError
from middlemark.results.manifest import Manifest
from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import RunFolder, TrialFolder


@contextmanager
def created(path: Path, manifest: Manifest) -> Iterator[RunFolder]:
    """A new run folder with its manifest, locked for this process."""
    run = RunFolder(path)
    with writing(path):
        if run.manifest_path.exists():
            raise StoreError(path, "there is a run in it already", f"go on with it: middlemark run --resume {path}")
        run.trials_path.mkdir(parents=True, exist_ok=True)
        run.write_manifest(manifest)
    with reopened(path):
        yield run


@contextmanager
def reopened(path: Path) -> Iterator[RunFolder]:
    """An existing run folder, locked for this process."""
    run = RunFolder(path)
    with writing(path):  # the folder, as the manifest is replaced when a campaign decides on further trials
        file = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield run
    except BlockingIOError as error:
        raise StoreError(path, "another middlemark is writing into it", "wait until that run has ended") from error
    finally:
        os.close(file)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns what the operating system says of a failed write into what the user can do."""
    try:
        yield
    except StoreError:
        raise
    except (OSError, pl.exceptions.PolarsError) as error:
        raise StoreError(path, *_explained(error)) from error


def fresh(folder: TrialFolder) -> None:
    """An empty folder for a trial, whatever an interrupted attempt left there."""
    with writing(folder.path):
        if folder.path.exists():
            shutil.rmtree(folder.path)
        folder.logs_path.mkdir(parents=True)


def keep_specs(folder: TrialFolder, specs: Mapping[str, BaseModel]) -> None:
    """What each process was told."""
    text = json.dumps({name: spec.model_dump(mode="json") for name, spec in specs.items()}, indent=1)
    _write(folder.spec_path, text)


def keep_events(folder: TrialFolder, lines: Sequence[str]) -> None:
    """What the processes said, as it came."""
    _write(folder.events_path, "".join(line + "\n" for line in lines))


def keep_samples(folder: TrialFolder, received: pl.LazyFrame, published: pl.LazyFrame, files: Iterable[Path]) -> None:
    """The samples, and the histograms of what is beyond them."""
    with writing(folder.path):
        folder.write_samples(received, published)
        for file in files:
            shutil.copyfile(file, folder.path / file.name)


def keep_executions(folder: TrialFolder, executions: pl.LazyFrame, inputs: pl.LazyFrame, outputs: pl.LazyFrame) -> None:
    """What the nodes did, took and sent."""
    with writing(folder.path):
        folder.write_executions(executions, inputs, outputs)


def keep_watched(folder: TrialFolder, keep: Callable[[TrialFolder], None]) -> None:
    """What a watch has to store."""
    with writing(folder.path):
        keep(folder)


def finish(folder: TrialFolder, record: TrialRecord) -> None:
    """The trial's record, which makes it count as stored."""
    resources = {name: spent.model_dump() for name, spent in record.resources.items()}
    _write(folder.resources_path, json.dumps(resources, indent=1))
    with writing(folder.record_path):
        folder.write_record(record)


def _write(path: Path, text: str) -> None:
    with writing(path):
        path.write_text(text, encoding="utf-8")


def _explained(error: Exception) -> tuple[str, str | None]:
    number = error.errno if isinstance(error, OSError) else None
    text = str(error)
    if number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) or "os error 28" in text or "os error 27" in text:
        return "there is no space left to store the trial", "free some space; the trial runs again with --resume"
    if number in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "it can't be written to", "choose another folder with --out, or change its permissions"
    return f"it can't be written: {text}", None
