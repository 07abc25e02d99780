"""The applications of an experiment, with their endpoints, and a pair: two middlewares that understand each other.

It chooses nothing: `resolve`, `pipeline` and `demand` say who has which endpoint, a suite which middlewares are a pair.
"""

from collections.abc import Iterable

from middlemark.suite import Model, Role
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
