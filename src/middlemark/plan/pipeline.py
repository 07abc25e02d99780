"""A pipeline on a topology: which node lives in which application on which host, and the streams between them.

Pure. An application takes the place of one of the topology's: publishers' and subscribers' places are filled in turn.
With the placement `same_process` all that comes to one place is one process.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

from middlemark.plan import streams as planned
from middlemark.plan.application import Application, Endpoint
from middlemark.plan.patterns import DEFAULT_APPROACH_HZ, Computed, planned_compute
from middlemark.plan.streams import Stream, StreamQos
from middlemark.suite import (
    DEFAULT_CAPACITY,
    Chain,
    Node,
    NodeInput,
    Placement,
    Readiness,
    Role,
    Take,
    Topology,
    Workload,
    stream_between,
)

"""The rate before the window of what is unthrottled, where a workload says nothing."""


@dataclass(frozen=True)
class Pipeline:
    """What an experiment has of a pipeline."""

    applications: tuple[Application, ...]
    streams: tuple[Stream, ...]
    nodes: tuple[planned.Node, ...]
    chains: tuple[planned.Chain, ...]


@dataclass(frozen=True)
class NodeDefaults:
    """What the point of the matrix gives to nodes that have none of their own."""

    size_bytes: int | None
    rate_hz: float | None
    qos_of: Mapping[str, StreamQos]
    """By stream."""


def planned_pipeline(workload: Workload, defaults: NodeDefaults, topology: Topology) -> Pipeline:
    """The workload's nodes on the topology's hosts."""
    nodes = workload.nodes or ()
    host_of, application_of = _placed(workload, topology)
    readers = {output.stream: _readers(nodes, output.stream) for node in nodes for output in node.outputs}
    approach_hz = workload.approach or DEFAULT_APPROACH_HZ
    made = tuple(
        planned.Node(
            name=node.node,
            application=application_of[node.node],
            trigger=_trigger(node, defaults.rate_hz, approach_hz),
            compute=planned_compute(node.compute),
            inputs=_inputs(node, readers),
            outputs=tuple(output.stream for output in node.outputs),
        )
        for node in nodes
    )
    applications = tuple(
        Application(name=name, host=host, endpoints=_endpoints(name, made)) for name, host in host_of.items()
    )
    by_name = {node.node: node for node in nodes}
    chains = tuple(_chain(chain, by_name) for chain in workload.chains or ())
    return Pipeline(applications, _streams(nodes, defaults, application_of, readers), made, chains)


def _streams(
    nodes: tuple[Node, ...], defaults: NodeDefaults, application_of: Mapping[str, str], readers: Mapping[str, list[str]]
) -> tuple[Stream, ...]:
    rates = _rates(nodes, defaults.rate_hz)
    return tuple(
        Stream(
            name=output.stream,
            size_bytes=output.size or defaults.size_bytes or 0,
            pattern=Computed(rate_hz=None if math.isinf(rates[node.node]) else rates[node.node]),
            qos=defaults.qos_of[output.stream],
            publishers=(application_of[node.node],),
            subscribers=tuple(application_of[reader] for reader in readers[output.stream]),
        )
        for node in nodes
        for output in node.outputs
    )


def _inputs(node: Node, readers: Mapping[str, list[str]]) -> tuple[planned.NodeInput, ...]:
    return tuple(
        planned.NodeInput(
            stream=entry.stream,
            subscriber=readers[entry.stream].index(node.node),
            take=_take(node, entry),
        )
        for entry in node.inputs
    )


def graph_digest(workload: Workload) -> str:
    """Tells two graphs apart: how many nodes, and a digest of all that is written of them."""
    parts = (*(workload.nodes or ()), *(workload.chains or ()), *(workload.applications or ()))
    text = json.dumps([part.model_dump(mode="json") for part in parts], sort_keys=True)
    return f"{len(workload.nodes or ())} nodes {hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _placed(workload: Workload, topology: Topology) -> tuple[dict[str, str], dict[str, str]]:
    """The host of each application, and the application of each node."""
    places: dict[Role, list[tuple[str, str]]] = {role: [] for role in Role}
    for application in topology.applications:
        for role in application.roles:
            places[role].append((application.name, application.host))
    next_place = dict.fromkeys(Role, 0)
    host_of, application_of = {}, {}
    for name, role, nodes in _groups(workload):
        place, host = places[role][next_place[role] % len(places[role])]
        next_place[role] += 1
        process = place if topology.placement is Placement.SAME_PROCESS else name
        host_of[process] = host
        application_of.update(dict.fromkeys(nodes, process))
    return host_of, application_of


def _groups(workload: Workload) -> list[tuple[str, Role, tuple[str, ...]]]:
    """Each application with its role and its nodes, in the order of their first nodes."""
    nodes = {node.node: node for node in workload.nodes or ()}
    written = workload.applications or ()
    group_of = {name: application for application in written for name in application.nodes}
    groups = {}
    for name in nodes:
        pipeline_application = group_of.get(name)
        members = pipeline_application.nodes if pipeline_application else (name,)
        default = Role.PUBLISHER if all(nodes[member].is_source for member in members) else Role.SUBSCRIBER
        label = pipeline_application.application if pipeline_application else name
        groups[label] = (label, (pipeline_application.role if pipeline_application else None) or default, members)
    return list(groups.values())


def _readers(nodes: tuple[Node, ...], stream: str) -> list[str]:
    return [node.node for node in nodes if stream in [entry.stream for entry in node.inputs]]


def _rates(nodes: tuple[Node, ...], source_hz: float | None) -> dict[str, float]:
    """How often each node runs in a second at most, in the long run; infinite where nothing bounds it."""
    sender = {output.stream: node.node for node in nodes for output in node.outputs}
    by_name = {node.node: node for node in nodes}
    rates: dict[str, float] = {}

    def rate_of(name: str) -> float:
        if name not in rates:
            node = by_name[name]
            incoming = [rate_of(sender[entry.stream]) for entry in node.inputs]
            if node.runs_on is not None:
                rates[name] = sum(incoming) if node.runs_on is Readiness.ANY else min(incoming)
            else:
                rates[name] = math.inf if node.unthrottled else node.rate or source_hz or 0.0
        return rates[name]

    return {node.node: rate_of(node.node) for node in nodes}


def _trigger(node: Node, source_hz: float | None, approach_hz: float) -> planned.Trigger:
    if node.runs_on is not None:
        return planned.OnMessage(when=node.runs_on)
    if node.unthrottled:
        return planned.UnthrottledSource(approach_hz=approach_hz)
    if node.is_source:
        return planned.Source(rate_hz=node.rate or source_hz or 0.0)
    return planned.Timer(rate_hz=node.rate or 0.0)


def _take(node: Node, entry: NodeInput) -> planned.TakeNewest | planned.TakeQueue:
    if node.take_of(entry) is Take.NEWEST:
        return planned.TakeNewest()
    return planned.TakeQueue(capacity=entry.capacity or DEFAULT_CAPACITY)


def _endpoints(application: str, nodes: tuple[planned.Node, ...]) -> tuple[Endpoint, ...]:
    of_application = [node for node in nodes if node.application == application]
    inputs = [(entry.stream, Role.SUBSCRIBER, entry.subscriber) for node in of_application for entry in node.inputs]
    outputs = [(stream, Role.PUBLISHER, 0) for node in of_application for stream in node.outputs]
    return tuple(Endpoint(stream=stream, role=role, index=index) for stream, role, index in inputs + outputs)


def _chain(chain: Chain, by_name: Mapping[str, Node]) -> planned.Chain:
    pairs = zip(chain.path, chain.path[1:], strict=False)
    return planned.Chain(
        name=chain.chain,
        nodes=chain.path,
        streams=tuple(stream_between(by_name[before], by_name[after])[0] for before, after in pairs),
        deadline_ns=chain.deadline,
    )
