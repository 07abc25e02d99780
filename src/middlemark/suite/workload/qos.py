"""The neutral quality of service: what a suite asks of delivery, in the worker contract's words.

It maps nothing to a middleware; that is each worker's business, stated in its `effective` event.
"""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from middlemark.suite.yaml.model import Model, refusal


class Reliability(StrEnum):
    """Whether lost messages are sent again."""

    BEST_EFFORT = "best_effort"
    RELIABLE = "reliable"


class History(StrEnum):
    """How many messages are kept for a slow receiver."""

    KEEP_LAST = "keep_last"
    KEEP_ALL = "keep_all"


class Durability(StrEnum):
    """Whether a late joiner gets earlier messages."""

    VOLATILE = "volatile"
    TRANSIENT_LOCAL = "transient_local"


class Congestion(StrEnum):
    """What the publisher does when the receiver is slower than it."""

    BLOCK = "block"
    DROP = "drop"


class Qos(Model):
    """What is requested of delivery; what a suite leaves out stays as the workload has it."""

    reliability: Reliability = Reliability.BEST_EFFORT
    """Whether lost messages are sent again."""
    history: History = History.KEEP_LAST
    """How many messages are kept for a slow receiver: the newest `depth`, or all."""
    depth: Annotated[int, Field(ge=1, le=1_000_000, strict=True)] = 16
    """How many messages `keep_last` keeps."""
    durability: Durability = Durability.VOLATILE
    """Whether a late joiner gets earlier messages."""
    congestion: Congestion = Congestion.BLOCK
    """What the publisher does when the receiver is slower than it."""
    level: Annotated[int, Field(ge=0, le=2, strict=True)] | None = None
    """The level of middleware that has levels (MQTT's QoS); without it, 0 for best effort and 1 for reliable."""

    @model_validator(mode="after")
    def _depth_belongs_to_keep_last(self) -> Self:
        if self.history is History.KEEP_ALL and "depth" in self.model_fields_set:
            raise refusal("`keep_all` has no depth", allowed="`depth` with `history: keep_last`", at=("depth",))
        return self

    def changed_by(self, change: Self) -> Self:
        """This QoS with what `change` sets; a depth of its own asks for `keep_last`."""
        changed = super().changed_by(change)
        asks_for_depth = "depth" in change.model_fields_set
        return changed.model_copy(update={"history": History.KEEP_LAST}) if asks_for_depth else changed
