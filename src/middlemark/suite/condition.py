"""Conditions: what else is true while a trial runs, first of all which CPUs its applications have.

It states wishes only; `plan.cpus` shares out the CPUs, the worker's runtime and `testbed` put them into effect.
"""

from enum import StrEnum
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from middlemark.suite.model import Model, Named, refusal
from middlemark.suite.quantity import DURATION


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
    """Whether idle-class spinners keep every CPU from sleeping, so that waking it is not part of the figures."""

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
