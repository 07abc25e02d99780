"""A run as data frames, for notebooks and exports: its trials, each trial's metrics, estimates, warnings and samples.

Records are read at once, metrics and estimates are computed when they are first used, one trial in memory at a time,
and samples are read only as far as the reader collects them. Damaged trials are named and left out; the report writes
the tables of estimates and warnings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import polars as pl

from middlemark.analysis.experiment.conditions import delivery_told
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.metrics.accounting import AccountingError
from middlemark.analysis.metrics.stored import load_or_measure
from middlemark.analysis.run import Damage, RunFindings, analyse, read_records
from middlemark.analysis.stats.quantiles import Measured
from middlemark.errors import StoreError
from middlemark.plan import NotApplicable
from middlemark.results.files import is_there
from middlemark.results.manifest import Manifest
from middlemark.results.record import TrialRecord, is_valid
from middlemark.results.run_folder import RunFolder
from middlemark.results.tables import PUBLISHED_SCHEMA, RECEIVED_SCHEMA, check_table
from middlemark.results.trial_folder import TrialFolder

EXPERIMENT_COLUMNS = {
    name: pl.String()
    for name in ("experiment", "middleware", "profile", "delivery", "workload", "factors", "observation")
}
"""A null `observation`: the trials were unobserved; `factors` are all of them in one line.

`delivery` is who called the applications with messages; null where no trial recorded it."""
SCHEMA = pl.Schema(
    {
        **EXPERIMENT_COLUMNS,
        "subject": pl.String(),
        "metric": pl.String(),
        "estimate": pl.Float64(),
        "low": pl.Float64(),
        "high": pl.Float64(),
        "coverage": pl.Float64(),
        "n_trials": pl.Int64(),
        "n_messages": pl.Int64(),
        "method": pl.String(),
        "reason": pl.String(),
        "mild_outliers": pl.Int64(),
        "severe_outliers": pl.Int64(),
    }
)
"""`summary.parquet`; a null `estimate`: `reason` says why.

A metric's name ends in its unit.
"""
WARNINGS_SCHEMA = pl.Schema(
    {
        **EXPERIMENT_COLUMNS,
        "kind": pl.String(),
        "n_trials": pl.Int64(),
        "text": pl.String(),
        "remedy": pl.String(),
    }
)
"""`text`: in the words of the first of the `n_trials`."""
_EXPERIMENT = {
    "trial": pl.String(),
    "experiment": pl.String(),
    "middleware": pl.String(),
    "profile": pl.String(),
    "delivery": pl.String(),
    "workload": pl.String(),
    "topology": pl.String(),
    "factors": pl.String(),
    "block": pl.Int64(),
    "observation": pl.String(),
}
TRIALS_SCHEMA = pl.Schema(
    {
        **_EXPERIMENT,
        "number": pl.Int64(),
        "attempt": pl.Int64(),
        "outcome": pl.String(),
        "detail": pl.String(),
        "warnings": pl.List(pl.String()),
    }
)
"""One row a stored trial; `factors` are all factors in one line, `detail` says why a trial is not valid.

`warnings` are the kinds that were seen while it ran; what its samples show later, `LoadedRun.warnings` has too."""
METRICS_SCHEMA = pl.Schema(
    {
        **_EXPERIMENT,
        "subject": pl.String(),
        "metric": pl.String(),
        "value": pl.Float64(),
        "n": pl.Int64(),
        "overloaded": pl.Boolean(),
        "reason": pl.String(),
    }
)
"""One row a valid trial, subject and metric. Null `value`: `reason` says why. Overloaded: a queue's latency."""


def experiment_rows(
    experiments: Iterable[ExperimentFindings],
) -> Iterator[tuple[tuple[str | None, ...], ExperimentFindings]]:
    """The values of `EXPERIMENT_COLUMNS` with what was found, of each experiment's unobserved and observed trials."""
    for candidate in experiments:
        planned = candidate.experiment
        delivery = candidate.configuration.delivery
        named = (planned.id, planned.middleware, planned.profile, delivery, planned.workload, planned.key)
        for observation, measured in ((None, candidate), *candidate.observed.items()):
            yield (*named, observation), measured


def summary_table(findings: RunFindings) -> pl.DataFrame:
    """Every estimate of a run."""
    rows = [
        (
            *experiment,
            key.subject,
            key.metric,
            estimate.value,
            estimate.low,
            None if estimate.high == math.inf else estimate.high,
            estimate.coverage,
            estimate.n_trials,
            estimate.n_messages,
            estimate.method.value,
            estimate.reason,
            estimate.outliers.mild,
            estimate.outliers.severe,
        )
        for experiment, measured in experiment_rows(findings.claimable)
        for key, estimate in sorted(measured.estimates.items())
    ]
    return pl.DataFrame(dict(zip(SCHEMA, zip(*rows, strict=True), strict=True)) if rows else [], schema=SCHEMA)


def warning_table(findings: RunFindings) -> pl.DataFrame:
    """Every kind of each experiment."""
    rows = [
        (
            *experiment,
            caution.kind.value,
            n_trials,
            caution.text,
            caution.remedy,
        )
        for experiment, measured in experiment_rows(findings.experiments)
        for caution, n_trials in measured.cautions
    ]
    return pl.DataFrame(rows, schema=WARNINGS_SCHEMA, orient="row")


@dataclass(frozen=True)
class LoadedRun:
    """An opened run."""

    folder: RunFolder
    manifest: Manifest
    """What was requested, and on what it ran."""
    records: Sequence[TrialRecord]
    """Everything that is known of each trial but its samples."""
    _damaged: list[Damage] = field(default_factory=list)
    _on_measuring: Callable[[], None] | None = None
    """Called before metrics are computed that are not stored, which takes a while."""

    @property
    def damaged(self) -> tuple[Damage, ...]:
        """The trials that could not be used, as far as they have been read."""
        return tuple(dict.fromkeys(self._damaged))

    def note(self, damaged: Sequence[Damage]) -> None:
        """Take over what another reader of the folder found damaged."""
        self._damaged.extend(damaged)

    @cached_property
    def trials(self) -> pl.DataFrame:
        """One row a stored trial, whatever its outcome: `TRIALS_SCHEMA`."""
        rows = [(*_common(record), *_ended(record)) for record in self.records]
        return pl.DataFrame(rows, schema=TRIALS_SCHEMA, orient="row")

    @cached_property
    def metrics(self) -> pl.DataFrame:
        """One row a valid trial, subject and metric: `METRICS_SCHEMA`. What is not stored is computed."""
        rows = [row for record in self.records if is_valid(record) for row in self._metric_rows(record)]
        return pl.DataFrame(rows, schema=METRICS_SCHEMA, orient="row")

    @cached_property
    def findings(self) -> RunFindings:
        """What the report shows: experiments, comparisons, scaling factors."""
        findings = analyse(self.folder, (), self._on_measuring)
        self._damaged.extend(findings.damaged)
        return findings

    @cached_property
    def estimates(self) -> pl.DataFrame:
        """One row an experiment, subject and metric, with its interval: as `summary.parquet`."""
        return summary_table(self.findings)

    @cached_property
    def warnings(self) -> pl.DataFrame:
        """One row an experiment and kind of warning that its trials had: `WARNINGS_SCHEMA`."""
        return warning_table(self.findings)

    @cached_property
    def received(self) -> pl.LazyFrame:
        """The subscribers' samples of all trials, with `trial` before the columns of `received.parquet`."""
        return self._samples("received_path", RECEIVED_SCHEMA)

    @cached_property
    def published(self) -> pl.LazyFrame:
        """The publishers' samples of all trials, with `trial` before the columns of `published.parquet`."""
        return self._samples("published_path", PUBLISHED_SCHEMA)

    def _metric_rows(self, record: TrialRecord) -> Iterator[tuple[object, ...]]:
        try:
            metrics = load_or_measure(self.folder.trial(record.trial.id), record, self._on_measuring).metrics
        except (StoreError, AccountingError) as error:
            self._damaged.append(Damage(record.trial.id, str(error)))
            return
        for key, value in sorted(metrics.values.items()):
            number = value.value if isinstance(value, Measured) else None
            overloaded = key.subject.removeprefix("stream:") in metrics.overloaded
            reason = "" if isinstance(value, Measured) else str(value)
            yield (*_common(record), *key, number, value.n, overloaded, reason)

    def _samples(self, path: str, schema: pl.Schema) -> pl.LazyFrame:
        folders = [self.folder.trial(record.trial.id) for record in self.records]
        readable = [getattr(trial, path) for trial in folders if self._is_readable(trial, getattr(trial, path), schema)]
        if not readable:
            return pl.LazyFrame(schema={"trial": pl.String(), **schema})
        return (
            pl.scan_parquet(readable, schema=schema, missing_columns="insert", include_file_paths="trial", glob=False)
            .with_columns(pl.col("trial").str.extract(r"([^/]+)/[^/]+$"))
            .select("trial", *schema)
        )

    def _is_readable(self, trial: TrialFolder, path: Path, schema: pl.Schema) -> bool:
        if not is_there(path):
            return False
        try:
            check_table(path, schema)
        except StoreError as error:
            self._damaged.append(Damage(trial.id, str(error)))
            return False
        return True


def load(path: Path, *, trust: bool = False, on_measuring: Callable[[], None] | None = None) -> LoadedRun:
    """Open a run, one that another user owns only with `trust`; only a folder that is none is an error."""
    folder = RunFolder(path, is_trusted=trust)
    manifest = folder.read_manifest()
    records, damaged = read_records(list(folder.stored_trials()), manifest)
    return LoadedRun(folder, manifest, tuple(records), damaged, on_measuring)


def _common(record: TrialRecord) -> tuple[object, ...]:
    trial, experiment = record.trial, record.trial.experiment
    return (
        trial.id,
        experiment.id,
        experiment.middleware,
        experiment.profile,
        delivery_told(record.effective),
        experiment.workload,
        experiment.topology,
        experiment.key,
        trial.block,
        trial.observation,
    )


def _ended(record: TrialRecord) -> tuple[object, ...]:
    outcome = record.outcome
    detail = outcome.reason if isinstance(outcome, NotApplicable) else outcome.detail
    warnings = [caution.kind.value for caution in record.warnings]
    return record.trial.number, record.attempt, outcome.kind, detail, warnings
