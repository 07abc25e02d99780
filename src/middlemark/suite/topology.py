"""A topology: hosts, and which application sits where with which role.

`C<n>-<m>` is centralised: n publishers and m subscribers of each stream on this machine, each its own application.
It starts nothing and knows no address; `testbed` makes the hosts.
"""

import re
from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import AfterValidator, WithJsonSchema

from middlemark.suite.model import Model, Named, refusal

_CENTRALISED = re.compile(r"C([1-9]|1[0-6])-([1-9]|1[0-6])")
SHIPPED_TOPOLOGIES = {
    "C1-1": "one publisher and one subscriber, two applications on this machine",
    "C2-2": "two publishers and two subscribers on one topic, four applications on this machine",
    "C3-1": "three publishers and one subscriber on one topic, four applications on this machine",
    "C1-3": "one publisher and three subscribers on one topic, four applications on this machine",
}


class Role(StrEnum):
    """What an application does in every stream; in a ping-pong the publisher asks, the subscriber answers."""

    PUBLISHER = "publisher"
    SUBSCRIBER = "subscriber"


class Placement(StrEnum):
    """How a topology's roles are shared out among applications."""

    SEPARATE = "separate"
    SAME_PROCESS = "same_process"


class HostKind(StrEnum):
    """What a host is made of."""

    LOCAL = "local"


class Host(Model):
    """Where applications live."""

    name: str
    kind: HostKind


class Application(Model):
    """One worker process, the host it lives on, and its roles, one entry an endpoint of each stream."""

    name: str
    host: str
    roles: tuple[Role, ...]


class Topology(Model):
    """Hosts and the applications on them."""

    name: str
    placement: Placement
    hosts: tuple[Host, ...]
    applications: tuple[Application, ...]


def _check_name(name: str) -> str:
    if not _CENTRALISED.fullmatch(name):
        allowed = f"{', '.join(SHIPPED_TOPOLOGIES)}, or C<publishers>-<subscribers> with 1 to 16 of each"
        raise refusal(f"`{name}` is no topology", allowed=allowed)
    return name


TopologyName = Annotated[
    str, AfterValidator(_check_name), WithJsonSchema({"type": "string", "pattern": f"^{_CENTRALISED.pattern}$"})
]


class TopologyChoice(Named):
    """A topology by name, and how its roles are shared out among applications."""

    name_key: ClassVar[str] = "topology"

    topology: TopologyName
    """`C1-1`, `C2-2`, `C3-1`, `C1-3`: publishers and subscribers of each stream on this machine."""
    placement: Placement = Placement.SEPARATE
    """Whether each publisher and subscriber is its own application, or one application holds all."""

    def topology_itself(self) -> Topology:
        """The hosts and applications that the name stands for."""
        publishers, subscribers = (int(count) for count in self.topology[1:].split("-"))
        roles = [Role.PUBLISHER] * publishers + [Role.SUBSCRIBER] * subscribers
        if self.placement is Placement.SAME_PROCESS:
            applications: tuple[Application, ...] = (Application(name="both", host="local", roles=tuple(roles)),)
        else:
            applications = tuple(
                Application(name=f"{role}_{index}", host="local", roles=(role,))
                for role, count in ((Role.PUBLISHER, publishers), (Role.SUBSCRIBER, subscribers))
                for index in range(count)
            )
        return Topology(
            name=self.topology,
            placement=self.placement,
            hosts=(Host(name="local", kind=HostKind.LOCAL),),
            applications=applications,
        )
