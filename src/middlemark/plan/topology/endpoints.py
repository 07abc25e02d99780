"""Which applications of a topology publish and subscribe the one stream of a workload, and what each of them holds.

A pipeline's nodes have their places from `pipeline`, a demand's processes theirs from its file.
"""

from __future__ import annotations

from middlemark.errors import UsageError
from middlemark.plan.application import Application, Endpoint
from middlemark.plan.streams import Stream
from middlemark.suite import Role, Topology

Ends = tuple[tuple[str, ...], tuple[str, ...]]
"""The application of each publisher, and of each subscriber."""


def ends_of(topology: Topology, topics: int | None) -> Ends:
    """All with all; or on several topics one publisher and one subscriber for each, in turn.

    In each round every publisher has another subscriber, so that more topics join more applications.
    """
    holders = [(application.name, role) for application in topology.applications for role in application.roles]
    publishers, subscribers = (tuple(name for name, role in holders if role is wanted) for wanted in Role)
    if topics is None:
        return publishers, subscribers
    n_publishers, n_subscribers = len(publishers), len(subscribers)
    ends = (
        tuple(publishers[topic % n_publishers] for topic in range(topics)),
        tuple(subscribers[(topic + topic // n_publishers) % n_subscribers] for topic in range(topics)),
    )
    idle = {name for name, _ in holders} - {*ends[0], *ends[1]}
    if idle:
        raise UsageError(
            f"{topics} topics leave {', '.join(sorted(idle))} of `{topology.name}` without a stream",
            remedy="give it more `topics`, or exclude the pair: `exclude: [{topics: …, topology: …}]`",
        )
    return ends


def with_endpoints(topology: Topology, stream: Stream) -> tuple[Application, ...]:
    """The topology's applications with what each holds of the stream."""
    held: dict[str, list[Endpoint]] = {application.name: [] for application in topology.applications}
    for role, holders in ((Role.PUBLISHER, stream.publishers), (Role.SUBSCRIBER, stream.subscribers)):
        for index, holder in enumerate(holders):
            held[holder].append(Endpoint(stream=stream.name, role=role, index=index))
    return tuple(
        Application(name=application.name, host=application.host, endpoints=tuple(held[application.name]))
        for application in topology.applications
    )
