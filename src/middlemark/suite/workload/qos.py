"""The neutral quality of service that a suite requests, in the words of the worker contract.

Each worker maps it to its middleware and states the result in its `effective` event.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from middlemark.suite.yaml.model import Model, refusal
from middlemark.suite.yaml.quantity import DURATION, SIZE


class Reliability(StrEnum):
    """Whether lost messages are sent again."""

    BEST_EFFORT = "best_effort"
    RELIABLE = "reliable"


class History(StrEnum):
    """Which messages are kept for a slow receiver."""

    KEEP_LAST = "keep_last"
    KEEP_ALL = "keep_all"


class Durability(StrEnum):
    """Whether a late joiner gets earlier messages."""

    VOLATILE = "volatile"
    TRANSIENT_LOCAL = "transient_local"


class Congestion(StrEnum):
    """What becomes of a message for which a slow receiver has left no room."""

    BLOCK = "block"
    DROP = "drop"


DEFAULT_PATIENCE_NS = 5_000_000_000
DEFAULT_QUEUE_BYTES = 16 * 1024 * 1024
Patience = Annotated[int, DURATION.between(0, 3600e9)]
QueueSize = Annotated[int, SIZE.between(1, 2**40)]


class Qos(Model):
    """The requested QoS; omitted fields stay as the workload has them."""

    reliability: Reliability = Reliability.BEST_EFFORT
    """Whether lost messages are sent again."""
    history: History = History.KEEP_ALL
    """Which messages are kept for a slow receiver: the newest `depth`, where a newer one overwrites the oldest, or all
    that `queue` has room for, where none is overwritten. A `depth` alone asks for `keep_last`."""
    depth: Annotated[int, Field(ge=1, le=1_000_000, strict=True)] = 16
    """How many messages `keep_last` keeps."""
    durability: Durability = Durability.VOLATILE
    """Whether a late joiner gets earlier messages."""
    congestion: Congestion | None = None
    """What becomes of a message for which a slow receiver has left no room: the publish call waits (`block`), or the
    message is dropped (`drop`). Without it `block` for what is reliable and keeps all, else `drop`."""
    patience: Patience = DEFAULT_PATIENCE_NS
    """How long a publish call may wait under `block`; then the message is refused."""
    queue: QueueSize = DEFAULT_QUEUE_BYTES
    """The most that may be queued or kept for one slow receiver under `keep_all`; four messages always may."""
    level: Annotated[int, Field(ge=0, le=2, strict=True)] | None = None
    """The level of middleware that has levels (MQTT's QoS); without it, 0 for best effort and 1 for reliable."""

    @model_validator(mode="before")
    @classmethod
    def _depth_alone_asks_for_keep_last(cls, written: object) -> object:
        if isinstance(written, Mapping) and "depth" in written and "history" not in written:
            return {**written, "history": History.KEEP_LAST}
        return written

    @model_validator(mode="after")
    def _depth_belongs_to_keep_last(self) -> Self:
        if self.history is History.KEEP_ALL and "depth" in self.model_fields_set:
            raise refusal("`keep_all` has no depth", allowed="`depth` with `history: keep_last`", at=("depth",))
        return self

    @model_validator(mode="after")
    def _keep_last_never_waits(self) -> Self:
        if self.history is History.KEEP_LAST and self.congestion is Congestion.BLOCK:
            raise refusal(
                "`keep_last` overwrites, so it can't block",
                allowed="`history: keep_all` or `congestion: drop`",
                at=("congestion",),
            )
        return self

    @property
    def when_full(self) -> Congestion:
        """What is asked for, or what follows from the rest."""
        if self.congestion is not None:
            return self.congestion
        keeps_all = self.history is History.KEEP_ALL
        return Congestion.BLOCK if keeps_all and self.reliability is Reliability.RELIABLE else Congestion.DROP

    def changed_by(self, change: Self) -> Self:
        """This QoS with the fields of `change`; what contradicts them is dropped."""
        changed = super().changed_by(change)
        if changed.history is History.KEEP_ALL or changed.congestion is not Congestion.BLOCK:
            return changed
        blocks = "congestion" in change.model_fields_set
        return changed.model_copy(update={"history": History.KEEP_ALL} if blocks else {"congestion": None})


class Delivery(StrEnum):
    """Who calls the application with a message."""

    DEFAULT = "default"
    """What the middleware's profile advises, else what its vendor's first example does."""
    LIBRARY_THREAD = "library_thread"
    """A thread of the middleware: a listener, a callback."""
    OWN_THREAD = "own_thread"
    """A thread of the application that sleeps: in a wait set, on a channel, in a blocking read."""
    POLLING = "polling"
    """A thread of the application that never sleeps."""
