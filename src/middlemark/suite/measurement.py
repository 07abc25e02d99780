"""What a suite measures and how: middlewares and pairs, windows, recording, observations, searches, and when to stop.

It holds values only. `plan` gives observations and searches their trials, `campaign` keeps the time, `analysis.search`
decides which load is tried next and whether an interval is narrow enough.
"""

from enum import StrEnum
from math import log1p
from typing import Annotated, ClassVar, Self

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from middlemark.suite.workload.qos import Delivery, Qos
from middlemark.suite.yaml.model import Many, MiddlewareName, Model, Named, OptionName, ProfileName, refusal
from middlemark.suite.yaml.quantity import DURATION, RATE, SHARE, SIZE, Duration, MessageSize, Rate, Share, TimeSpan

_MS = 1_000_000


class Windows(Model):
    """The parts of a trial, in their order."""

    first_message: TimeSpan = 10_000 * _MS
    """The deadline for the last first message, from the common start; then the outcome is `no_communication`."""
    warm_up: Duration = 150 * _MS
    """From the last first message to the start of the window."""
    window: TimeSpan = 2_000 * _MS
    """How long messages are measured."""
    drain: Duration = 500 * _MS
    """How long to wait for messages after the window; it ends earlier when all have arrived."""


class Recording(Model):
    """How many samples are kept."""

    samples: Annotated[int, Field(ge=1, le=100_000_000, strict=True)] = 200_000
    """Samples kept for each endpoint; further messages are counted and go into a histogram."""
    late_after: Duration | None = None
    """A message that takes longer counts as late, not as received (Tmax of RFC 7680); without it, the drain."""


class Disturbance(Model):
    """How much stolen CPU time makes a trial invalid, and how often the trial is then repeated."""

    steal: Share = 0.02
    """The largest share of CPU time that the hypervisor may take during the window, over all CPUs."""
    repeats: Annotated[int, Field(ge=0, le=100, strict=True)] = 2
    """How often a disturbed trial is repeated before it stays invalid."""


class Observation(StrEnum):
    """What is watched from outside; each observation has trials of its own, so that none disturbs another."""

    RESOURCES = "resources"
    """CPU, memory, threads, descriptors, switches and page faults of each process over time."""
    KERNEL_PATH = "kernel_path"
    """Where the time of each message goes: middleware, kernel, queue, wire, scheduler."""
    WIRE = "wire"
    """Bytes and packets on each interface of the hosts in namespaces, by phase of the trial."""
    CAPTURE = "capture"
    """Every frame on the links of hosts in namespaces, in a file for Wireshark."""


class Capture(Model):
    """How much of captured frames is kept, where `observe` has `capture`."""

    snap: Annotated[int, SIZE.between(64, 65_535)] = 65_535
    """The bytes kept of each frame; the headers of most protocols are within 200 B."""
    most: Annotated[int, SIZE.between(1e5, 1e11)] = 100_000_000
    """The maximum size of a trial's file; further frames are only counted."""


class KernelPath(Model):
    """How many messages are analysed, where `observe` has `kernel_path`."""

    messages: Annotated[int, Field(ge=10, le=1_000_000, strict=True)] = 500
    """Per stream and trial, evenly chosen over the window; all messages where there are fewer."""


class Search(Model):
    """A search for the highest rate that is sustained; for a workload with a rate, for the largest size."""

    lowest: Rate = 100.0
    """The rate that is tried first."""
    highest: Rate = 1e6
    """The highest rate that is tried."""
    smallest: MessageSize = 64
    """The size that is tried first, in a search for sizes."""
    largest: MessageSize = 16_000_000
    """The largest size that is tried."""
    precision: Annotated[float, SHARE.between(0.01, 0.5)] = 0.05
    """The relative distance of two neighbouring steps: the highest that is sustained and the next one, which is not."""
    loss: Share = 0.001
    """The largest share of messages that may be lost."""
    latency: Annotated[int, DURATION.between(1e3, 60e9)] = 10_000_000
    """The largest 99th percentile of the latency from the instant at which messages were due."""
    confirm: Annotated[int, Field(ge=1, le=15, multiple_of=1, strict=True)] = 3
    """The number of trials of one rate or size whose majority decides, at both ends of the bracket."""
    max_trials: Annotated[int, Field(ge=3, le=1000, strict=True)] = 60
    """The most trials of a search; with more it stays open, and reports the bracket so far."""
    searches: Annotated[int, Field(ge=1, le=100, strict=True)] = 1
    """The number of searches, one after another; capacities are compared over them."""

    @model_validator(mode="after")
    def _has_room(self) -> Self:
        if self.highest <= self.lowest:
            raise refusal(
                "`highest` is no higher than `lowest`",
                allowed=f"above {RATE.text(self.lowest)}",
                at=("highest",),
            )
        if self.largest <= self.smallest:
            raise refusal(
                "`largest` is no larger than `smallest`",
                allowed=f"above {SIZE.text(self.smallest)}",
                at=("largest",),
            )
        if self.confirm % 2 == 0:
            raise refusal("an even number of trials may be undecided", allowed="an odd number", at=("confirm",))
        return self

    def check_ends(self, *, of_sizes: bool) -> None:
        """Refuses the bounds of the other kind of search, and sizes that are less than a byte apart."""
        for name in ("lowest", "highest") if of_sizes else ("smallest", "largest"):
            if name in self.model_fields_set:
                raise refusal(
                    f"`{name}` belongs to a search for a {'rate' if of_sizes else 'size'}",
                    allowed="`smallest` and `largest` beside a `rate`, `lowest` and `highest` beside a `size`",
                    at=("search", name),
                )
        if of_sizes and self.smallest * log1p(self.precision) <= 1:
            raise refusal(
                f"at {SIZE.text(self.smallest)} neighbouring sizes are less than a byte apart",
                allowed="a larger `smallest`, or a coarser `precision`",
                at=("search", "precision"),
            )


Width = Annotated[float, SHARE.between(0.001, 1)]


class Precision(Named):
    """A metric, with a width of its own where that differs from the rule's."""

    name_key: ClassVar[str] = "figure"

    figure: str
    """As in `compare`: `median(latency)`, `p99(round_trip)`, `goodput`, `first_message`."""
    relative_width: Width | None = None
    """The metric's own width; without it, that of the rule."""


class Stop(Model):
    """A rule that adds trials to an experiment until its confidence intervals are narrow enough."""

    relative_width: Width = 0.05
    """Half of the confidence interval of the median over trials, relative to the median: 5 % means ± 5 %."""
    confidence: Annotated[float, SHARE.between(0.5, 0.999)] = 0.95
    """The confidence level of that interval."""
    max_trials: Annotated[int, Field(ge=1, le=10_000, strict=True)] = 30
    """The most trials of an experiment; a metric whose interval is still too wide stays open."""
    figures: Many[Precision] | None = None
    """The metrics whose intervals have to be narrow; without it, the metric by which each stream is ranked."""


LONGEST_MIDDLEWARE = 32
"""The letters of a middleware's name."""
ALL_MIDDLEWARES = "all"
_ROLES = ("publishers", "subscribers")


def _option_value(written: object) -> object:
    if not isinstance(written, bool | int | str):
        raise refusal(f"`{written}` can't be the value of an option", allowed="true, false, a whole number, or text")
    return written


OPTION = "option."
"""How the factors begin that are options of a middleware."""
NOT_SET = "none"
"""In a rule of `exclude`, the value of an option that an experiment does not set."""
OptionValue = bool | int | str
RequestedOptions = dict[OptionName, Many[Annotated[OptionValue, BeforeValidator(_option_value)]]]
"""Each option with one value, or with several that widen the matrix."""


class MiddlewareChoice(Named):
    """A middleware, or a pair of them, with the profiles and options with which it is measured."""

    name_key: ClassVar[str] = "middleware"

    middleware: MiddlewareName
    """Its name as `middlemark list middlewares` shows it; `all`: every one that is built. A pair has one by itself."""
    publishers: MiddlewareName | None = None
    """Of a pair, the middleware that publishes, or asks."""
    subscribers: MiddlewareName | None = None
    """Of a pair, the middleware that subscribes, or answers; the two must speak one protocol."""
    profiles: Many[ProfileName] | None = None
    """Its named configurations; without it, those of the suite."""
    qos: Many[Qos] | None = None
    """QoS for every workload without its own, in place of the suite's."""
    options: RequestedOptions = {}
    """Options set in addition to the profile, as `middlemark describe` shows them; lists widen the matrix.

    Of a pair, each is set where it is known.
    """
    delivery: Many[Delivery] | None = None
    """Who calls an application with a message; without it, the suite's."""

    @model_validator(mode="before")
    @classmethod
    def _name_a_pair(cls, written: object) -> object:
        """`{publishers: a, subscribers: b}` is named `a_to_b`."""
        names = [written.get(role) for role in _ROLES] if isinstance(written, dict) else []
        if not isinstance(written, dict) or not any(names):
            return written
        for role, name in zip(_ROLES, names, strict=True):
            if name is None:
                raise refusal(f"a pair has no `{role}`", allowed=f"`{role}: …`, a middleware's name")
        pair = "_to_".join(map(str, names))
        if written.get("middleware", pair) != pair:
            raise refusal("a pair is not named", allowed="`publishers` and `subscribers` alone", at=("middleware",))
        is_name = all(str(name).isidentifier() for name in names)  # else it is the role that is to blame
        return {**written, "middleware": pair[:LONGEST_MIDDLEWARE].lower() if is_name else "pair"}

    @model_validator(mode="after")
    def _is_of_two(self) -> Self:
        if self.pair and (self.pair[0] == self.pair[1] or ALL_MIDDLEWARES in self.pair):
            raise refusal("a pair is of two middlewares by name", allowed="two different ones", at=("subscribers",))
        if self.pair and self.middleware != "_to_".join(self.pair):
            raise refusal("the names of this pair are too long", allowed=f"{LONGEST_MIDDLEWARE - 4} letters in all")
        return self

    @property
    def pair(self) -> tuple[str, str] | None:
        """Who publishes and who subscribes, where these are two."""
        return (self.publishers, self.subscribers) if self.publishers and self.subscribers else None

    @property
    def workers(self) -> tuple[str, ...]:
        """The middlewares that it names."""
        return self.pair or (() if self.middleware == ALL_MIDDLEWARES else (self.middleware,))

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """The bare name, the mapping of one middleware, or that of a pair."""
        whole = handler.resolve_ref_schema(handler(schema))
        single, pair = {"required": [cls.name_key]}, {"required": list(_ROLES)}
        return {"anyOf": [whole["properties"][cls.name_key], whole | {"anyOf": [single, pair], "required": []}]}
