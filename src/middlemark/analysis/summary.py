"""The estimates of a run as one table: a row an experiment, subject and metric, for whoever computes further.

It estimates nothing and writes nothing; `report.store` puts the table into the run folder.
"""

from __future__ import annotations

import math

import polars as pl

from middlemark.analysis.experiment_rows import EXPERIMENT_COLUMNS, experiment_rows
from middlemark.analysis.run import RunFindings

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
        for experiment, found in experiment_rows(findings.claimable)
        for key, estimate in sorted(found.estimates.items())
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")
