"""What is stored of a trial: its record of what its processes said, and its outcome.

It waits for nothing and writes nothing: `lifecycle` heard the processes, `validity` judges, `results.trial_folder`
stores, and `samples` has what they recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

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
    Resources,
    SubscriberCounts,
)
from middlemark.results.progress import LiveMetrics
from middlemark.results.record import CpuDistance, Effective, ServiceConfiguration, TrialRecord
from middlemark.results.streaming import Frame
from middlemark.suite import Disturbance
from middlemark.worker import contract
from middlemark.worker.streams import PlannedPaths

M = TypeVar("M", bound=BaseModel)


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
    cpus = max(len(lifecycle.environment.cpus), 1)
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


@dataclass(frozen=True)
class _Heard:
    """What the processes of a trial have said that its record states."""

    effective: Mapping[str, contract.ApplicationEffective]
    """By application, the last of each."""
    done: Mapping[str, contract.ApplicationDone]
    ready: Mapping[str, contract.ServiceReady]
    """By service, the last of each."""
    measured: Mapping[str, contract.ServiceMeasured]
    publishers: Sequence[contract.PublisherCounts]
    subscribers: Sequence[contract.SubscriberCounts]
    nodes: Mapping[str, contract.NodeCounts]
    initialised: Mapping[str, contract.ApplicationInitialised]
    """Of the applications that were there from the start, as what follows."""
    matched: Sequence[contract.ApplicationMatched]
    first_messages: Sequence[contract.ApplicationFirstMessage]
    first_full_messages: Sequence[contract.ApplicationFirstFullMessage]


def _heard(lifecycle: Lifecycle) -> _Heard:
    """All of it, with streams, publishers and subscribers as the plan has them."""
    applications, services = list(lifecycle.specs.applications), list(lifecycle.specs.services)
    as_planned = PlannedPaths(lifecycle.trial.experiment.streams).as_planned
    published = [event for name in applications for event in lifecycle.heard(name, contract.ApplicationPublished)]
    done = [event for name in applications for event in lifecycle.heard(name, contract.ApplicationDone)]
    return _Heard(
        effective=_last(lifecycle, applications, contract.ApplicationEffective),
        done=_last(lifecycle, applications, contract.ApplicationDone),
        ready=_last(lifecycle, services, contract.ServiceReady),
        measured=_last(lifecycle, services, contract.ServiceMeasured),
        publishers=[as_planned(counts) for event in published for counts in event.publishers],
        subscribers=[as_planned(counts) for event in done for counts in event.subscribers],
        nodes={counts.node: counts for event in done for counts in event.nodes or ()},
        initialised=dict(_first(lifecycle, contract.ApplicationInitialised)),
        matched=[as_planned(match) for _, match in _first(lifecycle, contract.ApplicationMatched)],
        first_messages=[as_planned(first) for _, first in _first(lifecycle, contract.ApplicationFirstMessage)],
        first_full_messages=[as_planned(first) for _, first in _first(lifecycle, contract.ApplicationFirstFullMessage)],
    )


def _last(lifecycle: Lifecycle, names: Iterable[str], kind: type[M]) -> dict[str, M]:
    """By process, the last that it has said of one kind."""
    return {name: event for name in names if (event := lifecycle.last(name, kind)) is not None}


def _first(lifecycle: Lifecycle, kind: type[M]) -> Iterator[tuple[str, M]]:
    """All of one kind that the first processes of the applications have said that were there from the start."""
    return ((name, event) for name in lifecycle.on_time for event in lifecycle.events.of(name, kind))


def _record(lifecycle: Lifecycle, outcome: Outcome, attempt: int) -> TrialRecord:
    heard, t0_ns = _heard(lifecycle), lifecycle.t0_ns or 0
    record = TrialRecord(
        trial=lifecycle.trial,
        outcome=outcome,
        attempt=attempt,
        effective={name: _effective(event) for name, event in heard.effective.items()},
        credentials=dict(lifecycle.specs.credentials),
        services={name: _service(event) for name, event in heard.ready.items()},
        counts=_counts(heard),
        initialised_after_ns={name: max(event.since_ns - t0_ns, 0) for name, event in heard.initialised.items()},
        matched=tuple(_match(match, t0_ns) for match in heard.matched),
        first_message=_first_messages(heard, t0_ns),
        window=lifecycle.window,
        resources=_resources(heard.done) | _resources(heard.measured),
        path={name: _path(event) for name, event in heard.done.items()},
        faults=tuple(lifecycle.faults.happened),
        nodes=tuple(
            _node(heard.nodes[node.name], t0_ns)
            for node in lifecycle.trial.experiment.nodes
            if node.name in heard.nodes
        ),
        interrupted=tuple(name for name in lifecycle.specs.applications if lifecycle.events.is_end_expected(name)),
        memory_growth_bytes=lifecycle.memory_growth_bytes,
        cpu_load=lifecycle.loads_reached,
        kept_awake=lifecycle.kept_awake,
        cpu_distance=_cpu_distance(lifecycle),
    )
    return record.model_copy(update=dict(lifecycle.observer.record_fields()))


def _cpu_distance(lifecycle: Lifecycle) -> CpuDistance | None:
    cpus = lifecycle.environment.meeting_cpus
    before_ns, after_ns = lifecycle.cpu_distances_ns
    if cpus is None or before_ns is None or after_ns is None:
        return None
    return CpuDistance(cpus=cpus, before_ns=before_ns, after_ns=after_ns)


def _effective(event: contract.ApplicationEffective) -> Effective:
    return Effective.model_validate(event.model_dump(exclude={"event"}, exclude_none=True))


def _service(event: contract.ServiceReady) -> ServiceConfiguration:
    return ServiceConfiguration.model_validate(event.model_dump(exclude={"event"}))


def _counts(heard: _Heard) -> Counts:
    return Counts(
        publishers=tuple(
            PublisherCounts.model_validate(counts.model_dump() | {"unsent": counts.unsent or 0})
            for counts in heard.publishers
        ),
        subscribers=tuple(SubscriberCounts.model_validate(counts.model_dump()) for counts in heard.subscribers),
    )


def _match(match: contract.ApplicationMatched, t0_ns: int) -> FirstMatch:
    return FirstMatch(
        stream=match.stream,
        answers=match.answers,
        publisher=match.publisher,
        after_ns=max(match.since_ns - t0_ns, 0),
        handshake_ns=match.handshake_ns,
    )


def _first_messages(heard: _Heard, t0_ns: int) -> tuple[FirstMessage, ...]:
    full = {path_of(first): max(first.received_ns - t0_ns, 0) for first in heard.first_full_messages}
    return tuple(
        FirstMessage(
            stream=first.stream,
            answers=first.answers,
            publisher=first.publisher,
            subscriber=first.subscriber,
            after_ns=max(first.received_ns - t0_ns, 0),
            full_after_ns=full.get(path_of(first)),
        )
        for first in heard.first_messages
    )


def _resources(
    measured: Mapping[str, contract.ApplicationDone] | Mapping[str, contract.ServiceMeasured],
) -> dict[str, Resources]:
    return {name: Resources.model_validate(event.resources.model_dump()) for name, event in measured.items()}


def _path(event: contract.ApplicationDone) -> PathProof:
    return PathProof.model_validate(event.path.model_dump(exclude_none=True))


def _node(counts: contract.NodeCounts, t0_ns: int) -> NodeCounts:
    return NodeCounts(
        node=counts.node,
        first_execution_after_ns=counts.first_execution_ns and max(counts.first_execution_ns - t0_ns, 0),
        executions=counts.executions,
        skipped=counts.skipped,
        unrecorded=counts.unrecorded,
        inputs=tuple(InputCounts.model_validate(item.model_dump()) for item in counts.inputs),
    )
