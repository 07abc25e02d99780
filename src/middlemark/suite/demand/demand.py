"""A demand: an application with its processes, its streams and services, and the candidates among which to choose.

`streams` has what is required of each stream and service. `plan.demand` makes experiments of a demand,
`analysis.decisions` judges the results.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Self

from pydantic import Field, StrictBool, ValidationInfo, model_validator

from middlemark.suite.conditions import Conditions
from middlemark.suite.demand.streams import Demanded, ServiceDemand, StreamDemand
from middlemark.suite.measurement import ALL_MIDDLEWARES, Disturbance, MiddlewareChoice, Observation, Recording, Windows
from middlemark.suite.topology.catalog import TopologyChoice
from middlemark.suite.topology.link import LinkSettings
from middlemark.suite.workload.qos import Delivery
from middlemark.suite.workload.workload import MOST_STREAMS
from middlemark.suite.yaml.model import Many, MiddlewareName, Model, Name, Named, ProfileName, closest_first, refusal
from middlemark.suite.yaml.quantity import Duration, TimeSpan


class DemandProcess(Named):
    """One process of the application, and its host."""

    name_key: ClassVar[str] = "process"

    process: Name
    host: Name | None = None
    """A host of the topology; without a topology, hosts of these names are made. Without any, this machine."""


class DemandWindows(Windows):
    """The parts of a trial of an application."""

    drain: Duration = 4_000_000_000
    """Longer than in a suite: what a reliable stream sends again after seconds misses its deadline, but is not lost."""


class Demand(Model):
    """An application: its processes, streams and services, and the candidates among which to choose."""

    application: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,23}$")]
    """Its name."""
    summary: str = ""
    """Its purpose, in one sentence."""
    processes: Many[DemandProcess]
    """Its processes."""
    streams: Annotated[tuple[StreamDemand, ...], Field(max_length=MOST_STREAMS)] = ()
    """Its streams; all run at once."""
    services: Annotated[tuple[ServiceDemand, ...], Field(max_length=MOST_STREAMS)] = ()
    """What its processes ask each other for, at the same time."""
    topology: TopologyChoice | None = None
    """Hosts and networks, by name or written out; its applications are replaced by the processes."""
    link: LinkSettings | None = None
    """Without a topology: the links of the network that connects the processes' hosts."""
    conditions: Conditions = Conditions()
    """What else holds during a trial."""
    middlewares: Many[MiddlewareChoice] = (MiddlewareChoice(middleware=ALL_MIDDLEWARES),)
    """The middlewares to choose from; `all`: every one that is built."""
    profiles: Many[ProfileName] | None = None
    """The profiles of each; without it, all that it has."""
    delivery: Delivery | None = None
    """Who calls a process with a message; without it, as the profile advises, else as the worker's default."""
    exclude: tuple[MiddlewareName, ...] = ("synthetic",)
    """Middlewares that `all` does not include."""
    seed: Annotated[int, Field(ge=0, lt=2**63, strict=True)] = 1
    """The same seed gives the same order of trials and the same payload."""
    trials: Annotated[int, Field(ge=1, le=10_000, strict=True)] = 6
    """How many trials each candidate has; with fewer than six, a confidence interval covers less than 95 %."""
    window: TimeSpan | None = None
    """How long each trial measures; without it, as long as the percentiles of the deadlines need, 2 s to 20 s."""
    windows: DemandWindows = DemandWindows()
    """How long the other parts of a trial last."""
    observe: tuple[Observation, ...] | None = None
    """What is watched in trials of their own; without it, resources, and `wire` where there are networks."""
    verify: StrictBool = False
    """Whether subscribers check each message's bytes; this takes them time."""
    recording: Recording = Recording()
    """How many samples are kept."""
    disturbance: Disturbance = Disturbance()
    """How much stolen CPU time makes a trial invalid."""

    @property
    def demanded(self) -> tuple[Demanded, ...]:
        """Its streams, then its services."""
        return (*self.streams, *self.services)

    @model_validator(mode="after")
    def _names_what_there_is(self) -> Self:
        if not self.demanded:
            raise refusal("the application sends and asks nothing", allowed="`streams: …`, `services: …`, or both")
        processes = [process.process for process in self.processes]
        for number, process in enumerate(processes):
            if process in processes[:number]:
                raise refusal(f"`{process}` is given twice", allowed="a name of its own", at=("processes", number))
        for name, place in self._named():
            if name not in processes:
                raise refusal(f"there is no process `{name}`", allowed=closest_first(name, processes), at=place)
        idle = set(processes) - {name for name, _ in self._named()}
        for number, process in enumerate(processes):
            if process in idle:
                raise refusal(
                    f"`{process}` has no stream and no service",
                    allowed="processes that publish, subscribe, ask or respond",
                    at=("processes", number),
                )
        return self

    def _named(self) -> Iterator[tuple[str, tuple[str | int, ...]]]:
        kinds = (
            ("streams", self.streams, ("publishers", "subscribers")),
            ("services", self.services, ("clients", "servers")),
        )
        for kind, all_of_kind, roles in kinds:
            for number, demanded in enumerate(all_of_kind):
                for role in roles:
                    for index, name in enumerate(getattr(demanded, role)):
                        yield name, (kind, number, role, index)

    @model_validator(mode="after")
    def _has_one_delivery(self) -> Self:
        if any(choice.delivery for choice in self.middlewares):
            raise refusal("middlewares of a demand have no `delivery` of their own", allowed="`delivery` of the demand")
        if any(choice.pair for choice in self.middlewares):
            raise refusal("a demand is for one middleware alone", allowed="middlewares by name; pairs are for suites")
        return self

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        taken: set[str] = set()
        places = [("streams", n, "topic") for n, _ in enumerate(self.streams)]
        places += [("services", n, "service") for n, _ in enumerate(self.services)]
        for demanded, place in zip(self.demanded, places, strict=True):
            if demanded.name in taken:
                problem = f"`{demanded.title}` is `{demanded.name}` in letters and digits, as one before it is"
                raise refusal(problem, allowed="names that differ", at=place)
            taken.add(demanded.name)
        return self

    @model_validator(mode="after")
    def _hosts_are_there(self, info: ValidationInfo) -> Self:
        if self.link is not None and (
            self.topology is not None or len({process.host for process in self.processes}) < 2
        ):
            problem = "`link` describes the network that connects the processes' hosts"
            raise refusal(problem, allowed="processes on several hosts, and no `topology`", at=("link",))
        if self.conditions.faults is not None:
            raise refusal("a demand is judged without faults", allowed="a suite", at=("conditions", "faults"))
        shipped = (info.context or {}).get("shipped_topologies")
        if self.topology is None or shipped is None:
            return self
        hosts = [host.name for host in self.topology.over(shipped).hosts]
        for number, process in enumerate(self.processes):
            if (process.host or hosts[0]) not in hosts:
                problem = f"`{self.topology.topology}` has no host `{process.host}`"
                raise refusal(problem, allowed=", ".join(hosts), at=("processes", number))
        return self
