"""A topology: hosts, the networks and links that join them, and what sits where with which role.

`C<n>-<m>` is centralised, n publishers and m subscribers on this machine; `D<n>-<m>` distributed, each application on a
host of its own, all on one network; others ship in `topologies.yaml` or are written in the suite. It starts nothing.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, model_validator

from middlemark.suite.condition import CpuList
from middlemark.suite.link import LinkSettings
from middlemark.suite.model import Model, Named, refusal
from middlemark.suite.quantity import SHARE, SIZE

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,23}$")]


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
    NETNS = "netns"
    SSH = "ssh"


class Host(Named):
    """Where applications live."""

    name_key = "name"

    name: Name
    kind: HostKind = HostKind.NETNS
    """`local`: this machine; `netns`: namespaces of its own on it; `ssh`: a machine that is reached by SSH."""
    cpus: CpuList = ()
    """The CPUs of the machine that it may use; without it, all."""
    cpu_quota: Annotated[float, SHARE.between(1, 100_000)] | None = None
    """The most CPU time that all its processes may take, in percent of one CPU."""
    memory: Annotated[int, SIZE.between(16e6, 1e15)] | None = None
    """The most memory that all its processes may take."""
    ssh: str | None = None
    """Of `ssh`: `user@address:port` as the SSH client takes it, or a name from its configuration."""
    address: str | None = None
    """Of `ssh`: the address that other hosts reach it by; without it, the one that the client connects to."""

    @model_validator(mode="after")
    def _ssh_says_where(self) -> "Host":
        if (self.kind is HostKind.SSH) != (self.ssh is not None):
            raise refusal("`kind: ssh` and `ssh: user@address` go together", allowed=", ".join(HostKind), at=("kind",))
        return self


class Network(Named):
    """A switch with the hosts on it."""

    name_key = "name"

    name: Name
    hosts: tuple[Name, ...] = ()
    """In the order of their addresses."""
    link: LinkSettings = LinkSettings()
    """What the link of each of its hosts is like."""


class Link(LinkSettings):
    """What differs of one host's link to one network."""

    host: Name
    network: Name


class Application(Model):
    """One worker process, the host it lives on, and its roles, one entry an endpoint of each stream."""

    name: Name
    host: Name
    roles: tuple[Role, ...]


class Topology(Model):
    """Hosts, networks, links, and the applications and services on the hosts."""

    name: str
    summary: str = ""
    placement: Placement = Placement.SEPARATE
    hosts: Annotated[tuple[Host, ...], Field(min_length=1)]
    networks: tuple[Network, ...] = ()
    links: tuple[Link, ...] = ()
    applications: Annotated[tuple[Application, ...], Field(min_length=1)]
    services: tuple[Name, ...] = ()
    """The hosts of the services that a middleware needs once a network, each linked to the one before it; without any,
    the first application's host."""

    @model_validator(mode="after")
    def _names_what_there_is(self) -> "Topology":
        hosts = [host.name for host in self.hosts]
        networks = [network.name for network in self.networks]
        named: list[tuple[str, list[str], tuple[str | int, ...]]] = []
        for number, network in enumerate(self.networks):
            named += [(name, hosts, ("networks", number, "hosts", index)) for index, name in enumerate(network.hosts)]
        for number, link in enumerate(self.links):
            named += [(link.host, hosts, ("links", number, "host"))]
            named += [(link.network, networks, ("links", number, "network"))]
        named += [(each.host, hosts, ("applications", number, "host")) for number, each in enumerate(self.applications)]
        named += [(name, hosts, ("services", number)) for number, name in enumerate(self.services)]
        for name, known, place in named:
            if name not in known:
                raise refusal(f"the topology has no `{name}`", allowed=", ".join(known) or "none is declared", at=place)
        return self
