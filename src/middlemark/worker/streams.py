"""A plan's streams, endpoints and nodes in the words of the contract, and what workers say of streams in the plan's.

A pattern gets the seeds that belong to a trial. To a worker each topic of a stream is a stream of its own; a plan has
them as one stream with a publisher and a subscriber for each, so that they have their metrics together. It starts
nothing and reads no file: `plan` has what is planned, `campaign.trial.spec` the rest of a spec.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar

from middlemark.plan import (
    Application,
    Burst,
    ClosedRequests,
    Computed,
    Endpoint,
    Node,
    OpenRequests,
    PingPong,
    Requests,
    Stream,
    StreamPattern,
    StreamQos,
    Unthrottled,
)
from middlemark.plan import Periodic as PeriodicPlan
from middlemark.plan.patterns import publisher_seed
from middlemark.suite import DEFAULT_PATIENCE_NS, DEFAULT_QUEUE_BYTES, Arrival
from middlemark.worker import contract


def stream_specs(
    streams: Iterable[Stream], seed: int, address_of: Mapping[str, str], messages_of: Mapping[str, int]
) -> list[contract.StreamSpec]:
    """What a worker is told of all streams; `messages_of` bounds the messages of those that have fewer than others."""
    return [_stream_spec(topic, seed, address_of, messages_of.get(topic.stream.name)) for topic in topics(streams)]


def _stream_spec(topic: Topic, seed: int, address_of: Mapping[str, str], messages: int | None) -> contract.StreamSpec:
    stream = topic.stream
    return contract.StreamSpec(
        name=topic.name,
        size_bytes=stream.size_bytes,
        pattern=_pattern_spec(stream.pattern, publisher_seed(seed, topic.number or 0)),
        payload=None if stream.payload is None else contract.PayloadSpec(**stream.payload.model_dump(mode="json")),
        recorded=None if stream.recorded is None else contract.Recorded(**stream.recorded.model_dump(mode="json")),
        messages=messages,
        qos=qos_spec(stream.qos),
        publishers=[contract.EndpointAddress(application=a, address=address_of[a]) for a in topic.publishers],
        subscribers=[contract.EndpointAddress(application=a, address=address_of[a]) for a in topic.subscribers],
    )


def qos_spec(qos: StreamQos) -> contract.Qos:
    """What a worker is told of QoS; a plan from before patience and queue were asked for has the defaults."""
    queue = {"patience_ns": DEFAULT_PATIENCE_NS, "queue_bytes": DEFAULT_QUEUE_BYTES}
    return contract.Qos.model_validate(queue | qos.model_dump(mode="json", exclude_none=True) | {"level": qos.level})


def _pattern_spec(pattern: StreamPattern, seed: int) -> contract.PatternSpec:
    """With the seed of the trial's block where anything is drawn."""
    match pattern:
        case PeriodicPlan():
            arrival = _arrival_spec(pattern.arrival, seed)
            return contract.PeriodicPattern(rate_hz=pattern.rate_hz, arrival=arrival)
        case Burst():
            return contract.BurstPattern(rate_hz=pattern.rate_hz, messages=pattern.messages)
        case Computed():
            return contract.ComputedPattern(rate_hz=pattern.rate_hz)
        case PingPong():
            return contract.PingPongPattern(**pattern.model_dump(exclude={"kind"}))
        case OpenRequests() | ClosedRequests():
            return _requests_spec(pattern, seed)
        case Unthrottled():
            return contract.UnthrottledPattern(**pattern.model_dump(exclude={"kind"}))


def _requests_spec(pattern: Requests, seed: int) -> contract.RequestResponsePattern:
    pace = (
        {"kind": "open", "rate_hz": pattern.rate_hz, "arrival": _arrival_spec(pattern.arrival, seed).model_dump()}
        if isinstance(pattern, OpenRequests)
        else {"kind": "closed", "approach_hz": pattern.approach_hz}
    )
    of_server = {"server_time": pattern.server_time.model_dump(), "seed": seed}
    bounds = pattern.model_dump(include={"response_bytes", "outstanding", "timeout_ns"})
    return contract.RequestResponsePattern.model_validate({"pace": pace, **bounds, **of_server})


def _arrival_spec(arrival: Arrival, seed: int) -> contract.Arrival:
    return contract.PoissonArrival(seed=seed) if arrival is Arrival.POISSON else contract.FixedArrival()


def node_specs(nodes: Iterable[Node], application: Application, seed: int) -> list[contract.NodeSpec]:
    """What a worker is told of the nodes of its application, with the seed of the trial's block."""
    return [_node_spec(node, number, seed) for number, node in enumerate(nodes) if node.application == application.name]


def _node_spec(node: Node, number: int, seed: int) -> contract.NodeSpec:
    inputs = [{"stream": i.stream, "index": i.subscriber, "take": i.take.model_dump()} for i in node.inputs]
    return contract.NodeSpec.model_validate(
        {
            "name": node.name,
            "number": number,
            "trigger": node.trigger.model_dump(mode="json"),
            "compute": node.compute.model_dump(),
            "seed": seed + number,
            "inputs": inputs,
            "outputs": [{"stream": stream, "index": 0} for stream in node.outputs],
        }
    )


@dataclass(frozen=True)
class Topic:
    """One stream as a worker knows it."""

    name: str
    stream: Stream
    """Of the plan."""
    place: int
    """The place of that stream in the plan."""
    number: int | None
    """Which of the stream's topics it is; None where all its publishers and subscribers share one."""

    @property
    def publishers(self) -> tuple[str, ...]:
        """The application of each of its publishers."""
        return self.stream.publishers if self.number is None else (self.stream.publishers[self.number],)

    @property
    def subscribers(self) -> tuple[str, ...]:
        """The application of each of its subscribers."""
        return self.stream.subscribers if self.number is None else (self.stream.subscribers[self.number],)


def topics(streams: Iterable[Stream]) -> Iterator[Topic]:
    """All of them, in the order in which workers number them."""
    for place, stream in enumerate(streams):
        numbers: Iterable[int | None] = (None,) if stream.topics is None else range(stream.topics)
        yield from (Topic(_name(stream, number), stream, place, number) for number in numbers)


def endpoint_specs(streams: Iterable[Stream], application: Application) -> list[contract.Endpoint]:
    """What a worker is told of the publishers and subscribers of its application."""
    stream_of = {stream.name: stream for stream in streams}
    return [_endpoint_spec(stream_of[endpoint.stream], endpoint) for endpoint in application.endpoints]


def _endpoint_spec(stream: Stream, endpoint: Endpoint) -> contract.Endpoint:
    name, index = endpoint_of(stream, endpoint.index)
    return contract.Endpoint(stream=name, role=endpoint.role.value, index=index)


def endpoint_of(stream: Stream, index: int) -> tuple[str, int]:
    """The stream that a worker knows of one of a plan's endpoints, and the endpoint's index there."""
    return (stream.name, index) if stream.topics is None else (_name(stream, index), 0)


def _name(stream: Stream, number: int | None) -> str:
    return stream.name if number is None else f"{stream.name}_{number}"


class SaidOfPath(Protocol):
    """What a worker says of a publisher of a stream, and of a subscriber where it has one."""

    @property
    def stream(self) -> str:
        """In the worker's words, as the others."""

    @property
    def publisher(self) -> int:
        """Its index."""

    def model_copy(self, *, update: Mapping[str, object] | None = None) -> Self:
        """The same with other values."""


OnPath = TypeVar("OnPath", bound=SaidOfPath)


class PlannedPaths:
    """From a worker's names and indices to the plan's."""

    def __init__(self, streams: Iterable[Stream]) -> None:
        self._topics = {topic.name: topic for topic in topics(streams)}

    def as_planned(self, reported: OnPath) -> OnPath:
        """The same of the plan's stream and ends; as it came where the plan has none such, for its reader to refuse."""
        topic = self._topics.get(reported.stream)
        ends = ("publisher", "subscriber") if hasattr(reported, "subscriber") else ("publisher",)
        if topic is None or topic.number is None or any(getattr(reported, end) for end in ends):
            return reported
        return reported.model_copy(update={"stream": topic.stream.name, **dict.fromkeys(ends, topic.number)})
