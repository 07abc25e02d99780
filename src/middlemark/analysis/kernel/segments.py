"""What a message's path consists of: parts of its time, crossings between processes, system calls meanwhile.

`follow` finds it in a kernel's trace, `breakdown` does so for many messages.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from middlemark.analysis.kernel.packets import Cuts


class Part(StrEnum):
    """A part of a message's one-way time, in the order of its path."""

    MIDDLEWARE_SENDER = "middleware_sender"
    """From the hand-over on, all that is outside of system calls."""
    KERNEL_SENDER = "kernel_sender"
    """Within system calls, until its last packet is queued at an interface or, without one, another thread is woken."""
    QUEUE = "queue"
    """In the queueing discipline."""
    WIRE = "wire"
    """From the sender's interface to the receiver's, with all between them."""
    KERNEL_DELIVERY = "kernel_delivery"
    """From the receiver's interface until the receiving thread is woken."""
    SCHEDULER = "scheduler"
    """From its wake-up until it runs."""
    KERNEL_RECEIVER = "kernel_receiver"
    """Within system calls, until the one that brings the last byte comes back."""
    SERVICE = "service"
    """In a process between both (a broker, a router), outside of system calls."""
    MIDDLEWARE_RECEIVER = "middleware_receiver"
    """Outside of system calls, until the arrival."""


class Side(StrEnum):
    """Which of the processes on a message's path."""

    SENDER = "sender"
    SERVICE = "service"
    RECEIVER = "receiver"


OUTSIDE = {
    Side.SENDER: Part.MIDDLEWARE_SENDER,
    Side.SERVICE: Part.SERVICE,
    Side.RECEIVER: Part.MIDDLEWARE_RECEIVER,
}
"""The part that all time outside of system calls belongs to."""


class SetAside(StrEnum):
    """Why a message's path isn't reported."""

    NO_WAY_FOUND = "no_way_found"
    """No receive call or wake-up leads from the arrival back to the sender after the hand-over."""
    NOT_TOLD_APART = "not_told_apart"
    """Its packets can't be distinguished from those of another message that a process in between also had."""
    NOT_IN_ORDER = "not_in_order"
    """Some part would be negative."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a message's path, within one part of it."""

    part: Part
    side: Side | None
    """Whose time it is; None on the network."""
    begin_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class Crossing:
    """The packets that transmitted a message from one process to another, and when the first and the last passed."""

    packets: int
    first: Cuts
    last: Cuts


@dataclass(frozen=True, slots=True)
class Call:
    """A system call that one of the processes on a message's path entered or left meanwhile."""

    side: Side
    number: int
    begin_ns: int
    end_ns: int


@dataclass(frozen=True)
class MessagePath:
    """The whole path of one message; its segments have no gaps."""

    sent_ns: int
    received_ns: int
    segments: tuple[Segment, ...]
    crossings: tuple[Crossing, ...]
    """In the order of its path; none where it went through memory or a local socket."""
    calls: tuple[Call, ...]
    processes: tuple[int, ...]

    @property
    def whole_ns(self) -> int:
        """Its one-way time."""
        return self.received_ns - self.sent_ns

    def parts_ns(self) -> dict[Part, int]:
        """How long it was in each part, summed over its segments."""
        totals = dict.fromkeys(Part, 0)
        for segment in self.segments:
            totals[segment.part] += segment.end_ns - segment.begin_ns
        return totals
