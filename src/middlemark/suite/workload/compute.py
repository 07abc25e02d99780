"""How long a program computes, as users write it: one time, or a distribution.

Nodes of a pipeline and servers compute; what is drawn is the worker's.
"""

from enum import StrEnum
from typing import Annotated, ClassVar, Self

from pydantic import model_validator

from middlemark.suite.yaml.model import Named, refusal
from middlemark.suite.yaml.quantity import DURATION

ComputeTime = Annotated[int, DURATION.between(0, 60e9)]


class Distribution(StrEnum):
    """How the times that a node or a server computes are distributed."""

    UNIFORM = "uniform"
    EXPONENTIAL = "exponential"
    NORMAL = "normal"
    LOGNORMAL = "lognormal"


_PARAMETERS: dict[Distribution | None, tuple[str, ...]] = {
    None: ("constant",),
    Distribution.UNIFORM: ("minimum", "maximum"),
    Distribution.EXPONENTIAL: ("mean",),
    Distribution.NORMAL: ("mean", "deviation"),
    Distribution.LOGNORMAL: ("mean", "deviation"),
}


class Compute(Named):
    """The CPU time of an execution: one time, or a distribution."""

    name_key: ClassVar[str] = "constant"

    constant: ComputeTime | None = None
    """Always the same."""
    distribution: Distribution | None = None
    minimum: ComputeTime | None = None
    """Of `uniform`: the shortest."""
    maximum: ComputeTime | None = None
    """Of `uniform`: the longest."""
    mean: ComputeTime | None = None
    """Of `exponential`, `normal` and `lognormal`."""
    deviation: ComputeTime | None = None
    """The standard deviation of the time itself; drawn times below zero count as zero."""

    def __str__(self) -> str:
        """As it is written in one line."""
        if self.distribution is None:
            return DURATION.text(self.constant or 0)
        parameters = (DURATION.text(getattr(self, name)) for name in _PARAMETERS[self.distribution])
        return " ".join([self.distribution, *parameters])

    @model_validator(mode="after")
    def _has_its_parameters(self) -> Self:
        wanted = _PARAMETERS[self.distribution]
        present = {name for names in _PARAMETERS.values() for name in names if getattr(self, name) is not None}
        for name in sorted(present ^ set(wanted)):
            problem = f"this computation has no `{name}`" if name in wanted else f"`{name}` does not belong here"
            kinds = [f"{kind}: {', '.join(names)}" for kind, names in _PARAMETERS.items() if kind]
            allowed = f"a time; or {'; '.join(kinds)}"
            raise refusal(problem, allowed=allowed, at=(name,))
        if self.minimum is not None and self.maximum is not None and self.minimum > self.maximum:
            raise refusal("`minimum` is above `maximum`", allowed="the shorter time first", at=("minimum",))
        return self
