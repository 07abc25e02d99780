"""Which watch carries out which observation.

The watches themselves are modules of their own; `trial` starts the one that its trial asks for.

One trial from its plan to its stored record: the place it runs in, its life, its samples, its account.

It is the only part that both runs and stores; the order of trials and their repetition are `campaign`'s business.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

from middlemark.analysis.metrics.accounting import AccountingError
from middlemark.analysis.metrics.stored import measure, stored_form
from middlemark.campaign.observers.observer import Kind, Watch
from middlemark.campaign.observers.processes import KernelPathWatch, ResourceWatch
from middlemark.campaign.observers.traffic import CaptureWatch, WireWatch
from middlemark.campaign.order import CampaignResources
from middlemark.campaign.trial import link_check, validity
from middlemark.campaign.trial import record as trial_record
from middlemark.campaign.trial.environment import TrialEnvironment, clock_offsets, prepared
from middlemark.campaign.trial.events import TrialOver
from middlemark.campaign.trial.lifecycle import Life
from middlemark.campaign.trial.processes import Running
from middlemark.campaign.trial.record import Account
from middlemark.campaign.trial.spec import Place, Specs, specs
from middlemark.errors import EnvironmentNotReady
from middlemark.plan import Experiment, Invalid, NotApplicable, Trial
from middlemark.results.files import writing
from middlemark.results.record import ClockAgreement, LinkMeasured, TrialRecord, is_valid
from middlemark.results.trial_folder import TrialFolder
from middlemark.suite import Observation
from middlemark.testbed.hosts.clock_sync import ClockOffset, over_window
from middlemark.testbed.processes.ledger import Ledger

_KINDS: dict[Observation, Kind] = {
    Observation.CAPTURE: CaptureWatch,
    Observation.KERNEL_PATH: KernelPathWatch,
    Observation.RESOURCES: ResourceWatch,
    Observation.WIRE: WireWatch,
}


def watch_of(trial: Trial, running: Running, setting: TrialEnvironment, ledger: Ledger) -> Watch:
    """The trial's watch, which has not begun."""
    kind = Watch if trial.observation is None else _KINDS[trial.observation]
    return kind(running, setting, ledger)


Reached = Callable[[str, float | None], None]


async def run_trial(
    trial: Trial, grounds: CampaignResources, folder: TrialFolder, attempt: int, reached: Reached
) -> Account:
    """Runs the trial and stores all of it but its record; what this machine can't make is not applicable."""
    worker = grounds.worker_of(trial.experiment)
    folder.clear()
    with ExitStack() as given:
        try:
            setting = given.enter_context(prepared(_as_watched(trial), worker.path, grounds))
        except EnvironmentNotReady as lacking:
            return _not_applicable(trial, attempt, "testbed", "; ".join(str(lacking).splitlines()))
        return await _run(trial, attempt, setting, grounds, folder, reached)


def _as_watched(trial: Trial) -> Experiment:
    """On the wire a packet is one that is no larger than the link's MTU: whole messages would pass as one otherwise."""
    if trial.observation not in {Observation.WIRE, Observation.CAPTURE}:
        return trial.experiment
    links = tuple(link.model_copy(update={"offloads": False}) for link in trial.experiment.links)
    return trial.experiment.model_copy(update={"links": links})


async def _run(  # noqa: PLR0913, PLR0917 - a trial has so many sides
    trial: Trial,
    attempt: int,
    setting: TrialEnvironment,
    grounds: CampaignResources,
    folder: TrialFolder,
    reached: Reached,
) -> Account:
    worker, place = grounds.worker_of(trial.experiment), setting.place
    told = specs(trial, worker.description, place)
    nobody = _nobody(trial, told)
    if nobody:
        return _not_applicable(trial, attempt, "faults", f"this trial has no {nobody}")
    folder.write_specs({**told.services, **told.applications})
    running = Running(worker.path, told, place, folder.logs_path, grounds.ledger)
    watch = watch_of(trial, running, setting, grounds.ledger)
    life = Life(trial, running, setting, watch)
    before: tuple[LinkMeasured, ...] = ()
    try:
        reached("probing links", None)
        before = await link_check.measured(setting, "before")
        _check_alive(before)
        await life.live(reached)
    except TrialOver as over:
        await running.end()
        record = trial_record.of_ended(life, over.outcome, attempt)
        return Account(record.model_copy(update={"links": before}))
    else:
        await running.end()
        link_check.mend(setting, trial.experiment.timeline)
        seen = before + await link_check.measured(setting, "after")
        clocks = _clocks(setting, clock_offsets(setting.testbed, grounds.ledger))
        reached("storing", None)
        folders = _recordings(running, place, folder)
        beyond = trial_record.histograms(set(folders.values()))
        folder.write_samples(trial_record.received(folders), trial_record.published(folders), beyond)
        with folder.reading_samples() as recorded:
            record = trial_record.of_measured(
                life, recorded.received, seen, clocks, bounds=grounds.bounds, attempt=attempt
            )
        if trial.experiment.nodes:
            taken, sent = trial_record.inputs(folders), trial_record.outputs(folders)
            folder.write_executions(trial_record.executions(folders), taken, sent)
    finally:
        watch.end()
        await running.end()
        folder.write_events(life.hearing.lines)
        with writing(folder.path):
            watch.keep(folder)
    return _measured(record, folder)


def _measured(record: TrialRecord, folder: TrialFolder) -> Account:
    """Its metrics are computed here and never again, but by a later version; of a trial that counts they are stored."""
    try:
        found = measure(folder, record)
    except AccountingError:  # it is among the reasons why it does not count
        return Account(record)
    if is_valid(record):
        folder.write_metrics(*stored_form(found))
    return trial_record.with_figures(record, found.metrics)


def _check_alive(before: tuple[LinkMeasured, ...]) -> None:
    """Where nothing comes through a link, no trial is run over it."""
    dead = validity.unlike(link for link in before if link.is_dead)
    if dead:
        raise TrialOver(Invalid(reasons=dead))


def _nobody(trial: Trial, told: Specs) -> str:
    """Whom the timeline names and the trial hasn't: which services a middleware needs only its worker says."""
    named = [each.target for each in trial.experiment.timeline if not each.action.is_of_links]
    return ", ".join(dict.fromkeys(name for name in named if name not in told.host_of))


def _not_applicable(trial: Trial, attempt: int, capability: str, reason: str) -> Account:
    outcome = NotApplicable(capability=capability, reason=reason)
    return Account(TrialRecord(trial=trial, outcome=outcome, attempt=attempt))


def _clocks(setting: TrialEnvironment, after: Mapping[str, ClockOffset]) -> dict[str, ClockAgreement]:
    """Over the whole trial, around the offset that all stamps were made with."""
    agreed = {}
    for name, before in setting.clocks.items():
        whole = over_window(before, after[name])
        bound_ns = whole.bound_ns + abs(whole.offset_ns - before.offset_ns)
        agreed[name] = ClockAgreement(offset_ns=before.offset_ns, bound_ns=bound_ns, source=whole.source)
    return agreed


def _recordings(running: Running, place: Place, into: TrialFolder) -> dict[str, Path]:
    """By application, where on this machine the samples of its last process are."""
    return {
        name: place.hosts[running.specs.host_of[name]].collect(place.recording_folder_of(len(keys)), into.path / name)
        for name, keys in running.keys.items()
        if name in running.specs.applications
    }
