"""What was counted over a trial's window: messages, bytes on their paths, and what processes spent.

It adds nothing up, `analysis.metrics.accounting` does; the fields are the worker contract's, kept under the version of
`record`, which stores them.
"""

from __future__ import annotations

from enum import StrEnum

from middlemark.suite import Model
from middlemark.suite.yaml.model import Count, Index, Name, Nanoseconds, StreamName


class PublisherCounts(Model):
    """What one publisher did within the window."""

    stream: StreamName
    publisher: Index
    intended: Count
    """Messages that the schedule held; for patterns without one, messages tried."""
    sent: Count
    refused: Count
    unsent: Count = 0
    """Messages that an overloaded publisher had no time left to offer: intended = sent + refused + unsent."""
    refusal: str | None
    last_returned_ns: Nanoseconds


class SubscriberCounts(Model):
    """What one subscriber received of one publisher: sent = received + late + lost."""

    stream: StreamName
    answers: bool
    """A ping-pong's answers, counted at the client."""
    publisher: Index
    subscriber: Index
    received: Count
    late: Count
    duplicates: Count
    duplicates_received_ns: tuple[Nanoseconds, ...] | None = None
    """When the first of them came, of as many as the worker kept it."""
    reordered: Count
    corrupt: Count
    foreign: Count
    negative: Count
    beyond_samples: Count


class InputCounts(Model):
    """The counts of the window's messages at one input of a node; messages in none of them waited when it ended."""

    stream: StreamName
    taken: Count
    passed_over: Count
    """Replaced by a newer one before it was taken."""
    overflowed: Count
    """Found the queue full."""


class NodeCounts(Model):
    """What one node did within the window."""

    node: Name
    first_execution_after_ns: Nanoseconds | None
    """From T0 to its first execution; None where it never ran."""
    executions: Count
    skipped: Count
    """Instants of its timer at which it did not run, as the next one had come too."""
    unrecorded: Count
    """Executions for which the sample memory did not suffice."""
    inputs: tuple[InputCounts, ...] = ()


class Counts(Model):
    """The exact accounting of a trial, as its publishers and subscribers counted."""

    publishers: tuple[PublisherCounts, ...] = ()
    subscribers: tuple[SubscriberCounts, ...] = ()


class FirstMatch(Model):
    """When a publisher first knew that a subscriber is there, from T0; none where its middleware never lets it know."""

    stream: StreamName
    answers: bool = False
    publisher: Index
    """Of answers, the index of the subscriber that answers."""
    after_ns: Nanoseconds
    handshake_ns: Nanoseconds | None = None
    """How long the handshake before it took; None where there is none, or where the library does not tell it."""


class FirstMessage(Model):
    """When a subscriber had the first message of a publisher, or a client the first answer of a subscriber, from T0.

    The first is a greeting, the header alone; in runs from before there were greetings, it is a full one.
    """

    stream: StreamName
    answers: bool = False
    publisher: Index
    subscriber: Index
    after_ns: Nanoseconds
    full_after_ns: Nanoseconds | None = None
    """The same of the first message of its full size; None where none was told of."""


class MessagePath(StrEnum):
    """A way that messages may take from one application to another."""

    NETWORK = "network"
    SHARED_MEMORY = "shared_memory"
    LOCAL_SOCKET = "local_socket"
    PROCESS = "process"

    @property
    def words(self) -> str:
        """As a sentence has it."""
        return {"network": "the network", "local_socket": "a local socket", "process": "a call in the process"}.get(
            self.value, "shared memory"
        )


class InterfaceTraffic(Model):
    """Traffic of one interface over the window, all processes together."""

    interface: str
    received_bytes: Count
    received_packets: Count
    sent_bytes: Count
    sent_packets: Count


class MappedSegment(Model):
    """One segment of shared memory that an application had mapped."""

    name: str
    identity: str
    """The same in every application that has mapped it."""
    size_bytes: Count
    messages: Count | None = None
    """Different messages of the trial that lay in it; None where it was not looked through and none was found."""


class SocketProtocol(StrEnum):
    """What a socket speaks."""

    TCP = "tcp"
    UDP = "udp"
    LOCAL = "local"


class SocketUse(Model):
    """The sockets of an application that have the same protocol and the same ends."""

    protocol: SocketProtocol
    local: str | None = None
    """An address without a port, or the folder of a local socket."""
    peer: str | None = None
    """None where they are connected to none."""
    sockets: Count
    sent_bytes: Count | None = None
    """Since they were connected, by TCP's own count."""
    received_bytes: Count | None = None


class PathProof(Model):
    """What shows which path an application's messages took: bytes of the window, and what it had just before it."""

    interfaces: tuple[InterfaceTraffic, ...] | None = None
    """None where their counters could not be read."""
    shared_memory: tuple[str, ...] | None = None
    """The names of mapped segments, by workers that do not tell `segments`."""
    segments: tuple[MappedSegment, ...] | None = None
    """None where the worker does not tell, or could not look."""
    sockets: tuple[SocketUse, ...] | None = None
    """None as for `segments`."""
    unseen: tuple[str, ...] = ()
    """Which of these could not be looked at, each with the reason."""

    @property
    def mapped(self) -> tuple[str, ...]:
        """The names of all segments that it had mapped."""
        if self.segments is None:
            return self.shared_memory or ()
        return tuple(segment.name for segment in self.segments)


class Resources(Model):
    """What one process, with the children it started, spent over the window."""

    wall_ns: Nanoseconds
    cpu_user_ns: Nanoseconds
    cpu_system_ns: Nanoseconds
    peak_resident_bytes: Count
    resident_bytes: Count
    voluntary_switches: Count
    involuntary_switches: Count
    minor_faults: Count
    major_faults: Count
    machine_steal_ns: Nanoseconds
