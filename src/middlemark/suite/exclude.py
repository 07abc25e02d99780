"""What a suite's matrix leaves out: rules over the factors of an experiment.

A rule leaves out every experiment that has one of the rule's values for each of its factors.
The factors are named as in `--only`; `plan` applies the rules.
"""

from typing import Annotated, Self

from pydantic import Field, StrictBool, model_validator

from middlemark.suite.condition import Scheduling
from middlemark.suite.model import Many, Model, refusal
from middlemark.suite.qos import Congestion, Durability, History, Reliability
from middlemark.suite.quantity import RATE, SIZE, MessageSize, Rate
from middlemark.suite.topology import Placement, TopologyName
from middlemark.suite.workload import Arrival, Pattern


class Exclusion(Model):
    """One rule; at least one factor."""

    middleware: Many[str] | None = None
    profile: Many[str] | None = None
    options: dict[str, Many[bool | int | str]] = {}
    workload: Many[str] | None = None
    pattern: Many[Pattern] | None = None
    size: Many[MessageSize] | None = None
    rate: Many[Rate] | None = None
    arrival: Many[Arrival] | None = None
    reliability: Many[Reliability] | None = None
    history: Many[History] | None = None
    depth: Many[Annotated[int, Field(strict=True)]] | None = None
    durability: Many[Durability] | None = None
    congestion: Many[Congestion] | None = None
    level: Many[Annotated[int, Field(strict=True)]] | None = None
    topology: Many[TopologyName] | None = None
    placement: Many[Placement] | None = None
    scheduling: Many[Scheduling] | None = None
    keep_awake: Many[StrictBool] | None = None

    @model_validator(mode="after")
    def _names_a_factor(self) -> Self:
        if not self.model_fields_set:
            raise refusal(
                "a rule without a factor would exclude everything", allowed=", ".join(type(self).model_fields)
            )
        return self

    def factors(self) -> dict[str, frozenset[str]]:
        """For each factor of the rule, the values it names, as an experiment's factors are written."""
        own = {name: getattr(self, name) for name in self.model_fields_set - {"options"}}
        options = {f"option.{name}": values for name, values in self.options.items()}
        return {
            name: frozenset(factor_text(name, value) for value in values) for name, values in (own | options).items()
        }


def factor_text(factor: str, value: object) -> str:
    """A factor's value as it is written in keys, tables and on the command line."""
    if factor == "size" and isinstance(value, int):
        return SIZE.text(value)
    if factor == "rate" and isinstance(value, int | float):
        return RATE.text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
