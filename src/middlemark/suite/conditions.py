"""The conditions of a trial: CPUs, scheduling, deployment, CPU load, security, links, and faults.

These models only state what is requested: `plan` resolves them and checks names against the topology; the worker's
runtime and `testbed` put them into effect. Shipped timelines are in `timelines.yaml`.
"""

from enum import StrEnum
from typing import Annotated, ClassVar, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from middlemark.suite.topology.link import LinkSettings
from middlemark.suite.yaml.model import Many, Model, Named, closest_first, refusal
from middlemark.suite.yaml.quantity import DURATION, Duration, Share, percent


class Action(StrEnum):
    """A fault or repair of an application, a service, or a host's links."""

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
        """Whether it concerns links, not a process."""
        return self in {Action.LINK_DOWN, Action.LINK_UP, Action.PARTITION, Action.HEAL}

    @property
    def mends(self) -> bool:
        """Whether it is a repair, after which messages should flow again."""
        return self in {Action.RESTART, Action.START, Action.RESUME, Action.LINK_UP, Action.HEAL}

    @property
    def undone_by(self) -> "Action | None":
        """The repair of a link fault, so that the link can be measured after the trial."""
        return {Action.LINK_DOWN: Action.LINK_UP, Action.PARTITION: Action.HEAL}.get(self)


class Fault(Model):
    """One event of a timeline."""

    at: Duration | None = None
    """The instant of the event, from the start of the window."""
    after: Annotated[int, Field(ge=0, le=2**32 - 1, strict=True)] | None = None
    """In place of `at`: the number of messages of the window that were due from a publisher of the first stream."""
    do: Action
    """`stop`: told to end; `kill`: SIGKILL; `restart`: a new process; `pause`, `resume`: SIGSTOP, SIGCONT; `start`:
    starts only now (a late joiner); `link_down`, `link_up`: removes and restores the carrier of a host's links, or of
    one of them; `partition`, `heal`: moves such links to the other part of their divided network, and back."""
    of: Many[str]
    """Applications or services (`publisher_0`, `broker_0`); for links, hosts, or `host/network` for one of a host's
    links. Hosts in the other part of a network reach each other and nobody else."""

    @model_validator(mode="after")
    def _happens_at_one_time(self) -> Self:
        if (self.at is None) == (self.after is None):
            raise refusal(
                "a fault has either `at`, a time, or `after`, a number of messages", allowed="`at: 2 s` or `after: 100`"
            )
        return self


class Timeline(Named):
    """A named list of faults, each with its instant."""

    name_key: ClassVar[str] = "timeline"

    timeline: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
    """A shipped timeline (see `middlemark list timelines`), or a new name; it is the value of the factor `faults`."""
    summary: str = ""
    """Its purpose, in one sentence."""
    events: tuple[Fault, ...] = ()
    """The events; simultaneous ones happen in this order. A shipped timeline has its own."""

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
    """A rule, or lists of CPUs."""

    name_key: ClassVar[str] = "rule"

    rule: CpuRule = CpuRule.EXPLICIT
    """`any`: the system decides; `spread`: own CPUs for each application; `same_core`: one CPU for all applications."""
    publishers: CpuList = ()
    """The CPUs of the applications that publish."""
    subscribers: CpuList = ()
    """The CPUs of all other applications."""
    services: CpuList = ()
    """The CPUs of services (brokers, routers); without it, those of all applications on the service's host."""

    @model_validator(mode="after")
    def _lists_are_explicit(self) -> Self:
        is_explicit = self.rule is CpuRule.EXPLICIT
        if is_explicit != bool(self.publishers and self.subscribers) or (self.services and not is_explicit):
            allowed = "any, spread, same_core, or `{publishers: [0], subscribers: [1]}`, there with `services: [2]`"
            raise refusal("CPUs are given by a rule or by both lists", allowed=allowed)
        return self

    def __str__(self) -> str:
        if self.rule is not CpuRule.EXPLICIT:
            return self.rule.value
        lists = (self.publishers, self.subscribers, *([self.services] if self.services else []))
        return "/".join("+".join(map(str, cpus)) for cpus in lists)


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
    """`bare_metal`: none; `single_container`: one for all processes of a host; `multi_container`: one for each."""
    ipc: ContainerIpc | None = None
    """`private`: each container has its own `/dev/shm`; `shareable`: the containers of a host share one; `host`: the
    host's."""
    network: ContainerNetwork | None = None
    """`host`: the network of its host; `none`: only a loopback of its own."""

    @field_validator("network", mode="before")
    @classmethod
    def _is_no_bridge(cls, written: object) -> object:
        """Container engines know `bridge`.

        Here, a host in namespaces has a bridge, and its containers use its network.
        """
        if written == "bridge":
            raise refusal(
                "`bridge` is a property of hosts, not of containers: containers use the network of their host",
                allowed="host, none; for an address of its own behind a bridge: `host`, on a host of `kind: netns`",
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


class Security(StrEnum):
    """How safe from strangers messages are."""

    NONE = "none"
    AUTHENTICATED = "authenticated"
    ENCRYPTED = "encrypted"


class LoadedHosts(StrEnum):
    """Which hosts are loaded, by what their applications do."""

    ALL = "all"
    PUBLISHERS = "publishers"
    SUBSCRIBERS = "subscribers"


class CpuLoad(Named):
    """CPU load on the hosts besides the applications."""

    name_key: ClassVar[str] = "level"

    level: Share
    """The load of each CPU of a loaded host, by processes that do nothing else."""
    hosts: LoadedHosts = LoadedHosts.ALL
    """Which hosts are loaded: all, those that publish, or those that subscribe."""

    def __str__(self) -> str:
        level = f"{percent(self.level):g} %"
        return level if self.hosts is LoadedHosts.ALL else f"{level} {self.hosts}"


class Conditions(Model):
    """What else holds during a trial."""

    cpus: Cpus = Cpus(rule=CpuRule.ANY)
    """Which CPUs the applications and services may run on."""
    scheduling: Scheduling = Scheduling.OTHER
    """The scheduling class of applications and services; `fifo` needs permission for it, and a `priority`."""
    priority: Annotated[int, Field(ge=1, le=99, strict=True)] | None = None
    """The priority of `fifo`."""
    spin: Annotated[int, DURATION.between(0, 1e9)] = 0
    """Publishers wake this long before each intended instant and spin until then."""
    keep_awake: bool = False
    """Whether CPUs are kept from sleeping, so that waking a CPU is not part of what is measured."""
    deployment: Deployment | None = None
    """How the processes of each host are packed; without it, `bare_metal`."""
    cpu_load: CpuLoad | None = None
    """CPU load besides the applications."""
    security: Security | None = None
    """`authenticated`: both ends prove who they are before a message passes; `encrypted`: nor can messages be read on
    their way; without it, and with `none`, they are open to all."""
    link: LinkSettings | None = None
    """Properties of every link, which override those of the topology."""
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
