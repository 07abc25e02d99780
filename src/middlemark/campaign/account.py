"""The record of a trial: what was heard of its processes in the words of the run folder, and its outcome.

It waits for nothing and writes nothing; `life` heard, `judgement` judges, `results.writer` stores.
"""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ValidationError

from middlemark.analysis.metrics import TrialMetrics
from middlemark.campaign import judgement
from middlemark.campaign.life import Life
from middlemark.plan import Failed, Invalid, InvalidKind, InvalidReason, Outcome, Valid
from middlemark.plan.progress import Headline
from middlemark.results.record import (
    ClockAgreement,
    Counts,
    Effective,
    FirstMessage,
    InputCounts,
    LinkMeasured,
    NodeCounts,
    PathProof,
    PublisherCounts,
    Resources,
    SubscriberCounts,
    TrialRecord,
)
from middlemark.results.streaming import Frame
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
    found = [*judgement.reasons(record, received, bounds, cpus), *leftovers(life)]
    return record.model_copy(update={"outcome": Invalid(reasons=tuple(found))}) if found else record


def with_figures(record: TrialRecord, metrics: TrialMetrics) -> Account:
    """The account of a trial that was measured: what a reader must know beside its figures, and the first of these."""
    warned = record.model_copy(update={"warnings": judgement.cautions(record, metrics)})
    return Account(warned, judgement.headline(record, metrics))


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
