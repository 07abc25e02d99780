"""A suite's topology and conditions to an experiment's hosts, networks, links and timeline.

What a suite can only know once topology, workload and conditions have met is refused here. It shapes and breaks
nothing: `testbed` and `campaign` do; `cpus` shares out the CPUs.
"""

from collections.abc import Sequence

from middlemark.errors import UsageError
from middlemark.plan.application import Application
from middlemark.plan.experiment import PlannedFault
from middlemark.plan.patterns import Burst, OpenRequests, Periodic
from middlemark.plan.streams import Stream
from middlemark.plan.topology.network import STANDARD_MTU_BYTES, Host, Link, Network, TracePoint
from middlemark.plan.topology.wifi import trace_of
from middlemark.suite import (
    Action,
    Direction,
    Fault,
    HostKind,
    Impairment,
    LinkSettings,
    Step,
    Timeline,
    Topology,
)
from middlemark.suite.topology.impairment import EFFECTS

DECLARABLE = ("rate", "delay", "jitter", "loss")
"""What may be said of a link that is not made here."""
_SIGNALS = (Action.KILL, Action.PAUSE, Action.RESUME)


def planned_hosts(topology: Topology) -> tuple[Host, ...]:
    """The hosts, in their order."""
    return tuple(
        Host(
            name=host.name,
            kind=host.kind,
            cpus=host.cpus,
            cpu_quota=host.cpu_quota,
            memory_bytes=host.memory,
            ssh=host.ssh,
            address=host.address,
        )
        for host in topology.hosts
    )


def planned_networks(topology: Topology) -> tuple[Network, ...]:
    """The networks, in their order."""
    return tuple(Network(name=network.name, hosts=network.hosts) for network in topology.networks)


def planned_links(topology: Topology, condition: LinkSettings | None, lasting_ns: int) -> tuple[Link, ...]:
    """One link for each host of each network: what the topology says, and over it the condition, for so long."""
    settings = topology.links_under(condition)
    if condition is not None and not settings:
        raise UsageError(
            f"the topology `{topology.name}` has no link for the condition `link: {condition}`",
            remedy="exclude the pair, or use a topology with networks: D1-1, routed-3, …",
        )
    kinds = {host.name: host.kind for host in topology.hosts}
    for (host, network), requested in settings.items():
        if kinds[host] is not HostKind.NETNS:
            _check_not_shaped(f"the link of `{host}` to `{network}`, which is {kinds[host]}", requested, condition)
    return tuple(_link(host, network, requested, lasting_ns) for (host, network), requested in settings.items())


def _check_not_shaped(which: str, requested: LinkSettings, condition: LinkSettings | None) -> None:
    """Another machine's link is what it is: a topology may declare what that is, a condition can't change it."""
    if condition is not None and not condition.is_plain:
        raise UsageError(
            f"the condition `link: {condition}` can't change {which}: it is not a link of a netns host",
            remedy="exclude the pair; a topology may declare what such a link really is, which is then checked",
        )
    directions = [requested, *filter(None, (requested.outgoing, requested.incoming))]
    set_there = dict.fromkeys(name for direction in directions for name, value in direction if value is not None)
    unmeasured = [name for name in set_there if name not in {*DECLARABLE, "outgoing", "incoming"}]
    if unmeasured:
        raise UsageError(
            f"`{unmeasured[0]}` can't be requested of {which}: such a link is not made, only measured",
            remedy=f"declare its real properties to have them checked: {', '.join(DECLARABLE)}",
        )


def link_and_host_factors(topology: Topology, condition: LinkSettings | None) -> dict[str, str]:
    """What is requested of hosts and links, by the name of its factor: `link` where it is the same for all links."""
    host_factors = {f"host.{host.name}": str(host) for host in topology.hosts if str(host)}
    settings = topology.links_under(condition)
    if condition is not None and not settings:
        return host_factors | {"link": str(condition)}
    if len({str(requested) for requested in settings.values()}) == 1:
        common = next(iter(settings.values()))
        return host_factors | ({} if common.is_plain else {"link": str(common)})
    link_settings = {f"link.{host}/{network}": requested for (host, network), requested in settings.items()}
    return host_factors | {name: str(requested) for name, requested in link_settings.items() if not requested.is_plain}


def _link(host: str, network: str, settings: LinkSettings, lasting_ns: int) -> Link:
    trace = _trace(settings, lasting_ns)
    outgoing = trace[0].outgoing if trace else _direction(settings.direction(settings.outgoing))
    incoming = trace[0].incoming if trace else _direction(settings.direction(settings.incoming))
    for name, directions in (
        ("outgoing", [outgoing, *(point.outgoing for point in trace)]),
        ("incoming", [incoming, *(point.incoming for point in trace)]),
    ):
        _check_effect(f"the {name} direction of the link of `{host}` to `{network}`", directions)
    plain = outgoing.is_plain and incoming.is_plain and not trace
    return Link(
        host=host,
        network=network,
        mtu_bytes=settings.mtu or STANDARD_MTU_BYTES,
        offloads=plain if settings.offloads is None else settings.offloads,
        outgoing=outgoing,
        incoming=incoming,
        trace=trace if len(trace) > 1 else (),
        mobility=settings.mobility,
    )


def _check_effect(which: str, directions: Sequence[Direction]) -> None:
    """A queue is that of a rate, and a frame that is reordered skips a delay: alone, neither would do anything."""
    queued = [direction for direction in directions if direction.queue_frames]
    if queued and not any(direction.rate_bits_per_s for direction in queued):
        raise UsageError(
            f"{which} has a `queue` and no `rate`: nothing ever waits in it",
            remedy="give the rate that frames wait for: `{rate: 10 Mbit/s, queue: 50}`",
        )
    reordered = [direction for direction in directions if direction.reordering]
    if reordered and not any(direction.delay_ns for direction in reordered):
        raise UsageError(
            f"{which} has a `reordering` and no `delay`: frames overtake by skipping it",
            remedy="give the delay that they skip: `{delay: 10 ms, reordering: 1 %}`",
        )


def _trace(settings: LinkSettings, lasting_ns: int) -> tuple[TracePoint, ...]:
    if settings.mobility is not None:
        outgoing, incoming = (settings.direction(direction) for direction in (settings.outgoing, settings.incoming))
        return trace_of(settings.mobility, _direction(outgoing), _direction(incoming), lasting_ns)
    if settings.trace is None:
        return ()
    if not settings.trace.points:
        raise UsageError(f"{settings.trace} was not read", remedy="name the suite by its file")
    return tuple(_point(step, settings) for step in settings.trace.points)


def _point(step: Step, settings: LinkSettings) -> TracePoint:
    """What the link says, and over it the step; in each direction what is said of that alone comes last."""
    change = LinkSettings.model_construct(**{name: getattr(step, name) for name in step.model_fields_set - {"at"}})
    now = settings.model_copy(update={"trace": None}).changed_by(change)
    return TracePoint(
        at_ns=step.at,
        outgoing=_direction(now.direction(now.outgoing)),
        incoming=_direction(now.direction(now.incoming)),
    )


def _direction(requested: Impairment) -> Direction:
    """What is left out is not done."""
    values = {effect.field: getattr(requested, effect.name) for effect in EFFECTS}
    return Direction(**{field: value for field, value in values.items() if value is not None})


def planned_timeline(
    requested: Timeline | None,
    topology: Topology,
    applications: Sequence[Application],
    stream: Stream,
    window_ns: int,
) -> tuple[PlannedFault, ...]:
    """The faults in the order in which they happen, all within the window."""
    if requested is None:
        return ()
    events = [
        PlannedFault(at_ns=_instant_ns(fault, requested, stream), action=fault.do, target=target)
        for fault in requested.events
        for target in fault.of
    ]
    for event in events:
        _check_target(event, requested, topology, applications)
        _check_reach(event, requested, topology, applications)
        if event.at_ns >= window_ns:
            raise UsageError(
                f"`{requested.timeline}` has {event.action} of `{event.target}` {event.at_ns / 1e9:g} s after the "
                f"window's start, and the window lasts {window_ns / 1e9:g} s",
                remedy="a longer `windows: window`, or an earlier event",
            )
    return tuple(sorted(events, key=lambda event: event.at_ns))


def _instant_ns(fault: Fault, timeline: Timeline, stream: Stream) -> int:
    if fault.at is not None:
        return fault.at
    match stream.pattern:
        case Periodic(rate_hz=rate_hz) | OpenRequests(rate_hz=rate_hz):
            return round((fault.after or 0) / rate_hz * 1e9)
        case Burst(rate_hz=rate_hz, messages=messages):
            return round((fault.after or 0) / messages / rate_hz * 1e9)
        case _:
            raise UsageError(
                f"the timeline `{timeline.timeline}` counts messages, and `{stream.name}` has no rate",
                remedy="give the instant instead: `at: 500 ms`",
            )


def _check_target(
    event: PlannedFault, timeline: Timeline, topology: Topology, applications: Sequence[Application]
) -> None:
    """Only a worker knows which services it needs, so any name with a number may be one."""
    if event.action.is_of_links:
        links = [f"{host}/{network.name}" for network in topology.networks for host in network.hosts]
        targets = [host.name for host in topology.hosts] + links
        if event.target not in targets or not links:
            raise UsageError(
                f"`{timeline.timeline}` has {event.action} of `{event.target}`: `{topology.name}` has no such link",
                remedy=f"links: {', '.join(links) or 'none, exclude the pair'}",
            )
        return
    names = [application.name for application in applications]
    is_publisher_or_subscriber = event.target.startswith(("publisher_", "subscriber_"))
    if event.target not in names and (is_publisher_or_subscriber or not event.target[-1:].isdigit()):
        raise UsageError(
            f"`{timeline.timeline}` has {event.action} of `{event.target}`: `{topology.name}` has none",
            remedy=f"applications: {', '.join(names)}; services by name and number: broker_0, router_1, …",
        )


def _check_reach(
    event: PlannedFault, timeline: Timeline, topology: Topology, applications: Sequence[Application]
) -> None:
    """Signals and links are this machine's: over SSH a process can only be started and told to stop."""
    host_of = {application.name: application.host for application in applications}
    name = event.target.partition("/")[0]
    elsewhere = {host.name for host in topology.hosts if host.kind is HostKind.SSH}
    if (event.action.is_of_links or event.action in _SIGNALS) and host_of.get(name, name) in elsewhere:
        raise UsageError(
            f"`{timeline.timeline}` has {event.action} of `{event.target}`, which is on another machine",
            remedy=f"{Action.STOP}, {Action.RESTART} or {Action.START} of its applications; or exclude the pair",
        )
