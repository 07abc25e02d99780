"""What else is true while a trial runs: CPUs, scheduling, deployment, load on the CPUs, links, and faults over time.

It states wishes only: `plan` makes values of them and checks names against the topology, the worker's runtime and
`testbed` put them into effect. Some timelines of faults ship, in `timelines.yaml`.
"""

from enum import StrEnum
from typing import Annotated, ClassVar, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from middlemark.suite.topology.link import LinkSettings
from middlemark.suite.yaml.model import Many, Model, Named, closest_first, refusal
from middlemark.suite.yaml.quantity import DURATION, Duration, Share, percent


class Action(StrEnum):
    """What happens to an application, a service, or a host's links."""

    STOP = "stop"
    KILL = "kill"
    RESTART = "restart"
    PAUSE = "pause"
    RESUME = "resume"
    START = "start"
    LINK_DOWN = "link_down"
    LINK_UP = "link_up"
    PARTITION = "partition"
    HEAL = "heal"

    @property
    def is_of_links(self) -> bool:
        """Whether it happens to links, and not to a process."""
        return self in {Action.LINK_DOWN, Action.LINK_UP, Action.PARTITION, Action.HEAL}

    @property
    def mends(self) -> bool:
        """Whether messages should flow again after it."""
        return self in {Action.RESTART, Action.START, Action.RESUME, Action.LINK_UP, Action.HEAL}

    @property
    def undone_by(self) -> "Action | None":
        """What makes a link whole that this left cut, so that it can be measured."""
        return {Action.LINK_DOWN: Action.LINK_UP, Action.PARTITION: Action.HEAL}.get(self)


class Fault(Model):
    """One event of a timeline."""

    at: Duration | None = None
    """When, from the window's begin."""
    after: Annotated[int, Field(ge=0, le=2**32 - 1, strict=True)] | None = None
    """When, by the number of messages that a publisher of the first stream was to have sent in the window."""
    do: Action
    """`stop`: asked to end; `kill`: SIGKILL; `restart`: a new process; `pause`, `resume`: SIGSTOP, SIGCONT; `start`:
    kept from starting until now (a late joiner); `link_down`, `link_up`: the links of a host, or one that is named,
    without a carrier and with it; `partition`, `heal`: such links to the other side of their networks, and back."""
    of: Many[str]
    """Applications or services (`publisher_0`, `broker_0`); for links, hosts, or `host/network` for one of its links.
    Hosts on the other side reach each other and nobody else."""

    @model_validator(mode="after")
    def _happens_at_one_time(self) -> Self:
        if (self.at is None) == (self.after is None):
            raise refusal("a fault happens either at a time or after a count", allowed="`at: 2 s` or `after: 100`")
        return self


class Timeline(Named):
    """Faults under a name."""

    name_key: ClassVar[str] = "timeline"

    timeline: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
    """A timeline that ships (see `middlemark list timelines`), or a new name; the value of the factor `faults`."""
    summary: str = ""
    """What it stands for, in one sentence."""
    events: tuple[Fault, ...] = ()
    """What happens; simultaneous events in this order. A timeline that ships has its own."""

    @model_validator(mode="after")
    def _has_events(self, info: ValidationInfo) -> Self:
        if self.events:
            return self
        shipped = (info.context or {}).get("shipped_timelines", {})
        if self.timeline not in shipped:
            raise refusal(
                f"`{self.timeline}` is no shipped timeline, and no `events` are given",
                allowed=closest_first(self.timeline, shipped) or "`events: […]`",
                at=("timeline",),
            )
        return shipped[self.timeline]  # type: ignore[no-any-return]  # a context holds anything


class CpuRule(StrEnum):
    """How a host's CPUs are given to its applications."""

    ANY = "any"
    SPREAD = "spread"
    SAME_CORE = "same_core"
    EXPLICIT = "explicit"


class Scheduling(StrEnum):
    """The applications' scheduling class."""

    OTHER = "other"
    FIFO = "fifo"


CpuList = tuple[Annotated[int, Field(ge=0, le=4095, strict=True)], ...]


class Cpus(Named):
    """A rule, or the CPUs themselves."""

    name_key: ClassVar[str] = "rule"

    rule: CpuRule = CpuRule.EXPLICIT
    """`any`: the system decides; `spread`: a share of its own for each application; `same_core`: one CPU for all."""
    publishers: CpuList = ()
    """The CPUs of applications that publish."""
    subscribers: CpuList = ()
    """The CPUs of all other applications."""

    @model_validator(mode="after")
    def _lists_are_explicit(self) -> Self:
        if (self.rule is CpuRule.EXPLICIT) != bool(self.publishers and self.subscribers):
            allowed = "any, spread, same_core, or `{publishers: [0], subscribers: [1]}`"
            raise refusal("CPUs are given by a rule or by both lists", allowed=allowed)
        return self

    def __str__(self) -> str:
        if self.rule is not CpuRule.EXPLICIT:
            return self.rule.value
        publishers, subscribers = ("+".join(map(str, cpus)) for cpus in (self.publishers, self.subscribers))
        return f"{publishers}/{subscribers}"


class DeploymentKind(StrEnum):
    """How a host's processes are packed."""

    BARE_METAL = "bare_metal"
    SINGLE_CONTAINER = "single_container"
    MULTI_CONTAINER = "multi_container"


class ContainerIpc(StrEnum):
    """With whom a container shares `/dev/shm`."""

    PRIVATE = "private"
    SHAREABLE = "shareable"
    HOST = "host"


class ContainerNetwork(StrEnum):
    """Which network a container has."""

    HOST = "host"
    NONE = "none"


class Deployment(Named):
    """How the processes of each host are packed."""

    name_key: ClassVar[str] = "deployment"

    deployment: DeploymentKind = DeploymentKind.BARE_METAL
    """`single_container`: all processes of a host in one; `multi_container`: each in its own."""
    ipc: ContainerIpc | None = None
    """`private`: each container has its own `/dev/shm`; `shareable`: those of a host have one; `host`: the host's."""
    network: ContainerNetwork | None = None
    """`host`: the network of the host it is on; `none`: a loopback of its own and nothing else."""

    @field_validator("network", mode="before")
    @classmethod
    def _is_no_bridge(cls, written: object) -> object:
        """Container engines have that word; what it says is a host's matter here, and a host in namespaces has it."""
        if written == "bridge":
            raise refusal(
                "a container has no `bridge` of its own: a host has, and its containers have the host's network",
                allowed="host, none; an address of its own behind a bridge: `host`, on a host of `kind: netns`",
            )
        return written

    @model_validator(mode="after")
    def _modes_are_of_containers(self) -> Self:
        for field in ("ipc", "network"):
            if self.deployment is DeploymentKind.BARE_METAL and getattr(self, field) is not None:
                raise refusal(
                    f"`bare_metal` has no `{field}`", allowed="single_container, multi_container", at=(field,)
                )
        return self

    def __str__(self) -> str:
        modes = [f"{field} {getattr(self, field)}" for field in ("ipc", "network") if getattr(self, field) is not None]
        return ", ".join([self.deployment.value, *modes])


class LoadedHosts(StrEnum):
    """Which hosts are loaded, by what their applications do."""

    ALL = "all"
    PUBLISHERS = "publishers"
    SUBSCRIBERS = "subscribers"


class CpuLoad(Named):
    """Work on the hosts' CPUs beside the applications'."""

    name_key: ClassVar[str] = "level"

    level: Share
    """How busy each CPU of a loaded host is kept, by processes that do nothing else."""
    hosts: LoadedHosts = LoadedHosts.ALL
    """Which hosts are loaded: all, those that publish, or those that subscribe."""

    def __str__(self) -> str:
        level = f"{percent(self.level):g} %"
        return level if self.hosts is LoadedHosts.ALL else f"{level} {self.hosts}"


class Conditions(Model):
    """What else is true while a trial runs."""

    cpus: Cpus = Cpus(rule=CpuRule.ANY)
    """Which CPUs the applications may run on."""
    scheduling: Scheduling = Scheduling.OTHER
    """The applications' scheduling class; `fifo` needs the right to it, and a `priority`."""
    priority: Annotated[int, Field(ge=1, le=99, strict=True)] | None = None
    """The priority of `fifo`."""
    spin: Annotated[int, DURATION.between(0, 1e9)] = 0
    """Publishers wake this much before each intended instant and spin until it."""
    keep_awake: bool = False
    """Whether idle-class spinners keep every CPU from sleeping, so that waking it is not part of what is measured."""
    deployment: Deployment | None = None
    """How the processes of each host are packed; without it, `bare_metal`."""
    cpu_load: CpuLoad | None = None
    """Work on the CPUs beside the applications'."""
    link: LinkSettings | None = None
    """What every link of the topology does to its frames, over what the topology says."""
    faults: Timeline | None = None
    """What goes wrong within the window."""

    @model_validator(mode="after")
    def _priority_belongs_to_fifo(self) -> Self:
        if (self.scheduling is Scheduling.FIFO) != (self.priority is not None):
            field = "scheduling" if self.priority is None else "priority"
            raise refusal(
                "`fifo` and `priority` go together",
                allowed="`scheduling: fifo` with `priority: 1` to `99`",
                at=(field,),
            )
        return self
