"""Plays a graph of nodes whose answer is known: every message takes as long as `Behaviour` says, every node computes.

`run_builder` stores what it gives as a campaign would have. Nodes must be in an order in which messages go forward only.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from middlemark.plan import Experiment, Node
from middlemark.results.counts import Counts, NodeCounts, PublisherCounts, SubscriberCounts
from middlemark.results.tables import (
    EXECUTIONS_SCHEMA,
    INPUTS_SCHEMA,
    OUTPUTS_SCHEMA,
    PUBLISHED_SCHEMA,
    RECEIVED_SCHEMA,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from behaviour import Behaviour

START_UP_NS = 50_000_000
"""Each node's later than that of the node before it."""


@dataclass(frozen=True)
class Message:
    """On its way to one subscriber."""

    sequence: int
    sent_ns: int
    received_ns: int


@dataclass
class Played:
    """What a trial recorded."""

    executions: list[dict[str, object]] = field(default_factory=list)
    inputs: list[dict[str, object]] = field(default_factory=list)
    outputs: list[dict[str, object]] = field(default_factory=list)
    received: list[dict[str, object]] = field(default_factory=list)
    published: list[dict[str, object]] = field(default_factory=list)
    nodes: list[NodeCounts] = field(default_factory=list)
    waiting: dict[tuple[str, int], list[Message]] = field(default_factory=lambda: defaultdict(list))
    """By stream and subscriber, in the order of their arrival."""

    def frames(self) -> tuple[pl.DataFrame, ...]:
        """Executions, inputs, outputs, received, published."""
        tables = (
            (self.executions, EXECUTIONS_SCHEMA),
            (self.inputs, INPUTS_SCHEMA),
            (self.outputs, OUTPUTS_SCHEMA),
            (self.received, RECEIVED_SCHEMA),
            (self.published, PUBLISHED_SCHEMA),
        )
        return tuple(pl.DataFrame(rows, schema=schema) for rows, schema in tables)


def play(experiment: Experiment, begin_ns: int, how: Behaviour, rng: np.random.Generator) -> Played:
    """The graph from the window's start to its end."""
    played, end_ns = Played(), begin_ns + experiment.windows.window_ns
    for number, node in enumerate(experiment.nodes):
        executions, before_ns = 0, begin_ns
        for ready_ns, taken in _starts(node, played, begin_ns, end_ns):
            started_ns = max(ready_ns, before_ns)
            if started_ns >= end_ns:
                break
            assert node.compute.kind == "constant"
            before_ns = started_ns + node.compute.time_ns
            about = {"application": node.application, "node": number, "execution": executions}
            times = {"started_ns": started_ns, "computed_ns": before_ns}
            played.executions.append({**about, "trigger": _kind(node), **times})
            for stream, message in taken.items():
                place = [each.name for each in experiment.streams].index(stream)
                played.inputs.append({**about, "stream": place, "publisher": 0, **vars(message)})
            for stream in node.outputs:
                _send(played, experiment, (stream, number, executions, before_ns), how, rng)
            executions += 1
        played.nodes.append(
            NodeCounts(
                node=node.name,
                first_execution_after_ns=START_UP_NS * (number + 1),
                executions=executions,
                skipped=0,
                unrecorded=0,
                inputs=(),
            )
        )
    return played


def _kind(node: Node) -> str:
    return "source" if node.trigger.kind == "unthrottled" else node.trigger.kind


def _starts(node: Node, played: Played, begin_ns: int, end_ns: int) -> list[tuple[int, Mapping[str, Message]]]:
    """When a node would run, were it not busy, and what it takes then."""
    waiting = {each.stream: sorted(played.waiting[each.stream, each.subscriber], key=_arrival) for each in node.inputs}
    if node.trigger.kind == "source":
        return [(int(at_ns), {}) for at_ns in np.arange(begin_ns, end_ns, int(1e9 / node.trigger.rate_hz))]
    if node.trigger.kind == "message" and node.trigger.when == "any":
        came = [(message.received_ns, {stream: message}) for stream, all_ in waiting.items() for message in all_]
        return sorted(came, key=lambda each: each[0])
    if node.trigger.kind == "message":
        together = zip(*waiting.values(), strict=False)  # ends with the scarcest
        return [(max(map(_arrival, each)), dict(zip(waiting, each, strict=True))) for each in together]
    assert node.trigger.kind == "timer"
    period_ns = int(1e9 / node.trigger.rate_hz)
    return [(at_ns, _newest(waiting, at_ns - period_ns, at_ns)) for at_ns in range(begin_ns, end_ns, period_ns)]


def _arrival(message: Message) -> int:
    return message.received_ns


def _newest(waiting: Mapping[str, list[Message]], after_ns: int, until_ns: int) -> dict[str, Message]:
    came = {
        stream: [each for each in all_ if after_ns < each.received_ns <= until_ns] for stream, all_ in waiting.items()
    }
    return {stream: messages[-1] for stream, messages in came.items() if messages}


def _send(
    played: Played,
    experiment: Experiment,
    what: tuple[str, int, int, int],
    how: Behaviour,
    rng: np.random.Generator,
) -> None:
    name, number, execution, sent_ns = what
    node = experiment.nodes[number]
    place = [each.name for each in experiment.streams].index(name)
    message = {"stream": place, "publisher": 0, "sequence": execution, "sent_ns": sent_ns}
    common = {**message, "intended_ns": sent_ns}
    output = {"application": node.application, "node": number, "execution": execution, **message}
    del output["publisher"]
    played.outputs.append(output)
    published = {**common, "application": node.application, "returned_ns": sent_ns + 1000, "accepted": 1}
    played.published.append(published)
    for subscriber, application in enumerate(experiment.streams[place].subscribers):
        if rng.random() >= how.loss:
            received_ns = sent_ns + int(how.latency_ns * np.exp(rng.normal(0, how.spread)))
            played.waiting[name, subscriber].append(Message(execution, sent_ns, received_ns))
            arrival = {"answer": 0, "subscriber": subscriber, "received_ns": received_ns}
            played.received.append({**common, "application": application, **arrival})


def counts(experiment: Experiment, played: Played) -> Counts:
    """Every stream's, as its publisher and its subscribers counted."""
    publishers, subscribers = [], []
    for place, stream in enumerate(experiment.streams):
        sent = [each for each in played.published if each["stream"] == place]
        publishers.append(
            PublisherCounts(
                stream=stream.name,
                publisher=0,
                intended=len(sent),
                sent=len(sent),
                refused=0,
                refusal=None,
                last_returned_ns=max((int(str(each["returned_ns"])) for each in sent), default=0),
            )
        )
        for subscriber in range(len(stream.subscribers)):
            own = [e for e in played.received if (e["stream"], e["subscriber"]) == (place, subscriber)]
            subscribers.append(
                SubscriberCounts(
                    stream=stream.name,
                    answers=False,
                    publisher=0,
                    subscriber=subscriber,
                    received=len(own),
                    late=0,
                    duplicates=0,
                    reordered=0,
                    corrupt=0,
                    foreign=0,
                    negative=0,
                    beyond_samples=0,
                )
            )
    return Counts(publishers=tuple(publishers), subscribers=tuple(subscribers))
