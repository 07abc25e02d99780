"""The place of one trial: a slot, the test-bed's hosts, a folder on each, what else its conditions ask for.

All of it is there while the context lasts and given back with it, however it ends. It runs no worker; `trial` does.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from middlemark.campaign.order import CampaignResources
from middlemark.campaign.trial.spec import Place
from middlemark.plan import CaptureBounds, Experiment, loaded_hosts
from middlemark.results.files import writing
from middlemark.suite import Action, HostKind
from middlemark.testbed.hosts import clock_sync
from middlemark.testbed.hosts.clock_sync import ClockOffset
from middlemark.testbed.hosts.container import deployed
from middlemark.testbed.hosts.host import Host
from middlemark.testbed.hosts.rootfs import Contents
from middlemark.testbed.hosts.ssh import SshHost
from middlemark.testbed.machine import cpus
from middlemark.testbed.machine.cpus import CpuLoad
from middlemark.testbed.processes import slot
from middlemark.testbed.processes.child import executable
from middlemark.testbed.processes.ledger import Ledger, state_folder
from middlemark.testbed.processes.slot import Slot
from middlemark.testbed.testbed import Testbed, built
from middlemark.worker.description import programs_of


@dataclass(frozen=True)
class TrialEnvironment:
    """Everything around the processes of one trial."""

    place: Place
    testbed: Testbed
    loads: dict[str, CpuLoad]
    """By loaded host."""
    clocks: dict[str, ClockOffset]
    """By host with a clock of its own, before the trial."""
    capture: CaptureBounds
    """How much is kept where frames are captured."""


@contextmanager
def prepared(experiment: Experiment, worker: Path, grounds: CampaignResources) -> Iterator[TrialEnvironment]:
    """What a trial of the experiment runs in; raises EnvironmentNotReady where this machine can't make it."""
    with ExitStack() as given:
        taken = given.enter_context(slot.taken())
        testbed = given.enter_context(
            built(
                experiment.hosts,
                experiment.networks,
                experiment.links,
                taken,
                grounds.ledger,
                shown=[worker.parent, state_folder()],
                executables=_executables(experiment, worker),
            )
        )
        given.callback(grounds.ledger.remove, grounds.ledger.enter("shared_memory", taken.name))
        if experiment.conditions.keep_awake:
            given.enter_context(cpus.kept_awake(grounds.cpus, grounds.ledger))
        folder = _folders(experiment, list(testbed.hosts.values()), taken, grounds.ledger, given)
        contents = Contents(worker, programs_of(grounds.worker_of(experiment).description))
        deployment = experiment.conditions.deployment
        hosts = {
            name: given.enter_context(
                deployed(host, deployment, contents, folder, grounds.ledger, planned=experiment.host(name))
            )
            for name, host in testbed.hosts.items()
        }
        clocks = clock_offsets(testbed, grounds.ledger)
        place = Place(taken, hosts, folder, grounds.cpus, {name: clock.offset_ns for name, clock in clocks.items()})
        yield TrialEnvironment(place, testbed, _loads(experiment, testbed, grounds, given), clocks, experiment.capture)


def _executables(experiment: Experiment, worker: Path) -> list[Path]:
    """What is copied to hosts that are other machines."""
    is_elsewhere = any(host.kind is HostKind.SSH for host in experiment.hosts)
    return [worker, executable("probe")] if is_elsewhere else [worker]


def clock_offsets(testbed: Testbed, ledger: Ledger) -> dict[str, ClockOffset]:
    """How far the clocks of hosts that are other machines are from this one's, now."""
    elsewhere = [host for host in testbed.hosts.values() if isinstance(host, SshHost)]
    return {host.name: clock_sync.measured(host, executable("probe"), ledger) for host in elsewhere}


def _folders(experiment: Experiment, hosts: Sequence[Host], taken: Slot, ledger: Ledger, given: ExitStack) -> Path:
    """The trial's folder, the same path on every host, with a place for each process's samples."""
    folder = Path(tempfile.gettempdir())
    with writing(folder):
        for host in hosts:
            folder, mark = host.create_folder(taken.name, ledger)
            given.callback(ledger.remove, mark)
            there = Place(taken, {}, folder, ())
            numbers = range(1, 1 + _most_processes(experiment))
            host.make_folders([there.recording_folder_of(number) for number in numbers])
    return folder


def _loads(
    experiment: Experiment, testbed: Testbed, grounds: CampaignResources, given: ExitStack
) -> dict[str, CpuLoad]:
    asked = experiment.conditions.cpu_load
    if asked is None:
        return {}
    return {
        name: given.enter_context(
            cpus.loaded(testbed.hosts[name], experiment.host(name).cpus or grounds.cpus, asked.level, grounds.ledger)
        )
        for name in loaded_hosts(experiment)
    }


def _most_processes(experiment: Experiment) -> int:
    """How many processes any one application has, one after another."""
    restarts = Counter(event.target for event in experiment.timeline if event.action is Action.RESTART)
    return 1 + max(restarts.values(), default=0)
