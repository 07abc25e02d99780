"""The folder of one trial: where each of its files lies, and how they are read and written, the record last of all.

A kill at any instant loses at most the trial under way: its folder has no `trial.json`, and `clear` empties it. It
interprets nothing: `record` and `tables` say what the files hold, `run_folder` has the folders of all trials.
"""

from __future__ import annotations

import json
import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from middlemark.errors import StoreError
from middlemark.results.files import (
    MOST_RECORD_BYTES,
    RESTORE,
    folder_inside,
    inside,
    is_there,
    read_bytes,
    read_model,
    sync_all,
    write_bytes,
    write_model,
    write_text,
    writing,
)
from middlemark.results.histogram_log import MOST_HISTOGRAM_LOG_BYTES, FlowHistogram, read_log
from middlemark.results.record import TrialRecord
from middlemark.results.streaming import Frame, lazy_rows
from middlemark.results.tables import (
    EXECUTIONS_SCHEMA,
    INPUTS_SCHEMA,
    KERNEL_EVENTS_SCHEMA,
    MACHINE_SCHEMA,
    OUTPUTS_SCHEMA,
    PROCESSES_SCHEMA,
    PUBLISHED_SCHEMA,
    RECEIVED_SCHEMA,
    SKETCHES_SCHEMA,
    UNREADABLE,
    Table,
    read_table,
    scan_table,
    write_table,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import polars as pl
    from pydantic import BaseModel

    from middlemark.plan import Trial

_CONTRADICTIONS = (*UNREADABLE, ArithmeticError, LookupError, ValueError, MemoryError)
"""What comes of rows that are not of the trial's plan: more than can be looked for beforehand."""


class Samples(NamedTuple):
    """A trial's samples: their rows where they are few, else what reads them a chunk at a time."""

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
        """The spec of every application and service."""
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
        record = read_model(self.record_path, TrialRecord, MOST_RECORD_BYTES)
        if record.trial.id != self.id:
            raise StoreError(self.record_path, f"it is the record of {record.trial.id!r}", RESTORE)
        return record

    def read_record_of(self, planned: Trial | None) -> TrialRecord:
        """The same, which must be of the trial that the manifest plans under this name."""
        record = self.read_record()
        if record.trial != planned:
            raise StoreError(self.record_path, "it is not of the trial that the manifest plans", RESTORE)
        return record

    def write_record(self, record: TrialRecord) -> None:
        """Write `trial.json`; all other files of the trial must be there already."""
        write_model(self.record_path, record)

    def read_received(self) -> pl.DataFrame:
        """Read `received.parquet`; no rows where the trial left none."""
        return read_table(self.received_path, RECEIVED_SCHEMA)

    def read_published(self) -> pl.DataFrame:
        """Read `published.parquet`; no rows where the trial left none."""
        return read_table(self.published_path, PUBLISHED_SCHEMA)

    @contextmanager
    def reading_samples(self) -> Iterator[Samples]:
        """Both files without the applications' names, while they are looked at: large ones are read no sooner."""
        try:
            yield Samples(
                scan_table(self.received_path, RECEIVED_SCHEMA),
                scan_table(self.published_path, PUBLISHED_SCHEMA),
            )
        except _CONTRADICTIONS as cause:
            message = f"{type(cause).__name__}: {cause}".splitlines()[0]
            raise StoreError(self.path, f"its samples can't be those of its trial: {message}", RESTORE) from cause

    def read_overflow(self) -> list[FlowHistogram]:
        """Read the histograms of messages beyond the sample memory; none where it held all."""
        names = sorted(path.name for path in self.path.glob("*.beyond.hlog"))
        return [histogram for name in names for histogram in read_log(self._at(name))]

    def write_samples(self, received: Table, published: Table, histogram_logs: Iterable[Path] = ()) -> None:
        """Write the samples, and the histograms of what overflowed them; columns must be those of the schemas."""
        with writing(self.path):
            write_table(self.received_path, received, RECEIVED_SCHEMA)
            write_table(self.published_path, published, PUBLISHED_SCHEMA)
            for log in histogram_logs:
                write_bytes(self._at(log.name), read_bytes(log, MOST_HISTOGRAM_LOG_BYTES))

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
        return lazy_rows(executions), lazy_rows(inputs), lazy_rows(outputs)

    def write_executions(self, executions: Table, inputs: Table, outputs: Table) -> None:
        """Write what the nodes did, took and sent."""
        with writing(self.path):
            write_table(self._at("executions.parquet"), executions, EXECUTIONS_SCHEMA)
            write_table(self._at("inputs.parquet"), inputs, INPUTS_SCHEMA)
            write_table(self._at("outputs.parquet"), outputs, OUTPUTS_SCHEMA)

    def read_processes(self) -> pl.DataFrame:
        """Read `processes.parquet`; no rows where the trial left none."""
        return read_table(self.processes_path, PROCESSES_SCHEMA)

    def read_machine(self) -> pl.DataFrame:
        """Read `machine.parquet`; no rows where the trial left none."""
        return read_table(self.machine_path, MACHINE_SCHEMA)

    def write_resources(self, processes: pl.DataFrame, machine: pl.DataFrame) -> None:
        """Write both files of a resource observer."""
        write_table(self.processes_path, processes, PROCESSES_SCHEMA)
        write_table(self.machine_path, machine, MACHINE_SCHEMA)

    def clear(self) -> None:
        """Have an empty folder for the trial, whatever an interrupted attempt left there."""
        path = folder_inside(self.path.parent, self.id)
        if path.parent.name != "trials" or is_there(path):
            raise StoreError(
                path, "it is not the folder of a trial", "remove it, and continue with `middlemark run --resume`"
            )
        with writing(path):
            if path.exists():
                shutil.rmtree(path)
            path.mkdir(parents=True)
            self.logs_path.mkdir()

    def write_specs(self, specs: Mapping[str, BaseModel]) -> None:
        """Write the spec of each process."""
        text = json.dumps({name: spec.model_dump(mode="json") for name, spec in specs.items()}, indent=1)
        write_text(self.spec_path, text)

    def write_events(self, lines: Sequence[str]) -> None:
        """Write the events of the processes, as they came."""
        write_text(self.events_path, "".join(line + "\n" for line in lines))

    def write_metrics(self, metrics: BaseModel, sketches: pl.DataFrame) -> None:
        """Write the metrics and distributions; a document that is there has its distributions beside it."""
        with writing(self.path):
            self.metrics_path.unlink(missing_ok=True)
        write_table(self.sketches_path, sketches, SKETCHES_SCHEMA)
        write_text(self.metrics_path, metrics.model_dump_json())

    def finish(self, record: TrialRecord) -> None:
        """Write the trial's record, which makes it count as stored: all else of it is durable before."""
        resources = {name: spent.model_dump() for name, spent in record.resources.items()}
        write_text(self.resources_path, json.dumps(resources, indent=1))
        sync_all(self.path)
        self.write_record(record)
