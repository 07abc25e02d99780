"""The samples that a trial's processes left: checked, and joined into tables, each row with its application.

They are read from the `.npy` files of the worker contract in chunks of rows. What a worker left is as doubtful as what
it said: `checked_samples` finds whose samples can't be read before any is stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl
from polars.io.plugins import register_io_source

from middlemark.campaign.trial.events import TrialOver
from middlemark.errors import StoreError
from middlemark.plan import Failed, Stream
from middlemark.results.files import is_there
from middlemark.results.histogram_log import read_log
from middlemark.results.streaming import check_rows_of, recorded_rows
from middlemark.results.tables import (
    EXECUTIONS_SCHEMA,
    INPUTS_SCHEMA,
    OUTPUTS_SCHEMA,
    PUBLISHED_SCHEMA,
    RECEIVED_SCHEMA,
)
from middlemark.worker.streams import topics

_TRIGGERS = {0: "message", 1: "timer", 2: "source"}
_CODED_EXECUTIONS = pl.Schema({**EXECUTIONS_SCHEMA, "trigger": pl.UInt8()})
_SCHEMAS = {
    "received": RECEIVED_SCHEMA,
    "published": PUBLISHED_SCHEMA,
    "executions": _CODED_EXECUTIONS,
    "inputs": INPUTS_SCHEMA,
    "outputs": OUTPUTS_SCHEMA,
}


def check_samples(folders: Mapping[str, Path]) -> None:
    """Ends the trial where an application's samples can't be read; `folders` by application."""
    for application, folder in folders.items():
        try:
            _check(application, folder)
        except StoreError as damaged:
            cause = f"{damaged.path.name}: {damaged.problem}"
            raise TrialOver(Failed(application=application, doing="storing", causes=(cause,))) from damaged


def _check(application: str, folder: Path) -> None:
    for kind, schema in _SCHEMAS.items():
        path = folder / f"{application}.{kind}.npy"
        if is_there(path):
            check_rows_of(path, _recorded(schema))
    executions = folder / f"{application}.executions.npy"
    if is_there(executions):
        for rows in recorded_rows(executions, pl.Schema({"trigger": pl.UInt8()})):
            if not rows["trigger"].is_in(list(_TRIGGERS)).all():
                raise StoreError(executions, f"its triggers are not among {', '.join(_TRIGGERS.values())}")
    for log in histograms({application: folder}):
        read_log(log)


def _recorded(schema: pl.Schema) -> pl.Schema:
    """What a worker writes of it: which application it is, its file's name says."""
    return pl.Schema({name: kind for name, kind in schema.items() if name != "application"})


def received(folders: Mapping[str, Path], streams: Sequence[Stream]) -> pl.LazyFrame:
    """What the subscribers recorded, and the clients of ping-pongs; `folders` by application, `streams` the plan's."""
    return _of_plan(_joined(folders, "received"), streams, ("publisher", "subscriber"))


def published(folders: Mapping[str, Path], streams: Sequence[Stream]) -> pl.LazyFrame:
    """What the publishers recorded; the same."""
    return _of_plan(_joined(folders, "published"), streams, ("publisher",))


def _of_plan(frame: pl.LazyFrame, streams: Sequence[Stream], ends: Sequence[str]) -> pl.LazyFrame:
    """Rows with the plan's numbers where a stream is sent on several topics, each of which is one to a worker."""
    every = list(topics(streams))
    if all(topic.number is None for topic in every):
        return frame
    number_of = {number: topic.number for number, topic in enumerate(every) if topic.number is not None}
    place_of = {number: topic.place for number, topic in enumerate(every)}
    worker_stream = pl.col("stream")
    return frame.with_columns(
        worker_stream.replace(place_of),
        *(
            worker_stream.replace_strict(number_of, default=pl.col(end), return_dtype=pl.UInt16()).alias(end)
            for end in ends
        ),
    )


def executions(folders: Mapping[str, Path]) -> pl.LazyFrame:
    """What the nodes did; `folders` by application."""
    frame = _joined(folders, "executions")
    return frame.with_columns(pl.col("trigger").replace_strict(_TRIGGERS, return_dtype=pl.String()))


def inputs(folders: Mapping[str, Path]) -> pl.LazyFrame:
    """What the nodes took; `folders` by application."""
    return _joined(folders, "inputs")


def outputs(folders: Mapping[str, Path]) -> pl.LazyFrame:
    """What the nodes sent; `folders` by application."""
    return _joined(folders, "outputs")


def histograms(folders: Mapping[str, Path]) -> list[Path]:
    """The logs of latencies that the sample memory had no room for."""
    logs = (folder / f"{application}.beyond.hlog" for application, folder in folders.items())
    return sorted(log for log in logs if is_there(log))


def _joined(folders: Mapping[str, Path], kind: str) -> pl.LazyFrame:
    schema = _SCHEMAS[kind]

    def rows(
        columns: list[str] | None, predicate: pl.Expr | None, most: int | None, _size_hint: int | None
    ) -> Iterator[pl.DataFrame]:
        left = most
        for rows_read in _chunks(folders, kind, schema):
            chunk = rows_read.slice(0, left).select(columns or pl.all())
            left = None if left is None else left - len(chunk)
            yield chunk if predicate is None else chunk.filter(predicate)

    return register_io_source(rows, schema=schema)


def _chunks(folders: Mapping[str, Path], kind: str, schema: pl.Schema) -> Iterator[pl.DataFrame]:
    yield pl.DataFrame(schema=schema)
    for application, folder in folders.items():
        path = folder / f"{application}.{kind}.npy"
        if is_there(path):
            for rows in recorded_rows(path, _recorded(schema)):
                yield rows.with_columns(pl.lit(application).alias("application")).select(schema.names())
