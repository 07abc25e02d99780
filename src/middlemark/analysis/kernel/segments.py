"""What a message's path consists of: parts of its time, crossings between processes, and system calls.

`follow` finds it in a kernel's trace, `breakdown` does so for many messages.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from middlemark.analysis.kernel.packets import Cuts


class PathPart(StrEnum):
    """The parts of a message's one-way time, in the order of its path."""

    MIDDLEWARE_SENDER = "middleware_sender"
    """From the hand-over on, all time outside of system calls."""
    KERNEL_SENDER = "kernel_sender"
    """Within system calls, until the last packet is queued at an interface or, without packets, another thread is
    woken."""
    QUEUE = "queue"
    """In the queueing discipline."""
    WIRE = "wire"
    """From the sender's interface to the receiver's, including all bridges and relays between them."""
    KERNEL_DELIVERY = "kernel_delivery"
    """From the receiver's interface until the receiving thread is woken."""
    SCHEDULER = "scheduler"
    """From its wake-up until it runs."""
    KERNEL_RECEIVER = "kernel_receiver"
    """Within system calls, until the call that receives the last byte returns."""
    SERVICE = "service"
    """In a process between sender and receiver (a broker, a router), outside of system calls."""
    MIDDLEWARE_RECEIVER = "middleware_receiver"
    """Outside of system calls, until the arrival."""


class PathSide(StrEnum):
    """Which of the processes on a message's path."""

    SENDER = "sender"
    SERVICE = "service"
    RECEIVER = "receiver"


OUTSIDE = {
    PathSide.SENDER: PathPart.MIDDLEWARE_SENDER,
    PathSide.SERVICE: PathPart.SERVICE,
    PathSide.RECEIVER: PathPart.MIDDLEWARE_RECEIVER,
}
"""The part to which a process's time outside of system calls belongs."""


class SetAside(StrEnum):
    """Why a message's path isn't reported."""

    NO_WAY_FOUND = "no_way_found"
    """No receive call or wake-up leads from the arrival back to the sender after the hand-over."""
    AMBIGUOUS = "not_told_apart"
    """Its packets can't be distinguished from those of another message that a process between forwarded at the same
    time."""
    NOT_IN_ORDER = "not_in_order"
    """Some part would be negative."""


@dataclass(frozen=True, slots=True)
class Segment:
    """An interval of a message's path that belongs to one part."""

    part: PathPart
    side: PathSide | None
    """The process that spent the time; None on the network."""
    begin_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class Crossing:
    """The packets that transmitted a message from one process to another, with the first and the last instants."""

    packets: int
    first: Cuts
    last: Cuts


@dataclass(frozen=True, slots=True)
class Call:
    """A system call that a process on a message's path entered or left between the hand-over and the arrival."""

    side: PathSide
    number: int
    begin_ns: int
    end_ns: int


@dataclass(frozen=True)
class TracedPath:
    """The whole path of one message; its segments have no gaps."""

    sent_ns: int
    received_ns: int
    segments: tuple[Segment, ...]
    crossings: tuple[Crossing, ...]
    """In the order of the path; none where the message went through shared memory or a local socket."""
    calls: tuple[Call, ...]
    processes: tuple[int, ...]

    @property
    def whole_ns(self) -> int:
        """Its one-way time."""
        return self.received_ns - self.sent_ns

    def parts_ns(self) -> dict[PathPart, int]:
        """The time in each part, summed over its segments."""
        totals = dict.fromkeys(PathPart, 0)
        for segment in self.segments:
            totals[segment.part] += segment.end_ns - segment.begin_ns
        return totals
