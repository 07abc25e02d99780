"""An experiment: one point of a suite's matrix, with everything fixed that a trial needs to know of it.

Its factors name it: two suites with the same point have the same experiment id. It knows no address, port or process,
which `campaign` adds; `streams` and `network` have the parts of it through which messages go, `factors` tells its
factors apart.
"""

import math
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from middlemark.plan.application import Application, Pair
from middlemark.plan.patterns import Periodic
from middlemark.plan.streams import Chain, Node, Stream
from middlemark.plan.topology.network import Host, Link, Network
from middlemark.suite import Action, CpuLoad, Cpus, Delivery, Deployment, Model, OptionValue, Scheduling
from middlemark.suite.conditions import Security
from middlemark.suite.yaml.model import (
    Count,
    ExperimentId,
    Hertz,
    MiddlewareName,
    Name,
    Nanoseconds,
    OptionName,
    ProfileName,
    Share,
    TopologyName,
)


class PlannedFault(Model):
    """One fault at one target."""

    at_ns: Nanoseconds
    """From the window's start."""
    action: Action
    target: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}(/[a-z][a-z0-9_]{0,23})?$")]
    """An application or a service; for links a host, or `host/network`."""


class Windows(Model):
    """How long each part of a trial lasts: a suite's `Windows`, and from when on a message is late."""

    first_message_ns: Nanoseconds
    """The deadline for the last first message, from T0."""
    warm_up_ns: Nanoseconds
    """From the last first message to the window."""
    window_ns: Nanoseconds
    drain_ns: Nanoseconds
    """The longest wait for messages of the window after it."""
    late_after_ns: Nanoseconds
    """A message under way for longer is late, not received."""


class Conditions(Model):
    """What else is true while a trial runs: a suite's `Conditions` but links and faults, which the experiment has."""

    cpus: Cpus
    scheduling: Scheduling
    priority: Annotated[int, Field(ge=1, le=99)] | None
    spin_ns: Nanoseconds
    keep_awake: bool
    deployment: Deployment = Deployment()
    cpu_load: CpuLoad | None = None
    security: Security = Security.NONE


class Sought(StrEnum):
    """The factor that a search finds; the other is given."""

    RATE = "rate"
    SIZE = "size"


class Search(Model):
    """What the experiment's rate, or its size, is a step of: a suite's `Search` on its one ladder."""

    lowest_hz: Hertz | None = None
    highest_hz: Hertz | None = None
    """The ends of a ladder of rates; None where sizes are searched."""
    smallest_bytes: Annotated[int, Field(ge=1, le=2**53)] | None = None
    largest_bytes: Annotated[int, Field(ge=1, le=2**53)] | None = None
    """The ends of a ladder of sizes; None where rates are searched."""
    precision: Annotated[float, Field(ge=0.01, le=0.5)]
    """Each step is by this share higher than the one below."""
    loss_share: Share
    latency_ns: Nanoseconds
    """The bounds."""
    confirm: Annotated[int, Field(ge=1, le=15)]
    max_trials: Annotated[int, Field(ge=1, le=1000)]
    """Of each search."""
    searches: Annotated[int, Field(ge=1, le=100)] = 1
    """How many there are, one after another."""

    @property
    def sought(self) -> Sought:
        """What it finds."""
        return Sought.RATE if self.smallest_bytes is None else Sought.SIZE

    @property
    def ends(self) -> tuple[float, float]:
        """The first and the last of the ladder, in hertz or bytes."""
        if self.sought is Sought.RATE:
            return self.lowest_hz or 0.0, self.highest_hz or 0.0
        return float(self.smallest_bytes or 0), float(self.largest_bytes or 0)

    @property
    def last_step(self) -> int:
        """The highest step of the ladder; its steps count from 0."""
        low, high = self.ends
        return math.floor(math.log(high / low) / math.log1p(self.precision) + 1e-9)

    @property
    def octave(self) -> int:
        """How many steps double the rate or the size; at least one."""
        return max(round(math.log(2) / math.log1p(self.precision)), 1)

    def value_at(self, step: int) -> float:
        """The rate or the size of a step, above the lowest to four digits as people write it."""
        low = self.ends[0]
        value = float(f"{low * (1 + self.precision) ** step:.4g}") if step else low
        return value if self.sought is Sought.RATE else float(round(value))

    def step_of(self, value: float) -> int:
        """The step whose rate or size it is, of trials that were stored without their step."""
        return round(math.log(value / self.ends[0]) / math.log1p(self.precision))

    @model_validator(mode="after")
    def _has_one_ladder(self) -> Self:
        is_set = [end is not None for end in (self.lowest_hz, self.highest_hz, self.smallest_bytes, self.largest_bytes)]
        low, high = self.ends
        if is_set not in ([True, True, False, False], [False, False, True, True]) or low >= high:
            raise ValueError("a search has a ladder of rates or one of sizes, with an end above its start")
        return self


class Side(StrEnum):
    """Whose workers an experiment runs with, where two are compared."""

    BASE = "base"
    HEAD = "head"


class CaptureBounds(Model):
    """How much is kept of the frames that pass, where they are captured."""

    snap_bytes: Count = 65_535
    """Of each frame."""
    most_bytes: Count = 100_000_000
    """Of the file."""


class Experiment(Model):
    """One point of the matrix."""

    id: ExperimentId
    """Stable: the same factors have the same id in every suite."""
    factors: dict[str, str]
    """Every factor by name, as it is written in keys, tables, `--only` and `exclude`."""
    middleware: MiddlewareName
    """Of a pair, a name for both."""
    pair: Pair | None = None
    """None where all applications are of one middleware."""
    profile: ProfileName
    options: dict[OptionName, OptionValue]
    """What the suite sets beyond the profile."""
    delivery: Delivery | None = None
    """What the suite requests; None, like `default`, leaves it to the profile and the worker."""
    side: Side | None = None
    """None where the campaign has no two sides."""
    search: Search | None = None
    """None where the rate is given."""
    workload: Name
    topology: TopologyName
    hosts: tuple[Host, ...]
    networks: tuple[Network, ...] = ()
    links: tuple[Link, ...] = ()
    """One for each host of each network."""
    services: tuple[Name, ...] = ()
    """The hosts of services that are needed once a network; the first application's host where none is named."""
    applications: tuple[Application, ...]
    streams: tuple[Stream, ...]
    nodes: tuple[Node, ...] = ()
    """Of a pipeline: what computes between its streams."""
    chains: tuple[Chain, ...] = ()
    """Of a pipeline: the paths that are followed through it."""
    conditions: Conditions
    timeline: tuple[PlannedFault, ...] = ()
    """The faults that happen within the window."""
    windows: Windows
    samples: Count
    """Samples kept of each endpoint."""
    capture: CaptureBounds = CaptureBounds()
    path_messages: Count = 500
    """Of each stream, how many messages' paths are looked at where the kernel path is observed."""
    verify: bool
    """Whether subscribers check each message's bytes."""

    @model_validator(mode="after")
    def _names_what_it_has(self) -> Self:
        for kind, named, existing in self._named():
            if not set(named) <= set(existing):
                raise ValueError(f"it names {kind} that do not exist: {', '.join(sorted(set(named) - set(existing)))}")
            if len(set(existing)) < len(existing):
                raise ValueError(f"it has {kind} twice")
        return self

    def _named(self) -> Iterator[tuple[str, list[str], list[str]]]:
        """What is named by others within it: the noun, the names, and what there is."""
        streams, nodes = [stream.name for stream in self.streams], [node.name for node in self.nodes]
        yield "factors", ["middleware", "workload", "topology"], list(self.factors)
        yield (
            "applications",
            [name for stream in self.streams for name in (*stream.publishers, *stream.subscribers)]
            + [node.application for node in self.nodes],
            [application.name for application in self.applications],
        )
        yield (
            "hosts",
            [application.host for application in self.applications]
            + [link.host for link in self.links]
            + [*self.services, *(host for network in self.networks for host in network.hosts)],
            [host.name for host in self.hosts],
        )
        yield "networks", [link.network for link in self.links], [network.name for network in self.networks]
        yield (
            "streams",
            [endpoint.stream for application in self.applications for endpoint in application.endpoints]
            + [entry.stream for node in self.nodes for entry in node.inputs]
            + [name for node in self.nodes for name in node.outputs]
            + [name for chain in self.chains for name in chain.streams],
            streams,
        )
        ends = [f"{link.host}/{link.network}" for link in self.links]
        cut = [event.target for event in self.timeline if event.action.is_of_links]
        yield "links", cut, [*ends, *(host.name for host in self.hosts)]
        yield "nodes", [name for chain in self.chains for name in chain.nodes], nodes
        yield "chains", [], [chain.name for chain in self.chains]

    @property
    def key(self) -> str:
        """All factors in one readable line."""
        return " ".join(f"{name}={value}" for name, value in self.factors.items())

    @property
    def middlewares(self) -> tuple[str, ...]:
        """The middlewares that it runs: of a pair the publishers', then the subscribers'."""
        return (self.middleware,) if self.pair is None else (self.pair.publishers, self.pair.subscribers)

    @property
    def searched_value(self) -> float:
        """Of a search: the rate or the size at which this experiment tries it."""
        stream = self.streams[0]
        if self.search is None or not isinstance(stream.pattern, Periodic):
            raise ValueError("a search is of a periodic stream")
        return stream.pattern.rate_hz if self.search.sought is Sought.RATE else float(stream.size_bytes)

    def host(self, name: str) -> Host:
        """The host of this name."""
        return next(host for host in self.hosts if host.name == name)

    def most_messages(self) -> int:
        """The most messages that any one publisher may send within the window."""
        return max(stream.most_messages(self.windows.window_ns) for stream in self.streams)
