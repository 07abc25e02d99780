"""What is stored of a trial: its record of what its processes said, and its outcome.

It waits for nothing and writes nothing: `lifecycle` heard the processes, `validity` judges, `results.trial_folder`
stores, and `samples` has what they recorded.
"""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ValidationError

from middlemark.analysis.metrics.trial import TrialMetrics
from middlemark.campaign.trial import validity
from middlemark.campaign.trial.events import path_of
from middlemark.campaign.trial.lifecycle import Lifecycle
from middlemark.plan import Failed, Invalid, InvalidKind, InvalidReason, Outcome, Valid
from middlemark.results.counts import (
    Counts,
    FirstMatch,
    FirstMessage,
    InputCounts,
    NodeCounts,
    PathProof,
    PublisherCounts,
    SubscriberCounts,
)
from middlemark.results.progress import LiveMetrics
from middlemark.results.record import Effective, Resources, ServiceConfiguration, TrialRecord
from middlemark.results.streaming import Frame
from middlemark.suite import Disturbance
from middlemark.worker import contract
from middlemark.worker.streams import PlannedPaths


@dataclass(frozen=True)
class FinishedTrial:
    """A trial's record, with its first metrics for the eye."""

    record: TrialRecord
    metrics: LiveMetrics | None = None
    """None of a trial that left no samples, or whose accounting does not add up."""


def ended_record(lifecycle: Lifecycle, outcome: Outcome, attempt: int) -> TrialRecord:
    """What is known of a trial that came to this outcome."""
    try:
        record = _record(lifecycle, outcome, attempt)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        cause = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        failed = Failed(application="middlemark", doing="storing what the processes said", causes=(cause,))
        record = TrialRecord(trial=lifecycle.trial, outcome=failed, attempt=attempt)
    return record.model_copy(update={"links": lifecycle.links, "clocks": lifecycle.clocks})


def judged_record(lifecycle: Lifecycle, received: Frame, bounds: Disturbance, attempt: int) -> TrialRecord:
    """What is known of a trial that ran to its end: valid, unless there is a reason why it does not count."""
    record = ended_record(lifecycle, Valid(), attempt)
    if isinstance(record.outcome, Failed):
        return record
    cpus = max(len(lifecycle.cpus), 1)
    reasons = [*validity.reasons(record, received, bounds, cpus), *leftovers(lifecycle), *ended_conditions(lifecycle)]
    return record.model_copy(update={"outcome": Invalid(reasons=tuple(reasons))}) if reasons else record


def with_metrics(record: TrialRecord, metrics: TrialMetrics) -> FinishedTrial:
    """The result of a trial that was measured: what a reader must know beside its metrics, and the first of these."""
    warned = record.model_copy(update={"warnings": validity.cautions(record, metrics)})
    return FinishedTrial(warned, validity.live_metrics(record, metrics))


def leftovers(lifecycle: Lifecycle) -> list[InvalidReason]:
    """The processes that did not close as they should."""
    closed: tuple[type[BaseModel], ...] = (contract.ApplicationClosed, contract.ServiceClosed)
    reasons = []
    for name in (*lifecycle.specs.applications, *lifecycle.specs.services):
        key = lifecycle.processes.key(name)
        if lifecycle.events.is_end_expected(key):
            continue
        status = lifecycle.events.exit_status.get(key)
        if status != 0 or not any(lifecycle.heard(name, kind) for kind in closed):
            ended = "did not end" if status is None else f"ended with exit status {status}"
            reasons.append(InvalidReason(kind=InvalidKind.LEFTOVER, text=f"{name} was told to stop and {ended}"))
    return reasons


def ended_conditions(lifecycle: Lifecycle) -> list[InvalidReason]:
    """The conditions that were not kept up until all was published."""
    return [
        InvalidReason(kind=InvalidKind.CONDITION, text=f"{condition}, ended before the trial did")
        for condition in lifecycle.ended_conditions
    ]


def _record(lifecycle: Lifecycle, outcome: Outcome, attempt: int) -> TrialRecord:
    applications = [application.name for application in lifecycle.trial.experiment.applications]
    record = TrialRecord(
        trial=lifecycle.trial,
        outcome=outcome,
        attempt=attempt,
        effective=_effective(lifecycle, applications),
        credentials=dict(lifecycle.specs.credentials),
        services=_services(lifecycle),
        counts=_counts(lifecycle, applications),
        initialised_after_ns=_initialised(lifecycle),
        matched=_matches(lifecycle),
        first_message=_first_messages(lifecycle),
        window=lifecycle.window,
        resources=_resources(lifecycle, applications),
        path={
            name: PathProof.model_validate(done.path.model_dump(exclude_none=True))
            for name in applications
            if (done := lifecycle.last(name, contract.ApplicationDone))
        },
        faults=tuple(lifecycle.faults.happened),
        nodes=_nodes(lifecycle, applications),
        interrupted=tuple(name for name in applications if lifecycle.events.is_end_expected(name)),
        memory_growth_bytes=lifecycle.memory_growth_bytes,
        cpu_load=lifecycle.loads_reached,
        kept_awake=lifecycle.kept_awake,
    )
    return record.model_copy(update=dict(lifecycle.observer.record_fields()))


def _effective(lifecycle: Lifecycle, applications: list[str]) -> dict[str, Effective]:
    heard = {name: lifecycle.last(name, contract.ApplicationEffective) for name in applications}
    return {
        name: Effective.model_validate(event.model_dump(exclude={"event"}, exclude_none=True))
        for name, event in heard.items()
        if event
    }


def _services(lifecycle: Lifecycle) -> dict[str, ServiceConfiguration]:
    ready = {name: lifecycle.last(name, contract.ServiceReady) for name in lifecycle.specs.services}
    return {
        name: ServiceConfiguration.model_validate(event.model_dump(exclude={"event"}))
        for name, event in ready.items()
        if event
    }


def _counts(lifecycle: Lifecycle, applications: list[str]) -> Counts:
    published = [event for name in applications for event in lifecycle.heard(name, contract.ApplicationPublished)]
    done = [event for name in applications for event in lifecycle.heard(name, contract.ApplicationDone)]
    planned = PlannedPaths(lifecycle.trial.experiment.streams)
    return Counts(
        publishers=tuple(_publisher_counts(counts, planned) for event in published for counts in event.publishers),
        subscribers=tuple(_subscriber_counts(counts, planned) for event in done for counts in event.subscribers),
    )


def _publisher_counts(counts: contract.PublisherCounts, planned: PlannedPaths) -> PublisherCounts:
    stream, publisher, _ = planned.path(counts.stream, counts.publisher, 0)
    of_plan = {"stream": stream, "publisher": publisher, "unsent": counts.unsent or 0}
    return PublisherCounts.model_validate(counts.model_dump() | of_plan)


def _subscriber_counts(counts: contract.SubscriberCounts, planned: PlannedPaths) -> SubscriberCounts:
    stream, publisher, subscriber = planned.path(counts.stream, counts.publisher, counts.subscriber)
    of_plan = {"stream": stream, "publisher": publisher, "subscriber": subscriber}
    return SubscriberCounts.model_validate(counts.model_dump() | of_plan)


def _nodes(lifecycle: Lifecycle, applications: list[str]) -> tuple[NodeCounts, ...]:
    """In the plan's order, of those whose application lived to tell."""
    done = [event for name in applications for event in lifecycle.heard(name, contract.ApplicationDone)]
    counts_of = {counts.node: counts for event in done for counts in event.nodes or ()}
    t0_ns = lifecycle.t0_ns or 0
    return tuple(
        NodeCounts(
            node=counts.node,
            first_execution_after_ns=counts.first_execution_ns and max(counts.first_execution_ns - t0_ns, 0),
            executions=counts.executions,
            skipped=counts.skipped,
            unrecorded=counts.unrecorded,
            inputs=tuple(InputCounts.model_validate(item.model_dump()) for item in counts.inputs),
        )
        for node in lifecycle.trial.experiment.nodes
        if (counts := counts_of.get(node.name)) is not None
    )


def _initialised(lifecycle: Lifecycle) -> dict[str, int]:
    return {
        name: _after_t0_ns(lifecycle, initialised.since_ns)
        for name in lifecycle.on_time
        for initialised in lifecycle.events.of(name, contract.ApplicationInitialised)
    }


def _matches(lifecycle: Lifecycle) -> tuple[FirstMatch, ...]:
    planned = PlannedPaths(lifecycle.trial.experiment.streams)
    return tuple(
        FirstMatch(
            stream=stream,
            answers=match.answers,
            publisher=publisher,
            after_ns=_after_t0_ns(lifecycle, match.since_ns),
            handshake_ns=match.handshake_ns,
        )
        for name in lifecycle.on_time
        for match in lifecycle.events.of(name, contract.ApplicationMatched)
        for stream, publisher, _ in (planned.path(match.stream, match.publisher, 0),)
    )


def _first_messages(lifecycle: Lifecycle) -> tuple[FirstMessage, ...]:
    planned = PlannedPaths(lifecycle.trial.experiment.streams)
    full = {
        path_of(first, planned): _after_t0_ns(lifecycle, first.received_ns)
        for name in lifecycle.on_time
        for first in lifecycle.events.of(name, contract.ApplicationFirstFullMessage)
    }
    return tuple(
        FirstMessage(
            stream=stream,
            answers=answers,
            publisher=publisher,
            subscriber=subscriber,
            after_ns=_after_t0_ns(lifecycle, first.received_ns),
            full_after_ns=full.get((stream, answers, publisher, subscriber)),
        )
        for name in lifecycle.on_time
        for first in lifecycle.events.of(name, contract.ApplicationFirstMessage)
        for stream, answers, publisher, subscriber in (path_of(first, planned),)
    )


def _after_t0_ns(lifecycle: Lifecycle, instant_ns: int) -> int:
    return max(instant_ns - (lifecycle.t0_ns or 0), 0)


def _resources(lifecycle: Lifecycle, applications: list[str]) -> dict[str, Resources]:
    heard: dict[str, contract.ApplicationDone | contract.ServiceMeasured | None] = {
        name: lifecycle.last(name, contract.ApplicationDone) for name in applications
    }
    heard |= {name: lifecycle.last(name, contract.ServiceMeasured) for name in lifecycle.specs.services}
    return {name: Resources.model_validate(event.resources.model_dump()) for name, event in heard.items() if event}
