"""The applications of an experiment, which of them publish and subscribe a stream, and a pair of two middlewares.

A pipeline's nodes have their applications from `pipeline`, a demand's processes theirs from its file, and a suite says
which middlewares are a pair.
"""

from __future__ import annotations

from collections.abc import Iterable

from middlemark.errors import UsageError
from middlemark.plan.streams import Stream
from middlemark.suite import Model, Role, Topology
from middlemark.suite.yaml.model import Index, MiddlewareName, Name, StreamName


class Endpoint(Model):
    """One publisher or subscriber that an application holds."""

    stream: StreamName
    role: Role
    index: Index
    """Its place in the stream's `publishers` or `subscribers`."""


class Application(Model):
    """One worker process: a suite's `Application` with an endpoint of a stream for each of its roles."""

    name: Name
    host: Name
    endpoints: tuple[Endpoint, ...]

    @property
    def publishes(self) -> bool:
        """Whether it holds a publisher."""
        return any(endpoint.role is Role.PUBLISHER for endpoint in self.endpoints)

    @property
    def subscribes(self) -> bool:
        """Whether it holds a subscriber."""
        return any(endpoint.role is Role.SUBSCRIBER for endpoint in self.endpoints)


class Pair(Model):
    """Two middlewares: each application is one of them, by its role."""

    publishers: MiddlewareName
    """Who publishes, or asks."""
    subscribers: MiddlewareName
    """Who subscribes, or answers."""

    def why_not(self, applications: Iterable[Application]) -> str | None:
        """Why these applications can't be a pair's; None where they can."""
        both = [application.name for application in applications if application.publishes and application.subscribes]
        if not both:
            return None
        return (
            f"{', '.join(both)} would publish by {self.publishers} and subscribe by {self.subscribers}, "
            "and an application is one worker: a pair needs publishers and subscribers in applications of their own"
        )


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
