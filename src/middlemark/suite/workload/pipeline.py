"""A pipeline: nodes that compute, the streams between them, and the chains of nodes that are measured.

Each model checks itself; `check_graph` checks the whole: names, paths, cycles. `plan` places applications on the hosts
of the topology.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, ClassVar, Self

from pydantic import Field, StrictBool, model_validator

from middlemark.suite.topology.topology import Role
from middlemark.suite.workload.compute import Compute
from middlemark.suite.workload.qos import Qos
from middlemark.suite.yaml.model import Model, Name, Named, closest_first, refusal
from middlemark.suite.yaml.quantity import MessageSize, Rate, TimeSpan

DEFAULT_CAPACITY = 16


class Readiness(StrEnum):
    """How many of a node's inputs need a message before it runs."""

    ANY = "any"
    ALL = "all"


class Take(StrEnum):
    """Which of the messages that wait at an input an execution takes."""

    NEWEST = "newest"
    QUEUE = "queue"


class NodeInput(Named):
    """One stream that a node reads."""

    name_key: ClassVar[str] = "stream"

    stream: Name
    take: Take | None = None
    """Without it: `queue` for a node that runs on any message, otherwise `newest`."""
    capacity: Annotated[int, Field(ge=1, le=65_536, strict=True)] | None = None
    """Of a queue: how many messages may wait."""


class NodeOutput(Model):
    """One stream that a node sends, one message per execution."""

    stream: Name
    size: MessageSize | None = None
    """Without it, the workload's."""
    qos: Qos | None = None
    """The differences from the workload's QoS."""


class Node(Model):
    """One node: it runs at a rate, when messages come, or without pause; it computes and sends."""

    node: Name
    rate: Rate | None = None
    """With inputs: the rate of its timer. Without inputs it is a source; a source without a rate has the workload's."""
    unthrottled: StrictBool = False
    """Of a source: it runs again as soon as its last execution is over."""
    on: Readiness | None = None
    """Of a node that runs when messages come: on any message, or once each input has one; without it, any."""
    inputs: tuple[NodeInput, ...] = ()
    """The streams that it reads."""
    compute: Compute | None = None
    """The CPU time that each execution spends before it sends; without it, none."""
    outputs: tuple[NodeOutput, ...] = ()
    """The streams that it sends, in this order."""

    @property
    def is_source(self) -> bool:
        """Whether it has no inputs."""
        return not self.inputs

    @property
    def runs_on(self) -> Readiness | None:
        """How many inputs need a message; None where it runs at its rate."""
        return None if self.is_source or self.rate is not None else self.on or Readiness.ANY

    def take_of(self, entry: NodeInput) -> Take:
        """Which of the messages that wait at an input an execution takes."""
        return entry.take or (Take.QUEUE if self.runs_on is Readiness.ANY else Take.NEWEST)

    @model_validator(mode="after")
    def _can_run(self) -> Self:
        if not self.inputs and not self.outputs:
            raise refusal(f"the node `{self.node}` reads nothing and sends nothing", allowed="`inputs` or `outputs`")
        if self.unthrottled and (self.inputs or self.rate is not None):
            raise refusal(
                f"the node `{self.node}` can't be unthrottled",
                allowed="`unthrottled` for a source without a rate",
                at=("unthrottled",),
            )
        if self.on is not None and self.runs_on is None:
            raise refusal(
                f"the node `{self.node}` does not run when messages come",
                allowed="`on` with `inputs` and without `rate`",
                at=("on",),
            )
        return self

    @model_validator(mode="after")
    def _takes_what_it_can(self) -> Self:
        for number, entry in enumerate(self.inputs):
            if entry.stream in [other.stream for other in self.inputs[:number]]:
                raise refusal(f"`{entry.stream}` is given twice", allowed="each stream once", at=("inputs", number))
            if self.runs_on is Readiness.ANY and entry.take is Take.NEWEST:
                raise refusal(
                    f"the node `{self.node}` runs on any message, so it passes none over",
                    allowed="`take: newest` with `on: all`, or with a timer's `rate`",
                    at=("inputs", number, "take"),
                )
            if entry.capacity is not None and self.take_of(entry) is Take.NEWEST:
                raise refusal("only a queue has a capacity", allowed="`take: queue`", at=("inputs", number, "capacity"))
        return self


class Chain(Model):
    """A path through the graph whose end-to-end time is measured."""

    chain: Name
    path: Annotated[tuple[Name, ...], Field(min_length=2)]
    """Its nodes in their order; each sends a stream that the next one reads."""
    deadline: TimeSpan | None = None
    """The time within which it has to end."""


class PipelineApplication(Model):
    """Several nodes in one process."""

    application: Name
    nodes: Annotated[tuple[Name, ...], Field(min_length=1)]
    role: Role | None = None
    """Which of the topology's applications it replaces; without it, a publisher where all its nodes are sources."""


def check_graph(nodes: Sequence[Node], chains: Sequence[Chain], applications: Sequence[PipelineApplication]) -> None:
    """Refuses an invalid graph, with the position of the mistake."""
    _check_names("nodes", [node.node for node in nodes])
    _check_names("chains", [chain.chain for chain in chains])
    publisher_of = _publishers(nodes)
    for number, node in enumerate(nodes):
        for index, entry in enumerate(node.inputs):
            if entry.stream not in publisher_of:
                allowed = closest_first(entry.stream, publisher_of)
                path = ("nodes", number, "inputs", index)
                raise refusal(f"no node sends `{entry.stream}`", allowed=allowed or "a node that sends it", at=path)
    _check_readers(nodes)
    _check_circles(nodes, publisher_of)
    by_name = {node.node: node for node in nodes}
    for number, chain in enumerate(chains):
        _check_chain(chain, by_name, number)
    _check_applications(applications, list(by_name))


def stream_between(before: Node, after: Node) -> list[str]:
    """The streams that one node sends and the other reads."""
    read = {entry.stream for entry in after.inputs}
    return [output.stream for output in before.outputs if output.stream in read]


def _check_names(field: str, names: Sequence[str]) -> None:
    for number, name in enumerate(names):
        if name in names[:number]:
            raise refusal(f"`{name}` is given twice", allowed="a name of its own", at=(field, number))


def _outputs(nodes: Sequence[Node]) -> Iterator[tuple[int, int, Node, str]]:
    for number, node in enumerate(nodes):
        yield from ((number, index, node, output.stream) for index, output in enumerate(node.outputs))


def _publishers(nodes: Sequence[Node]) -> dict[str, str]:
    publisher_of: dict[str, str] = {}
    for number, index, node, stream in _outputs(nodes):
        if stream in publisher_of:
            raise refusal(
                f"`{publisher_of[stream]}` sends `{stream}` already",
                allowed="each stream is sent by one node, once",
                at=("nodes", number, "outputs", index),
            )
        publisher_of[stream] = node.node
    return publisher_of


def _check_readers(nodes: Sequence[Node]) -> None:
    read = {entry.stream for node in nodes for entry in node.inputs}
    for number, index, _, stream in _outputs(nodes):
        if stream not in read:
            path = ("nodes", number, "outputs", index)
            raise refusal(f"no node reads `{stream}`", allowed="a node with it among its `inputs`", at=path)


def _check_circles(nodes: Sequence[Node], publisher_of: dict[str, str]) -> None:
    graph = {node.node: [publisher_of[entry.stream] for entry in node.inputs] for node in nodes}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = list(error.args[1])
        number = next(number for number, node in enumerate(nodes) if node.node in circle)
        raise refusal(
            f"the nodes form a cycle: {' → '.join(circle)}",
            allowed="a graph without cycles",
            at=("nodes", number),
        ) from error


def _check_chain(chain: Chain, by_name: dict[str, Node], number: int) -> None:
    for index, name in enumerate(chain.path):
        if name not in by_name:
            path = ("chains", number, "path", index)
            raise refusal(f"there is no node `{name}`", allowed=closest_first(name, by_name), at=path)
    for index, (before, after) in enumerate(zip(chain.path, chain.path[1:], strict=False), start=1):
        joining = stream_between(by_name[before], by_name[after])
        if len(joining) != 1:
            readers = [node.node for node in by_name.values() if stream_between(by_name[before], node)]
            problem = f"`{after}` reads nothing of `{before}`" if not joining else f"{len(joining)} streams join both"
            allowed = f"after `{before}`: {', '.join(readers) or 'nothing, it ends there'}"
            if joining:
                allowed = f"one stream from `{before}` to `{after}`, not {', '.join(joining)}"
            path = ("chains", number, "path", index)
            raise refusal(f"the chain `{chain.chain}` is no path: {problem}", allowed=allowed, at=path)


def _check_applications(applications: Sequence[PipelineApplication], nodes: Sequence[str]) -> None:
    _check_names("applications", [application.application for application in applications])
    application_of: dict[str, str] = {}
    for number, application in enumerate(applications):
        for index, name in enumerate(application.nodes):
            path = ("applications", number, "nodes", index)
            if name not in nodes:
                raise refusal(f"there is no node `{name}`", allowed=closest_first(name, nodes), at=path)
            if name in application_of:
                raise refusal(
                    f"`{application_of[name]}` has the node `{name}` already", allowed="each node once", at=path
                )
            application_of[name] = application.application
    for number, application in enumerate(applications):
        if application.application in nodes and application.application not in application_of:
            raise refusal(
                f"the node `{application.application}` is an application of its own, of the same name",
                allowed="another name, or the node in it",
                at=("applications", number),
            )
