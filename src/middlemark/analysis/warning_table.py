"""The warnings of a run's trials as one table: a row an experiment and kind, for whoever computes further.

`experiment` has found and counted them. The machine's own warnings are not in it: those are the manifest's.
"""

from __future__ import annotations

import polars as pl

from middlemark.analysis.run import RunFindings

WARNINGS_SCHEMA = pl.Schema(
    {
        "experiment": pl.String(),
        "middleware": pl.String(),
        "profile": pl.String(),
        "workload": pl.String(),
        "factors": pl.String(),
        "observation": pl.String(),
        "kind": pl.String(),
        "n_trials": pl.Int64(),
        "text": pl.String(),
        "remedy": pl.String(),
    }
)
"""A null `observation`: the trials were unobserved; `text`: in the words of the first of the `n_trials`."""


def warning_table(findings: RunFindings) -> pl.DataFrame:
    """Every kind of each experiment."""
    rows = [
        (
            each.experiment.id,
            each.experiment.middleware,
            each.experiment.profile,
            each.experiment.workload,
            each.experiment.key,
            observation,
            caution.kind.value,
            n_trials,
            caution.text,
            caution.remedy,
        )
        for each in findings.experiments
        for observation, found in ((None, each), *each.observed.items())
        for caution, n_trials in found.cautions
    ]
    return pl.DataFrame(rows, schema=WARNINGS_SCHEMA, orient="row")
