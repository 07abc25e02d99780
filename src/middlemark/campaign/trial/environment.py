"""The environment of one trial: a slot, the test-bed's hosts, a folder on each, and what else its conditions require.

It exists while the context lasts and is removed with it, however it ends. No worker is started here: `processes`
does that, with the specs of `spec`.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from middlemark.errors import EnvironmentUnusable
from middlemark.plan import CaptureBounds, Experiment, PlannedFault, Side, Trial, loaded_hosts, meeting_cpus
from middlemark.plan.topology.network import Link
from middlemark.results.files import CHUNK_BYTES, writing
from middlemark.results.record import ClockAgreement
from middlemark.suite import Action, Disturbance, HostKind, Observation
from middlemark.suite.yaml.quantity import percent
from middlemark.testbed.hosts import clock_sync
from middlemark.testbed.hosts.clock_sync import ClockOffset, over_window
from middlemark.testbed.hosts.container import deployed
from middlemark.testbed.hosts.host import Host
from middlemark.testbed.hosts.rootfs import Contents
from middlemark.testbed.hosts.ssh import SshHost
from middlemark.testbed.machine import cpu_load
from middlemark.testbed.machine.cpu_load import CpuLoad
from middlemark.testbed.machine.distance import cpu_distance_ns
from middlemark.testbed.machine.wakefulness import KeptAwake, Wakefulness
from middlemark.testbed.processes import slot as slots
from middlemark.testbed.processes.child import executable
from middlemark.testbed.processes.ledger import Ledger, state_folder
from middlemark.testbed.processes.slot import Slot
from middlemark.testbed.testbed import PlannedTestbed, Testbed, built
from middlemark.worker.available import TrialWorkers, Worker
from middlemark.worker.description import needed_ports, programs_of


@dataclass(frozen=True)
class CampaignResources:
    """What every trial of a campaign has in common."""

    workers: Mapping[str, Worker]
    """By middleware."""
    base: Mapping[str, Worker]
    """By middleware: those of the base that is compared against, where there is one."""
    ledger: Ledger
    bounds: Disturbance
    """When a trial is invalid because the machine was taken away, and how often it is then repeated."""
    cpus: tuple[int, ...]
    awake: Wakefulness

    def workers_of(self, experiment: Experiment) -> TrialWorkers:
        """Those that the experiment's applications are."""
        return TrialWorkers.of_experiment(experiment, self.base if experiment.side is Side.BASE else self.workers)


@contextmanager
def campaign_resources(
    workers: Mapping[str, Worker], base: Mapping[str, Worker], ledger: Ledger, bounds: Disturbance
) -> Iterator[CampaignResources]:
    """What the trials of a campaign on this machine have in common, as long as it lasts."""
    available = tuple(sorted(os.sched_getaffinity(0)))
    with closing(Wakefulness(available, ledger)) as awake:
        yield CampaignResources(workers, base, ledger, bounds, available, awake)


@dataclass(frozen=True)
class TrialEnvironment:
    """Everything around the processes of one trial."""

    workers: TrialWorkers
    slot: Slot
    hosts: Mapping[str, Host]
    """The hosts as processes are started on them, in the requested deployment."""
    folder: Path
    """The trial's own folder, the same path on every host."""
    cpus: tuple[int, ...]
    """The CPUs that may be given to applications."""
    testbed: Testbed
    meeting_cpus: tuple[int, int] | None = None
    """The CPUs whose distance is measured; None where all applications are on one."""
    loaded: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """By host that has a CPU load while the trial's processes live, the CPUs that are kept busy."""
    kept_awake: KeptAwake | None = None
    """None where the CPUs may sleep."""
    clocks: Mapping[str, ClockOffset] = field(default_factory=dict)
    """By host with a clock of its own, before the trial."""
    capture: CaptureBounds = field(default_factory=CaptureBounds)
    """How much is kept where frames are captured."""

    def recording_folder(self, number: int = 1) -> Path:
        """Where the first, second, … process of an application leaves its samples."""
        return _recording_folder(self.folder, number)

    def clock_offset_ns(self, host: str) -> int:
        """How far a host's clock was ahead of this machine's."""
        return self.clocks[host].offset_ns if host in self.clocks else 0


@contextmanager
def prepared(trial: Trial, resources: CampaignResources) -> Iterator[TrialEnvironment]:
    """What the trial runs in; raises EnvironmentNotReady where this machine can't make it."""
    experiment, ledger = trial.experiment, resources.ledger
    workers = resources.workers_of(experiment)
    plan = PlannedTestbed(
        experiment.hosts,
        experiment.networks,
        _links(trial),
        shown=(*dict.fromkeys(worker.path.parent for worker in workers.distinct), state_folder()),
        executables=_executables(experiment, workers),
    )
    with ExitStack() as stack:
        ports = max(needed_ports(experiment, worker.description) for worker in workers.distinct)
        slot = stack.enter_context(slots.reserved(ports))
        testbed = stack.enter_context(built(plan, slot, ledger))
        stack.callback(ledger.remove, ledger.enter("shared_memory", slot.name))
        kept_awake = resources.awake.keep(is_wanted=experiment.conditions.keep_awake)
        folder = _folders(testbed, experiment.timeline, slot, ledger, stack)
        contents, deployment = _contents(workers), experiment.conditions.deployment
        hosts = {
            name: stack.enter_context(deployed(host, deployment, contents, folder, ledger, experiment.host(name)))
            for name, host in testbed.hosts.items()
        }
        clocks = _clock_offsets(testbed, ledger)
        loaded = {name: experiment.host(name).cpus or resources.cpus for name in loaded_hosts(experiment)}
        yield TrialEnvironment(
            workers=workers,
            slot=slot,
            hosts=hosts,
            folder=folder,
            cpus=resources.cpus,
            testbed=testbed,
            meeting_cpus=meeting_cpus(experiment, resources.cpus),
            loaded=loaded,
            kept_awake=kept_awake,
            clocks=clocks,
            capture=experiment.capture,
        )


def enter_prepared(trial: Trial, resources: CampaignResources, stack: ExitStack) -> TrialEnvironment:
    """What the trial runs in, until the stack is closed.

    What fails once may have been disturbed, and what this machine lacks would hold for all trials of its experiment.
    """
    try:
        return stack.enter_context(prepared(trial, resources))
    except EnvironmentUnusable:
        check_space()
        return stack.enter_context(prepared(trial, resources))


def check_space() -> None:
    """Refuses a full folder for samples: what failed for that is no outcome, and runs again once there is space."""
    folder = Path(tempfile.gettempdir())
    with writing(folder), tempfile.TemporaryFile(dir=folder) as room:
        room.write(bytes(CHUNK_BYTES))
        room.flush()


@contextmanager
def under_load(environment: TrialEnvironment, experiment: Experiment, ledger: Ledger) -> Iterator[dict[str, CpuLoad]]:
    """The CPU load that the experiment asks for, by host, as long as the context lasts.

    Links are measured without it: a probe that waits for a CPU finds a slower link than messages have.
    """
    load = experiment.conditions.cpu_load
    if load is None:
        yield {}
        return
    with ExitStack() as stack:
        hosts, share = environment.testbed.hosts, percent(load.level)
        yield {
            name: stack.enter_context(cpu_load.loaded(hosts[name], chosen, share, ledger))
            for name, chosen in environment.loaded.items()
        }


async def distance_ns(environment: TrialEnvironment) -> float | None:
    """How far apart the CPUs on which applications meet are now; the host of a virtual machine may move them."""
    cpus = environment.meeting_cpus
    return None if cpus is None else await asyncio.to_thread(cpu_distance_ns, *cpus)


def clock_agreement(environment: TrialEnvironment, ledger: Ledger) -> dict[str, ClockAgreement]:
    """Over the whole trial, which is over now, around the offset that all stamps were made with."""
    after, agreed = _clock_offsets(environment.testbed, ledger), {}
    for name, before in environment.clocks.items():
        whole = over_window(before, after[name])
        bound_ns = whole.bound_ns + abs(whole.offset_ns - before.offset_ns)
        agreed[name] = ClockAgreement(offset_ns=before.offset_ns, bound_ns=bound_ns, source=whole.source)
    return agreed


def _links(trial: Trial) -> tuple[Link, ...]:
    """On the wire a packet is one that is no larger than the link's MTU: whole messages would pass as one otherwise."""
    links = trial.experiment.links
    if trial.observation not in {Observation.WIRE, Observation.CAPTURE}:
        return links
    return tuple(link.model_copy(update={"offloads": False}) for link in links)


def _executables(experiment: Experiment, workers: TrialWorkers) -> tuple[Path, ...]:
    """What is copied to hosts that are other machines."""
    is_elsewhere = any(host.kind is HostKind.SSH for host in experiment.hosts)
    paths = tuple(worker.path for worker in workers.distinct)
    return (*paths, executable("probe")) if is_elsewhere else paths


def _contents(workers: TrialWorkers) -> Contents:
    """What the containers of a trial can execute, where it has any."""
    worker = workers.publishers
    return Contents(worker.path, programs_of(worker.description))


def _clock_offsets(testbed: Testbed, ledger: Ledger) -> dict[str, ClockOffset]:
    """How far the clocks of hosts that are other machines are from this one's, now."""
    elsewhere = [host for host in testbed.hosts.values() if isinstance(host, SshHost)]
    return {host.name: clock_sync.measured_offset(host, executable("probe"), ledger) for host in elsewhere}


def _folders(testbed: Testbed, timeline: Iterable[PlannedFault], slot: Slot, ledger: Ledger, stack: ExitStack) -> Path:
    """The trial's folder, the same path on every host, with one in it for each process's samples."""
    folder, numbers = Path(tempfile.gettempdir()), range(1, 1 + _most_processes(timeline))
    with writing(folder):
        for host in testbed.hosts.values():
            folder, mark = host.create_folder(slot.name, ledger)
            stack.callback(ledger.remove, mark)
            host.make_folders([_recording_folder(folder, number) for number in numbers])
    return folder


def _recording_folder(folder: Path, number: int) -> Path:
    return folder / "samples" if number == 1 else folder / "samples" / f"process_{number}"


def _most_processes(timeline: Iterable[PlannedFault]) -> int:
    """How many processes any one application has, one after another."""
    restarts = Counter(event.target for event in timeline if event.action is Action.RESTART)
    return 1 + max(restarts.values(), default=0)
