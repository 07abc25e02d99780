"""The record of a trial: what was heard of its processes in the words of the run folder, and its outcome.

It waits for nothing and writes nothing; `life` heard, `judgement` judges, `results.trial_folder` stores.

The samples that the applications of a trial left, as the tables that are stored.

It reads the `.npy` files of the worker contract and joins them, each row with its application, a piece at a time as
they are written; `results.tables` says what the columns are, `results.trial_folder` writes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars.io.plugins import register_io_source
from pydantic import BaseModel, ValidationError

from middlemark.analysis.metrics.trial import TrialMetrics
from middlemark.campaign.trial import validity
from middlemark.campaign.trial.lifecycle import Life
from middlemark.plan import Failed, Invalid, InvalidKind, InvalidReason, Outcome, Valid
from middlemark.results.counts import Counts, FirstMessage, InputCounts, NodeCounts, PublisherCounts, SubscriberCounts
from middlemark.results.progress import Headline
from middlemark.results.record import ClockAgreement, Effective, LinkMeasured, PathProof, Resources, TrialRecord
from middlemark.results.streaming import PIECE_ROWS, Frame
from middlemark.results.tables import (
    EXECUTIONS_SCHEMA,
    INPUTS_SCHEMA,
    OUTPUTS_SCHEMA,
    PUBLISHED_SCHEMA,
    RECEIVED_SCHEMA,
)
from middlemark.suite import Disturbance
from middlemark.worker import contract


@dataclass(frozen=True)
class Account:
    """A trial as it is stored, with its first figures for the eye."""

    record: TrialRecord
    headline: Headline | None = None
    """None of a trial that left no samples, or whose accounting does not add up."""


def of_ended(life: Life, outcome: Outcome, attempt: int) -> TrialRecord:
    """What is known of a trial that came to this outcome; for one that ran to its end `of_measured` judges further."""
    try:
        return _record(life, outcome, attempt)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        cause = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        failed = Failed(application="middlemark", doing="storing what the processes said", causes=(cause,))
        return TrialRecord(trial=life.trial, outcome=failed, attempt=attempt)


def _record(life: Life, outcome: Outcome, attempt: int) -> TrialRecord:
    applications = [application.name for application in life.trial.experiment.applications]
    record = TrialRecord(
        trial=life.trial,
        outcome=outcome,
        attempt=attempt,
        effective=_effective(life, applications),
        counts=_counts(life, applications),
        first_message=_first_messages(life),
        window=life.window,
        resources=_resources(life, applications),
        path={
            name: PathProof.model_validate(done.path.model_dump())
            for name in applications
            if (done := life.last(name, contract.ApplicationDone))
        },
        faults=tuple(life.faults.happened),
        nodes=_nodes(life, applications),
        interrupted=tuple(name for name in applications if life.hearing.is_end_expected(name)),
        memory_growth_bytes=life.memory_growth_bytes,
        cpu_load=life.loads_reached,
    )
    return record.model_copy(update=dict(life.watch.found()))


def of_measured(  # noqa: PLR0913 - a measured trial has left so much
    life: Life,
    received: Frame,
    links: tuple[LinkMeasured, ...],
    clocks: dict[str, ClockAgreement],
    *,
    bounds: Disturbance,
    attempt: int,
) -> TrialRecord:
    """What is known of a trial that ran to its end, judged."""
    record = of_ended(life, Valid(), attempt).model_copy(update={"links": links, "clocks": clocks})
    if isinstance(record.outcome, Failed):
        return record
    cpus = max(len(life.cpus), 1)
    found = [*validity.reasons(record, received, bounds, cpus), *leftovers(life)]
    return record.model_copy(update={"outcome": Invalid(reasons=tuple(found))}) if found else record


def with_figures(record: TrialRecord, metrics: TrialMetrics) -> Account:
    """The account of a trial that was measured: what a reader must know beside its figures, and the first of these."""
    warned = record.model_copy(update={"warnings": validity.cautions(record, metrics)})
    return Account(warned, validity.headline(record, metrics))


def leftovers(life: Life) -> list[InvalidReason]:
    """The processes that did not close as they should."""
    closed: tuple[type[BaseModel], ...] = (contract.ApplicationClosed, contract.ServiceClosed)
    found = []
    for name in (*life.specs.applications, *life.specs.services):
        key = life.running.key(name)
        if life.hearing.is_end_expected(key):
            continue
        status = life.hearing.exit_status.get(key)
        if status != 0 or not any(life.heard(name, kind) for kind in closed):
            ended = "did not end" if status is None else f"ended with exit status {status}"
            found.append(InvalidReason(kind=InvalidKind.LEFTOVER, text=f"{name} was told to stop and {ended}"))
    return found


def _effective(life: Life, applications: list[str]) -> dict[str, Effective]:
    heard = {name: life.last(name, contract.ApplicationEffective) for name in applications}
    return {
        name: Effective.model_validate(event.model_dump(exclude={"event"})) for name, event in heard.items() if event
    }


def _counts(life: Life, applications: list[str]) -> Counts:
    published = [event for name in applications for event in life.heard(name, contract.ApplicationPublished)]
    done = [event for name in applications for event in life.heard(name, contract.ApplicationDone)]
    return Counts(
        publishers=tuple(
            PublisherCounts.model_validate({**counts.model_dump(), "unsent": counts.unsent or 0})
            for event in published
            for counts in event.publishers
        ),
        subscribers=tuple(SubscriberCounts.model_validate(c.model_dump()) for event in done for c in event.subscribers),
    )


def _nodes(life: Life, applications: list[str]) -> tuple[NodeCounts, ...]:
    """In the plan's order, of those whose application lived to tell."""
    done = [event for name in applications for event in life.heard(name, contract.ApplicationDone)]
    told = {counts.node: counts for event in done for counts in event.nodes or ()}
    t0_ns = life.t0_ns or 0
    return tuple(
        NodeCounts(
            node=counts.node,
            first_execution_after_ns=counts.first_execution_ns and max(counts.first_execution_ns - t0_ns, 0),
            executions=counts.executions,
            skipped=counts.skipped,
            unrecorded=counts.unrecorded,
            inputs=tuple(InputCounts.model_validate(each.model_dump()) for each in counts.inputs),
        )
        for node in life.trial.experiment.nodes
        if (counts := told.get(node.name)) is not None
    )


def _first_messages(life: Life) -> tuple[FirstMessage, ...]:
    return tuple(
        FirstMessage(
            stream=first.stream,
            answers=first.answers,
            publisher=first.publisher,
            subscriber=first.subscriber,
            after_ns=max(first.received_ns - (life.t0_ns or 0), 0),
        )
        for name in life.on_time
        for first in life.hearing.of(name, contract.ApplicationFirstMessage)
    )


def _resources(life: Life, applications: list[str]) -> dict[str, Resources]:
    heard: dict[str, contract.ApplicationDone | contract.ServiceMeasured | None] = {
        name: life.last(name, contract.ApplicationDone) for name in applications
    }
    heard |= {name: life.last(name, contract.ServiceMeasured) for name in life.specs.services}
    return {name: Resources.model_validate(event.resources.model_dump()) for name, event in heard.items() if event}


_TRIGGERS = {0: "message", 1: "timer", 2: "source"}


def received(folders: Mapping[str, Path]) -> pl.LazyFrame:
    """What the subscribers recorded, and the clients of ping-pongs; `folders` by application."""
    return _joined(folders, "received", RECEIVED_SCHEMA)


def published(folders: Mapping[str, Path]) -> pl.LazyFrame:
    """What the publishers recorded; `folders` by application."""
    return _joined(folders, "published", PUBLISHED_SCHEMA)


def executions(folders: Mapping[str, Path]) -> pl.LazyFrame:
    """What the nodes did; `folders` by application."""
    coded = pl.Schema({**EXECUTIONS_SCHEMA, "trigger": pl.UInt8()})
    frame = _joined(folders, "executions", coded)
    return frame.with_columns(pl.col("trigger").replace_strict(_TRIGGERS, return_dtype=pl.String()))


def inputs(folders: Mapping[str, Path]) -> pl.LazyFrame:
    """What the nodes took; `folders` by application."""
    return _joined(folders, "inputs", INPUTS_SCHEMA)


def outputs(folders: Mapping[str, Path]) -> pl.LazyFrame:
    """What the nodes sent; `folders` by application."""
    return _joined(folders, "outputs", OUTPUTS_SCHEMA)


def histograms(folders: Iterable[Path]) -> list[Path]:
    """The logs of latencies beyond the sample memory."""
    return sorted(file for folder in folders for file in folder.glob("*.beyond.hlog"))


def _joined(folders: Mapping[str, Path], kind: str, schema: pl.Schema) -> pl.LazyFrame:
    def rows(
        columns: list[str] | None, predicate: pl.Expr | None, most: int | None, _size_hint: int | None
    ) -> Iterator[pl.DataFrame]:
        left = most
        for piece in _pieces(folders, kind, schema):
            asked = piece.slice(0, left).select(columns or pl.all())
            left = None if left is None else left - len(asked)
            yield asked if predicate is None else asked.filter(predicate)

    return register_io_source(rows, schema=schema)


def _pieces(folders: Mapping[str, Path], kind: str, schema: pl.Schema) -> Iterator[pl.DataFrame]:
    yield pl.DataFrame(schema=schema)
    for application, folder in folders.items():
        path = folder / f"{application}.{kind}.npy"
        if path.exists():
            for records in _records(path):
                yield _frame(records, application, schema)


def _records(path: Path) -> Iterator[NDArray[np.void]]:
    """The file's rows a piece at a time; a mapped file's pages would count as memory in use."""
    mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    begin_bytes, kind, left = mapped.offset, mapped.dtype, len(mapped)
    with path.open("rb") as file:
        file.seek(begin_bytes)
        while left > 0:
            records = np.fromfile(file, kind, min(left, PIECE_ROWS))
            left -= len(records)
            yield records


def _frame(records: NDArray[np.void], application: str, schema: pl.Schema) -> pl.DataFrame:
    columns = {name: np.ascontiguousarray(records[name]) for name in records.dtype.names or ()}
    frame = pl.DataFrame(columns).with_columns(pl.lit(application).alias("application"))
    return frame.select(pl.col(name).cast(kind) for name, kind in schema.items())
