"""What an application sends and asks for: a topic or a service, its messages, and what is required of it.

A service is requested by its clients and answered by its servers, by the middleware's own means. Nothing is planned or
judged here: `plan.demand` and `analysis.decisions` do.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, ClassVar, Self

from pydantic import Field, ValidationInfo, model_validator

from middlemark.suite.demand.recorded import RecordedMessages
from middlemark.suite.metrics import Distribution
from middlemark.suite.workload.compute import Compute
from middlemark.suite.workload.qos import Qos, Reliability
from middlemark.suite.workload.workload import Arrival
from middlemark.suite.yaml.model import Many, Model, Name, refusal
from middlemark.suite.yaml.quantity import DURATION, MessageSize, Rate, Share, TimeSpan

LOSS_OF_BEST_EFFORT = 0.01
"""What may be lost, or unanswered, of a best-effort stream or service by default; of a reliable one it is nothing."""
_Title = Annotated[str, Field(pattern=r"^[A-Za-z0-9/_.~-]{1,80}$")]


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
