"""A suite to its experiments: the product of all its lists, less what `exclude` names.

Pure: which middlewares there are is given. The order of the trials is drawn by `trial`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from middlemark.errors import EnvironmentNotReady, UsageError
from middlemark.plan.experiment import Application, Conditions, Endpoint, Experiment, Windows, experiment_id
from middlemark.plan.stream import (
    Burst,
    KeepAll,
    KeepLast,
    Periodic,
    PingPong,
    Stream,
    StreamPattern,
    StreamQos,
    Unthrottled,
)
from middlemark.suite import (
    ALL_MIDDLEWARES,
    Arrival,
    History,
    OptionValue,
    Pattern,
    Qos,
    Role,
    Suite,
    Topology,
    Workload,
    factor_text,
    shipped_workloads,
)
from middlemark.suite import Conditions as AskedConditions

_MS = 1_000_000
_DEFAULT_APPROACH_HZ = 100.0
_DEFAULT_PATIENCE_NS = 1_000 * _MS


@dataclass(frozen=True)
class Subject:
    """What is measured: a middleware in one configuration."""

    middleware: str
    profile: str
    options: dict[str, OptionValue]


@dataclass(frozen=True)
class Load:
    """What is sent: a workload with one size, one rate and one QoS."""

    workload: Workload
    size_bytes: int
    rate_hz: float | None
    qos: Qos


def expand(suite: Suite, *, available: Sequence[str]) -> tuple[Experiment, ...]:
    """All experiments of a suite, for the middlewares that are available here."""
    points = product(
        _subjects(suite, available),
        _loads(suite),
        [choice.topology_itself() for choice in suite.topologies],
        suite.conditions,
    )
    rules = [rule.factors() for rule in suite.exclude]
    experiments = {}
    for subject, load, topology, conditions in points:
        experiment = _experiment(suite, subject, load, topology, conditions)
        if any(_matches(experiment.factors, rule) for rule in rules):
            continue
        if experiment.id in experiments:
            raise UsageError(f"the suite `{suite.suite}` has this experiment twice: {experiment.key}")
        experiments[experiment.id] = experiment
    if not experiments:
        raise UsageError(f"the suite `{suite.suite}` excludes every experiment that it names")
    return tuple(experiments.values())


def _matches(factors: dict[str, str], rule: dict[str, frozenset[str]]) -> bool:
    return all(factors.get(name) in values for name, values in rule.items())


def _subjects(suite: Suite, available: Sequence[str]) -> Iterator[Subject]:
    if not available:
        raise EnvironmentNotReady("no worker is built", remedy="build the workers: `make workers`")
    for choice in suite.middlewares:
        names = available if choice.middleware == ALL_MIDDLEWARES else [choice.middleware]
        for name in names:
            if name not in available:
                raise EnvironmentNotReady(
                    f"the suite `{suite.suite}` asks for `{name}`, and there is no worker for it here",
                    remedy=f"`middlemark doctor` says why; available: {', '.join(available) or 'none'}",
                )
        options = [dict(zip(choice.options, values, strict=True)) for values in product(*choice.options.values())]
        for name, profile, chosen in product(names, choice.profiles or suite.profiles, options):
            yield Subject(name, profile, chosen)


def _loads(suite: Suite) -> Iterator[Load]:
    for entry in suite.workloads:
        shipped = shipped_workloads().get(entry.workload)
        whole = entry.over(shipped)
        sizes = entry.size or suite.sizes or whole.size or ()
        base = (shipped.qos if shipped else None) or (Qos(),)
        changes = entry.qos or suite.qos
        qos = [b.changed_by(change) for b in base for change in changes] if changes else base
        for size, rate, asked in product(sizes, whole.rate or (None,), qos):
            yield Load(whole, size, rate, asked)


def _experiment(
    suite: Suite, subject: Subject, load: Load, topology: Topology, conditions: AskedConditions
) -> Experiment:
    factors = _factors(subject, load, topology, conditions)
    return Experiment(
        id=experiment_id(factors),
        factors=factors,
        middleware=subject.middleware,
        profile=subject.profile,
        options=subject.options,
        workload=load.workload.workload,
        topology=topology.name,
        hosts=topology.hosts,
        applications=_applications(load.workload.workload, topology),
        streams=(_stream(load, topology),),
        conditions=_conditions(conditions),
        windows=_windows(suite, load.workload),
        samples=suite.recording.samples,
        verify=suite.verify,
    )


def _factors(subject: Subject, load: Load, topology: Topology, conditions: AskedConditions) -> dict[str, str]:
    """Every factor as text; what a point doesn't have is left out."""
    workload, qos = load.workload, load.qos
    factors: dict[str, object] = {
        "middleware": subject.middleware,
        "profile": subject.profile,
        **{f"option.{name}": value for name, value in subject.options.items()},
        "workload": workload.workload,
        "pattern": workload.pattern,
        "size": load.size_bytes,
        "rate": load.rate_hz,
        "arrival": (workload.arrival or Arrival.FIXED) if workload.pattern is Pattern.PERIODIC else None,
        "messages": workload.messages,
        "answer": workload.answer,
        "interval": workload.interval,
        "patience": workload.patience,
        "reliability": qos.reliability,
        "history": qos.history,
        "depth": qos.depth if qos.history is History.KEEP_LAST else None,
        "durability": qos.durability,
        "congestion": qos.congestion,
        "level": qos.level,
        "topology": topology.name,
        "placement": topology.placement,
        "cpus": conditions.cpus,
        "scheduling": conditions.scheduling,
        "priority": conditions.priority,
        "spin": conditions.spin,
        "keep_awake": conditions.keep_awake,
    }
    return {name: factor_text(name, value) for name, value in factors.items() if value is not None}


def _applications(stream: str, topology: Topology) -> tuple[Application, ...]:
    next_index = dict.fromkeys(Role, 0)
    applications = []
    for application in topology.applications:
        endpoints = []
        for role in application.roles:
            endpoints.append(Endpoint(stream=stream, role=role, index=next_index[role]))
            next_index[role] += 1
        applications.append(Application(name=application.name, host=application.host, endpoints=tuple(endpoints)))
    return tuple(applications)


def _stream(load: Load, topology: Topology) -> Stream:
    holders = [(application.name, role) for application in topology.applications for role in application.roles]
    return Stream(
        name=load.workload.workload,
        size_bytes=load.size_bytes,
        pattern=_pattern(load),
        qos=_qos(load.qos),
        publishers=tuple(name for name, role in holders if role is Role.PUBLISHER),
        subscribers=tuple(name for name, role in holders if role is Role.SUBSCRIBER),
    )


def _pattern(load: Load) -> StreamPattern:
    workload, rate_hz = load.workload, load.rate_hz or 0.0
    approach_hz = workload.approach or _DEFAULT_APPROACH_HZ
    if workload.pattern is Pattern.BURST:
        return Burst(rate_hz=rate_hz, messages=workload.messages or 1)
    if workload.pattern is Pattern.UNTHROTTLED:
        return Unthrottled(approach_hz=approach_hz, messages=workload.messages)
    if workload.pattern is Pattern.PING_PONG:
        return PingPong(
            approach_hz=approach_hz,
            answer_bytes=workload.answer or load.size_bytes,
            interval_ns=workload.interval or 0,
            patience_ns=workload.patience or _DEFAULT_PATIENCE_NS,
            messages=workload.messages,
        )
    return Periodic(rate_hz=rate_hz, arrival=workload.arrival or Arrival.FIXED)


def _qos(asked: Qos) -> StreamQos:
    return StreamQos(
        reliability=asked.reliability,
        history=KeepLast(depth=asked.depth) if asked.history is History.KEEP_LAST else KeepAll(),
        durability=asked.durability,
        congestion=asked.congestion,
        level=asked.level,
    )


def _conditions(asked: AskedConditions) -> Conditions:
    return Conditions(
        cpus=asked.cpus,
        scheduling=asked.scheduling,
        priority=asked.priority,
        spin_ns=asked.spin,
        keep_awake=asked.keep_awake,
    )


def _windows(suite: Suite, workload: Workload) -> Windows:
    windows = suite.windows_of(workload)
    late_after = suite.recording.late_after
    return Windows(
        first_message_ns=windows.first_message,
        warm_up_ns=windows.warm_up,
        window_ns=windows.window,
        drain_ns=windows.drain,
        late_after_ns=windows.drain if late_after is None else late_after,
    )
