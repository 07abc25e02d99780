"""How the tables of a run begin their rows: with the experiment, and with what its trials were observed by.

What a row goes on with is the business of whoever makes the table: `summary` and `warning_table`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import polars as pl

from middlemark.analysis.experiment import ExperimentFindings

EXPERIMENT_COLUMNS = {
    name: pl.String() for name in ("experiment", "middleware", "profile", "workload", "factors", "observation")
}
"""A null `observation`: the trials were unobserved; `factors` are all of them in one line."""


def experiment_rows(
    experiments: Iterable[ExperimentFindings],
) -> Iterator[tuple[tuple[str | None, ...], ExperimentFindings]]:
    """The values of `EXPERIMENT_COLUMNS` with what was found, of each experiment's unobserved and observed trials."""
    for each in experiments:
        planned = each.experiment
        named = (planned.id, planned.middleware, planned.profile, planned.workload, planned.key)
        for observation, found in ((None, each), *each.observed.items()):
            yield (*named, observation), found
