"""A demand to its experiments: every middleware and profile with all streams at once, and nothing else between them.

It runs no worker: the caller passes the available middlewares and profiles. The processes become the topology's
applications.
"""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from middlemark.errors import EnvironmentNotReady, UsageError
from middlemark.plan.application import Application, Endpoint
from middlemark.plan.experiment import Experiment, Windows
from middlemark.plan.factors import experiment_id
from middlemark.plan.patterns import OpenRequests, Periodic, planned_compute
from middlemark.plan.resolve import Subject, condition_factors, planned_conditions, stream_qos
from middlemark.plan.streams import Recorded, Stream
from middlemark.plan.topology.topology import link_and_host_factors, planned_hosts, planned_links, planned_networks
from middlemark.suite import (
    ALL_MIDDLEWARES,
    DEFAULT_PATIENCE_NS,
    DEFAULT_QUEUE_BYTES,
    DURATION,
    OPTION,
    RATE,
    SIZE,
    Arrival,
    Demand,
    Demanded,
    Host,
    HostKind,
    LinkSettings,
    MiddlewareChoice,
    Network,
    Observation,
    RecordedMessages,
    Role,
    ServiceDemand,
    StreamDemand,
    Topology,
    Within,
    factor_text,
    shipped_topologies,
)
from middlemark.suite import Application as Placed

_LEVELS = {Within.HALF: 0.5, Within.NINE_OF_TEN: 0.9, Within.P99: 0.99, Within.P999: 0.999, Within.ALL: 0.5}
_SHORTEST_NS, _LONGEST_NS = 2_000_000_000, 20_000_000_000
# As many must lie beyond a quantile for it to be given at all.
_MESSAGES_BEYOND = 10


def experiments_of(demand: Demand, profiles: Mapping[str, Sequence[str]]) -> tuple[Experiment, ...]:
    """One experiment for each middleware and configuration; `profiles` are those of each middleware there is."""
    topology = topology_of(demand)
    windows = _windows(demand)
    streams = (
        *(_stream(stream, windows.window_ns) for stream in demand.streams),
        *(_service(service) for service in demand.services),
    )
    experiments = {}
    for subject in _subjects(demand, profiles):
        factors = _factors(demand, subject, topology, streams)
        experiments[experiment_id(factors)] = Experiment(
            id=experiment_id(factors),
            factors=factors,
            middleware=subject.middleware,
            profile=subject.profile,
            options=subject.options,
            delivery=subject.delivery,
            workload=demand.application,
            topology=topology.name,
            hosts=planned_hosts(topology),
            networks=planned_networks(topology),
            links=planned_links(topology, demand.conditions.link, windows.window_ns + windows.drain_ns),
            services=topology.services,
            applications=_applications(topology, streams),
            streams=streams,
            conditions=planned_conditions(demand.conditions),
            windows=windows,
            samples=demand.recording.samples,
            verify=demand.verify,
        )
    return tuple(experiments.values())


def observed(demand: Demand) -> tuple[Observation, ...]:
    """What is watched, where the demand doesn't say it: the wire can only be seen where hosts are joined by one."""
    if demand.observe is not None:
        return demand.observe
    wired = bool(topology_of(demand).networks)
    return (Observation.RESOURCES, Observation.WIRE) if wired else (Observation.RESOURCES,)


def topology_of(demand: Demand) -> Topology:
    """The topology that is named, or that follows from where the processes sit, with them as its applications."""
    base = _implied(demand) if demand.topology is None else demand.topology.over(shipped_topologies())
    placed = tuple(
        Placed(name=process.process, host=process.host or base.hosts[0].name, roles=_roles(demand, process.process))
        for process in demand.processes
    )
    return base.model_copy(update={"applications": placed})


def _implied(demand: Demand) -> Topology:
    """This machine where no process names a host, else a host in namespaces for each name, all on one network."""
    names = list(dict.fromkeys(process.host or "local" for process in demand.processes))
    alone = all(process.host is None for process in demand.processes)
    made = tuple(Host(name=name, kind=HostKind.LOCAL if alone else HostKind.NETNS) for name in names)
    joined = (Network(name="lan", hosts=tuple(names)),) if len(names) > 1 else ()
    anyone = (Placed(name="processes", host=names[0], roles=tuple(Role)),)
    return Topology(
        name=demand.application,
        summary=demand.summary,
        hosts=made,
        networks=joined,
        link=demand.link or LinkSettings(),
        applications=anyone,
    )


def _roles(demand: Demand, process: str) -> tuple[Role, ...]:
    publishes = [Role.PUBLISHER for demanded in demand.demanded for name in demanded.publishers if name == process]
    subscribes = [Role.SUBSCRIBER for demanded in demand.demanded for name in demanded.subscribers if name == process]
    return tuple(publishes + subscribes)


def _applications(topology: Topology, streams: Sequence[Stream]) -> tuple[Application, ...]:
    return tuple(
        Application(name=placed.name, host=placed.host, endpoints=tuple(_endpoints(placed.name, streams)))
        for placed in topology.applications
    )


def _endpoints(process: str, streams: Sequence[Stream]) -> Iterator[Endpoint]:
    for stream in streams:
        for role, holders in ((Role.PUBLISHER, stream.publishers), (Role.SUBSCRIBER, stream.subscribers)):
            indices = (index for index, holder in enumerate(holders) if holder == process)
            yield from (Endpoint(stream=stream.name, role=role, index=index) for index in indices)


def _subjects(demand: Demand, profiles: Mapping[str, Sequence[str]]) -> Iterator[Subject]:
    if not profiles:
        raise EnvironmentNotReady("no worker is built", remedy="build the workers: `make workers`")
    for choice in demand.middlewares:
        every = choice.middleware == ALL_MIDDLEWARES
        chosen = [middleware for middleware in profiles if middleware not in demand.exclude]
        for name in chosen if every else [choice.middleware]:
            if name not in profiles:
                raise EnvironmentNotReady(
                    f"`{demand.application}` names `{name}`, which has no worker here",
                    remedy=f"`middlemark doctor` says why; available: {', '.join(profiles)}",
                )
            yield from _configurations(demand, choice, name, profiles[name])


def _configurations(demand: Demand, choice: MiddlewareChoice, name: str, profiles: Sequence[str]) -> Iterator[Subject]:
    requested = choice.profiles or demand.profiles
    chosen = profiles if requested is None else [profile for profile in requested if profile in profiles]
    for profile, values in product(chosen, product(*choice.options.values())):
        yield Subject(name, profile, dict(zip(choice.options, values, strict=True)), demand.delivery)


def _stream(requested: StreamDemand, window_ns: int) -> Stream:
    recorded = None if requested.recorded is None else _recorded(requested, requested.recorded, window_ns)
    rate_hz = requested.rate or 0.0
    size_bytes = requested.size or 0
    if recorded is not None:
        rate_hz = len(recorded.offsets_ns) / recorded.period_ns * 1e9
        size_bytes = max(recorded.sizes_bytes)
    return Stream(
        name=requested.name,
        size_bytes=size_bytes,
        pattern=Periodic(rate_hz=rate_hz, arrival=requested.arrival if recorded is None else Arrival.FIXED),
        recorded=recorded,
        qos=stream_qos(requested.qos),
        publishers=requested.publishers,
        subscribers=requested.subscribers,
    )


def _service(requested: ServiceDemand) -> Stream:
    """Requests at a rate, as an application sends them whether it has its responses or not."""
    pattern = OpenRequests(
        rate_hz=requested.rate,
        arrival=requested.arrival,
        response_bytes=requested.response or requested.size,
        outstanding=requested.outstanding,
        timeout_ns=requested.timeout,
        server_time=planned_compute(requested.server_time),
    )
    return Stream(
        name=requested.name,
        size_bytes=requested.size,
        pattern=pattern,
        qos=stream_qos(requested.qos),
        publishers=requested.clients,
        subscribers=requested.servers,
    )


def _recorded(requested: StreamDemand, messages: RecordedMessages, window_ns: int) -> Recorded:
    """The part of a recording that a window holds."""
    if not messages.offsets_ns:
        raise UsageError(
            f"the recording of `{requested.topic}` was not read", remedy="name the application by its file"
        )
    period_ns = min(messages.period_ns, window_ns)
    inside = sum(at_ns < period_ns for at_ns in messages.offsets_ns)
    if not inside:
        raise UsageError(
            f"the first {period_ns / 1e9:g} s of the recording have no message of `{requested.topic}`",
            remedy=f"a `window` beyond {messages.offsets_ns[0] / 1e9:.3g} s, or leave the stream out",
        )
    offsets_ns, sizes_bytes = messages.offsets_ns[:inside], messages.sizes_bytes[:inside]
    return Recorded(offsets_ns=offsets_ns, sizes_bytes=sizes_bytes, period_ns=period_ns)


def _windows(demand: Demand) -> Windows:
    requested = demand.windows
    late_after = demand.recording.late_after
    first_ns = max(
        (s.recorded.offsets_ns[0] for s in demand.streams if s.recorded and s.recorded.offsets_ns), default=0
    )
    # The last message of the window has its whole deadline too, and the last request its timeout.
    deadlines_ns = (demanded.deadline or 0 for demanded in demand.demanded)
    drain_ns = max(requested.drain, *deadlines_ns, *(service.timeout for service in demand.services))
    return Windows(
        first_message_ns=requested.first_message + first_ns,
        warm_up_ns=requested.warm_up,
        window_ns=demand.window or _window_ns(demand),
        drain_ns=drain_ns,
        late_after_ns=drain_ns if late_after is None else late_after,
    )


def _window_ns(demand: Demand) -> int:
    """Long enough for the share of messages that each deadline is of, over all trials together."""
    needed_s = [0.0]
    for demanded in demand.demanded:
        if demanded.deadline is not None:
            messages = math.ceil(round(_MESSAGES_BEYOND / (1 - _LEVELS[demanded.within]), 6)) / demand.trials
            needed_s.append(1.05 * messages / _messages_hz(demanded))
    return int(round(min(max(max(needed_s) * 1e9, _SHORTEST_NS), _LONGEST_NS), -8))


def _messages_hz(demanded: Demanded) -> float:
    """How many messages, or responses, arrive in a second, at all receivers together."""
    if isinstance(demanded, ServiceDemand):
        return demanded.rate * len(demanded.clients)
    flows = len(demanded.publishers) * len(demanded.subscribers)
    recorded = demanded.recorded
    if recorded is None or not recorded.period_ns:
        return (demanded.rate or 1.0) * flows
    return len(recorded.offsets_ns) / recorded.period_ns * 1e9 * flows


def _factors(demand: Demand, subject: Subject, topology: Topology, streams: Sequence[Stream]) -> dict[str, str]:
    """The window is none of them: as in suites, the same load measured for longer is the same experiment."""
    return {
        "middleware": subject.middleware,
        "profile": subject.profile,
        **{f"{OPTION}{name}": factor_text(name, value) for name, value in subject.options.items()},
        **({} if subject.delivery is None else {"delivery": subject.delivery.value}),
        "workload": demand.application,
        "topology": topology.name,
        **{f"stream.{stream.name}": _words(stream) for stream in streams},
        **condition_factors(demand.conditions),
        **link_and_host_factors(topology, demand.conditions.link),
    }


def _words(stream: Stream) -> str:
    qos, pattern = stream.qos, stream.pattern
    rate_hz = pattern.rate_hz if isinstance(pattern, Periodic | OpenRequests) else 0.0
    load = f"{SIZE.text(stream.size_bytes)} at {RATE.text(rate_hz)}"
    if stream.recorded is not None:
        digest = hashlib.sha256(stream.recorded.model_dump_json().encode()).hexdigest()[:8]
        load = f"{len(stream.recorded.offsets_ns)} recorded messages {digest}"
    elif isinstance(pattern, Periodic | OpenRequests) and pattern.arrival is not Arrival.FIXED:
        load += f", {pattern.arrival}"
    if isinstance(pattern, OpenRequests):
        load += f", {_answered(pattern)}"
    path = f"{'+'.join(stream.publishers)} to {'+'.join(stream.subscribers)}"
    history = getattr(qos.history, "depth", "all")
    words = [load, str(qos.reliability), f"history {history}", str(qos.durability), str(qos.congestion), path]
    if qos.patience_ns not in {None, DEFAULT_PATIENCE_NS}:
        words.append(f"patience {DURATION.text(qos.patience_ns or 0)}")
    if qos.queue_bytes not in {None, DEFAULT_QUEUE_BYTES}:
        words.append(f"queue {SIZE.text(qos.queue_bytes or 0)}")
    return ", ".join(words + ([] if qos.level is None else [f"level {qos.level}"]))


def _answered(requests: OpenRequests) -> str:
    """The rest of a service: two that differ in any of it are two experiments."""
    computes = requests.server_time.model_dump(exclude={"kind"})
    times = " ".join(DURATION.text(time_ns) for time_ns in computes.values())
    words = [f"{SIZE.text(requests.response_bytes)} back", f"{requests.server_time.kind} server time {times}"]
    return ", ".join([*words, f"{requests.outstanding} under way", f"timeout {DURATION.text(requests.timeout_ns)}"])
