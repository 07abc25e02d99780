"""The machines of a lab in the place of a suite's hosts in namespaces: an inventory names them once for any suite.

It changes the text of a suite, so that a run stores what was measured; nothing is reached. `load` reads inventories,
`topology` has hosts of the kind `ssh`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from middlemark.suite.topology.catalog import TopologyChoice
from middlemark.suite.topology.topology import Host, HostKind, Topology
from middlemark.suite.yaml.document import read_document, text_of
from middlemark.suite.yaml.model import Address, Model, Name, SshTarget, refusal
from middlemark.suite.yaml.quantity import plural

MANY_MACHINES = 64


class Machine(Model):
    """A machine that is reached by SSH."""

    ssh: SshTarget
    """`user@address:port` as the SSH client takes it, or a name from its configuration."""
    address: Address | None = None
    """The address by which the other machines reach it; without it, the one that the client connects to."""
    hosts: tuple[Name, ...] = ()
    """Hosts of topologies that this machine always is; the others are taken by the remaining machines in order."""


class Inventory(Model):
    """The machines that there are."""

    machines: Annotated[tuple[Machine, ...], Field(min_length=1, max_length=MANY_MACHINES)]

    @model_validator(mode="after")
    def _has_each_once(self) -> Self:
        targets = [machine.ssh for machine in self.machines]
        hosts = [host for machine in self.machines for host in machine.hosts]
        for number, machine in enumerate(self.machines):
            if machine.ssh in targets[:number]:
                at = ("machines", number, "ssh")
                raise refusal(f"`{machine.ssh}` is given twice", allowed="each machine once", at=at)
            for host in machine.hosts:
                if hosts.count(host) > 1:
                    raise refusal(
                        f"`{host}` is two machines",
                        allowed="each host on one machine",
                        at=("machines", number, "hosts"),
                    )
        return self


def machine_of_each(topology: Topology, inventory: Inventory) -> dict[str, Machine] | None:
    """The machine of each host in namespaces of its own; None where there are too few machines."""
    hosts = [host.name for host in topology.hosts if host.kind is HostKind.NETNS]
    fixed = {name: machine for machine in inventory.machines for name in machine.hosts if name in hosts}
    taken = [id(machine) for machine in fixed.values()]
    if len(taken) != len(set(taken)):
        return None
    left = iter([machine for machine in inventory.machines if id(machine) not in taken])
    machines = {name: fixed.get(name) or next(left, None) for name in hosts}
    return {name: machine for name, machine in machines.items() if machine} if all(machines.values()) else None


def on_machines(
    text: str,
    choices: Sequence[TopologyChoice],
    inventory: Inventory,
    shipped: Mapping[str, Topology],
    *,
    file: str,
) -> tuple[str | None, dict[str, str]]:
    """The text of a suite with machines for hosts; what needs more of them is left out, by topology with the reason.

    Without a text nothing of the suite is left. Hosts lose their limits, and links a distance that does not change: the
    machines and the radio are real. What else is said of links is declared, and checked as for every such host.
    """
    data = read_document(text, file=file).data
    written = data.get("topologies")
    entries = written if isinstance(written, list) else [written]
    placed, left_out = [], {}
    for entry, choice in zip(entries, choices, strict=True):
        topology = choice.over(shipped)
        machines = machine_of_each(topology, inventory)
        if machines is None:
            left_out[topology.name] = _too_few(topology, inventory)
        else:
            placed.append(_entry(entry, choice, topology, machines) if machines else entry)
    if placed == entries:
        return text, {}
    data["topologies"] = placed
    return text_of(data) if placed else None, left_out


def _too_few(topology: Topology, inventory: Inventory) -> str:
    n_hosts = sum(host.kind is HostKind.NETNS for host in topology.hosts)
    return f"it has {plural(n_hosts, 'host')}, and the inventory has {plural(len(inventory.machines), 'machine')}"


def _entry(
    written: object, choice: TopologyChoice, topology: Topology, machines: Mapping[str, Machine]
) -> dict[str, Any]:
    """The topology as the suite has it, with its hosts on machines."""
    entry: dict[str, Any] = dict(written) if isinstance(written, dict) else {"topology": choice.topology}
    entry["hosts"] = [_host(host, machines.get(host.name)) for host in topology.hosts]
    if choice.links:
        entry["links"] = [_without_distance(link) for link in entry["links"]]
    return entry


def _host(host: Host, machine: Machine | None) -> dict[str, object]:
    if machine is None:
        return host.model_dump(mode="json", include={"name", "kind"})
    address = {} if machine.address is None else {"address": machine.address}
    unlimited = {name: None for name in ("cpu_quota", "memory") if getattr(host, name) is not None}
    anywhere: dict[str, object] = {"cpus": []} if host.cpus else {}
    return {"name": host.name, "kind": HostKind.SSH.value, "ssh": machine.ssh, **address, **unlimited, **anywhere}


def _without_distance(link: dict[str, Any]) -> dict[str, object]:
    """A host that stands at a distance stands there; one that moves can't be had, and the plan says so."""
    stands = "distance" in (link.get("mobility") or {})
    return {name: value for name, value in link.items() if not (stands and name == "mobility")}
