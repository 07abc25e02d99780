"""Tables whose rows are of one candidate each: they begin with its name and with how its messages were delivered.

Which rows there are and what they hold, the module of the subject says; `tables` has columns and cells, and `labels`
the names. The ranking has columns of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.report.elements.labels import DELIVERY, Series, delivery_cell
from middlemark.report.elements.tables import (
    MIDDLEWARE,
    Cell,
    Column,
    MetricColumn,
    Row,
    Table,
    metric_cells,
    metric_columns,
    named,
    table,
)
from middlemark.suite.metrics import process_subject

LabelledRow = tuple[str, Cell, Row]
"""What a row is of, by the name that it is shown under; its delivery; and its other cells."""
CandidateRow = tuple[ExperimentFindings, Row]
"""Whose row it is, and its other cells."""


def labelled_table(
    title: str, columns: Iterable[Column], rows: Iterable[LabelledRow], caption: str = "", detail: str = ""
) -> Table:
    """A table of these columns beside names and deliveries."""
    whole_rows = ((label, delivery, *cells) for label, delivery, cells in rows)
    return table(title, (MIDDLEWARE, DELIVERY, *columns), whole_rows, caption, detail)


def candidate_table(
    title: str,
    columns: Iterable[Column],
    rows: Iterable[CandidateRow],
    series_of: Mapping[str, Series],
    caption: str = "",
) -> Table:
    """The same of rows that are of one candidate each, under its own name."""
    return labelled_table(title, columns, labelled_rows(rows, series_of), caption)


def labelled_rows(rows: Iterable[CandidateRow], series_of: Mapping[str, Series]) -> Iterator[LabelledRow]:
    """Rows with the name and the delivery of whose they are."""
    for candidate, cells in rows:
        yield series_of[candidate.experiment.id].label, delivery_cell(candidate), cells


def metric_table(
    title: str,
    columns: Sequence[MetricColumn],
    subjects: Iterable[tuple[ExperimentFindings, str]],
    series_of: Mapping[str, Series],
    caption: str = "",
) -> Table:
    """A metric a column; each row is of one stream, chain or trial of a candidate."""
    rows = ((candidate, metric_cells(columns, candidate, subject)) for candidate, subject in subjects)
    return candidate_table(title, metric_columns(columns), rows, series_of, caption)


def metrics_by_process(
    title: str,
    columns: Sequence[MetricColumn],
    candidates: Iterable[ExperimentFindings],
    series_of: Mapping[str, Series],
    caption: str = "",
) -> Table:
    """A metric a column, a row for each process that has any of them."""
    rows: Iterable[CandidateRow] = (
        (candidate, (subject.removeprefix(process_subject("")), *metric_cells(columns, candidate, subject)))
        for candidate in candidates
        for subject in processes_with({column.metric for column in columns}, candidate)
    )
    return candidate_table(title, (*named("process"), *metric_columns(columns)), rows, series_of, caption)


def processes_with(metrics: Iterable[str], candidate: ExperimentFindings) -> list[str]:
    """The subjects of the processes for which any of these metrics was estimated, in the order of their names."""
    wanted = set(metrics)
    return sorted(
        {
            key.subject
            for key in candidate.estimates
            if key.metric in wanted and key.subject.startswith(process_subject(""))
        }
    )
