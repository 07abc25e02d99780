"""The layout of a run folder: where each thing lies, and how it is read and written.

It interprets nothing: `manifest`, `record` and `schema` say what the files hold, `metrics` what they mean. Nothing that
is read is trusted: `paths` joins names, `files` and `tables` open what lies there, within `limits`. `campaign` writes
through it, `report` reads through it.

    <run>/manifest.json
    <run>/trials/<trial id>/trial.json spec.json events.jsonl received.parquet published.parquet resources.json logs/
                              metrics.json sketches.parquet
                              *.beyond.hlog executions.parquet inputs.parquet outputs.parquet
                              processes.parquet machine.parquet kernel_path.parquet capture.pcapng
    <run>/summary.parquet
    <run>/report.html
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from pydantic import ValidationError

from middlemark.errors import StoreError
from middlemark.plan import Trial
from middlemark.results import files
from middlemark.results.files import check_owner, folder_inside, inside, is_there, read_bytes, write_text
from middlemark.results.histogram_log import Logged, read_log
from middlemark.results.manifest import Manifest, RunHead
from middlemark.results.record import TrialRecord
from middlemark.results.streaming import Frame, lazy
from middlemark.results.tables import (
    EXECUTIONS_SCHEMA,
    INPUTS_SCHEMA,
    KERNEL_EVENTS_SCHEMA,
    MACHINE_SCHEMA,
    OUTPUTS_SCHEMA,
    PROCESSES_SCHEMA,
    PUBLISHED_SCHEMA,
    RECEIVED_SCHEMA,
    UNREADABLE,
    Table,
    read_table,
    scan_table,
    write_table,
)
from middlemark.suite import Model

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl
import pydantic_core

R = TypeVar("R", bound=Model)
_REMEDY = "restore the file, or remove the trial's folder"
_CONTRADICTIONS = (*UNREADABLE, ArithmeticError, LookupError, ValueError, MemoryError)
"""What comes of rows that are not of the trial's plan: more than can be looked for beforehand."""


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

    def _at(self, name: str) -> Path:
        return inside(self.path.parent, self.path.name, name)

    @property
    def record_path(self) -> Path:
        """Written last: a trial with this file is complete."""
        return self._at("trial.json")

    @property
    def spec_path(self) -> Path:
        """What every application and service was told."""
        return self._at("spec.json")

    @property
    def events_path(self) -> Path:
        """What they said, one line of JSON an event."""
        return self._at("events.jsonl")

    @property
    def resources_path(self) -> Path:
        """What each process spent over the window."""
        return self._at("resources.json")

    @property
    def received_path(self) -> Path:
        """The subscribers' samples."""
        return self._at("received.parquet")

    @property
    def published_path(self) -> Path:
        """The publishers' samples."""
        return self._at("published.parquet")

    @property
    def metrics_path(self) -> Path:
        """Its metrics, as its campaign computed them."""
        return self._at("metrics.json")

    @property
    def sketches_path(self) -> Path:
        """Its distributions in little room."""
        return self._at("sketches.parquet")

    @property
    def logs_path(self) -> Path:
        """The folder of the processes' own logs."""
        return self._at("logs")

    @property
    def processes_path(self) -> Path:
        """What each process used over time; of a trial whose observation is `resources`."""
        return self._at("processes.parquet")

    @property
    def machine_path(self) -> Path:
        """What the machine had to wait for meanwhile."""
        return self._at("machine.parquet")

    @property
    def capture_path(self) -> Path:
        """The frames on its links, for Wireshark; of a trial whose observation is `capture`."""
        return self._at("capture.pcapng")

    def read_record(self) -> TrialRecord:
        """Read `trial.json`, which must be the record of this trial."""
        record = _read(self.record_path, TrialRecord, files.MOST_RECORD_BYTES)
        if record.trial.id != self.id:
            raise StoreError(self.record_path, f"it is the record of {record.trial.id!r}", _REMEDY)
        return record

    def read_record_of(self, planned: Trial | None) -> TrialRecord:
        """The same, which must be of the trial that the manifest plans under this name."""
        record = self.read_record()
        if record.trial != planned:
            raise StoreError(self.record_path, "it is not of the trial that the manifest plans", _REMEDY)
        return record

    def write_record(self, record: TrialRecord) -> None:
        """Write `trial.json`; all other files of the trial must be there already."""
        _write(self.record_path, record)

    def read_received(self) -> pl.DataFrame:
        """Read `received.parquet`; no rows where the trial left none."""
        return read_table(self.received_path, RECEIVED_SCHEMA)

    def read_published(self) -> pl.DataFrame:
        """Read `published.parquet`; no rows where the trial left none."""
        return read_table(self.published_path, PUBLISHED_SCHEMA)

    @contextmanager
    def reading_samples(self) -> Iterator[Recorded]:
        """Both files without the applications' names, while they are looked at: large ones are read no sooner."""
        try:
            yield Recorded(
                scan_table(self.received_path, RECEIVED_SCHEMA),
                scan_table(self.published_path, PUBLISHED_SCHEMA),
            )
        except _CONTRADICTIONS as cause:
            said = f"{type(cause).__name__}: {cause}".splitlines()[0]
            raise StoreError(self.path, f"its samples can't be those of its trial: {said}", _REMEDY) from cause

    def read_beyond(self) -> list[Logged]:
        """Read the histograms of messages beyond the sample memory; none where it held all."""
        names = sorted(path.name for path in self.path.glob("*.beyond.hlog"))
        return [each for name in names for each in read_log(self._at(name))]

    def write_samples(self, received: Table, published: Table) -> None:
        """Write both files of samples; columns and types must be those of the schemas."""
        write_table(self.received_path, received, RECEIVED_SCHEMA)
        write_table(self.published_path, published, PUBLISHED_SCHEMA)

    @property
    def kernel_path(self) -> Path:
        """What the kernel did for the processes; of a trial whose observation is `kernel_path`."""
        return self._at("kernel_path.parquet")

    def read_kernel_events(self) -> pl.DataFrame:
        """Read `kernel_path.parquet`; no rows where the trial left none."""
        return read_table(self.kernel_path, KERNEL_EVENTS_SCHEMA)

    def write_kernel_events(self, events: pl.DataFrame) -> None:
        """Write what a kernel path observer recorded."""
        write_table(self.kernel_path, events, KERNEL_EVENTS_SCHEMA)

    def read_executions(self) -> pl.DataFrame:
        """Read `executions.parquet`; no rows where the trial has no nodes."""
        return read_table(self._at("executions.parquet"), EXECUTIONS_SCHEMA)

    def read_inputs(self) -> pl.DataFrame:
        """Read `inputs.parquet`; no rows where the trial has no nodes."""
        return read_table(self._at("inputs.parquet"), INPUTS_SCHEMA)

    def read_outputs(self) -> pl.DataFrame:
        """Read `outputs.parquet`; no rows where the trial has no nodes."""
        return read_table(self._at("outputs.parquet"), OUTPUTS_SCHEMA)

    def scan_nodes(self) -> tuple[pl.LazyFrame, pl.LazyFrame, pl.LazyFrame]:
        """Executions, inputs and outputs, without the applications' names; large files are read as far as needed."""
        schemas = {"executions": EXECUTIONS_SCHEMA, "inputs": INPUTS_SCHEMA, "outputs": OUTPUTS_SCHEMA}
        executions, inputs, outputs = (
            scan_table(self._at(f"{name}.parquet"), schema) for name, schema in schemas.items()
        )
        return lazy(executions), lazy(inputs), lazy(outputs)

    def write_executions(self, executions: Table, inputs: Table, outputs: Table) -> None:
        """Write what the nodes did."""
        write_table(self._at("executions.parquet"), executions, EXECUTIONS_SCHEMA)
        write_table(self._at("inputs.parquet"), inputs, INPUTS_SCHEMA)
        write_table(self._at("outputs.parquet"), outputs, OUTPUTS_SCHEMA)

    def read_processes(self) -> pl.DataFrame:
        """Read `processes.parquet`; no rows where the trial left none."""
        return read_table(self.processes_path, PROCESSES_SCHEMA)

    def read_machine(self) -> pl.DataFrame:
        """Read `machine.parquet`; no rows where the trial left none."""
        return read_table(self.machine_path, MACHINE_SCHEMA, added=("host",))

    def write_resources(self, processes: pl.DataFrame, machine: pl.DataFrame) -> None:
        """Write both files of a resource observer."""
        write_table(self.processes_path, processes, PROCESSES_SCHEMA)
        write_table(self.machine_path, machine, MACHINE_SCHEMA)


@dataclass(frozen=True)
class RunFolder:
    """The folder of one run."""

    path: Path
    is_trusted: bool = False
    """Whether it may be another user's."""

    @property
    def manifest_path(self) -> Path:
        """What was asked for, and what it ran on."""
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
        return _read(self.manifest_path, Manifest, files.MOST_MANIFEST_BYTES)

    def read_head(self) -> tuple[RunHead, int]:
        """The head of `manifest.json`, and how many trials are planned; at the trials themselves it does not look."""
        self._check_is_run()
        path = self.manifest_path
        try:
            said = pydantic_core.from_json(read_bytes(path, files.MOST_MANIFEST_BYTES))
            if not (isinstance(said, dict) and isinstance(said.get("trials"), list)):
                raise StoreError(path, "it can't be read: it names no trials", _REMEDY)
            head = RunHead.model_validate({name: said[name] for name in RunHead.model_fields if name in said})
        except ValueError as cause:  # pydantic's own is one
            raise StoreError(path, f"it can't be read: {str(cause).splitlines()[0]}", _REMEDY) from cause
        return head, len(said["trials"])

    def _check_is_run(self) -> None:
        if not self.path.is_dir():
            raise StoreError(
                self.path, "there is no such folder", "give the folder that `middlemark run` printed at its end"
            )
        if not self.is_trusted:
            check_owner(self.path)
        if not is_there(self.manifest_path):
            raise StoreError(
                self.path,
                "it is not a run: it holds no manifest.json",
                "give the folder that `middlemark run` printed at its end",
            )

    def write_manifest(self, manifest: Manifest) -> None:
        """Write `manifest.json`, first of all."""
        _write(self.manifest_path, manifest)

    def trial(self, trial_id: str) -> TrialFolder:
        """The folder of a trial, whether or not it is there yet."""
        return TrialFolder(folder_inside(self.trials_path, trial_id))

    def stored_trials(self) -> Iterator[TrialFolder]:
        """Every trial that is stored completely, by id; one that can't be a trial's says so when it is read."""
        if not self.trials_path.is_dir():
            return
        names = [path.name for path in self.trials_path.iterdir() if is_there(path / "trial.json")]
        if len(names) > files.MOST_TRIALS:
            raise StoreError(self.trials_path, f"it has {len(names)} trials, and at most {files.MOST_TRIALS} are read")
        yield from (TrialFolder(self.trials_path / name) for name in sorted(names))


def _read(path: Path, model: type[R], most_bytes: int) -> R:
    content = read_bytes(path, most_bytes)
    try:
        return model.model_validate_json(content)
    except ValidationError as cause:
        first = cause.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise StoreError(path, f"it can't be read: {field + ': ' if field else ''}{first['msg']}", _REMEDY) from cause


def _write(path: Path, record: Model) -> None:
    write_text(path, record.model_dump_json(indent=1))
