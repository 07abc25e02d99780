"""What each middleware really ran with: its configuration, the path that its messages took, and the run's topologies.

It shows what an application stated and what the kernel counted; nothing is judged here. What links were really like is
`traffic.links`'.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.experiment.conditions import loaded_hosts
from middlemark.analysis.experiment.distance import distances
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.experiment.path import Transmitted, transmitted
from middlemark.analysis.run import RunFindings
from middlemark.plan import Experiment
from middlemark.plan.topology.network import Host
from middlemark.report.elements.formatting import ABSENT, NARROW_SPACE, digits, size
from middlemark.report.elements.labels import Series
from middlemark.report.elements.tables import MIDDLEWARE, NOTHING, Cell, Table, named, sentences, table, values
from middlemark.report.traffic.links import link_words
from middlemark.results.counts import MappedSegment, PathProof, SocketUse
from middlemark.results.record import Effective, ServiceConfiguration
from middlemark.suite.yaml.quantity import plural

PROCESS_SETTINGS = ("process CPUs", "process scheduling")
"""The settings that say where a process ran, as every worker reads them back from the kernel."""
DISTANCE = "a cache line from CPU to CPU and back"


@dataclass(frozen=True)
class Configuration:
    """The configuration of one series in words."""

    series: Series
    transport: str
    delivery: str
    receive_mode: str
    copies: str
    services: tuple[tuple[str, str], ...]
    """Each service with its version and where it ran."""
    settings: tuple[tuple[str, str], ...]
    """Each setting with its value; where applications differ, all values with the applications that have them."""
    traffic: tuple[str, ...]
    """What the kernel counted on each interface over the window."""
    payload: str
    """What the subscribers received of it, for comparison."""
    sockets: tuple[str, ...]
    """Those that its applications had open before the window."""
    shared_memory: tuple[str, ...]
    """The segments that they had mapped."""
    unseen: str
    """Which of these some application could not look at, and why."""


def configurations(comparison: Comparison, series_of: Mapping[str, Series]) -> tuple[Configuration, ...]:
    """The configurations of all experiments that ran, in the order of the ranking."""
    return tuple(
        _configuration(candidate, comparison, series_of[candidate.experiment.id])
        for candidate in comparison.experiments
        if candidate.configuration.effective
    )


def _configuration(candidate: ExperimentFindings, comparison: Comparison, series: Series) -> Configuration:
    applications = candidate.configuration.effective
    services = candidate.configuration.services
    settings = {name: effective.settings for name, effective in applications.items()}
    settings |= {name: service.settings for name, service in services.items()}
    names = sorted({setting for effective in settings.values() for setting in effective})
    return Configuration(
        series=series,
        transport=_joined(effective.transport for effective in applications.values()),
        delivery=candidate.configuration.delivery or "unknown",
        receive_mode=_joined(effective.receive_mode for effective in applications.values()),
        copies=_joined(_copies(effective) for effective in applications.values()),
        services=tuple((name, _service(services[name])) for name in sorted(services)),
        settings=tuple((name, _setting(name, settings)) for name in names),
        traffic=_traffic(candidate),
        payload=_payload(candidate, comparison),
        sockets=_sockets(candidate.configuration.path.values()),
        shared_memory=_segments(candidate.configuration.path.values()),
        unseen=_unseen(candidate.configuration.path),
    )


def _joined(words: Iterable[str]) -> str:
    return " / ".join(dict.fromkeys(words))


def _copies(effective: Effective) -> str:
    return "written in place" if effective.zero_copy else "copied by the publish call"


def _service(service: ServiceConfiguration) -> str:
    where = [service.settings[name] for name in PROCESS_SETTINGS if name in service.settings]
    return ", ".join([service.version, *where])


def _setting(name: str, processes: Mapping[str, Mapping[str, str]]) -> str:
    """A value that all have, or each value with the applications and services that have it."""
    values: dict[str, list[str]] = {}
    for process, settings in processes.items():
        if name in settings:
            values.setdefault(settings[name], []).append(process)
    if len(values) == 1:
        return next(iter(values))
    return "; ".join(f"{value} ({', '.join(labels)})" for value, labels in values.items())


def _traffic(candidate: ExperimentFindings) -> tuple[str, ...]:
    """All applications of a host see the same counters; the largest reading covers the whole window."""
    most: dict[str, tuple[int, int]] = {}
    for path in candidate.configuration.path.values():
        for interface in path.interfaces or ():
            before = most.get(interface.interface, (0, 0))
            most[interface.interface] = max(before, (interface.received_bytes, interface.received_packets))
    return tuple(
        f"{name}: {size(received_bytes)} in {packets:,} packet{'s' * (packets != 1)}".replace(",", NARROW_SPACE)
        for name, (received_bytes, packets) in sorted(most.items())
    )


def _sockets(proofs: Iterable[PathProof]) -> tuple[str, ...]:
    """Those of equal ends in all applications together."""
    uses: dict[str, list[SocketUse]] = {}
    for socket in (socket for proof in proofs for socket in proof.sockets or ()):
        ends = " to ".join(end for end in (socket.local, socket.peer) if end is not None)
        uses.setdefault(f"{socket.protocol.value} {ends}".strip(), []).append(socket)
    return tuple(f"{ends}: {_use(sockets)}" for ends, sockets in sorted(uses.items()))


def _use(sockets: Sequence[SocketUse]) -> str:
    number = plural(sum(socket.sockets for socket in sockets), "socket")
    counted = [socket.sent_bytes for socket in sockets if socket.sent_bytes is not None]
    return f"{number}, {size(sum(counted))} sent before the window" if counted else number


def _segments(proofs: Iterable[PathProof]) -> tuple[str, ...]:
    """Each once, with the messages that the application found in it that found most."""
    proofs = tuple(proofs)
    told = {segment.identity: segment for segment in sorted(_told(proofs), key=lambda segment: segment.messages or 0)}
    words = [f"{segment.name}: {size(segment.size_bytes)}{_lay(segment.messages)}" for segment in told.values()]
    return tuple(sorted({*words, *(name for proof in proofs for name in proof.shared_memory or ())}))


def _unseen(proofs: Mapping[str, PathProof]) -> str:
    """Each reason with the applications that tell it."""
    applications: dict[str, list[str]] = {}
    for name, proof in proofs.items():
        for reason in proof.unseen:
            applications.setdefault(reason, []).append(name)
    return "; ".join(f"{reason} ({', '.join(names)})" for reason, names in applications.items())


def _told(proofs: Iterable[PathProof]) -> Iterable[MappedSegment]:
    return (segment for proof in proofs for segment in proof.segments or ())


def _lay(least: int | None, most: int | None = None) -> str:
    if not (most or least):
        return ""
    span = f"{least} to " if most is not None and most != least else ""
    return f", {span}{plural(most or least or 0, 'message')} in it"


def _payload(candidate: ExperimentFindings, comparison: Comparison) -> str:
    if comparison.setting.of_chain:
        return ""
    stream = next(s for s in candidate.experiment.streams if s.name == comparison.setting.stream)
    per_trial = candidate.accounting.totals.get((stream.name, False))
    if per_trial is None or not candidate.n_valid:
        return ""
    return f"payload received: {size(stream.mean_bytes * per_trial.received / candidate.n_valid)} a trial"


CAPTION = (
    "Bytes that left through all hosts' interfaces over the window, for each message sent; median of trials. By the "
    "network: at least half the payload's bytes were on interfaces; by shared memory: messages of the trial lay in a "
    "segment before the window; not seen: segments were mapped, and later messages may have overwritten earlier ones. "
    "Several subscribers, a broker, and the headers of small messages multiply the bytes."
)


def path_table(comparison: Comparison, series_of: Mapping[str, Series]) -> Table | None:
    """One row for each that has valid trials; None without any."""
    shown = [candidate for candidate in comparison.experiments if candidate.records]
    if not shown:
        return None
    on_cpus = {"CPU load": load_words, "CPUs kept awake by": awake_words, DISTANCE: distance_words}
    on_cpus = {heading: words for heading, words in on_cpus.items() if any(words(candidate) for candidate in shown)}
    rows = []
    for measured in shown:
        amounts = transmitted(measured.records)
        row: list[Cell | str] = [
            series_of[measured.experiment.id].label,
            " / ".join(dict.fromkeys(effective.transport for effective in measured.configuration.effective.values()))
            or ABSENT,
            str(measured.experiment.conditions.deployment).replace("_", " "),
            *(_path_cells(amounts) if amounts else (NOTHING,) * 4),
        ]
        rows.append([*row, *(words(measured) for words in on_cpus.values())])
    columns = (
        MIDDLEWARE,
        sentences("transport"),
        *named("deployment"),
        *values("payload", "on interfaces, a message", "shared memory"),
        *named("messages went"),
        *(sentences(heading) for heading in on_cpus),
    )
    return table("Path", columns, rows, CAPTION)


def _path_cells(amounts: Transmitted) -> tuple[str, ...]:
    interfaces = [f"{name} {size(spread.median)}" for name, spread in amounts.interfaces if spread.median >= 1]
    least, most = amounts.segments
    segments = plural(least, "segment") if least == most else f"{least} to {plural(most, 'segment')}"
    return (
        size(amounts.payload_bytes),
        ", ".join(interfaces) or "nothing",
        segments + _lay(*(amounts.in_memory or (None,))) if most else "none",
        path_words(amounts),
    )


def path_words(amounts: Transmitted) -> str:
    """Which path the messages took, as far as was counted."""
    by = {"the network": amounts.is_by_network, "shared memory": amounts.is_by_memory}
    taken = " and ".join(f"by {path}" for path, is_taken in by.items() if is_taken)
    return taken or ("not seen" if amounts.segments[1] else "by neither")


def load_words(candidate: ExperimentFindings) -> str:
    """CPU load requested and reached, host by host; empty where none was requested."""
    words = []
    for host in loaded_hosts(candidate.records):
        reached = host.reached_percent
        low, high = digits(reached.least), digits(reached.most)
        span = "" if low == high else f" ({low}{ABSENT}{high})"
        words.append(f"{host.host}: {host.asked_percent:g} % requested, {digits(reached.median)} %{span} reached")
    return "; ".join(words)


def awake_words(candidate: ExperimentFindings) -> str:
    """By what means CPUs were kept awake, with the CPU time of spinners; empty where CPUs might sleep."""
    awake = [record.kept_awake for record in candidate.records if record.kept_awake]
    if not awake:
        return ""
    spent_s = median(facts.spinners_cpu_ns for facts in awake) / 1e9
    cost = f"; {digits(spent_s)} s of CPU time a trial" if spent_s else ""
    return " / ".join(dict.fromkeys(facts.means for facts in awake)) + cost


def distance_words(candidate: ExperimentFindings) -> str:
    """How far apart the CPUs were on which applications met; empty where that was not measured."""
    return "; ".join(
        f"{digits(apart.median_ns)} ns ({digits(apart.nearest_ns)}{ABSENT}{digits(apart.farthest_ns)})"
        for apart in distances(candidate.records)
    )


def topology_table(findings: RunFindings) -> Table:
    """One row for each topology with the same hosts and links."""
    rows: dict[tuple[str, str, str], None] = {}
    for candidate in findings.experiments:
        experiment = candidate.experiment
        rows[experiment.topology, _hosts(experiment), _networks(experiment)] = None
    columns = (*named("topology"), sentences("hosts"), sentences("networks and links"))
    return table("Topologies", columns, sorted(rows))


def _hosts(experiment: Experiment) -> str:
    words = []
    for host in experiment.hosts:
        applications = [application.name for application in experiment.applications if application.host == host.name]
        lives = [*applications, *(["the service"] if host.name in experiment.services else [])]
        facts = ", ".join([host.kind.value, *_limits(host)])
        words.append(f"{host.name} ({facts}): {', '.join(lives) or 'nothing'}")
    return "; ".join(words)


def _limits(host: Host) -> list[str]:
    limits = [f"{plural(len(host.cpus), 'CPU')} {'+'.join(map(str, host.cpus))}"] if host.cpus else []
    limits += [] if host.cpu_quota is None else [f"{100 * host.cpu_quota:g} % of a CPU"]
    limits += [] if host.memory_bytes is None else [size(host.memory_bytes)]
    return [*limits, *([] if host.ssh is None else [f"ssh {host.ssh}"])]


def _networks(experiment: Experiment) -> str:
    """Each network; links that are all alike are said once."""
    words = []
    for network in experiment.networks:
        of_host = {link.host: link_words(link) for link in experiment.links if link.network == network.name}
        alike = len(set(of_host.values())) == 1
        links = f"links {next(iter(of_host.values()))}" if alike else ", ".join(f"{h} {w}" for h, w in of_host.items())
        words.append(f"{network.name} of {', '.join(network.hosts)}: {links}")
    return "; ".join(words) or ABSENT
