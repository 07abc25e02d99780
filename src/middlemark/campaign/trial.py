"""One trial from its plan to its stored record: the place it runs in, its life, its samples, its account.

It is the only part that both runs and stores; the order of trials and their repetition are `campaign`'s business.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from middlemark.analysis.run_folder import TrialFolder
from middlemark.campaign import account, samples, store
from middlemark.campaign.account import Account
from middlemark.campaign.grounds import Grounds
from middlemark.campaign.hearing import TrialOver
from middlemark.campaign.life import Life
from middlemark.campaign.running import Running
from middlemark.campaign.spec import Place, specs
from middlemark.errors import InternalError
from middlemark.plan import Trial, loaded_hosts
from middlemark.suite import Action
from middlemark.testbed import awake, cpu_load, slot
from middlemark.testbed.cpu_load import CpuLoad

Reached = Callable[[str, float | None], None]


async def run_trial(trial: Trial, grounds: Grounds, folder: TrialFolder, attempt: int, reached: Reached) -> Account:
    """Runs the trial and stores all of it but its record."""
    worker = grounds.workers[trial.experiment.middleware]
    store.fresh(folder)
    with _place(trial, grounds) as place, _loaded(trial, place, grounds) as loads:
        told = specs(trial, worker.description, place)
        store.keep_specs(folder, {**told.services, **told.applications})
        running = Running(worker.path, told, place, folder.logs_path, grounds.ledger)
        life = Life(trial, running, place, loads)
        try:
            await life.live(reached)
        except TrialOver as over:
            await running.end()
            result = Account.without_samples(account.of_ended(life, over.outcome, attempt))
        else:
            await running.end()
            reached("storing", None)
            result = _collected(life, place, grounds, attempt)
            store.keep_samples(folder, result.received, result.published, samples.histograms(place.recording_folder))
        finally:
            await running.end()
            store.keep_events(folder, life.hearing.lines)
    return result


def _collected(life: Life, place: Place, grounds: Grounds, attempt: int) -> Account:
    folders = {
        name: place.recording_folder_of(len(life.running.keys[name]))
        for name in life.specs.applications
        if life.running.keys[name]
    }
    received, published = samples.received(folders), samples.published(folders)
    return account.of_measured(life, received, published, bounds=grounds.bounds, attempt=attempt)


@contextmanager
def _place(trial: Trial, grounds: Grounds) -> Iterator[Place]:
    """A slot, a folder, and CPUs kept awake if the trial wants that; all given back with the context."""
    with ExitStack() as given:
        taken = given.enter_context(slot.taken())
        host = grounds.hosts[trial.experiment.applications[0].host]
        with store.writing(Path(tempfile.gettempdir())):
            folder, mark = host.create_folder(taken.name, grounds.ledger)
        given.callback(grounds.ledger.remove, mark, grounds.ledger.enter("shared_memory", taken.name))
        if trial.experiment.conditions.keep_awake:
            given.enter_context(awake.kept_awake(grounds.cpus, grounds.ledger))
        place = Place(taken, grounds.hosts, folder, grounds.cpus, _no_link)
        for number in range(1, 1 + _most_processes(trial)):
            place.recording_folder_of(number).mkdir()
        yield place


@contextmanager
def _loaded(trial: Trial, place: Place, grounds: Grounds) -> Iterator[dict[str, CpuLoad]]:
    """The CPU load that the trial wants, by host."""
    asked = trial.experiment.conditions.cpu_load
    with ExitStack() as given:
        loads = {}
        for name in loaded_hosts(trial.experiment) if asked else ():
            cpus = trial.experiment.host(name).cpus or grounds.cpus
            load = cpu_load.loaded(place.hosts[name], cpus, asked.level if asked else 0, grounds.ledger)
            loads[name] = given.enter_context(load)
        yield loads


def _no_link(target: str, action: Action) -> None:
    raise InternalError(f"{action} of {target}, which has no link")


def _most_processes(trial: Trial) -> int:
    """How many processes any one application has, one after another."""
    timeline = trial.experiment.timeline
    restarts = Counter(event.target for event in timeline if event.action is Action.RESTART)
    return 1 + max(restarts.values(), default=0)
