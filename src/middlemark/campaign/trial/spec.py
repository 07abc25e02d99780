"""The specs of a trial's services and applications: what its plan, its worker and its environment make of them.

Pure: it starts nothing and touches no file; `processes` hands each spec to its process. The words are the worker
contract's, the values the plan's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from middlemark.campaign.trial.environment import TrialEnvironment
from middlemark.plan import (
    Application,
    Experiment,
    PlannedFault,
    Stream,
    Trial,
    service_cpus,
    share_cpus,
)
from middlemark.suite import Delivery, OptionValue, Scheduling
from middlemark.testbed.hosts.host import Host
from middlemark.worker import contract
from middlemark.worker.available import TrialWorkers, Worker
from middlemark.worker.contract import ApplicationSpec, Placement, Rendezvous, ServiceAddress, ServiceSpec
from middlemark.worker.description import CONTRACT_VERSION, counts_by_stream, needed_services, resolved_delivery
from middlemark.worker.streams import endpoint_specs, node_specs, qos_spec, stream_specs


@dataclass(frozen=True)
class Specs:
    """What every process of a trial is told, by the process's name, with its host."""

    services: Mapping[str, ServiceSpec]
    applications: Mapping[str, ApplicationSpec]
    host_of: Mapping[str, str]
    worker_of: Mapping[str, Path]
    """By the process's name, whose process it is: the worker's file."""
    timeline: Sequence[PlannedFault] = ()
    credentials: Mapping[str, str] = field(default_factory=dict)
    """How the credentials in them were made, in the worker's words; empty where the trial is open to all."""

    def absent_targets(self) -> str:
        """Whom the timeline names and the trial hasn't: which services a middleware needs only its worker says."""
        named = [event.target for event in self.timeline if not event.action.is_of_links]
        return ", ".join(dict.fromkeys(name for name in named if name not in self.host_of))


_DELIVERIES: Mapping[Delivery | None, contract.Delivery] = {
    Delivery.LIBRARY_THREAD: "library_thread",
    Delivery.OWN_THREAD: "own_thread",
    Delivery.POLLING: "polling",
}
"""The others leave it to the profile and the worker."""


@dataclass(frozen=True)
class _Service:
    """A service of a trial."""

    service: str
    index: int
    host: str
    worker: Worker
    """Whose service it is."""

    @property
    def process(self) -> str:
        """Its process's name."""
        return f"{self.service}_{self.index}"


@dataclass(frozen=True)
class _Common:
    """What all applications are told."""

    services: Sequence[_Service]
    streams: Mapping[str, list[contract.StreamSpec]]
    """As each host sees them."""


def process_specs(trial: Trial, environment: TrialEnvironment) -> Specs:
    """The specs of one trial."""
    experiment = trial.experiment
    services = _services(experiment, environment.workers)
    cpus = share_cpus(experiment, environment.cpus)
    streams = {name: _stream_specs(trial, environment, host) for name, host in environment.hosts.items()}
    common = _Common(services, streams)
    return Specs(
        services={service.process: _service_spec(trial, environment, service, services, cpus) for service in services},
        applications={
            application.name: _application_spec(trial, application, environment, common, cpus[application.name])
            for application in experiment.applications
        },
        host_of={service.process: service.host for service in services}
        | {application.name: application.host for application in experiment.applications},
        worker_of={service.process: service.worker.path for service in services}
        | {application.name: environment.workers.of(application).path for application in experiment.applications},
        timeline=experiment.timeline,
    )


def _services(experiment: Experiment, workers: TrialWorkers) -> list[_Service]:
    """Every service that is needed under the trial's options, where the topology puts it; what both need is one's."""
    with_applications = tuple(dict.fromkeys(application.host for application in experiment.applications))
    hosts = {"host": with_applications, "network": experiment.services or with_applications[:1]}
    services: dict[str, list[_Service]] = {}
    for worker in workers.distinct:
        for need in needed_services(worker.description, experiment.profile, dict(experiment.options)):
            placed = [_Service(need.service, index, host, worker) for index, host in enumerate(hosts[need.per])]
            services.setdefault(need.service, placed)
    return [service for placed in services.values() for service in placed]


def _linked_with(service: _Service, services: Sequence[_Service]) -> list[_Service]:
    """The services that one is linked with: those of its kind before and after it, so that there is no circle."""
    alike = [other for other in services if other.service == service.service]
    return [other for other in alike if abs(other.index - service.index) == 1]


def _nearest_first(host: str, services: Sequence[_Service]) -> list[_Service]:
    return sorted(services, key=lambda service: service.host != host)


def _addresses(services: Sequence[_Service], viewer: str, environment: TrialEnvironment) -> list[ServiceAddress]:
    """Where those services are that can be reached from a host."""
    hosts = environment.hosts
    addresses = [(service, hosts[service.host].address_for(hosts[viewer])) for service in services]
    return [
        ServiceAddress(service=service.service, index=service.index, address=address)
        for service, address in addresses
        if address
    ]


def _options(experiment: Experiment, worker: Worker) -> dict[str, OptionValue]:
    """What the suite sets; of a pair, each option where it is known."""
    names = {option.name for option in worker.description.options}
    return {name: value for name, value in experiment.options.items() if experiment.pair is None or name in names}


def _service_spec(
    trial: Trial,
    environment: TrialEnvironment,
    service: _Service,
    services: Sequence[_Service],
    cpus: Mapping[str, tuple[int, ...]],
) -> ServiceSpec:
    host_name = service.host
    host = environment.hosts[host_name]
    experiment = trial.experiment
    requested = [qos_spec(stream.qos) for stream in experiment.streams]
    return ServiceSpec(
        contract_version=CONTRACT_VERSION,
        service=service.service,
        index=service.index,
        addresses=list(host.addresses.values()),
        interface=host.interface,
        rendezvous=_rendezvous(environment),
        services=_addresses(_linked_with(service, services), host_name, environment),
        profile=experiment.profile,
        options=_options(experiment, service.worker),
        clock_offset_ns=environment.clock_offset_ns(host_name),
        largest_message_bytes=max(_largest_message(stream) for stream in experiment.streams),
        queue_bytes=max(qos.queue_bytes for qos in requested),
        congestion="block" if any(qos.congestion == "block" for qos in requested) else "drop",
        patience_ns=max(qos.patience_ns for qos in requested),
        placement=Placement(
            cpus=list(service_cpus(experiment, host_name, cpus)), scheduling=_scheduling(trial), spin_ns=0
        ),
    )


def _application_spec(
    trial: Trial,
    application: Application,
    environment: TrialEnvironment,
    common: _Common,
    cpus: Sequence[int],
) -> ApplicationSpec:
    experiment = trial.experiment
    host, worker = environment.hosts[application.host], environment.workers.of(application)
    return ApplicationSpec(
        contract_version=CONTRACT_VERSION,
        application=application.name,
        address=host.address,
        interface=host.interface,
        rendezvous=_rendezvous(environment),
        services=_addresses(_nearest_first(application.host, common.services), application.host, environment),
        profile=experiment.profile,
        options=_options(experiment, worker),
        delivery=resolved_delivery(worker.description, experiment.profile, _DELIVERIES.get(experiment.delivery)),
        streams=common.streams[application.host],
        endpoints=endpoint_specs(experiment.streams, application),
        nodes=node_specs(experiment.nodes, application, trial.seed) or None,
        clock_offset_ns=environment.clock_offset_ns(host.name),
        verify=experiment.verify,
        recording=contract.Recording(
            samples=_samples(trial),
            messages=experiment.most_messages(),
            late_after_ns=experiment.windows.late_after_ns,
            folder=str(environment.recording_folder()),
        ),
        placement=Placement(cpus=list(cpus), scheduling=_scheduling(trial), spin_ns=experiment.conditions.spin_ns),
    )


def _rendezvous(environment: TrialEnvironment) -> Rendezvous:
    """What keeps the trial apart from every other."""
    slot = environment.slot
    return Rendezvous(
        name=slot.name,
        token=slot.token,
        domain=slot.domain,
        first_port=slot.first_port,
        ports=slot.ports,
        folder=str(environment.folder),
    )


def _samples(trial: Trial) -> int:
    """As the suite says, of which each endpoint gets no more than its stream can fill.

    A search's get no less: it judges latency from the schedule, which the histogram of what overflows doesn't have.
    """
    experiment = trial.experiment
    return experiment.samples if experiment.search is None else max(experiment.samples, experiment.most_messages())


def _scheduling(trial: Trial) -> contract.OtherScheduling | contract.FifoScheduling:
    conditions = trial.experiment.conditions
    if conditions.scheduling is Scheduling.FIFO and conditions.priority is not None:
        return contract.FifoScheduling(priority=conditions.priority)
    return contract.OtherScheduling()


def _stream_specs(trial: Trial, environment: TrialEnvironment, viewer: Host) -> list[contract.StreamSpec]:
    """The streams of a trial as a host sees them."""
    host_of = {application.name: environment.hosts[application.host] for application in trial.experiment.applications}
    address_of = {name: host.address_for(viewer) or host.address for name, host in host_of.items()}
    told = _told_messages(trial.experiment, environment.workers)
    return stream_specs(trial.experiment.streams, trial.seed, address_of, told)


def _told_messages(experiment: Experiment, workers: TrialWorkers) -> dict[str, int]:
    """How many messages a publisher of a stream may send, where another stream's may send more."""
    most = experiment.most_messages()
    messages = {stream.name: stream.most_messages(experiment.windows.window_ns) for stream in experiment.streams}
    counted = all(counts_by_stream(worker.description) for worker in workers.distinct)
    return {name: few for name, few in messages.items() if few < most} if counted else {}


def _largest_message(stream: Stream) -> int:
    return max(stream.size_bytes, stream.pattern.bytes_of_answer)
