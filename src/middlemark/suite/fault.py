"""Faults: what goes wrong within a window, and when.

A timeline names applications, services and hosts of the topology it is used with; whether they are there is checked
where both are known, in `plan`. Some ship, in `timelines.yaml`. It does nothing to anything: `campaign` has it happen.
"""

from enum import StrEnum
from typing import Annotated, ClassVar, Self

from pydantic import Field, ValidationInfo, model_validator

from middlemark.suite.model import Many, Model, Named, closest_first, refusal
from middlemark.suite.quantity import Duration


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


class Fault(Model):
    """One event of a timeline."""

    at: Duration | None = None
    """When, from the window's begin."""
    after: Annotated[int, Field(ge=0, le=2**32 - 1, strict=True)] | None = None
    """When, by the number of messages that a publisher of the first stream was to have sent in the window."""
    do: Action
    """`stop`: told to end; `kill`: SIGKILL; `restart`: a new process; `pause`, `resume`: SIGSTOP, SIGCONT; `start`:
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
