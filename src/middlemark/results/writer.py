"""The run folder while a campaign writes it: one writer at a time, one trial at a time, the trial's record last.

A kill at any instant loses at most the trial under way: its folder has no `trial.json`, and `fresh` empties it. What
each file holds is `run_folder`'s business; what can't be written becomes one `StoreError` with its remedy.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import polars as pl
from pydantic import BaseModel

from middlemark.errors import StoreError
from middlemark.results.files import (
    folder_inside,
    inside,
    is_there,
    make_folder,
    sync_all,
    write_text,
    write_with,
    writing,
)
from middlemark.results.manifest import Manifest
from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import RunFolder, TrialFolder
from middlemark.results.tables import SKETCHES_SCHEMA, write_table


@contextmanager
def created(path: Path, manifest: Manifest) -> Iterator[RunFolder]:
    """A new run folder with its manifest, locked for this process from before it looks whether there is a run."""
    with writing(path):
        make_folder(path)
    run = RunFolder(path)
    with reopened(run):
        if is_there(run.manifest_path):
            raise StoreError(path, "there is a run in it already", f"go on with it: middlemark run --resume {path}")
        with writing(path):
            run.trials_path.mkdir(exist_ok=True)
        run.write_manifest(manifest)
        yield run


@contextmanager
def reopened(run: RunFolder) -> Iterator[None]:
    """An existing folder, locked for this process before anything in it is read."""
    path = run.path
    with writing(path):  # the folder, as the manifest is replaced when a campaign decides on further trials
        file = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StoreError(path, "another middlemark is writing into it", "wait until that run has ended") from error
        yield
    finally:
        os.close(file)


def fresh(folder: TrialFolder) -> None:
    """An empty folder for a trial, whatever an interrupted attempt left there."""
    path = folder_inside(folder.path.parent, folder.id)
    if path.parent.name != "trials" or is_there(path):
        raise StoreError(path, "it is no folder of a trial", "remove it, and go on with `middlemark run --resume`")
    with writing(path):
        if path.exists():
            shutil.rmtree(path)
        path.mkdir(parents=True)
        folder.logs_path.mkdir()


def keep_specs(folder: TrialFolder, specs: Mapping[str, BaseModel]) -> None:
    """What each process was told."""
    text = json.dumps({name: spec.model_dump(mode="json") for name, spec in specs.items()}, indent=1)
    write_text(folder.spec_path, text)


def keep_events(folder: TrialFolder, lines: Sequence[str]) -> None:
    """What the processes said, as it came."""
    write_text(folder.events_path, "".join(line + "\n" for line in lines))


def keep_samples(folder: TrialFolder, received: pl.LazyFrame, published: pl.LazyFrame, files: Iterable[Path]) -> None:
    """The samples, and the histograms of what is beyond them."""
    with writing(folder.path):
        folder.write_samples(received, published)
        for file in files:
            write_with(inside(folder.path, file.name), partial(shutil.copyfile, file))


def keep_executions(folder: TrialFolder, executions: pl.LazyFrame, inputs: pl.LazyFrame, outputs: pl.LazyFrame) -> None:
    """What the nodes did, took and sent."""
    with writing(folder.path):
        folder.write_executions(executions, inputs, outputs)


def keep_watched(folder: TrialFolder, keep: Callable[[TrialFolder], None]) -> None:
    """What a watch has to store."""
    with writing(folder.path):
        keep(folder)


def keep_metrics(folder: TrialFolder, metrics: BaseModel, sketches: pl.DataFrame) -> None:
    """The trial's metrics and distributions; a document that is there has its distributions beside it."""
    with writing(folder.path):
        folder.metrics_path.unlink(missing_ok=True)
    write_table(folder.sketches_path, sketches, SKETCHES_SCHEMA)
    write_text(folder.metrics_path, metrics.model_dump_json())


def finish(folder: TrialFolder, record: TrialRecord) -> None:
    """The trial's record, which makes it count as stored: all else of it is durable before."""
    resources = {name: spent.model_dump() for name, spent in record.resources.items()}
    write_text(folder.resources_path, json.dumps(resources, indent=1))
    sync_all(folder.path)
    folder.write_record(record)
