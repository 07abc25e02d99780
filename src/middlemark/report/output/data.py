"""A run in the forms that other tools read: Parquet, CSV, JSON, OpenMetrics, HdrHistogram; and its own stored metrics.

`analysis.dataframes` makes the frames, and the JSON Schema that goes with the JSON says what their columns mean. One
trial's samples are in memory at a time, so that runs of any length can be read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
from hdrh.histogram import HdrHistogram
from prometheus_client.core import CollectorRegistry, GaugeMetricFamily
from prometheus_client.openmetrics.exposition import generate_latest

from middlemark.analysis.dataframes import METRICS_SCHEMA, TRIALS_SCHEMA, WARNINGS_SCHEMA, LoadedRun, summary_table
from middlemark.analysis.dataframes import SCHEMA as ESTIMATES_SCHEMA
from middlemark.analysis.metrics.accounting import AccountingError
from middlemark.analysis.metrics.stored import measure, metrics_from_samples, stored_form
from middlemark.analysis.run import Damage, RunFindings
from middlemark.analysis.stats.quantiles import Sketch, is_measurable
from middlemark.analysis.stats.shapes import bucketed, empty_histogram, histogram_of, percentile_table
from middlemark.errors import StoreError
from middlemark.plan import Caution
from middlemark.report.elements.plain_text import csv_text
from middlemark.report.output.formats import ExportFormat
from middlemark.results.files import file_name, write_text
from middlemark.results.manifest import Manifest
from middlemark.results.record import FORMAT_VERSION, TrialRecord, is_valid
from middlemark.results.run_folder import RunFolder
from middlemark.results.tables import write_parquet
from middlemark.results.trial_folder import TrialFolder
from middlemark.suite.metrics import Distribution


def recompute_metrics(folder: RunFolder) -> None:
    """Compute the metrics of every valid trial from its samples again and store them; a damaged one is left alone."""
    with folder.locked():
        folder.read_manifest()
        for trial in folder.stored_trials():
            try:
                record = trial.read_record()
                stored = stored_form(measure(trial, record)) if is_valid(record) else None
            except (StoreError, AccountingError):
                continue  # who analyses the run names it
            if stored is not None:
                trial.write_metrics(*stored)


def write_summary(findings: RunFindings) -> Path:
    """Write `summary.parquet`."""
    return write_parquet(findings.folder.summary_path, summary_table(findings).write_parquet)


@dataclass
class _Gathered:
    histogram: HdrHistogram = field(default_factory=empty_histogram)
    negative: int = 0
    lost: int = 0
    trials: int = 0
    bound_ns: int = 0

    @property
    def is_measurable(self) -> bool:
        """Whether there is any of it that clocks of different machines allow to measure."""
        return self.histogram.get_total_count() > 0 and is_measurable(self.histogram.get_max_value(), self.bound_ns)


@dataclass(frozen=True)
class PercentileTable:
    """One distribution of one stream of one experiment."""

    experiment: str
    stream: str
    distribution: Distribution
    text: str

    @property
    def name(self) -> str:
        """What its file is called."""
        return f"{self.experiment}.{self.stream}.{self.distribution}.hgrm"


def percentile_tables(folder: RunFolder) -> tuple[list[PercentileTable], list[Damage]]:
    """The tables of all distributions that a run has, by experiment, and the trials that can't be used."""
    gathered: dict[tuple[str, str, Distribution], _Gathered] = {}
    damaged = []
    for trial in folder.stored_trials():
        try:
            of_trial = _samples(trial)
        except (StoreError, AccountingError) as error:
            damaged.append(Damage(trial.id, str(error)))
            continue
        for (experiment, stream, kind), samples in of_trial.items():
            whole = gathered.setdefault((experiment, stream, kind), _Gathered())
            histogram, negative = histogram_of(samples)
            whole.histogram.add(histogram)
            whole.negative += negative
            whole.lost += samples.lost
            whole.trials += 1
            whole.bound_ns = max(whole.bound_ns, samples.bound_ns)
    return [_table(key, whole) for key, whole in sorted(gathered.items()) if whole.is_measurable], damaged


def _table(key: tuple[str, str, Distribution], whole: _Gathered) -> PercentileTable:
    clocks = f", ClockBound = {whole.bound_ns}" if whole.bound_ns else ""
    counts = f"Trials = {whole.trials}, Negative = {whole.negative}, Lost = {whole.lost}"
    facts = f"#[Unit = ns, {counts}{clocks}]\n"
    return PercentileTable(*key, percentile_table(whole.histogram, whole.bound_ns) + facts)


def _samples(trial: TrialFolder) -> Mapping[tuple[str, str, Distribution], Sketch]:
    """Each distribution as far as a histogram tells its values apart."""
    record = trial.read_record()
    if not is_valid(record) or record.trial.observation is not None:
        return {}
    experiment = record.trial.experiment
    with trial.reading_samples() as samples:
        metrics = metrics_from_samples(trial, record, samples, bucketed)
    return {(experiment.id, *key): sketch for key, sketch in metrics.samples.items()}


SCHEMAS = {
    "trials": TRIALS_SCHEMA,
    "metrics": METRICS_SCHEMA,
    "estimates": ESTIMATES_SCHEMA,
    "warnings": WARNINGS_SCHEMA,
}
JSON_TYPES: dict[Any, str] = {pl.String: "string", pl.Float64: "number", pl.Int64: "integer", pl.Boolean: "boolean"}
NEVER_NULL = {"trial", "experiment", "middleware", "subject", "metric", "outcome", "kind", "text", "remedy"}


def export(run: LoadedRun, kind: ExportFormat, folder: Path) -> list[Path]:
    """Write a run into a folder; damaged trials are left out and named in `run.damaged`."""
    match kind:
        case ExportFormat.HGRM:
            tables, damaged = percentile_tables(run.folder)
            run.note(damaged)
            return [write_text(folder / file_name(table.name), table.text) for table in tables]
        case ExportFormat.OPENMETRICS:
            return [write_text(folder / "estimates.openmetrics.txt", openmetrics(run))]
        case ExportFormat.JSON:
            written = write_text(folder / "run.json", json.dumps(as_json(run, _frames(run))) + "\n")
            return [
                written,
                *(_write_schema(folder / f"{name}.schema.json", schema) for name, schema in schemas().items()),
            ]
        case ExportFormat.CSV:
            return [
                write_text(folder / f"{name}.csv", _flat(frame).write_csv()) for name, frame in _frames(run).items()
            ]
        case ExportFormat.PARQUET:
            return [
                write_parquet(folder / f"{name}.parquet", frame.write_parquet) for name, frame in _frames(run).items()
            ]


def _frames(run: LoadedRun) -> dict[str, pl.DataFrame]:
    return {"trials": run.trials, "metrics": run.metrics, "estimates": run.estimates, "warnings": run.warnings}


def schemas() -> dict[str, dict[str, Any]]:
    """The JSON Schemas of the export, and of the records in the run folder that it was made from."""
    return {"run": json_schema(), "manifest": Manifest.model_json_schema(), "trial": TrialRecord.model_json_schema()}


def _write_schema(path: Path, schema: Mapping[str, Any]) -> Path:
    return write_text(path, json.dumps(schema, indent=2) + "\n")


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    """CSV has no lists, the kinds of a trial's warnings are in one cell; and no text of it is computed."""
    lists = [name for name, kind in frame.schema.items() if isinstance(kind, pl.List)]
    joined = frame.with_columns(pl.col(name).list.join(" ") for name in lists)
    return joined.with_columns(pl.col(pl.String).map_elements(csv_text, return_dtype=pl.String))


def as_json(run: LoadedRun, frames: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    """All frames as lists of rows, under the version of the format."""
    return {
        "$schema": "run.schema.json",
        "format_version": FORMAT_VERSION,
        "middlemark_version": run.manifest.middlemark_version,
        "suite": run.manifest.suite,
        "started_at": run.manifest.started_at,
        "machine": run.manifest.machine,
        "machine_warnings": [caution.model_dump(mode="json") for caution in run.manifest.warnings],
        **{name: frame.to_dicts() for name, frame in frames.items()},
        "damaged": {damage.trial: damage.problem for damage in run.damaged},
    }


def json_schema() -> dict[str, Any]:
    """The JSON Schema of `as_json`, made from the frames' own schemas."""
    text = {"type": "string"}
    properties: dict[str, Any] = {
        "$schema": text,
        "format_version": {"const": FORMAT_VERSION},
        "middlemark_version": text,
        "suite": text,
        "started_at": {"type": "string", "format": "date-time"},
        "machine": {"type": "object"},
        "machine_warnings": {"type": "array", "items": _closed(dict.fromkeys(Caution.model_fields, text))},
        **{name: {"type": "array", "items": _row_schema(schema)} for name, schema in SCHEMAS.items()},
        "damaged": {"type": "object", "additionalProperties": text},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A run of Middlemark: its trials, the metrics of each, and the estimates over trials",
        **_closed(properties),
    }


def _row_schema(schema: pl.Schema) -> dict[str, Any]:
    return _closed({name: _value_schema(name, kind) for name, kind in schema.items()})


def _value_schema(name: str, kind: pl.DataType) -> dict[str, Any]:
    if isinstance(kind, pl.List):
        return {"type": "array", "items": {"type": "string"}}
    plain = JSON_TYPES[type(kind)]
    return {"type": plain} if name in NEVER_NULL else {"type": [plain, "null"]}


def _closed(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


LABELS = ("experiment", "middleware", "profile", "delivery", "workload", "observation", "subject")


def openmetrics(run: LoadedRun) -> str:
    """Every estimate as a gauge with its interval's ends, stamped with the run's start; names keep their units."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Estimates(run))
    text: bytes = generate_latest(registry)  # type: ignore[no-untyped-call] # the library has types elsewhere only
    return text.decode()


class _Estimates:
    """What the library collects from."""

    def __init__(self, run: LoadedRun) -> None:
        self.run = run

    def collect(self) -> list[GaugeMetricFamily]:
        at_s = datetime.fromisoformat(self.run.manifest.started_at).timestamp()
        families: dict[str, GaugeMetricFamily] = {}
        for row in self.run.estimates.filter(pl.col("estimate").is_not_null()).iter_rows(named=True):
            name = f"middlemark_{row['metric']}"
            help_text = f"{row['metric']} over trials: the estimate and the ends of its interval"
            family = families.setdefault(name, GaugeMetricFamily(name, help_text, labels=[*LABELS, "statistic"]))
            for statistic in ("estimate", "low", "high"):
                if row[statistic] is not None:
                    labels = [row[label] or "" for label in LABELS]
                    family.add_metric([*labels, statistic], row[statistic], timestamp=at_s)
        return list(families.values())
