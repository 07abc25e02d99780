"""How a suite is measured: windows, recording, observations, repeats, the bounds of a search, and when to stop.

It holds values only. `plan` gives observations and searches their trials, `campaign` keeps the time, `analysis.search`
decides which load is tried next and whether an interval is narrow enough.
"""

from enum import StrEnum
from math import log1p
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from middlemark.suite.yaml.model import Many, Model, Named, refusal
from middlemark.suite.yaml.quantity import DURATION, RATE, SHARE, SIZE, Duration, MessageSize, Rate, Share, TimeSpan

_MS = 1_000_000


class Windows(Model):
    """The parts of a trial, in their order."""

    first_message: TimeSpan = 10_000 * _MS
    """The deadline for the last first message, from the common start; then the outcome is `no_communication`."""
    warm_up: Duration = 150 * _MS
    """From the last first message to the window."""
    window: TimeSpan = 2_000 * _MS
    """What is measured."""
    drain: Duration = 500 * _MS
    """How long messages of the window are waited for after it; over at once when all have come."""


class Recording(Model):
    """What is kept of each message."""

    samples: Annotated[int, Field(ge=1, le=100_000_000, strict=True)] = 200_000
    """Samples kept of each endpoint; what comes beyond goes into a histogram, counted."""
    late_after: Duration | None = None
    """A message under way for longer is late, not received (Tmax of RFC 7680); without it, the drain."""


class Disturbance(Model):
    """When a trial is invalid because the machine was taken away, and how often it is then repeated."""

    steal: Share = 0.02
    """The most CPU time that the hypervisor may take during the window, of all CPUs together."""
    repeats: Annotated[int, Field(ge=0, le=100, strict=True)] = 2
    """How often a disturbed trial is repeated before it stays invalid."""


class Observation(StrEnum):
    """One kind of observer; each has trials of its own, so that none sees what another costs."""

    RESOURCES = "resources"
    """CPU, memory, threads, descriptors, switches and page faults of each process over time."""
    KERNEL_PATH = "kernel_path"
    """Where the time of each message goes: middleware, kernel, queue, wire, scheduler."""
    WIRE = "wire"
    """Bytes and packets on each interface of the hosts in namespaces, by phase of the trial."""
    CAPTURE = "capture"
    """Every frame on the links of hosts in namespaces, in a file for Wireshark."""


class Capture(Model):
    """How much of the frames is kept where `observe` has `capture`."""

    snap: Annotated[int, SIZE.between(64, 65_535)] = 65_535
    """What is kept of each frame; the headers of most protocols are within 200 B."""
    most: Annotated[int, SIZE.between(1e5, 1e11)] = 100_000_000
    """The size that a trial's file keeps below; what comes beyond it is counted only."""


class KernelPath(Model):
    """How many messages' paths are followed where `observe` has `kernel_path`."""

    messages: Annotated[int, Field(ge=10, le=1_000_000, strict=True)] = 500
    """Of each stream and trial, evenly chosen over the window; all where it has fewer."""


class Search(Model):
    """A search for the highest rate that is sustained; of a workload that has a rate, for the largest size."""

    lowest: Rate = 100.0
    """The rate that is tried first."""
    highest: Rate = 1e6
    """No higher one is tried."""
    smallest: MessageSize = 64
    """The size that is tried first, where sizes are searched."""
    largest: MessageSize = 16_000_000
    """No larger one is tried."""
    precision: Annotated[float, SHARE.between(0.01, 0.5)] = 0.05
    """How far apart neighbours are: the rate or size that is sustained and the one that is not."""
    loss: Share = 0.001
    """The most that may be lost."""
    latency: Annotated[int, DURATION.between(1e3, 60e9)] = 10_000_000
    """The most that 99 % of the messages may take, from the instant at which they were to be sent."""
    confirm: Annotated[int, Field(ge=1, le=15, multiple_of=1, strict=True)] = 3
    """Of so many trials of one rate or size the most decide, at both ends of the bracket."""
    max_trials: Annotated[int, Field(ge=3, le=1000, strict=True)] = 60
    """The most trials of a search; it says how far it came then."""
    searches: Annotated[int, Field(ge=1, le=100, strict=True)] = 1
    """So many searches, one after another: over them capacities are compared."""

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
        """Refuses the ends of the other ladder, and sizes that are less than a byte apart."""
        for name in ("lowest", "highest") if of_sizes else ("smallest", "largest"):
            if name in self.model_fields_set:
                raise refusal(
                    f"`{name}` is of a search for a {'rate' if of_sizes else 'size'}",
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
    """A metric, with the width of its own where that differs."""

    name_key: ClassVar[str] = "figure"

    figure: str
    """As in `compare`: `median(latency)`, `p99(round_trip)`, `goodput`, `first_message`."""
    relative_width: Width | None = None
    """Without it, the rule's."""


class Stop(Model):
    """A rule that gives an experiment further trials until its intervals are narrow."""

    relative_width: Width = 0.05
    """Half of an interval of the median over trials, as a share of the median: 5 % is ± 5 %."""
    confidence: Annotated[float, SHARE.between(0.5, 0.999)] = 0.95
    """Of that interval."""
    max_trials: Annotated[int, Field(ge=1, le=10_000, strict=True)] = 30
    """The most trials of an experiment; what is too wide then stays open."""
    figures: Many[Precision] | None = None
    """What has to be narrow; without it, what each stream is ranked by."""
