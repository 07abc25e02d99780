"""One trial from its plan to its stored record: prepare, execute, collect, judge, analyse.

It is the only module that both runs and stores. The order of trials and their repetition are `campaign`'s; each step is
a module beside this one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from middlemark.analysis.experiment.findings import MeasuredTrial
from middlemark.analysis.metrics.accounting import AccountingError
from middlemark.analysis.metrics.stored import measure, stored_form
from middlemark.campaign.checks.possible import check_possible, check_targets
from middlemark.campaign.observers.observer import ObserverKind, TrialObserver
from middlemark.campaign.observers.processes import KernelPathObserver, ResourceObserver
from middlemark.campaign.observers.traffic import CaptureObserver, WireObserver
from middlemark.campaign.trial import link_check, record, samples
from middlemark.campaign.trial.environment import (
    CampaignResources,
    check_space,
    clock_agreement,
    distance_ns,
    enter_prepared,
    under_load,
)
from middlemark.campaign.trial.events import TrialOver
from middlemark.campaign.trial.lifecycle import Lifecycle
from middlemark.campaign.trial.processes import TrialProcesses
from middlemark.campaign.trial.record import FinishedTrial
from middlemark.campaign.trial.security import secured, stored_specs
from middlemark.campaign.trial.spec import process_specs
from middlemark.errors import EnvironmentBroke, EnvironmentNotReady, StoreError
from middlemark.plan import Failed, Invalid, InvalidKind, InvalidReason, NotApplicable, Outcome, Trial
from middlemark.results.files import writing
from middlemark.results.record import TrialRecord, is_valid
from middlemark.results.trial_folder import TrialFolder
from middlemark.suite import Disturbance, Observation
from middlemark.testbed.processes.ledger import Ledger

Reached = Callable[[str, float | None], None]

_OBSERVERS: dict[Observation | None, ObserverKind] = {
    None: TrialObserver,
    Observation.CAPTURE: CaptureObserver,
    Observation.KERNEL_PATH: KernelPathObserver,
    Observation.RESOURCES: ResourceObserver,
    Observation.WIRE: WireObserver,
}


async def run_trial(
    trial: Trial, resources: CampaignResources, folder: TrialFolder, attempt: int, reached: Reached
) -> FinishedTrial:
    """Runs the trial and stores all of it but its record; what broke on the way is how it failed."""
    folder.clear()
    try:
        with ExitStack() as stack:
            lifecycle = _prepared(trial, resources, folder, stack)
            ended = await _execute_and_collect(lifecycle, resources.ledger, folder, reached)
    except TrialOver as over:
        return FinishedTrial(TrialRecord(trial=trial, outcome=over.outcome, attempt=attempt))
    except EnvironmentBroke as broke:
        outcome = Failed(application="middlemark", doing="using the test-bed", causes=tuple(broke.missing.splitlines()))
        return FinishedTrial(TrialRecord(trial=trial, outcome=outcome, attempt=attempt))
    if ended is not None:
        return FinishedTrial(record.ended_record(lifecycle, ended, attempt))
    return _analysed(lifecycle, folder, resources.bounds, attempt)


def _prepared(trial: Trial, resources: CampaignResources, folder: TrialFolder, stack: ExitStack) -> Lifecycle:
    """All that the trial needs before its first process starts; over where this machine or the trial lacks it."""
    workers = resources.workers_of(trial.experiment)
    check_possible(trial, workers)
    with _not_applicable_where_lacking():
        environment = enter_prepared(trial, resources, stack)
    specs = process_specs(trial, environment)
    check_targets(specs)
    specs = secured(trial, specs, environment)
    folder.write_specs(stored_specs(specs))
    processes = TrialProcesses(specs, environment, folder.logs_path, resources.ledger)
    observer = _OBSERVERS[trial.observation](processes, environment, resources.ledger)
    return Lifecycle(trial, processes, environment, observer)


@contextmanager
def _not_applicable_where_lacking() -> Iterator[None]:
    """What this machine lacks, it lacks for all trials of the experiment."""
    try:
        yield
    except EnvironmentNotReady as lacking:
        reason = "; ".join(str(lacking).splitlines())
        raise TrialOver(NotApplicable(capability="testbed", reason=reason)) from lacking


@contextmanager
def _invalid_where_clocks_disagree() -> Iterator[None]:
    """A clock that is set after a trial says nothing of the next one."""
    try:
        yield
    except EnvironmentNotReady as disagree:
        reason = InvalidReason(kind=InvalidKind.CLOCK, text="; ".join(str(disagree).splitlines()))
        raise TrialOver(Invalid(reasons=(reason,))) from disagree


async def _execute_and_collect(
    lifecycle: Lifecycle, ledger: Ledger, folder: TrialFolder, reached: Reached
) -> Outcome | None:
    """Executes the trial and stores what its processes recorded; how it ended early, None where it did not."""
    try:
        with link_check.invalid_where_neighbours_had_no_room(lifecycle.environment.testbed):
            await _execute(lifecycle, ledger, folder, reached)
        with _invalid_where_clocks_disagree():
            lifecycle.clocks = clock_agreement(lifecycle.environment, ledger)
        reached("storing", None)
        _collect(lifecycle, folder)
    except TrialOver as over:
        if isinstance(over.outcome, Failed):
            check_space()
        return over.outcome
    return None


async def _execute(lifecycle: Lifecycle, ledger: Ledger, folder: TrialFolder, reached: Reached) -> None:
    """Probes the links, goes through the lifecycle and probes them again; stores what was said, whatever happens."""
    environment, experiment = lifecycle.environment, lifecycle.trial.experiment
    try:
        reached("probing links", None)
        lifecycle.links = await link_check.probed_links(environment, "before")
        link_check.check_alive(lifecycle.links)
        before_ns = await distance_ns(environment)
        with ExitStack() as stack:
            with _not_applicable_where_lacking():
                lifecycle.loads = stack.enter_context(under_load(environment, experiment, ledger))
            await lifecycle.live(reached)
            await lifecycle.processes.end()
        lifecycle.cpu_distances_ns = before_ns, await distance_ns(environment)
        link_check.mend(environment, experiment.timeline)
        lifecycle.links += await link_check.probed_links(environment, "after")
    finally:
        lifecycle.observer.end()
        await lifecycle.processes.end()
        folder.write_events(lifecycle.events.lines)
        with writing(folder.path):
            lifecycle.observer.keep(folder)


def _collect(lifecycle: Lifecycle, folder: TrialFolder) -> None:
    """Stores what the processes recorded."""
    recordings = lifecycle.processes.collect(folder.path)
    samples.check_samples(recordings)
    streams = lifecycle.trial.experiment.streams
    received, published = samples.received(recordings, streams), samples.published(recordings, streams)
    folder.write_samples(received, published, samples.histograms(recordings))
    if lifecycle.trial.experiment.nodes:
        inputs, outputs = samples.inputs(recordings), samples.outputs(recordings)
        folder.write_executions(samples.executions(recordings), inputs, outputs)


def _analysed(lifecycle: Lifecycle, folder: TrialFolder, bounds: Disturbance, attempt: int) -> FinishedTrial:
    """The result of a trial that ran to its end; stores its metrics where it counts."""
    try:
        judged, measured = _judged(lifecycle, folder, bounds, attempt)
    except StoreError as damaged:  # they are as they came, so whoever left them has left no samples of this trial
        outcome = Failed(application="middlemark", doing="reading the samples", causes=(damaged.problem,))
        return FinishedTrial(record.ended_record(lifecycle, outcome, attempt))
    if measured is None:  # that its counts contradict its samples is among the reasons why it does not count
        return FinishedTrial(judged)
    if is_valid(judged):
        folder.write_metrics(*stored_form(measured))
    return record.with_metrics(judged, measured.metrics)


def _judged(
    lifecycle: Lifecycle, folder: TrialFolder, bounds: Disturbance, attempt: int
) -> tuple[TrialRecord, MeasuredTrial | None]:
    """Its record, and its metrics, which are computed here and never again, but by a later version."""
    with folder.reading_samples() as stored:
        judged = record.judged_record(lifecycle, stored.received, bounds, attempt)
    try:
        return judged, measure(folder, judged)
    except AccountingError:
        return judged, None
