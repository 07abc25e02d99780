"""What a suite's matrix leaves out: rules over the factors of an experiment.

A rule leaves out every experiment that has one of the rule's values for each of its factors.
The factors are named as in `--only`; `plan` applies the rules.
"""

from typing import Annotated, Self

from pydantic import Field, StrictBool, model_validator

from middlemark.suite.bounds import TopologyName
from middlemark.suite.condition import CpuLoad, Cpus, Deployment, Scheduling
from middlemark.suite.factor import factor_text
from middlemark.suite.link import LinkSettings
from middlemark.suite.model import Many, Model, refusal
from middlemark.suite.option import AskedOptions
from middlemark.suite.qos import Congestion, Durability, History, Reliability
from middlemark.suite.quantity import Duration, MessageSize, Rate
from middlemark.suite.topology import Placement
from middlemark.suite.workload import Arrival, Pattern

WholeNumber = Annotated[int, Field(strict=True)]


class Exclusion(Model):
    """One rule; at least one factor."""

    middleware: Many[str] | None = None
    profile: Many[str] | None = None
    options: AskedOptions = {}
    """Options with their values; `none` where the experiment leaves one as it is."""
    workload: Many[str] | None = None
    pattern: Many[Pattern] | None = None
    size: Many[MessageSize] | None = None
    rate: Many[Rate] | None = None
    arrival: Many[Arrival] | None = None
    messages: Many[WholeNumber] | None = None
    answer: Many[MessageSize] | None = None
    interval: Many[Duration] | None = None
    patience: Many[Duration] | None = None
    reliability: Many[Reliability] | None = None
    history: Many[History] | None = None
    depth: Many[WholeNumber] | None = None
    durability: Many[Durability] | None = None
    congestion: Many[Congestion] | None = None
    level: Many[WholeNumber] | None = None
    topology: Many[TopologyName] | None = None
    placement: Many[Placement] | None = None
    cpus: Many[Cpus] | None = None
    scheduling: Many[Scheduling] | None = None
    priority: Many[WholeNumber] | None = None
    spin: Many[Duration] | None = None
    keep_awake: Many[StrictBool] | None = None
    deployment: Many[Deployment] | None = None
    cpu_load: Many[CpuLoad] | None = None
    link: Many[LinkSettings] | None = None
    faults: Many[str] | None = None

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
