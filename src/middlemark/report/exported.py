"""A run in the forms that other tools read: Parquet, CSV and JSON of its frames, OpenMetrics text of its estimates.

`analysis.loaded` makes the frames, `analysis.percentile_tables` the percentile tables; here they become files. What
the columns mean is said by the JSON Schema that goes with the JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
from prometheus_client.core import CollectorRegistry, GaugeMetricFamily
from prometheus_client.openmetrics.exposition import generate_latest

from middlemark.analysis.loaded import METRICS_SCHEMA, TRIALS_SCHEMA, LoadedRun
from middlemark.analysis.percentile_tables import percentile_tables
from middlemark.analysis.summary import SCHEMA as ESTIMATES_SCHEMA
from middlemark.analysis.warning_table import WARNINGS_SCHEMA
from middlemark.plan import Caution
from middlemark.report.formats import ExportFormat
from middlemark.results.files import write_text, write_with
from middlemark.results.manifest import Manifest
from middlemark.results.paths import file_name
from middlemark.results.record import FORMAT_VERSION, TrialRecord

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
    if kind is ExportFormat.HGRM:
        tables, damaged = percentile_tables(run.folder)
        run.note(damaged)
        return [write_text(folder / file_name(table.name), table.text) for table in tables]
    if kind is ExportFormat.OPENMETRICS:
        return [write_text(folder / "estimates.openmetrics.txt", openmetrics(run))]
    frames = {"trials": run.trials, "metrics": run.metrics, "estimates": run.estimates, "warnings": run.warnings}
    if kind is ExportFormat.JSON:
        said = write_text(folder / "run.json", json.dumps(as_json(run, frames)) + "\n")
        return [said, *(_write_schema(folder / f"{name}.schema.json", schema) for name, schema in schemas().items())]
    if kind is ExportFormat.CSV:
        return [write_text(folder / f"{name}.csv", _flat(frame).write_csv()) for name, frame in frames.items()]
    return [write_with(folder / f"{name}.parquet", frame.write_parquet) for name, frame in frames.items()]


def schemas() -> dict[str, dict[str, Any]]:
    """The JSON Schemas of the export, and of the records in the run folder that it was made from."""
    return {"run": json_schema(), "manifest": Manifest.model_json_schema(), "trial": TrialRecord.model_json_schema()}


def _write_schema(path: Path, schema: Mapping[str, Any]) -> Path:
    return write_text(path, json.dumps(schema, indent=2) + "\n")


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    """CSV has no lists: the kinds of a trial's warnings in one cell."""
    lists = [name for name, kind in frame.schema.items() if isinstance(kind, pl.List)]
    return frame.with_columns(pl.col(name).list.join(" ") for name in lists)


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


LABELS = ("experiment", "middleware", "profile", "workload", "observation", "subject")


def openmetrics(run: LoadedRun) -> str:
    """Every estimate as a gauge with its interval's ends, stamped with the run's begin; names keep their units."""
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
            about = f"{row['metric']} over trials: the estimate and the ends of its interval"
            family = families.setdefault(name, GaugeMetricFamily(name, about, labels=[*LABELS, "statistic"]))
            for statistic in ("estimate", "low", "high"):
                if row[statistic] is not None:
                    labels = [row[label] or "" for label in LABELS]
                    family.add_metric([*labels, statistic], row[statistic], timestamp=at_s)
        return list(families.values())
