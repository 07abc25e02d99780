"""The warnings of a run's trials as one table: a row an experiment and kind, for whoever computes further.

`experiment` has found and counted them. The machine's own warnings are not in it: those are the manifest's.
"""

from __future__ import annotations

import polars as pl

from middlemark.analysis.experiment_rows import EXPERIMENT_COLUMNS, experiment_rows
from middlemark.analysis.run import RunFindings

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
        for experiment, found in experiment_rows(findings.experiments)
        for caution, n_trials in found.cautions
    ]
    return pl.DataFrame(rows, schema=WARNINGS_SCHEMA, orient="row")
