"""The layout of a run folder: where each thing lies, and how it is read and written.

It interprets nothing: `manifest`, `record` and `schema` say what the files hold, `metrics` what they mean. Writing is
atomic (a temporary name, then a rename), so that a file that is there is whole; `campaign` writes through it, `report`
reads through it.

    <run>/manifest.json
    <run>/trials/<trial id>/trial.json spec.json events.jsonl received.parquet published.parquet resources.json logs/
                              *.beyond.hlog executions.parquet inputs.parquet outputs.parquet
                              processes.parquet machine.parquet kernel_path.parquet capture.pcapng
    <run>/summary.parquet
    <run>/report.html
"""

from __future__ import annotations

import os
import struct
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import polars as pl
from hdrh.codec import HdrCookieException, HdrLengthException
from pydantic import ValidationError

from middlemark.errors import StoreError
from middlemark.results.histogram_log import Logged, read_log
from middlemark.results.manifest import Manifest
from middlemark.results.record import TrialRecord
from middlemark.results.schema import (
    EXECUTIONS_SCHEMA,
    INPUTS_SCHEMA,
    KERNEL_EVENTS_SCHEMA,
    MACHINE_SCHEMA,
    OUTPUTS_SCHEMA,
    PROCESSES_SCHEMA,
    PUBLISHED_SCHEMA,
    RECEIVED_SCHEMA,
)
from middlemark.results.streaming import GROUP_ROWS, Frame, lazy, stored
from middlemark.suite import Model

if TYPE_CHECKING:
    from collections.abc import Iterator

R = TypeVar("R", bound=Model)
FEW_ROWS = 1 << 20
"""Of a file that is read at once: some 40 MB."""
Table = pl.DataFrame | pl.LazyFrame
"""Rows in memory, or those that are read a piece at a time while they are written."""
_REMEDY = "restore the file, or remove the trial's folder"


class Recorded(NamedTuple):
    """A trial's samples: their rows where they are few, else what reads them a piece at a time."""

    received: Frame
    published: Frame


@dataclass(frozen=True)
class TrialFolder:
    """The folder of one trial."""

    path: Path

    @property
    def id(self) -> str:
        """The trial's id."""
        return self.path.name

    @property
    def record_path(self) -> Path:
        """Written last: a trial with this file is complete."""
        return self.path / "trial.json"

    @property
    def spec_path(self) -> Path:
        """What every application and service was told."""
        return self.path / "spec.json"

    @property
    def events_path(self) -> Path:
        """What they said, one line of JSON an event."""
        return self.path / "events.jsonl"

    @property
    def resources_path(self) -> Path:
        """What each process spent over the window."""
        return self.path / "resources.json"

    @property
    def received_path(self) -> Path:
        """The subscribers' samples."""
        return self.path / "received.parquet"

    @property
    def published_path(self) -> Path:
        """The publishers' samples."""
        return self.path / "published.parquet"

    @property
    def logs_path(self) -> Path:
        """The folder of the processes' own logs."""
        return self.path / "logs"

    @property
    def processes_path(self) -> Path:
        """What each process used over time; of a trial whose observation is `resources`."""
        return self.path / "processes.parquet"

    @property
    def machine_path(self) -> Path:
        """What the machine had to wait for meanwhile."""
        return self.path / "machine.parquet"

    @property
    def capture_path(self) -> Path:
        """The frames on its links, for Wireshark; of a trial whose observation is `capture`."""
        return self.path / "capture.pcapng"

    def read_record(self) -> TrialRecord:
        """Read `trial.json`."""
        return _read(self.record_path, TrialRecord)

    def write_record(self, record: TrialRecord) -> None:
        """Write `trial.json`; all other files of the trial must be there already."""
        _write(self.record_path, record)

    def read_received(self) -> pl.DataFrame:
        """Read `received.parquet`; no rows where the trial left none."""
        return _read_samples(self.received_path, RECEIVED_SCHEMA)

    def read_published(self) -> pl.DataFrame:
        """Read `published.parquet`; no rows where the trial left none."""
        return _read_samples(self.published_path, PUBLISHED_SCHEMA)

    @contextmanager
    def reading_samples(self) -> Iterator[Recorded]:
        """Both files without the applications' names, while they are looked at: large ones are read no sooner."""
        try:
            yield Recorded(
                _scan_samples(self.received_path, RECEIVED_SCHEMA),
                _scan_samples(self.published_path, PUBLISHED_SCHEMA),
            )
        except pl.exceptions.PolarsError as cause:
            raise StoreError(self.path, "its samples can't be read", _REMEDY) from cause

    def read_beyond(self) -> list[Logged]:
        """Read the histograms of messages beyond the sample memory; none where it held all."""
        found = []
        for path in sorted(self.path.glob("*.beyond.hlog")):
            try:
                found += read_log(path.read_text(encoding="utf-8"))
            except (OSError, ValueError, HdrCookieException, HdrLengthException, struct.error, zlib.error) as cause:
                raise StoreError(path, "it can't be read", _REMEDY) from cause
        return found

    def write_samples(self, received: Table, published: Table) -> None:
        """Write both files of samples; columns and types must be those of the schemas."""
        _write_samples(self.received_path, received, RECEIVED_SCHEMA)
        _write_samples(self.published_path, published, PUBLISHED_SCHEMA)

    @property
    def kernel_path(self) -> Path:
        """What the kernel did for the processes; of a trial whose observation is `kernel_path`."""
        return self.path / "kernel_path.parquet"

    def read_kernel_events(self) -> pl.DataFrame:
        """Read `kernel_path.parquet`; no rows where the trial left none."""
        return _read_samples(self.kernel_path, KERNEL_EVENTS_SCHEMA)

    def write_kernel_events(self, events: pl.DataFrame) -> None:
        """Write what a kernel path observer recorded."""
        _write_samples(self.kernel_path, events, KERNEL_EVENTS_SCHEMA)

    def read_executions(self) -> pl.DataFrame:
        """Read `executions.parquet`; no rows where the trial has no nodes."""
        return _read_samples(self.path / "executions.parquet", EXECUTIONS_SCHEMA)

    def read_inputs(self) -> pl.DataFrame:
        """Read `inputs.parquet`; no rows where the trial has no nodes."""
        return _read_samples(self.path / "inputs.parquet", INPUTS_SCHEMA)

    def read_outputs(self) -> pl.DataFrame:
        """Read `outputs.parquet`; no rows where the trial has no nodes."""
        return _read_samples(self.path / "outputs.parquet", OUTPUTS_SCHEMA)

    def scan_nodes(self) -> tuple[pl.LazyFrame, pl.LazyFrame, pl.LazyFrame]:
        """Executions, inputs and outputs, without the applications' names; large files are read as far as needed."""
        schemas = {"executions": EXECUTIONS_SCHEMA, "inputs": INPUTS_SCHEMA, "outputs": OUTPUTS_SCHEMA}
        executions, inputs, outputs = (
            _scan_samples(self.path / f"{name}.parquet", schema) for name, schema in schemas.items()
        )
        return lazy(executions), lazy(inputs), lazy(outputs)

    def write_executions(self, executions: Table, inputs: Table, outputs: Table) -> None:
        """Write what the nodes did."""
        _write_samples(self.path / "executions.parquet", executions, EXECUTIONS_SCHEMA)
        _write_samples(self.path / "inputs.parquet", inputs, INPUTS_SCHEMA)
        _write_samples(self.path / "outputs.parquet", outputs, OUTPUTS_SCHEMA)

    def read_processes(self) -> pl.DataFrame:
        """Read `processes.parquet`; no rows where the trial left none."""
        return _read_samples(self.processes_path, PROCESSES_SCHEMA)

    def read_machine(self) -> pl.DataFrame:
        """Read `machine.parquet`; no rows where the trial left none."""
        return _read_samples(self.machine_path, MACHINE_SCHEMA, added=("host",))

    def write_resources(self, processes: pl.DataFrame, machine: pl.DataFrame) -> None:
        """Write both files of a resource observer."""
        _write_samples(self.processes_path, processes, PROCESSES_SCHEMA)
        _write_samples(self.machine_path, machine, MACHINE_SCHEMA)


@dataclass(frozen=True)
class RunFolder:
    """The folder of one run."""

    path: Path

    @property
    def manifest_path(self) -> Path:
        """What was asked for, and what it ran on."""
        return self.path / "manifest.json"

    @property
    def trials_path(self) -> Path:
        """One folder a trial."""
        return self.path / "trials"

    @property
    def summary_path(self) -> Path:
        """The estimates, one row an experiment, stream and metric."""
        return self.path / "summary.parquet"

    @property
    def report_path(self) -> Path:
        """The report to read."""
        return self.path / "report.html"

    def read_manifest(self) -> Manifest:
        """Read `manifest.json`; where there is none this is not a run folder."""
        if not self.path.is_dir():
            raise StoreError(
                self.path, "there is no such folder", "give the folder that `middlemark run` printed at its end"
            )
        if not self.manifest_path.is_file():
            raise StoreError(
                self.path,
                "it is not a run: it holds no manifest.json",
                "give the folder that `middlemark run` printed at its end",
            )
        return _read(self.manifest_path, Manifest)

    def write_manifest(self, manifest: Manifest) -> None:
        """Write `manifest.json`, first of all."""
        _write(self.manifest_path, manifest)

    def trial(self, trial_id: str) -> TrialFolder:
        """The folder of a trial, whether or not it is there yet."""
        return TrialFolder(self.trials_path / trial_id)

    def stored_trials(self) -> Iterator[TrialFolder]:
        """Every trial that is stored completely, by id."""
        if self.trials_path.is_dir():
            for folder in sorted(self.trials_path.iterdir()):
                if (folder / "trial.json").is_file():
                    yield TrialFolder(folder)


def _read(path: Path, model: type[R]) -> R:
    try:
        return model.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as cause:
        raise StoreError(path, "it can't be read", _REMEDY) from cause


def _write(path: Path, record: Model) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    with partial.open("w", encoding="utf-8") as file:
        file.write(record.model_dump_json(indent=1))
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def _read_samples(path: Path, schema: pl.Schema, added: tuple[str, ...] = ()) -> pl.DataFrame:
    """The table; columns that were added to the schema later are null in files that were stored before."""
    if not path.is_file():
        return pl.DataFrame(schema=schema)
    try:
        frame = pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as cause:
        raise StoreError(path, "it can't be read", _REMEDY) from cause
    later = [pl.lit(None, schema[name]).alias(name) for name in added if name not in frame.columns]
    frame = frame.with_columns(later).select(schema.names()) if later else frame
    _check_columns(path, frame.schema, schema)
    return frame


def _scan_samples(path: Path, schema: pl.Schema) -> Frame:
    if not path.is_file():
        return pl.DataFrame(schema=schema).drop("application")
    try:
        table = pl.scan_parquet(path, glob=False)
        _check_columns(path, table.collect_schema(), schema)
        n, narrow = table.select(pl.len()).collect().item(), table.drop("application")
        return narrow.collect() if n <= FEW_ROWS else stored(narrow, n)
    except (OSError, pl.exceptions.PolarsError) as cause:
        raise StoreError(path, "it can't be read", _REMEDY) from cause


def _write_samples(path: Path, table: Table, schema: pl.Schema) -> None:
    rows = table.lazy()
    _check_columns(path, rows.collect_schema(), schema)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    rows.sink_parquet(partial, compression="zstd", row_group_size=GROUP_ROWS)
    partial.replace(path)


def _check_columns(path: Path, found: pl.Schema, schema: pl.Schema) -> None:
    if found != schema:
        raise StoreError(path, f"its columns are {dict(found)}, not {dict(schema)}", "write it anew")
