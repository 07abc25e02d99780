"""A workload: the messages of an experiment, their pattern, size, rate and QoS.

A suite names a shipped workload, changes part of it, or writes one of its own; lists widen the matrix. Fields that a
pattern does not have are refused here. It plans nothing: `plan` picks single values.
"""

from enum import StrEnum
from typing import Annotated, ClassVar, Self

from pydantic import Field, ValidationInfo, model_validator

from middlemark.suite.conditions import Timeline
from middlemark.suite.measurement import Search, Windows
from middlemark.suite.workload.compute import Compute
from middlemark.suite.workload.payload import IMU_BYTES, Payload, Serialisation
from middlemark.suite.workload.pipeline import Chain, Node, PipelineApplication, check_graph
from middlemark.suite.workload.qos import Qos
from middlemark.suite.yaml.model import Many, Name, Named, closest_first, refusal
from middlemark.suite.yaml.quantity import SIZE, Duration, MessageSize, Rate, TimeSpan


class Pattern(StrEnum):
    """How a stream's messages are produced."""

    PERIODIC = "periodic"
    BURST = "burst"
    UNTHROTTLED = "unthrottled"
    PING_PONG = "ping_pong"
    REQUEST_RESPONSE = "request_response"
    """By the middleware's own means of asking and answering, in place of two topics."""
    PIPELINE = "pipeline"
    CAPACITY = "capacity"
    """Periodic, with rates that a search tries; or at a given rate, with sizes that it tries."""


class Arrival(StrEnum):
    """How the intervals of a periodic stream are distributed."""

    FIXED = "fixed"
    POISSON = "poisson"


_TYPED = ("payload", "serialisation")
FIELDS_OF_PATTERN: dict[Pattern, tuple[str, ...]] = {
    Pattern.PERIODIC: ("rate", "arrival", "topics", *_TYPED),
    Pattern.BURST: ("rate", "messages", "topics", *_TYPED),
    Pattern.UNTHROTTLED: ("approach", "messages", *_TYPED),
    Pattern.PING_PONG: ("approach", "messages", "answer", "interval", "patience", *_TYPED),
    Pattern.REQUEST_RESPONSE: (
        *("rate", "arrival", "approach", "response", "outstanding", "timeout"),
        *("server_time", *_TYPED),
    ),
    Pattern.PIPELINE: ("rate", "approach", "nodes", "chains", "applications"),
    Pattern.CAPACITY: ("rate", "arrival", "search", *_TYPED),
}
"""The fields that only some patterns have."""


MOST_STREAMS = 1000
"""Of one trial, each topic counted."""


class Workload(Named):
    """A workload by name: a shipped one with changes, or a new one."""

    name_key: ClassVar[str] = "workload"

    workload: Name
    """A shipped workload (see `middlemark list workloads`), or a new name."""
    summary: str = ""
    """Its purpose, in one sentence."""
    pattern: Pattern | None = None
    """How its messages are produced."""
    size: Many[MessageSize] | None = None
    """The size of each message, including its header of 32 B; in a pipeline, of outputs without a size."""
    rate: Many[Rate] | None = None
    """Messages (or bursts) per second of each publisher; in a pipeline, of sources without a rate. Of a capacity: in
    place of a size, which is then searched for. Of request_response: requests a second of each client; without it, a
    client sends the next request when a response has come."""
    topics: Many[Annotated[int, Field(ge=1, le=MOST_STREAMS, strict=True)]] | None = None
    """On how many topics it is sent, each from one of the topology's publishers to one of its subscribers, in turn;
    without it, on one topic from all publishers to all subscribers."""
    payload: Payload | None = None
    """What messages, and those that answer them, hold behind their header; without it, octets."""
    serialisation: Many[Serialisation] | None = None
    """How a payload that is not octets becomes bytes; without it, as each middleware's worker does by default."""
    arrival: Arrival | None = None
    """Whether the intervals of a periodic stream, or of requests at a rate, are all equal or exponential."""
    messages: Annotated[int, Field(ge=1, le=2**32 - 1, strict=True)] | None = None
    """Of a burst: its messages. Of unthrottled and ping_pong: the most that are sent within the window."""
    approach: Rate | None = None
    """The rate before the window of a stream, or of a pipeline's source, that is unthrottled, of a ping_pong, and of
    requests without a rate."""
    answer: MessageSize | None = None
    """The size of a ping_pong's answer; without it, the size of the message."""
    interval: Duration | None = None
    """The least time between two messages of a ping_pong."""
    patience: TimeSpan | None = None
    """After this time without an answer, the next message is sent."""
    response: MessageSize | None = None
    """Of request_response: the size of a response; without it, the size of the request."""
    outstanding: Annotated[int, Field(ge=1, le=1024, strict=True)] | None = None
    """Of request_response: the most requests of a client that are under way at once; without it 1, at a rate 64."""
    timeout: TimeSpan | None = None
    """Of request_response: after this a request counts as unanswered, and its response as late; without it, 1 s."""
    server_time: Compute | None = None
    """Of request_response: the CPU time that the server spends on each response; without it, none."""
    nodes: Annotated[tuple[Node, ...], Field(min_length=1, max_length=1000)] | None = None
    """Of a pipeline: its nodes, with the streams between them."""
    chains: tuple[Chain, ...] | None = None
    """Of a pipeline: the paths through it whose end-to-end time is measured."""
    applications: tuple[PipelineApplication, ...] | None = None
    """Of a pipeline: nodes that share a process; every other node is an application of its own."""
    search: Search | None = None
    """Of a capacity: the bounds of the search and of what counts as sustained."""
    qos: Many[Qos] | None = None
    """The requested QoS."""
    faults: Timeline | None = None
    """The timeline of faults, where the conditions name none."""
    windows: Windows | None = None
    """The windows of this workload where they differ from the suite's; those of a shipped workload hold where the suite
    has none."""

    @model_validator(mode="after")
    def _makes_sense(self, info: ValidationInfo) -> Self:
        if info.context is None or "shipped_workloads" not in info.context:
            return self
        shipped = info.context["shipped_workloads"]
        if shipped and self.workload not in shipped and self.pattern is None:
            raise refusal(
                f"`{self.workload}` is no shipped workload, and no `pattern` is given",
                allowed=closest_first(self.workload, shipped),
                at=("workload",),
            )
        self.over(shipped.get(self.workload))
        return self

    def over(self, base: "Workload | None") -> Self:
        """This workload, complete: omitted fields are taken from `base` where the pattern has them."""
        pattern = self.pattern or (base.pattern if base else None)
        if pattern is None:
            raise refusal(
                f"`{self.workload}` is no shipped workload, and no pattern is given", allowed=", ".join(Pattern)
            )
        self._refuse_fields_of_other_patterns(pattern)
        changes = {"pattern": pattern} | self._defaults_from(base, pattern)
        whole = self.model_copy(update=changes)._with_payload(self)  # noqa: SLF001 - of the same class
        if pattern is Pattern.PIPELINE:
            whole._check_graph()  # noqa: SLF001 - of the same class
        if pattern is Pattern.CAPACITY:
            self._check_search()
        for field in ("size", "rate"):
            if getattr(whole, field) is None and whole.needs(field):
                raise refusal(f"the workload `{self.workload}` has no {field}", allowed=f"`{field}: …`")
        return whole

    def needs(self, field: str) -> bool:
        """Whether a size or a rate has to be given: not the one searched for, nor one that all nodes have."""
        if self.pattern is Pattern.CAPACITY:
            return (field == "rate") == (self.rate is not None)
        if self.pattern is Pattern.REQUEST_RESPONSE and field == "rate":
            return self.rate is not None
        if self.pattern is not Pattern.PIPELINE:
            return field == "size" or field in FIELDS_OF_PATTERN[self.pattern or Pattern.PERIODIC]
        if field == "size":
            return any(output.size is None for node in self.nodes or () for output in node.outputs)
        return any(node.is_source and node.rate is None and not node.unthrottled for node in self.nodes or ())

    def _with_payload(self, written: "Workload") -> Self:
        """The same, of the one size that its payload has where it has one; refuses what was written against it."""
        if self.payload in {None, Payload.OCTETS} and self.serialisation is not None:
            typed = ", ".join(payload for payload in Payload if payload is not Payload.OCTETS)
            raise refusal("octets are not serialised", allowed=f"`payload`: {typed}", at=("serialisation",))
        if self.payload is not Payload.IMU:
            return self
        for field in ("size", "answer", "response"):
            value = getattr(written, field)
            if value is not None and any(size != IMU_BYTES for size in (value if field == "size" else (value,))):
                raise refusal(f"the payload imu has one size, {SIZE.text(IMU_BYTES)}", allowed="none", at=(field,))
        if self.pattern is Pattern.CAPACITY and self.rate is not None:
            raise refusal("the payload imu has one size: none can be searched for", allowed="no `rate`", at=("rate",))
        answers = [field for field in ("answer", "response") if getattr(self, field) is not None]
        return self.model_copy(update={"size": (IMU_BYTES,)} | dict.fromkeys(answers, IMU_BYTES))

    def _check_search(self) -> None:
        if self.size is not None and self.rate is not None:
            raise refusal(
                "a capacity has either a size or a rate: the other is searched for",
                allowed="`size: …`, to find the highest rate; or `rate: …`, to find the largest size",
                at=("rate",),
            )
        if self.search is not None:
            self.search.check_ends(of_sizes=self.rate is not None)

    def _check_graph(self) -> None:
        if self.nodes is None:
            raise refusal(f"the workload `{self.workload}` has no nodes", allowed="`nodes: …`")
        check_graph(self.nodes, self.chains or (), self.applications or ())
        for number, node in enumerate(self.nodes):
            if self.rate is None and node.is_source and node.rate is None and not node.unthrottled:
                allowed = "`rate`, `inputs` or `unthrottled: true`; or a `rate` beside `nodes`, for all such"
                raise refusal(f"nothing makes the node `{node.node}` run", allowed=allowed, at=("nodes", number))
        for field in ("size", "rate"):
            if getattr(self, field) is not None and not self.needs(field):
                allowed = f"a {'source' if field == 'rate' else 'stream'} that has none of its own"
                raise refusal(f"every node has its own {field}", allowed=allowed, at=(field,))

    def _defaults_from(self, base: "Workload | None", pattern: Pattern) -> dict[str, object]:
        fields = {"summary", "size", "qos", "faults", *FIELDS_OF_PATTERN[pattern]}
        if pattern is Pattern.CAPACITY:
            fields -= {"rate"} if self.rate is None else {"size"}
        return {} if base is None else {f: getattr(base, f) for f in fields if f not in self.model_fields_set}

    def _refuse_fields_of_other_patterns(self, pattern: Pattern) -> None:
        allowed = FIELDS_OF_PATTERN[pattern]
        for field in sorted({f for fields in FIELDS_OF_PATTERN.values() for f in fields} - set(allowed)):
            if field in self.model_fields_set:
                raise refusal(
                    f"a {pattern} workload has no `{field}`", allowed=", ".join(("size", *allowed, "qos")), at=(field,)
                )
