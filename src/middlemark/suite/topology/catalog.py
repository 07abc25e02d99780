"""The topologies of a suite: a shipped one by its name, with changes, or one written out.

`C<n>-<m>` and `D<n>-<m>` are made here for any numbers; the caller passes the other shipped ones.
"""

import re
from collections.abc import Mapping
from typing import ClassVar, Self

from pydantic import ValidationError, ValidationInfo, model_validator

from middlemark.suite.topology.link import LinkSettings
from middlemark.suite.topology.topology import Application, Host, HostKind, Link, Network, Placement, Role, Topology
from middlemark.suite.yaml.model import Name, Named, TopologyName, closest_first, refusal

_COUNTED = re.compile(r"([CD])([1-9]|[1-5][0-9]|6[0-4])-([1-9]|[1-5][0-9]|6[0-4])")
COUNTED_TOPOLOGIES = {
    "C1-1": "one publisher and one subscriber, two applications on this machine",
    "C2-2": "two publishers and two subscribers on one topic, four applications on this machine",
    "C3-1": "three publishers and one subscriber on one topic, four applications on this machine",
    "C1-3": "one publisher and three subscribers on one topic, four applications on this machine",
    "D1-1": "one publisher and one subscriber, each on a host of its own, on one network",
    "D2-2": "two publishers and two subscribers on one topic, four hosts on one network",
    "D3-1": "three publishers and one subscriber on one topic, four hosts on one network",
    "D1-3": "one publisher and three subscribers on one topic, four hosts on one network",
}


class TopologyChoice(Named):
    """A topology by name: a shipped one with changes, or a new one."""

    name_key: ClassVar[str] = "topology"

    topology: TopologyName
    """A shipped topology (see `middlemark list topologies`), `C<publishers>-<subscribers>` on this machine,
    `D<publishers>-<subscribers>` on a host each, or a new name with `hosts` and `applications`."""
    summary: str = ""
    """Its purpose, in one sentence."""
    placement: Placement | None = None
    """Only for `C…`: whether each publisher and subscriber is an application, or one application holds all."""
    hosts: tuple[Host, ...] | None = None
    """The hosts; to change hosts of a shipped topology, use their names."""
    networks: tuple[Network, ...] | None = None
    """The networks that connect the hosts."""
    links: tuple[Link, ...] | None = None
    """Properties of single links."""
    link: LinkSettings | None = None
    """Properties of all links, which override those of their networks."""
    applications: tuple[Application, ...] | None = None
    """The applications on the hosts."""
    services: tuple[Name, ...] | None = None
    """The hosts of services that are needed once per network, each connected to the one before it."""

    @model_validator(mode="after")
    def _makes_sense(self, info: ValidationInfo) -> Self:
        if info.context is not None and "shipped_topologies" in info.context:
            self.over(info.context["shipped_topologies"])
        return self

    def over(self, shipped: Mapping[str, Topology]) -> Topology:
        """The whole topology; omitted parts are those of the shipped one."""
        base = shipped.get(self.topology) or self._counted()
        if base is None:
            return self._written_out(shipped)
        if self.placement is Placement.SAME_PROCESS and base.name[0] != "C":
            raise refusal("only applications on this machine can be one", allowed="C1-1, C2-2, …", at=("placement",))
        hosts = {host.name: host for host in base.hosts}
        for number, changed in enumerate(self.hosts or ()):
            if changed.name not in hosts:
                problem = f"`{base.name}` has no host `{changed.name}`"
                raise refusal(problem, allowed=", ".join(hosts), at=("hosts", number))
            hosts[changed.name] = hosts[changed.name].changed_by(changed)
        return _whole(dict(base) | self._set_fields() | {"hosts": tuple(hosts.values())})

    def _written_out(self, shipped: Mapping[str, Topology]) -> Topology:
        for field in ("hosts", "applications"):
            if not getattr(self, field):
                raise refusal(
                    f"`{self.topology}` is no shipped topology, and no `{field}` are given",
                    allowed=closest_first(self.topology, [*COUNTED_TOPOLOGIES, *shipped]),
                    at=("topology",),
                )
        return _whole({"name": self.topology} | self._set_fields())

    def _set_fields(self) -> dict[str, object]:
        fields = ("summary", "hosts", "networks", "link", "links", "applications", "services")
        return {name: getattr(self, name) for name in fields if getattr(self, name)}

    def _counted(self) -> Topology | None:
        """`C<n>-<m>` or `D<n>-<m>`; None where the name is neither."""
        match = _COUNTED.fullmatch(self.topology)
        if match is None:
            return None
        roles = [Role.PUBLISHER] * int(match[2]) + [Role.SUBSCRIBER] * int(match[3])
        if match[1] == "D":
            return _distributed(self.topology, roles)
        placement = self.placement or Placement.SEPARATE
        applications = (
            (Application(name="both", host="local", roles=tuple(roles)),)
            if placement is Placement.SAME_PROCESS
            else tuple(Application(name=name, host="local", roles=(role,)) for name, role in _numbered(roles))
        )
        local = Host(name="local", kind=HostKind.LOCAL)
        return Topology(
            name=self.topology,
            summary=COUNTED_TOPOLOGIES.get(self.topology, ""),
            placement=placement,
            hosts=(local,),
            applications=applications,
        )


def _whole(parts: Mapping[str, object]) -> Topology:
    """Makes a topology from its parts; refuses contradictions, at their position in the suite."""
    try:
        return Topology.model_validate(parts)
    except ValidationError as error:
        first = error.errors()[0]
        facts = first["ctx"]
        path = (*first["loc"], *facts["at"])
        raise refusal(facts["problem"], allowed=facts["allowed"], at=path) from error


def is_counted(name: str) -> bool:
    """Whether it is `C<n>-<m>` or `D<n>-<m>`."""
    return _COUNTED.fullmatch(name) is not None


def _distributed(name: str, roles: list[Role]) -> Topology:
    numbered = _numbered(roles)
    hosts = tuple(Host(name=f"host_{index}") for index, _ in enumerate(roles))
    return Topology(
        name=name,
        summary=COUNTED_TOPOLOGIES.get(name, ""),
        hosts=hosts,
        networks=(Network(name="lan", hosts=tuple(host.name for host in hosts)),),
        applications=tuple(
            Application(name=application, host=host.name, roles=(role,))
            for (application, role), host in zip(numbered, hosts, strict=True)
        ),
    )


def _numbered(roles: list[Role]) -> list[tuple[str, Role]]:
    return [(f"{role}_{roles[:index].count(role)}", role) for index, role in enumerate(roles)]
