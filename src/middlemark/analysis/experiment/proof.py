"""Whether what was seen of a trial's messages contradicts what its workers state: the one judgement of their path.

A path is proved by bytes on interfaces, by messages that lie in shared memory and by open sockets, never by a setting:
each path that is stated takes some messages, and no other one any. What could not be looked at is not judged; `path`
has what a report shows, `security` judges the level, and that such a trial does not count is `campaign`'s business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

import polars as pl

from middlemark.analysis.experiment.path import OUTSIDE, is_provable, left_through, sent_bytes, stated_paths
from middlemark.analysis.experiment.security import unlike_security
from middlemark.plan import Experiment
from middlemark.results.counts import MessagePath, SocketProtocol
from middlemark.results.record import TrialRecord
from middlemark.results.streaming import FLOW, Frame, row_chunks
from middlemark.suite import ContainerIpc, DeploymentKind

LEAST_BYTES = 1_000_000
"""Less than this on interfaces may be discovery, or other programs on the machine's loopback."""
MOST_TIMES = 10
"""More than so many times the bytes that arrived are not only the trial's, however small its messages are."""
_ON_ONE_HOST = {MessagePath.SHARED_MEMORY, MessagePath.LOCAL_SOCKET}
_SOCKETS = {MessagePath.LOCAL_SOCKET: "a local socket", MessagePath.NETWORK: "a socket of TCP or UDP"}


class Distance(Enum):
    """How far apart the two ends of a flow are."""

    APPLICATION = auto()
    """Both are one application."""
    HOST = auto()
    """In two applications of one host."""
    NETWORK = auto()
    """On two hosts."""


@dataclass(frozen=True)
class Arrivals:
    """The messages of one publisher that arrived at one subscriber."""

    publisher: tuple[int, int]
    """The position of its stream, and its index there."""
    ends: frozenset[str]
    """The applications of both; one where they are in the same."""
    distance: Distance
    payload_bytes: float


def arrivals(record: TrialRecord, received: Frame) -> list[Arrivals]:
    """One entry a flow, of messages and requests without their answers.

    Only what arrived before the interfaces' bytes were read at the window's end: others may have left afterwards.
    """
    end_ns = record.window.end_ns if record.window else 0
    in_time = received.filter((pl.col("received_ns") <= end_ns) & (pl.col("answer") == 0))
    by_chunk = [chunk.group_by(FLOW).len() for chunk in row_chunks(in_time, *FLOW)]
    by_flow = pl.concat(by_chunk).group_by(FLOW).agg(pl.col("len").sum())
    return [_of_flow(record, *flow) for flow in by_flow.select("stream", "publisher", "subscriber", "len").rows()]


def sent_once_bytes(flows: Sequence[Arrivals]) -> float:
    """The payload of these messages, each once: one frame may serve many subscribers."""
    most: dict[tuple[int, int], float] = {}
    for flow in flows:
        most[flow.publisher] = max(most.get(flow.publisher, 0), flow.payload_bytes)
    return sum(most.values())


def _of_flow(record: TrialRecord, number: int, publisher: int, subscriber: int, messages: int) -> Arrivals:
    stream = record.trial.experiment.streams[number]
    ends = frozenset((stream.publishers[publisher], stream.subscribers[subscriber]))
    hosts = {application.host for application in record.trial.experiment.applications if application.name in ends}
    between = Distance.NETWORK if len(hosts) > 1 else Distance.HOST
    return Arrivals(
        publisher=(number, publisher),
        ends=ends,
        distance=between if len(ends) > 1 else Distance.APPLICATION,
        payload_bytes=messages * stream.mean_bytes,
    )


@dataclass(frozen=True)
class _Memory:
    """The shared memory that the applications of a trial had mapped before the window."""

    mapped: Mapping[str, frozenset[str]]
    """By application, the identities of its segments."""
    messages: Mapping[str, int]
    """By segment, the most messages that an application found in it."""
    names: Mapping[str, str]

    def between(self, flows: Iterable[Arrivals]) -> frozenset[str]:
        """The segments that both ends of any of these flows had mapped."""
        nothing = frozenset[str]()
        shared = (frozenset.intersection(*(self.mapped.get(end, nothing) for end in flow.ends)) for flow in flows)
        return nothing.union(*shared)


@dataclass(frozen=True)
class _Evidence:
    """What was seen of the messages of one trial."""

    record: TrialRecord
    stated: frozenset[MessagePath]
    arrived: Sequence[Arrivals]
    memory: _Memory | None
    """None where an application does not tell its segments."""

    @property
    def is_exact(self) -> bool:
        """Whether each stated path has to take messages.

        Of several, some may stay unused where a worker does not tell what it has mapped, or can't know what its peer
        shares: another middleware, or a container with memory of its own.
        """
        experiment = self.record.trial.experiment
        knows_peers = experiment.pair is None and not _is_memory_divided(experiment)
        return len(self.stated) == 1 or (knows_peers and self.memory is not None)

    def has_socket(self, path: MessagePath) -> bool | None:
        """Whether any application had a socket for this path; None where one of them does not tell."""
        told = [proof.sockets for proof in self.record.path.values()]
        is_local = {socket.protocol is SocketProtocol.LOCAL for sockets in told for socket in sockets or ()}
        return None if None in told else (path is MessagePath.LOCAL_SOCKET) in is_local

    def flows(self, *distances: Distance) -> list[Arrivals]:
        """Those whose ends are so far apart."""
        return [flow for flow in self.arrived if flow.distance in distances]


def contradiction(record: TrialRecord, received: Frame) -> str:
    """How what was seen contradicts what the workers state; empty where it doesn't, or where nothing can be proved."""
    if unlike := unlike_security(record):
        return unlike
    stated = stated_paths(record)
    if not stated or not is_provable(record):
        return ""
    evidence = _Evidence(record, stated, arrivals(record, received), _memory(record))
    problem = next(filter(None, (judge(evidence) for judge in _JUDGES)), "")
    words = " and ".join(path.words for path in sorted(stated))
    return problem and f"the workers state that messages take {words}, but {problem}"


def _memory(record: TrialRecord) -> _Memory | None:
    told = {name: proof.segments for name, proof in record.path.items() if proof.segments is not None}
    if len(told) < len(record.path):
        return None
    messages: dict[str, int] = {}
    for segment in (segment for segments in told.values() for segment in segments):
        messages[segment.identity] = max(messages.get(segment.identity, 0), segment.messages or 0)
    return _Memory(
        mapped={name: frozenset(segment.identity for segment in segments) for name, segments in told.items()},
        messages=messages,
        names={segment.identity: segment.name for segments in told.values() for segment in segments},
    )


def _is_memory_divided(experiment: Experiment) -> bool:
    """Whether the applications of a host are in containers that have no memory in common."""
    deployment = experiment.conditions.deployment
    is_shared = deployment.ipc in {ContainerIpc.SHAREABLE, ContainerIpc.HOST}
    return deployment.deployment is DeploymentKind.MULTI_CONTAINER and not is_shared


def _unstated_network(evidence: _Evidence) -> str:
    """Bytes of applications that have no socket for it are other programs' on the machine."""
    through = left_through(evidence.record)
    left_bytes = sum(through.values())
    arrived_bytes = sum(flow.payload_bytes for flow in evidence.arrived)
    is_own = max(LEAST_BYTES, OUTSIDE * sent_bytes(evidence.record)) <= left_bytes <= MOST_TIMES * arrived_bytes
    if MessagePath.NETWORK in evidence.stated or not is_own or evidence.has_socket(MessagePath.NETWORK) is False:
        return ""
    return f"{left_bytes} bytes left through {', '.join(sorted(through))}, enough for the payload"


def _unstated_memory(evidence: _Evidence) -> str:
    """A segment that one end alone has mapped is its own memory, as a pool that messages are sent from.

    Segments of different machines can't be told apart.
    """
    if MessagePath.SHARED_MEMORY in evidence.stated or evidence.memory is None:
        return ""
    distances = [Distance.HOST] if _has_remote_hosts(evidence) else [Distance.HOST, Distance.NETWORK]
    memory = evidence.memory
    shared = [segment for segment in memory.between(evidence.flows(*distances)) if memory.messages[segment]]
    words = ", ".join(sorted(f"{memory.messages[segment]} in {memory.names[segment]}" for segment in shared))
    return f"some lay in shared memory that both ends had mapped: {words}" if words else ""


def _has_remote_hosts(evidence: _Evidence) -> bool:
    return any(host.ssh is not None for host in evidence.record.trial.experiment.hosts)


def _idle_network(evidence: _Evidence) -> str:
    if MessagePath.NETWORK not in evidence.stated or not evidence.is_exact:
        return ""
    left_bytes = sum(left_through(evidence.record).values())
    if left_bytes < OUTSIDE * _due_on_network_bytes(evidence):
        return f"only {left_bytes} bytes left through interfaces"
    return ""


def _due_on_network_bytes(evidence: _Evidence) -> float:
    """What the network has to transmit: all between hosts, and within one what no other stated path can have taken."""
    distances = [Distance.NETWORK]
    if not evidence.stated & _ON_ONE_HOST:
        distances += [Distance.HOST]
        distances += [] if MessagePath.PROCESS in evidence.stated else [Distance.APPLICATION]
    return sent_once_bytes(evidence.flows(*distances))


def _idle_memory(evidence: _Evidence) -> str:
    """Messages that lie in no segment prove nothing: what came after them may have taken their place."""
    memory, flows = evidence.memory, evidence.flows(Distance.APPLICATION, Distance.HOST)
    if MessagePath.SHARED_MEMORY not in evidence.stated or not evidence.is_exact:
        return ""
    if memory is None:
        return _without_names(evidence.record)
    if not flows or memory.between(flows):
        return ""
    return "no segment was mapped by both ends of a stream" if memory.names else "no application had any mapped"


def _without_names(record: TrialRecord) -> str:
    """What workers say that tell the names of shared memory alone."""
    told = [proof.shared_memory for proof in record.path.values()]
    return "" if None in told or any(told) else "no application had any mapped"


def _idle_sockets(evidence: _Evidence) -> str:
    """A service, as a routing manager, may have the sockets in the place of its applications."""
    for path, socket in _SOCKETS.items():
        if path in evidence.stated and not evidence.record.services and evidence.has_socket(path) is False:
            return f"no application had {socket}"
    return ""


def _idle_process(evidence: _Evidence) -> str:
    within = evidence.flows(Distance.APPLICATION)
    if MessagePath.PROCESS not in evidence.stated or not evidence.is_exact or within or not evidence.arrived:
        return ""
    return "no message arrived in the application that sent it"


_JUDGES: tuple[Callable[[_Evidence], str], ...] = (
    _unstated_network,
    _unstated_memory,
    _idle_network,
    _idle_memory,
    _idle_sockets,
    _idle_process,
)
