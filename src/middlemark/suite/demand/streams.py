"""What an application sends and asks for: a topic or a service, its messages, and what is required of it.

A service is requested by its clients and answered by its servers, by the middleware's own means. A stream's messages
may be recorded: their instants and sizes are read from a CSV file beside the demand, as `campaign.import_recording`
makes them. Nothing is planned or judged here: `plan.demand` and `analysis.decisions` do.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

from pydantic import Field, ValidationInfo, model_validator

from middlemark.errors import SuiteError
from middlemark.suite.metrics import Distribution
from middlemark.suite.workload.compute import Compute
from middlemark.suite.workload.qos import Qos, Reliability
from middlemark.suite.workload.workload import Arrival
from middlemark.suite.yaml.model import Many, Model, Name, Named, SuiteFiles, closest_first, refusal
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
LOSS_OF_BEST_EFFORT = 0.01
"""What may be lost, or unanswered, of a best-effort stream or service by default; of a reliable one it is nothing."""
_Title = Annotated[str, Field(pattern=r"^[A-Za-z0-9/_.~-]{1,80}$")]


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


def _plain(title: str) -> str:
    """In letters, digits and `_`."""
    return re.sub(r"[^A-Za-z0-9]+", "_", title).strip("_")[-48:] or "topic"


class Within(StrEnum):
    """The share of messages, or responses, that has to meet a deadline."""

    HALF = "p50"
    NINE_OF_TEN = "p90"
    P99 = "p99"
    P999 = "p999"
    ALL = "max"


class _Demanded(Model):
    """What topics and services have alike."""

    arrival: Arrival = Arrival.FIXED
    """Whether the intervals are all equal or exponential."""
    qos: Qos = Qos()
    """The requested QoS."""
    deadline: Annotated[int, DURATION.between(1e3, 3600e9)] | None = None
    """How long a message, or a request with its response, may take; without it, only rate and loss are judged."""
    within: Within = Within.P99
    """The share of messages, or responses, that has to meet the deadline."""

    def _allowed(self, share: float | None) -> float:
        default = 0.0 if self.qos.reliability is Reliability.RELIABLE else LOSS_OF_BEST_EFFORT
        return default if share is None else share


class StreamDemand(_Demanded):
    """One topic: its publishers and subscribers, its messages, and its requirements."""

    judged_by: ClassVar[Distribution] = Distribution.LATENCY_FROM_INTENDED
    """From the scheduled instant, so that a delayed publisher can't hide the time that its application waits."""
    share_lost: ClassVar[str] = "loss"
    """The metric of what never came."""

    topic: _Title
    """Its name, as the application has it."""
    publishers: Many[Name]
    """The processes that publish it, each at the full rate."""
    subscribers: Many[Name]
    """The processes that receive it, each all messages."""
    size: MessageSize | None = None
    """The size of each message, its 32 B header included."""
    rate: Rate | None = None
    """Messages a second of each publisher."""
    recorded: RecordedMessages | None = None
    """In place of size and rate: the sizes and instants of a recording."""
    loss: Share | None = None
    """The largest share that may be lost or late; by default none for a reliable stream, 1 % for a best-effort one."""

    @property
    def title(self) -> str:
        """The topic."""
        return self.topic

    @property
    def name(self) -> str:
        """The topic in letters, digits and `_`."""
        return _plain(self.topic)

    @property
    def loss_allowed(self) -> float:
        """As a fraction of 1."""
        return self._allowed(self.loss)

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


class ServiceDemand(_Demanded):
    """One service: its clients and servers, its requests and responses, and its requirements."""

    judged_by: ClassVar[Distribution] = Distribution.ROUND_TRIP_FROM_INTENDED
    """From the instant at which a request is due to its response, with the time that its server takes."""
    share_lost: ClassVar[str] = "unanswered"
    """The metric of what never came in time."""

    service: _Title
    """Its name, as the application has it."""
    clients: Many[Name]
    """The processes that send requests, each at the full rate; client k asks server k modulo the number of servers."""
    servers: Many[Name]
    """The processes that respond, no more than there are clients."""
    size: MessageSize
    """The size of each request, its 32 B header included."""
    response: MessageSize | None = None
    """The size of each response; without it, the size of the request."""
    rate: Rate
    """Requests a second of each client."""
    outstanding: Annotated[int, Field(ge=1, le=1024, strict=True)] = 64
    """The most requests of a client that are under way at once; one more is refused."""
    timeout: TimeSpan = 1_000_000_000
    """After this a request counts as unanswered, and its response as late."""
    server_time: Compute | None = None
    """The CPU time that the server spends on each response; without it, none."""
    unanswered: Share | None = None
    """The largest share of requests without a response in time; by default none of a reliable service, 1 % of a
    best-effort one."""

    @property
    def title(self) -> str:
        """The service."""
        return self.service

    @property
    def name(self) -> str:
        """The service in letters, digits and `_`."""
        return _plain(self.service)

    @property
    def publishers(self) -> tuple[str, ...]:
        """Its clients, as those of a stream."""
        return self.clients

    @property
    def subscribers(self) -> tuple[str, ...]:
        """Its servers, as those of a stream."""
        return self.servers

    @property
    def loss_allowed(self) -> float:
        """As a fraction of 1."""
        return self._allowed(self.unanswered)

    @model_validator(mode="after")
    def _has_a_client_for_each_server(self) -> Self:
        if len(self.servers) > len(self.clients):
            problem = f"`{self.service}` has {len(self.servers)} servers and {len(self.clients)} clients"
            raise refusal(problem, allowed="no more servers than clients", at=("servers",))
        return self


Demanded = StreamDemand | ServiceDemand
