"""A topology: hosts, the networks and links that connect them, and the applications on them with their roles.

`C<n>-<m>` is centralised, n publishers and m subscribers on this machine; `D<n>-<m>` distributed, each application on a
host of its own, all on one network; others ship in `topologies.yaml` or are written in the suite. It starts nothing.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import Field, model_validator

from middlemark.suite.conditions import CpuList
from middlemark.suite.topology.link import LinkSettings
from middlemark.suite.yaml.model import Address, Model, Name, Named, SshTarget, refusal
from middlemark.suite.yaml.quantity import SHARE, SIZE


class Role(StrEnum):
    """The role of an application in every stream.

    In a ping-pong the publisher sends questions, the subscriber answers.
    """

    PUBLISHER = "publisher"
    SUBSCRIBER = "subscriber"


class Placement(StrEnum):
    """How a topology's roles are distributed to applications."""

    SEPARATE = "separate"
    SAME_PROCESS = "same_process"


class HostKind(StrEnum):
    """The kind of a host."""

    LOCAL = "local"
    NETNS = "netns"
    SSH = "ssh"


class Host(Named):
    """A host of applications."""

    name_key: ClassVar[str] = "name"

    name: Name
    kind: HostKind = HostKind.NETNS
    """`local`: this machine; `netns`: namespaces of its own on this machine; `ssh`: a machine reached by SSH."""
    cpus: CpuList = ()
    """The CPUs of the machine that it may use; without it, all."""
    cpu_quota: Annotated[float, SHARE.between(0.01, 1000)] | None = None
    """The most CPU time that all its processes may take, in percent of one CPU."""
    memory: Annotated[int, SIZE.between(16e6, 1e15)] | None = None
    """The most memory that all its processes may take."""
    ssh: SshTarget | None = None
    """Of `ssh`: `user@address:port` as the SSH client takes it, or a name from its configuration."""
    address: Address | None = None
    """Of `ssh`: the address by which other hosts reach it; without it, the one that the client connects to."""

    def __str__(self) -> str:
        where = [] if self.ssh is None else [f"ssh {self.ssh}"]
        cpus = [f"CPU{'s' if len(self.cpus) > 1 else ''} {'+'.join(map(str, self.cpus))}"] if self.cpus else []
        quota = [] if self.cpu_quota is None else [f"{SHARE.text(self.cpu_quota)} of a CPU"]
        memory = [] if self.memory is None else [SIZE.text(self.memory)]
        return ", ".join([*where, *cpus, *quota, *memory])

    @model_validator(mode="after")
    def _ssh_says_where(self) -> "Host":
        if (self.kind is HostKind.SSH) != (self.ssh is not None):
            raise refusal("`kind: ssh` and `ssh: user@address` go together", allowed=", ".join(HostKind), at=("kind",))
        return self


class Network(Named):
    """A switch with the hosts on it."""

    name_key: ClassVar[str] = "name"

    name: Name
    hosts: tuple[Name, ...] = ()
    """In the order of their addresses."""
    link: LinkSettings = LinkSettings()
    """The properties of the link of each of its hosts."""


class Link(LinkSettings):
    """Properties of one host's link to one network."""

    host: Name
    network: Name


class Application(Model):
    """One worker process, its host, and its roles."""

    name: Name
    host: Name
    roles: Annotated[tuple[Role, ...], Field(min_length=1)]
    """One entry for each publisher and each subscriber that it holds."""


class Topology(Model):
    """Hosts, networks, links, and the applications and services on the hosts."""

    name: str
    summary: str = ""
    placement: Placement = Placement.SEPARATE
    hosts: Annotated[tuple[Host, ...], Field(min_length=1)]
    networks: tuple[Network, ...] = ()
    link: LinkSettings = LinkSettings()
    """Properties of all links, which override those of their networks."""
    links: tuple[Link, ...] = ()
    """Properties of single links, which override both."""
    applications: Annotated[tuple[Application, ...], Field(min_length=1)]
    services: tuple[Name, ...] = ()
    """The hosts of services that a middleware needs once per network, each connected to the one before it; without any,
    the first application's host."""

    def links_under(self, condition: LinkSettings | None = None) -> dict[tuple[str, str], LinkSettings]:
        """The properties of each link by host and network.

        The condition overrides the link, all links, and the network.
        """
        declared = {(link.host, link.network): link for link in self.links}
        settings = {}
        for network in self.networks:
            for host in network.hosts:
                settings[host, network.name] = network.link.changed_by(self.link)
                for change in (declared.get((host, network.name)), condition):
                    if change is not None:
                        settings[host, network.name] = settings[host, network.name].changed_by(change)
        return settings

    @model_validator(mode="after")
    def _is_one_of_a_kind(self) -> "Topology":
        for field in ("hosts", "networks", "applications"):
            names = [item.name for item in getattr(self, field)]
            for number, name in enumerate(names):
                if name in names[:number]:
                    raise refusal(f"`{name}` is given twice", allowed="a name of its own", at=(field, number))
        for number, network in enumerate(self.networks):
            for index, name in enumerate(network.hosts):
                if name in network.hosts[:index]:
                    place = ("networks", number, "hosts", index)
                    raise refusal(f"`{name}` is on `{network.name}` twice", allowed="each host once", at=place)
        return self

    @model_validator(mode="after")
    def _names_what_there_is(self) -> "Topology":
        hosts = [host.name for host in self.hosts]
        for name, allowed, place in self._named(hosts):
            if name not in allowed:
                raise refusal(
                    f"the topology has no `{name}`", allowed=", ".join(allowed) or "none is declared", at=place
                )
        return self

    def _named(self, hosts: list[str]) -> Iterator[tuple[str, list[str], tuple[str | int, ...]]]:
        """Every name used, with the allowed names and its position."""
        on = {network.name: list(network.hosts) for network in self.networks}
        for number, network in enumerate(self.networks):
            yield from ((name, hosts, ("networks", number, "hosts", index)) for index, name in enumerate(network.hosts))
        for number, link in enumerate(self.links):
            yield link.network, list(on), ("links", number, "network")
            yield link.host, on.get(link.network, hosts), ("links", number, "host")
        yield from (
            (application.host, hosts, ("applications", number, "host"))
            for number, application in enumerate(self.applications)
        )
        yield from ((name, hosts, ("services", number)) for number, name in enumerate(self.services))

    @model_validator(mode="after")
    def _can_be_joined(self) -> "Topology":
        """This machine's own network is not changed, and machines reached by SSH have their own networks."""
        kinds = {host.name: host.kind for host in self.hosts}
        joined = {host for network in self.networks for host in network.hosts}
        for number, (name, kind) in enumerate(kinds.items()):
            if kind is HostKind.NETNS and name not in joined and len(kinds) > 1:
                raise refusal(f"`{name}` is on no network", allowed="a network with it", at=("hosts", number))
        for number, network in enumerate(self.networks):
            first = kinds[network.hosts[0]] if network.hosts else HostKind.NETNS
            for index, host in enumerate(network.hosts):
                if kinds[host] is HostKind.LOCAL or kinds[host] is not first:
                    raise refusal(
                        f"`{network.name}` can't join `{host}`, which is {kinds[host]}",
                        allowed="hosts that are all netns, or all ssh",
                        at=("networks", number, "hosts", index),
                    )
        return self

    @model_validator(mode="after")
    def _has_both_ends(self) -> "Topology":
        roles = {role for application in self.applications for role in application.roles}
        for role in Role:
            if role not in roles:
                raise refusal(f"no application is a {role}", allowed="at least one of each role", at=("applications",))
        return self
