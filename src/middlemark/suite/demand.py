"""A demand: an application as its author sees it, with its processes, its streams, and the requirements of each stream.

The messages of a stream have a size and a rate, or come from a recording in a CSV file, which
`campaign.import_recording` makes from other formats. `plan.demand` makes experiments of it, `analysis.decisions` judges
the results.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

from pydantic import Field, StrictBool, ValidationInfo, model_validator

from middlemark.errors import SuiteError
from middlemark.suite.conditions import Conditions
from middlemark.suite.measurement import Disturbance, Observation, Recording, Windows
from middlemark.suite.suite import ALL_MIDDLEWARES, MiddlewareChoice
from middlemark.suite.topology.catalog import TopologyChoice
from middlemark.suite.topology.link import LinkSettings
from middlemark.suite.workload.qos import Delivery, Qos, Reliability
from middlemark.suite.workload.workload import Arrival
from middlemark.suite.yaml.model import (
    Many,
    MiddlewareName,
    Model,
    Name,
    Named,
    ProfileName,
    SuiteFiles,
    closest_first,
    refusal,
)
from middlemark.suite.yaml.quantity import (
    DURATION,
    LARGEST_MESSAGE_BYTES,
    SMALLEST_MESSAGE_BYTES,
    MessageSize,
    Rate,
    Share,
    TimeSpan,
)

if TYPE_CHECKING:
    import polars as pl

COLUMNS = ("topic", "at_ns", "size_bytes")
"""The columns of a recording: one line per message, `at_ns` from the start of the recording; contents are not
needed."""
_MOST_MESSAGES = 5_000_000


class RecordedMessages(Named):
    """The messages of one topic of a recording."""

    name_key: ClassVar[str] = "file"

    file: str
    """A CSV file, relative to the demand's folder."""
    topic: str | None = None
    """The topic's name in the file; without it, the stream's."""
    offsets_ns: tuple[int, ...] = ()
    """The instant of each message from the start of the recording, as read from the file."""
    sizes_bytes: tuple[int, ...] = ()
    """The size of each message, raised to the smallest that can be sent."""
    period_ns: int = 0
    """The duration of the whole recording, all topics together; then it begins again."""

    def read(self, suite_files: SuiteFiles, stream_topic: str) -> RecordedMessages:
        """These messages with the values from the file."""
        topic = self.topic or stream_topic
        table = _table(self.file, suite_files)
        messages = table.filter(table["topic"] == topic).sort("at_ns")
        if messages.is_empty():
            topics = table["topic"].unique().sort().to_list()
            raise refusal(f"`{self.file}` has no message of `{topic}`", allowed=closest_first(topic, topics))
        sizes = messages["size_bytes"].clip(SMALLEST_MESSAGE_BYTES)
        return self.model_copy(
            update={
                "offsets_ns": tuple(messages["at_ns"].to_list()),
                "sizes_bytes": tuple(sizes.to_list()),
                "period_ns": period_ns(table["at_ns"].max(), Counter(table["topic"])),
            }
        )


def period_ns(last_ns: object, messages: Counter[str]) -> int:
    """The duration of a recording: up to its last message, plus the mean interval of its most frequent topic."""
    last = int(str(last_ns))
    return last + max(last // max(max(messages.values()) - 1, 1), 1)


def _table(file: str, suite_files: SuiteFiles) -> pl.DataFrame:
    import polars as pl  # noqa: PLC0415 - only a demand with a recording pays for loading it

    path = suite_files.path(file)
    try:
        table = pl.read_csv(suite_files.read(file), infer_schema=False)
    except pl.exceptions.PolarsError as error:
        message = str(error).splitlines()[0]
        raise SuiteError(f"this is no CSV: {message}", file=path, allowed=",".join(COLUMNS)) from error
    if tuple(table.columns) != COLUMNS:
        raise SuiteError("these columns are not the expected ones", file=path, line=1, allowed=",".join(COLUMNS))
    if not 0 < table.height <= _MOST_MESSAGES:
        raise SuiteError(f"{table.height} messages", file=path, allowed=f"1 to {_MOST_MESSAGES}")
    rows_read = table.with_columns(pl.col("at_ns", "size_bytes").cast(pl.Int64, strict=False))
    for line, problem in _wrong(rows_read.rows()):
        raise SuiteError(problem, file=path, line=line, offending=",".join(map(str, table.rows()[line - 2])))
    return rows_read


def _wrong(rows: Sequence[tuple[str, int | None, int | None]]) -> Iterator[tuple[int, str]]:
    """Lines, from 1 with the heading, that can't be read."""
    for line, (_, at_ns, size_bytes) in enumerate(rows, start=2):
        if at_ns is None or at_ns < 0:
            yield line, "`at_ns` is no whole number from 0"
        if size_bytes is None or not 0 <= size_bytes <= LARGEST_MESSAGE_BYTES:
            yield line, f"`size_bytes` is no whole number from 0 to {LARGEST_MESSAGE_BYTES}"


LOSS_OF_BEST_EFFORT = 0.01
"""The loss that is allowed for a best-effort stream by default; for a reliable one it is none."""
MOST_STREAMS = 1000


class Within(StrEnum):
    """The share of a stream's messages that has to meet its deadline."""

    HALF = "p50"
    NINE_OF_TEN = "p90"
    P99 = "p99"
    P999 = "p999"
    ALL = "max"


class DemandProcess(Named):
    """One process of the application, and its host."""

    name_key: ClassVar[str] = "process"

    process: Name
    host: Name | None = None
    """A host of the topology; without a topology, hosts of these names are made. Without any, this machine."""


class StreamDemand(Model):
    """One topic: its publishers and subscribers, its messages, and its requirements."""

    topic: Annotated[str, Field(pattern=r"^[A-Za-z0-9/_.~-]{1,80}$")]
    """Its name, as the application has it."""
    publishers: Many[Name]
    """The processes that publish it, each at the full rate."""
    subscribers: Many[Name]
    """The processes that receive it, each all messages."""
    size: MessageSize | None = None
    """The size of each message, its 32 B header included."""
    rate: Rate | None = None
    """Messages a second of each publisher."""
    arrival: Arrival = Arrival.FIXED
    """Whether the intervals are all equal or exponential."""
    recorded: RecordedMessages | None = None
    """In place of size and rate: the sizes and instants of a recording."""
    qos: Qos = Qos()
    """The requested QoS."""
    deadline: Annotated[int, DURATION.between(1e3, 3600e9)] | None = None
    """How long a message may take; without it, only rate and loss are judged."""
    within: Within = Within.P99
    """The share of the messages that has to meet the deadline."""
    loss: Share | None = None
    """The largest share that may be lost or late; by default none for a reliable stream, 1 % for a best-effort one."""

    @property
    def name(self) -> str:
        """The topic in letters, digits and `_`."""
        return re.sub(r"[^A-Za-z0-9]+", "_", self.topic).strip("_")[-48:] or "topic"

    @property
    def loss_allowed(self) -> float:
        """As a fraction of 1."""
        default = 0.0 if self.qos.reliability is Reliability.RELIABLE else LOSS_OF_BEST_EFFORT
        return default if self.loss is None else self.loss

    @model_validator(mode="after")
    def _is_written_or_recorded(self, info: ValidationInfo) -> Self:
        for field in ("size", "rate"):
            if (getattr(self, field) is None) != (self.recorded is not None):
                problem = (
                    f"`{self.topic}` has no `{field}`" if self.recorded is None else f"a recording has its `{field}`"
                )
                raise refusal(problem, allowed="`size` and `rate`, or `recorded`", at=(field,))
        suite_files = (info.context or {}).get("suite_files")
        if self.recorded is None or suite_files is None:
            return self
        return self.model_copy(update={"recorded": self.recorded.read(suite_files, self.topic)})


class Demand(Model):
    """An application: its processes and streams, and the candidates among which to choose."""

    application: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,23}$")]
    """Its name."""
    summary: str = ""
    """Its purpose, in one sentence."""
    processes: Many[DemandProcess]
    """Its processes."""
    streams: Annotated[tuple[StreamDemand, ...], Field(min_length=1, max_length=MOST_STREAMS)]
    """Its streams; all run at once."""
    topology: TopologyChoice | None = None
    """Hosts and networks, by name or written out; its applications are replaced by the processes."""
    link: LinkSettings | None = None
    """Without a topology: the links of the network that connects the processes' hosts."""
    conditions: Conditions = Conditions()
    """What else holds during a trial."""
    middlewares: Many[MiddlewareChoice] = (MiddlewareChoice(middleware=ALL_MIDDLEWARES),)
    """The middlewares to choose from; `all`: every one that is built."""
    profiles: Many[ProfileName] | None = None
    """The profiles of each; without it, all that it has."""
    delivery: Delivery | None = None
    """Who calls a process with a message; without it, as the profile advises, else as the worker's default."""
    exclude: tuple[MiddlewareName, ...] = ("synthetic",)
    """Middlewares that `all` does not include."""
    seed: Annotated[int, Field(ge=0, lt=2**63, strict=True)] = 1
    """The same seed gives the same order of trials and the same payload."""
    trials: Annotated[int, Field(ge=1, le=10_000, strict=True)] = 6
    """How many trials each candidate has; with fewer than six, a confidence interval covers less than 95 %."""
    window: TimeSpan | None = None
    """How long each trial measures; without it, as long as the percentiles of the deadlines need, 2 s to 20 s."""
    windows: Windows = Windows()
    """How long the other parts of a trial last."""
    observe: tuple[Observation, ...] | None = None
    """What is watched in trials of their own; without it, resources, and `wire` where there are networks."""
    verify: StrictBool = False
    """Whether subscribers check each message's bytes; this takes them time."""
    recording: Recording = Recording()
    """How many samples are kept."""
    disturbance: Disturbance = Disturbance()
    """How much stolen CPU time makes a trial invalid."""

    @model_validator(mode="after")
    def _names_what_there_is(self) -> Self:
        processes = [process.process for process in self.processes]
        for number, process in enumerate(processes):
            if process in processes[:number]:
                raise refusal(f"`{process}` is given twice", allowed="a name of its own", at=("processes", number))
        for name, place in self._named():
            if name not in processes:
                raise refusal(f"there is no process `{name}`", allowed=closest_first(name, processes), at=place)
        idle = set(processes) - {name for name, _ in self._named()}
        for number, process in enumerate(processes):
            if process in idle:
                raise refusal(
                    f"`{process}` has no stream",
                    allowed="processes that publish or subscribe",
                    at=("processes", number),
                )
        return self

    def _named(self) -> Iterator[tuple[str, tuple[str | int, ...]]]:
        for number, stream in enumerate(self.streams):
            for role in ("publishers", "subscribers"):
                for index, name in enumerate(getattr(stream, role)):
                    yield name, ("streams", number, role, index)

    @model_validator(mode="after")
    def _has_one_delivery(self) -> Self:
        if any(choice.delivery for choice in self.middlewares):
            raise refusal("middlewares of a demand have no `delivery` of their own", allowed="`delivery` of the demand")
        return self

    @model_validator(mode="after")
    def _streams_differ(self) -> Self:
        names = [stream.name for stream in self.streams]
        for number, name in enumerate(names):
            if name in names[:number]:
                problem = f"`{self.streams[number].topic}` is `{name}` in letters and digits, as a topic before it is"
                raise refusal(problem, allowed="topics that differ", at=("streams", number, "topic"))
        return self

    @model_validator(mode="after")
    def _hosts_are_there(self, info: ValidationInfo) -> Self:
        if self.link is not None and (
            self.topology is not None or len({process.host for process in self.processes}) < 2
        ):
            problem = "`link` describes the network that connects the processes' hosts"
            raise refusal(problem, allowed="processes on several hosts, and no `topology`", at=("link",))
        if self.conditions.faults is not None:
            raise refusal("a demand is judged without faults", allowed="a suite", at=("conditions", "faults"))
        shipped = (info.context or {}).get("shipped_topologies")
        if self.topology is None or shipped is None:
            return self
        hosts = [host.name for host in self.topology.over(shipped).hosts]
        for number, process in enumerate(self.processes):
            if (process.host or hosts[0]) not in hosts:
                problem = f"`{self.topology.topology}` has no host `{process.host}`"
                raise refusal(problem, allowed=", ".join(hosts), at=("processes", number))
        return self
