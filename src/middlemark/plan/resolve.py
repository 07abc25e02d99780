"""One point of a suite's matrix to its experiment: every value fixed, every factor named.

Which points there are is `matrix`'s question; addresses and seeds are left to the trial.
"""

from dataclasses import dataclass

from middlemark.plan.application import Pair, ends_of, with_endpoints
from middlemark.plan.experiment import (
    CaptureBounds,
    Conditions,
    Experiment,
    Search,
    Windows,
)
from middlemark.plan.factors import experiment_id
from middlemark.plan.patterns import planned_pattern, timeout_ns
from middlemark.plan.pipeline import (
    NodeDefaults,
    Pipeline,
    graph_digest,
    planned_pipeline,
)
from middlemark.plan.streams import (
    KeepAll,
    KeepLast,
    Stream,
    StreamQos,
    TypedPayload,
)
from middlemark.plan.topology.topology import (
    link_and_host_factors,
    planned_hosts,
    planned_links,
    planned_networks,
    planned_timeline,
)
from middlemark.suite import (
    DEFAULT_PATIENCE_NS,
    DEFAULT_QUEUE_BYTES,
    DURATION,
    OPTION,
    SHARE,
    Arrival,
    Delivery,
    Deployment,
    History,
    OptionValue,
    Pattern,
    Payload,
    Qos,
    Security,
    Serialisation,
    Suite,
    Topology,
    Workload,
    factor_text,
    shipped_workloads,
)
from middlemark.suite import Conditions as RequestedConditions
from middlemark.suite import Search as RequestedSearch

_PERIODIC = (Pattern.PERIODIC, Pattern.CAPACITY)


@dataclass(frozen=True)
class Subject:
    """What is measured: a middleware in one configuration."""

    middleware: str
    profile: str
    options: dict[str, OptionValue]
    delivery: Delivery | None = None
    """None where nobody names one."""
    pair: Pair | None = None
    """Who publishes and who subscribes, where these are two middlewares."""


@dataclass(frozen=True)
class WorkloadPoint:
    """What is sent: a workload with one size, one rate, one QoS and one number of topics."""

    workload: Workload
    size_bytes: int | None
    """None where a pipeline's nodes have their own."""
    rate_hz: float | None
    qos: Qos
    topics: int | None = None
    """None for one topic from all publishers to all subscribers."""
    serialisation: Serialisation | None = None
    """None leaves it to each middleware's worker."""

    @property
    def payload(self) -> TypedPayload | None:
        """What messages hold; None for octets."""
        kind = self.workload.payload
        if kind is None or kind is Payload.OCTETS:
            return None
        return TypedPayload(kind=kind, serialisation=self.serialisation)


@dataclass(frozen=True)
class MatrixPoint:
    """One point of the matrix."""

    subject: Subject
    load: WorkloadPoint
    topology: Topology
    conditions: RequestedConditions


def resolve(suite: Suite, point: MatrixPoint, factors: dict[str, str]) -> Experiment:
    """The experiment at one point of the matrix, which has these factors."""
    subject, load, topology, requested = point.subject, point.load, point.topology, point.conditions
    sent = _sent(load, topology)
    windows = _windows(suite, load.workload)
    return Experiment(
        id=experiment_id(factors),
        factors=factors,
        middleware=subject.middleware,
        pair=subject.pair,
        profile=subject.profile,
        options=subject.options,
        delivery=subject.delivery,
        search=_search(load.workload),
        workload=load.workload.workload,
        topology=topology.name,
        hosts=planned_hosts(topology),
        networks=planned_networks(topology),
        links=planned_links(topology, requested.link, windows.window_ns + windows.drain_ns),
        services=topology.services,
        applications=sent.applications,
        streams=sent.streams,
        nodes=sent.nodes,
        chains=sent.chains,
        conditions=planned_conditions(requested),
        timeline=planned_timeline(requested.faults, topology, sent.applications, sent.streams[0], windows.window_ns),
        windows=windows,
        samples=suite.recording.samples,
        capture=CaptureBounds(snap_bytes=suite.capture.snap, most_bytes=suite.capture.most),
        path_messages=suite.kernel_path.messages,
        verify=suite.verify,
    )


def factors_of(point: MatrixPoint) -> dict[str, str]:
    """Every factor as text; what a point doesn't have is left out."""
    subject, load, topology, requested = point.subject, point.load, point.topology, point.conditions
    workload, qos = load.workload, load.qos
    factors: dict[str, object] = {
        "middleware": subject.middleware,
        "profile": subject.profile,
        **{f"{OPTION}{name}": value for name, value in subject.options.items()},
        "delivery": subject.delivery,
        "workload": workload.workload,
        "pattern": workload.pattern,
        "graph": graph_digest(workload) if workload.pattern is Pattern.PIPELINE else None,
        "size": load.size_bytes,
        "rate": load.rate_hz,
        **_of_messages(load),
        "arrival": (workload.arrival or Arrival.FIXED) if _has_arrival(load) else None,
        "bounds": _bounds(workload),
        "messages": workload.messages,
        "answer": workload.answer,
        "interval": workload.interval,
        "patience": workload.patience,
        "response": workload.response,
        "outstanding": workload.outstanding,
        "timeout": workload.timeout,
        "server_time": workload.server_time,
        "reliability": qos.reliability,
        "history": qos.history,
        "depth": qos.depth if qos.history is History.KEEP_LAST else None,
        "durability": qos.durability,
        "congestion": qos.when_full,
        # As they are by default they are no factor, so that runs from before they were asked for stay comparable.
        "publish_patience": None if qos.patience == DEFAULT_PATIENCE_NS else qos.patience,
        "queue": None if qos.queue == DEFAULT_QUEUE_BYTES else qos.queue,
        "level": qos.level,
        "topology": topology.name,
        "placement": topology.placement,
        **condition_factors(requested),
        **link_and_host_factors(topology, requested.link),
        "faults": requested.faults and requested.faults.timeline,
    }
    return {name: factor_text(name, value) for name, value in factors.items() if value is not None}


def _of_messages(load: WorkloadPoint) -> dict[str, object]:
    """On how many topics they are sent, and what they hold."""
    kind = load.payload and load.payload.kind
    return {"topics": load.topics, "payload": kind, "serialisation": load.serialisation}


def _has_arrival(load: WorkloadPoint) -> bool:
    asks = load.workload.pattern is Pattern.REQUEST_RESPONSE and load.rate_hz is not None
    return load.workload.pattern in _PERIODIC or asks


def condition_factors(requested: RequestedConditions) -> dict[str, str]:
    """The conditions that every experiment has, as text; links and faults are factors of their own."""
    set_here = {name: value for name, value in requested if value is not None and name not in {"link", "faults"}}
    return {name: factor_text(name, value) for name, value in set_here.items()}


def _sent(load: WorkloadPoint, topology: Topology) -> Pipeline:
    """Who sends what to whom; most workloads are one stream without any node."""
    workload = load.workload
    if workload.pattern is not Pattern.PIPELINE:
        stream = _stream(load, topology)
        return Pipeline(with_endpoints(topology, stream), (stream,), (), ())
    outputs = [output for node in workload.nodes or () for output in node.outputs]
    qos_of = {
        output.stream: stream_qos(load.qos.changed_by(output.qos) if output.qos else load.qos) for output in outputs
    }
    return planned_pipeline(workload, NodeDefaults(load.size_bytes, load.rate_hz, qos_of), topology)


def _search(workload: Workload) -> Search | None:
    if workload.pattern is not Pattern.CAPACITY:
        return None
    requested = workload.search or RequestedSearch()
    of_sizes = workload.needs("rate")
    return Search(
        lowest_hz=None if of_sizes else requested.lowest,
        highest_hz=None if of_sizes else requested.highest,
        smallest_bytes=requested.smallest if of_sizes else None,
        largest_bytes=requested.largest if of_sizes else None,
        precision=requested.precision,
        loss_share=requested.loss,
        latency_ns=requested.latency,
        confirm=requested.confirm,
        max_trials=requested.max_trials,
        searches=requested.searches,
    )


def _bounds(workload: Workload) -> str | None:
    if workload.pattern is not Pattern.CAPACITY:
        return None
    requested = workload.search or RequestedSearch()
    return f"loss {SHARE.text(requested.loss)}, latency {DURATION.text(requested.latency)}"


def _stream(load: WorkloadPoint, topology: Topology) -> Stream:
    publishers, subscribers = ends_of(topology, load.topics)
    return Stream(
        name=load.workload.workload,
        topics=load.topics,
        size_bytes=load.size_bytes or 0,
        pattern=planned_pattern(load.workload, load.size_bytes or 0, load.rate_hz),
        payload=load.payload,
        qos=stream_qos(load.qos),
        publishers=publishers,
        subscribers=subscribers,
    )


def stream_qos(requested: Qos) -> StreamQos:
    """What is requested of a stream's delivery."""
    return StreamQos(
        reliability=requested.reliability,
        history=KeepLast(depth=requested.depth) if requested.history is History.KEEP_LAST else KeepAll(),
        durability=requested.durability,
        congestion=requested.when_full,
        patience_ns=requested.patience,
        queue_bytes=requested.queue,
        level=requested.level,
    )


def planned_conditions(requested: RequestedConditions) -> Conditions:
    """What else is true while a trial runs."""
    return Conditions(
        cpus=requested.cpus,
        scheduling=requested.scheduling,
        priority=requested.priority,
        spin_ns=requested.spin,
        keep_awake=requested.keep_awake,
        deployment=requested.deployment or Deployment(),
        cpu_load=requested.cpu_load,
        security=requested.security or Security.NONE,
    )


def _windows(suite: Suite, workload: Workload) -> Windows:
    windows = suite.windows_of(workload, shipped_workloads())
    late_after = suite.recording.late_after
    # The last request of the window has its whole timeout too.
    asks = workload.pattern is Pattern.REQUEST_RESPONSE
    drain_ns = max(windows.drain, timeout_ns(workload) if asks else 0)
    return Windows(
        first_message_ns=windows.first_message,
        warm_up_ns=windows.warm_up,
        window_ns=windows.window,
        drain_ns=drain_ns,
        late_after_ns=drain_ns if late_after is None else late_after,
    )
