"""The suite: a matrix of experiments without those that `exclude` names, and how often and how long each is measured.

Lists of middlewares, profiles, options, deliveries, workloads, sizes, rates, QoS, topologies and conditions expand to
their product, which `plan.matrix` makes; files are read by `load`, and editors check them by the JSON Schema that is
rendered here. Only its worker knows which options a middleware has.
"""

import json
from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import Field, StrictBool, ValidationInfo, model_validator
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from middlemark.suite.claims.parser import ClaimText
from middlemark.suite.conditions import Conditions, CpuLoad, Cpus, Deployment, Scheduling, Security
from middlemark.suite.measurement import (
    ALL_MIDDLEWARES,
    OPTION,
    Capture,
    Disturbance,
    KernelPath,
    MiddlewareChoice,
    Observation,
    Recording,
    RequestedOptions,
    Stop,
    Windows,
)
from middlemark.suite.topology.catalog import TopologyChoice
from middlemark.suite.topology.link import LinkSettings
from middlemark.suite.topology.topology import Placement
from middlemark.suite.workload.payload import Payload, Serialisation
from middlemark.suite.workload.qos import Congestion, Delivery, Durability, History, Qos, QueueSize, Reliability
from middlemark.suite.workload.workload import Arrival, Pattern, Workload
from middlemark.suite.yaml.model import (
    Many,
    Model,
    ProfileName,
    TopologyName,
    closest_first,
    refusal,
)
from middlemark.suite.yaml.quantity import Duration, MessageSize, Rate, factor_text

WholeNumber = Annotated[int, Field(strict=True)]


class Exclusion(Model):
    """One rule, with at least one factor."""

    middleware: Many[str] | None = None
    profile: Many[str] | None = None
    options: RequestedOptions = {}
    """Options with their values; `none` for an option that the experiment does not set."""
    delivery: Many[Delivery] | None = None
    workload: Many[str] | None = None
    pattern: Many[Pattern] | None = None
    size: Many[MessageSize] | None = None
    rate: Many[Rate] | None = None
    arrival: Many[Arrival] | None = None
    topics: Many[WholeNumber] | None = None
    messages: Many[WholeNumber] | None = None
    payload: Many[Payload] | None = None
    serialisation: Many[Serialisation] | None = None
    answer: Many[MessageSize] | None = None
    interval: Many[Duration] | None = None
    patience: Many[Duration] | None = None
    response: Many[MessageSize] | None = None
    outstanding: Many[WholeNumber] | None = None
    timeout: Many[Duration] | None = None
    server_time: Many[str] | None = None
    reliability: Many[Reliability] | None = None
    history: Many[History] | None = None
    depth: Many[WholeNumber] | None = None
    durability: Many[Durability] | None = None
    congestion: Many[Congestion] | None = None
    publish_patience: Many[Duration] | None = None
    queue: Many[QueueSize] | None = None
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
    security: Many[Security] | None = None
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
        named = {name: getattr(self, name) for name in self.model_fields_set - {"options"}}
        options = {f"{OPTION}{name}": values for name, values in self.options.items()}
        return {
            name: frozenset(factor_text(name, value) for value in values) for name, values in (named | options).items()
        }


class Suite(Model):
    """A matrix of experiments."""

    suite: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]
    """Its name."""
    summary: str = ""
    """The question that it answers, in one sentence."""
    seed: Annotated[int, Field(ge=0, lt=2**63, strict=True)] = 1
    """The same seed gives the same order of trials and the same payload."""
    trials: Annotated[int, Field(ge=1, le=10_000, strict=True)] = 3
    """How many trials each experiment has; with `stop`, how many it has at least."""
    stop: Stop | None = None
    """When confidence intervals are narrow enough; until then experiments have further trials."""
    middlewares: Many[MiddlewareChoice]
    """What is measured."""
    profiles: Many[ProfileName] = ("default",)
    """The named configurations of each middleware."""
    delivery: Many[Delivery] | None = None
    """Who calls an application with a message; without it, as the profile advises, else as the worker's default."""
    workloads: Many[Workload]
    """The messages that are sent."""
    sizes: Many[MessageSize] | None = None
    """Sizes for every workload without its own."""
    qos: Many[Qos] | None = None
    """QoS for every workload without its own."""
    topologies: Many[TopologyChoice] = (TopologyChoice(topology="C1-1"),)
    """Hosts, and which application runs on which."""
    conditions: Many[Conditions] = (Conditions(),)
    """What else holds during a trial."""
    exclude: tuple[Exclusion, ...] = ()
    """Rules that remove experiments."""
    claims: tuple[ClaimText, ...] = ()
    """Statements about the results; each is judged."""
    observe: Many[Observation] | None = None
    """What is watched from outside; for each observation, every experiment has one more trial per block."""
    observed_trials: Annotated[int, Field(ge=1, le=10_000, strict=True)] | None = None
    """In how many blocks, from the first on, experiments have these trials; without it, in all."""
    capture: Capture = Capture()
    """How much is kept of frames that are captured."""
    kernel_path: KernelPath = KernelPath()
    """How many messages are analysed where the kernel path is observed."""
    verify: StrictBool = False
    """Whether subscribers check each message's bytes; this takes them time."""
    windows: Windows = Windows()
    """How long each part of a trial lasts."""
    recording: Recording = Recording()
    """How many samples are kept."""
    disturbance: Disturbance = Disturbance()
    """How much stolen CPU time makes a trial invalid."""

    @model_validator(mode="after")
    def _late_is_within_the_drain(self, info: ValidationInfo) -> Self:
        late_after = self.recording.late_after
        for workload in self.workloads:
            windows = self.windows_of(workload, (info.context or {}).get("shipped_workloads", {}))
            if late_after is not None and late_after > windows.drain:
                raise refusal(
                    f"`late_after` is longer than the drain of `{workload.workload}`",
                    allowed="a `late_after` of at most `windows: drain`",
                    at=("recording", "late_after"),
                )
        return self

    @model_validator(mode="after")
    def _searches_are_not_observed(self) -> Self:
        if self.observe and any(workload.pattern is Pattern.CAPACITY for workload in self.workloads):
            raise refusal(
                "the trials of a capacity search can't be observed",
                allowed="a separate suite for them",
                at=("observe",),
            )
        return self

    @model_validator(mode="after")
    def _observes_what_it_names(self) -> Self:
        if self.observed_trials is not None and not self.observe:
            raise refusal(
                "`observed_trials` says how often something is observed, and nothing is",
                allowed="an observation in `observe`",
                at=("observed_trials",),
            )
        return self

    @model_validator(mode="after")
    def _paths_are_followed_on_one_topic(self) -> Self:
        if Observation.KERNEL_PATH in (self.observe or ()) and any(workload.topics for workload in self.workloads):
            raise refusal(
                "the kernel path of messages on several topics can't be followed",
                allowed="a workload without `topics`, or another observation",
                at=("observe",),
            )
        return self

    @model_validator(mode="after")
    def _stops_after_it_began(self) -> Self:
        if self.stop is not None and self.stop.max_trials < self.trials:
            raise refusal(
                f"`max_trials` is less than the {self.trials} `trials` that each experiment has anyway",
                allowed=f"at least {self.trials}",
                at=("stop", "max_trials"),
            )
        return self

    @model_validator(mode="after")
    def _rules_name_what_there_is(self) -> Self:
        for number, rule in enumerate(self.exclude):
            for factor, allowed in self._names().items():
                for name in getattr(rule, factor) or ():
                    if allowed and name not in allowed:
                        raise refusal(
                            f"the suite has no {factor} `{name}`",
                            allowed=closest_first(name, allowed),
                            at=("exclude", number, factor),
                        )
        return self

    @model_validator(mode="after")
    def _claims_name_what_there_is(self) -> Self:
        names = self._names()
        for number, claim in enumerate(self.claims):
            for factor, value in (pair for selection in claim.selections for pair in selection.factors):
                allowed = names.get(factor)
                if allowed and value not in allowed:
                    raise refusal(
                        f"the suite has no {factor} `{value}`",
                        allowed=closest_first(value, allowed),
                        at=("claims", number),
                    )
        return self

    def _names(self) -> dict[str, list[str]]:
        """The names that a rule may use; an empty list where any may be meant."""
        middlewares = [choice.middleware for choice in self.middlewares]
        profiles = [profile for choice in self.middlewares for profile in choice.profiles or self.profiles]
        return {
            "middleware": [] if ALL_MIDDLEWARES in middlewares else middlewares,
            "profile": profiles,
            "workload": [workload.workload for workload in self.workloads],
            "topology": [choice.topology for choice in self.topologies],
        }

    def windows_of(self, workload: Workload, shipped: Mapping[str, Workload]) -> Windows:
        """Those that the workload ships with, over them the suite's, over these what its workload is given here."""
        base = shipped.get(workload.workload)
        usual = Windows() if base is None or base.windows is None else base.windows
        windows = usual.changed_by(self.windows)
        return windows if workload.windows is None else windows.changed_by(workload.windows)


def suite_schema() -> str:
    """The JSON Schema of a suite file, for editors that complete and check while one writes."""
    schema = Suite.model_json_schema(schema_generator=_AsWritten)
    whole = {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


class _AsWritten(GenerateJsonSchema):
    """Shows defaults as people write them (`10 s`), and no titles that only repeat a name."""

    def field_title_should_be_set(self, schema: CoreSchema) -> bool:  # noqa: ARG002 - no field's title is set
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        shown = super().default_schema(schema)
        writer = schema["schema"].get("serialization", {})
        if "default" in shown and writer.get("type") == "function-plain":
            shown["default"] = writer["function"](schema["default"])
        return shown
