"""The worker contract as models, generated from schema/protocol by setup/contract_models.py: not to be edited."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypeAliasType


class ExpectedMessages(BaseModel):
    """
    What one publisher sent within the window: the sequence numbers 0 to `intended - 1`, less the refused ones and, at the
    end, the unsent; higher ones where it joined when the window was open already.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    intended: Annotated[int, Field(ge=0)]
    """Messages that the publisher tried to send."""
    publisher: Annotated[int, Field(ge=0, le=65535)]
    """The publisher's index."""
    sent: Annotated[int, Field(ge=0)]
    """Messages that the middleware accepted."""
    stream: str
    """The stream's name."""


Delivery = TypeAliasType("Delivery", Literal["library_thread", "own_thread", "polling"])
"""Who calls the application with a message."""


class InputCounts(BaseModel):
    """What became of the window's messages at one input of a node. Those that are in none of these waited at its end."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    overflowed: Annotated[int, Field(ge=0)]
    """Messages that found the queue full."""
    passed_over: Annotated[int, Field(ge=0)]
    """Messages that a newer one replaced before they were taken."""
    stream: str
    """The stream's name."""
    taken: Annotated[int, Field(ge=0)]
    """Messages that executions of the window took."""


class InterfaceTraffic(BaseModel):
    """Traffic of one interface over the window, all processes together."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    interface: str
    """The interface."""
    received_bytes: Annotated[int, Field(ge=0)]
    """Bytes it received."""
    received_packets: Annotated[int, Field(ge=0)]
    """Packets it received."""
    sent_bytes: Annotated[int, Field(ge=0)]
    """Bytes it sent."""
    sent_packets: Annotated[int, Field(ge=0)]
    """Packets it sent."""


class MappedSegment(BaseModel):
    """One segment of shared memory that an application has mapped."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    identity: str
    """Its device and inode, equal in every process that has mapped it."""
    messages: Annotated[int | None, Field(ge=0)] = None
    """How many different messages of the trial lie in it; none where it was not looked through and none was found."""
    name: str
    """Its name: a path below `/dev/shm`, a memory file or a System V segment."""
    size_bytes: Annotated[int, Field(ge=0)]
    """How much of it is mapped."""


MessagePath = TypeAliasType("MessagePath", Literal["network", "shared_memory", "local_socket", "process"])
"""A way that messages may take from one application to another."""


class NodeCounts(BaseModel):
    """What one node did within the window."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    executions: Annotated[int, Field(ge=0)]
    """Executions that began within the window."""
    first_execution_ns: Annotated[int | None, Field(ge=0)] = None
    """When it first ran, before the window as a rule; none: it never did."""
    inputs: list[InputCounts]
    """One entry an input."""
    node: str
    """The node's name."""
    skipped: Annotated[int, Field(ge=0)]
    """Instants of its timer within the window at which it did not run, as the next one had come too."""
    unrecorded: Annotated[int, Field(ge=0)]
    """Executions for which the sample memory did not suffice."""


class PublisherCounts(BaseModel):
    """What one publisher did within the window."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    intended: Annotated[int, Field(ge=0)]
    """
    Messages that the schedule held for the window (for patterns without one: messages tried); their sequence
    numbers are 0 to `intended - 1`.
    """
    last_returned_ns: Annotated[int, Field(ge=0)]
    """When the last publish call of the window returned."""
    publisher: Annotated[int, Field(ge=0, le=65535)]
    """The publisher's index."""
    refusal: str | None = None
    """The first refusal's text."""
    refused: Annotated[int, Field(ge=0)]
    """Messages that the middleware did not accept."""
    sent: Annotated[int, Field(ge=0)]
    """Messages handed to the middleware and accepted."""
    stream: str
    """The stream's name."""
    unsent: Annotated[int | None, Field(ge=0)] = None
    """Messages, the last of the schedule, that were not offered: intended = sent + refused + unsent."""


class Resources(BaseModel):
    """What one process, with the children it started, spent between two instants."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    cpu_system_ns: Annotated[int, Field(ge=0)]
    """CPU time in the kernel."""
    cpu_user_ns: Annotated[int, Field(ge=0)]
    """CPU time in user mode."""
    involuntary_switches: Annotated[int, Field(ge=0)]
    """Times a thread was preempted."""
    machine_steal_ns: Annotated[int, Field(ge=0)]
    """Time the hypervisor took from this machine's CPUs, all together."""
    major_faults: Annotated[int, Field(ge=0)]
    """Page faults that did."""
    minor_faults: Annotated[int, Field(ge=0)]
    """Page faults that needed no disk."""
    peak_resident_bytes: Annotated[int, Field(ge=0)]
    """The most memory resident since the window opened (since the start where the kernel can't reset it)."""
    resident_bytes: Annotated[int, Field(ge=0)]
    """Resident memory at the end."""
    voluntary_switches: Annotated[int, Field(ge=0)]
    """Times a thread gave up its CPU by itself."""
    wall_ns: Annotated[int, Field(ge=0)]
    """The time between the two readings."""


SecurityLevel = TypeAliasType("SecurityLevel", Literal["authenticated", "encrypted"])
"""How safe from strangers messages are; a trial without any level is open to all."""


SocketProtocol = TypeAliasType("SocketProtocol", Literal["tcp", "udp", "local"])
"""What a socket speaks."""


class SocketUse(BaseModel):
    """The sockets of an application that have the same protocol and the same ends."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    local: str | None = None
    """Their own address without a port; of local sockets, the folder of their path, none where they have no path."""
    peer: str | None = None
    """The same of their peer; none where they are connected to none, `unnamed` for a local socket without a path."""
    protocol: SocketProtocol
    """Their protocol."""
    received_bytes: Annotated[int | None, Field(ge=0)] = None
    """The same of bytes received."""
    sent_bytes: Annotated[int | None, Field(ge=0)] = None
    """Bytes sent since they were connected, as TCP counts them; none of other protocols, which count none."""
    sockets: Annotated[int, Field(ge=0)]
    """How many they are."""


DuplicatesReceivedN = TypeAliasType("DuplicatesReceivedN", Annotated[int, Field(ge=0)])


class SubscriberCounts(BaseModel):
    """What one subscriber received of one publisher: sent = received + late + lost."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    answers: bool
    """Whether these are a ping-pong's answers, counted at the client."""
    beyond_samples: Annotated[int, Field(ge=0)]
    """Messages that came after the sample memory was full: in the histogram, not among the samples."""
    corrupt: Annotated[int, Field(ge=0)]
    """Messages whose bytes were wrong (`verify`), their header or length included."""
    duplicates: Annotated[int, Field(ge=0)]
    """Messages received again after the first time."""
    duplicates_received_ns: list[DuplicatesReceivedN] | None = None
    """
    When the first of the duplicates came, as many as are kept (this project's runtime keeps 1024); so it can be told
    which came after a fault.
    """
    foreign: Annotated[int, Field(ge=0)]
    """Messages with another trial's token or another stream's number."""
    late: Annotated[int, Field(ge=0)]
    """Messages of the window received later than the spec's `late_after_ns` after their send, each counted once."""
    negative: Annotated[int, Field(ge=0)]
    """Samples with a receive stamp before their send stamp."""
    publisher: Annotated[int, Field(ge=0, le=65535)]
    """The publisher's index; for answers, the client's index."""
    received: Annotated[int, Field(ge=0)]
    """Messages of the window received in time, each counted once."""
    reordered: Annotated[int, Field(ge=0)]
    """Messages received after one with a higher sequence number (RFC 4737)."""
    stream: str
    """The stream's name."""
    subscriber: Annotated[int, Field(ge=0, le=65535)]
    """The subscriber's index; for answers, the index of the subscriber that answered."""


Congestion = TypeAliasType("Congestion", Literal["block", "drop"])
"""What becomes of a message for which a slow receiver has left no room."""


Durability = TypeAliasType("Durability", Literal["volatile", "transient_local"])
"""Whether a late joiner gets earlier messages."""


class EndpointAddress(BaseModel):
    """Where an endpoint lives."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    address: str
    """
    The address by which the host of the spec that names it reaches that application's host; where no network joins
    the two, that host's first. An application on this host has this spec's own address.
    """
    application: str
    """The application that holds it."""


class NodeOutput(BaseModel):
    """One stream that a node sends."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    index: Annotated[int, Field(ge=0, le=65535)]
    """The publisher's index."""
    stream: str
    """The stream's name."""


OptionValue = TypeAliasType("OptionValue", bool | int | str)
"""An option's value."""


PayloadKind = TypeAliasType("PayloadKind", Literal["imu", "image", "point_cloud"])
"""The types of messages, after ROS 2's `sensor_msgs`."""


Cpu = TypeAliasType("Cpu", Annotated[int, Field(ge=0)])


Readiness = TypeAliasType("Readiness", Literal["any", "all"])
"""How many inputs have to have a message."""


OffsetsN = TypeAliasType("OffsetsN", Annotated[int, Field(ge=0)])


SizesByte = TypeAliasType("SizesByte", Annotated[int, Field(ge=0)])


class Recorded(BaseModel):
    """Messages as they were recorded: message k is intended at begin + offset k. After the period they begin again."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    offsets_ns: Annotated[list[OffsetsN], Field(min_length=1)]
    """When each message comes, from the beginning; none before the one ahead of it, all before the period's end."""
    period_ns: Annotated[int, Field(ge=1)]
    """After this the first message comes again."""
    sizes_bytes: Annotated[list[SizesByte], Field(min_length=1)]
    """The size of each message, header included: as many as there are offsets, the largest the stream's size."""


class Recording(BaseModel):
    """How much is recorded, and where it goes after the window."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    folder: str
    """
    The folder that `received.npy`, `published.npy`, the records of nodes and histograms are written to, prefixed by
    the application's name.
    """
    late_after_ns: Annotated[int, Field(ge=0)]
    """A message that takes longer than this from its send is late, not received (RFC 7680's Tmax)."""
    messages: Annotated[int, Field(ge=0)]
    """
    The most messages that one publisher of any stream may send within the window: accounting is reserved for so many,
    or for as many as the stream names.
    """
    samples: Annotated[int, Field(ge=0)]
    """
    Memory is reserved for this many samples of each endpoint, or for all its messages where those are fewer; what comes
    beyond goes into the histogram, counted.
    """


Reliability = TypeAliasType("Reliability", Literal["best_effort", "reliable"])
"""Whether lost messages are sent again."""


class Rendezvous(BaseModel):
    """What keeps two trials on one machine apart: names, numbers, ports and a folder that no other trial has now."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    domain: Annotated[int, Field(ge=0, le=99)]
    """A small number (0 to 99) for DDS domains and the like."""
    first_port: Annotated[int, Field(ge=0, le=65535)]
    """The first of this trial's ports, for TCP and UDP alike."""
    folder: str
    """An existing folder of this trial on this host, for rendered configuration and sockets; short, absolute."""
    name: str
    """A name of 1 to 24 letters, digits and `_`, for topics, networks, shared memory and sockets."""
    ports: Annotated[int, Field(ge=0, le=65535)]
    """How many ports there are from `first_port` on."""
    token: Annotated[int, Field(ge=0)]
    """Carried by each message; a message with another token is foreign, and counted so."""


Role = TypeAliasType("Role", Literal["publisher", "subscriber"])
"""What an endpoint does. In a ping-pong the publisher is the client, the subscriber the one who answers."""


SecretFiles = TypeAliasType("SecretFiles", dict[str, str])
"""Texts by file name: certificates, keys, rules. They hold secrets, so that `Debug` shows their names alone."""


class Security(BaseModel):
    """What an application or a service of a trial with security is given."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    files: SecretFiles
    """What its worker made for it."""
    level: SecurityLevel
    """The level that it has to keep, or refuse."""


Serialisation = TypeAliasType("Serialisation", Literal["cdr", "protobuf", "someip", "plain"])
"""How a typed message becomes bytes."""


class ServiceAddress(BaseModel):
    """Where a service is found."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    address: str
    """The address by which the host of the spec that names it reaches it."""
    index: Annotated[int, Field(ge=0, le=65535)]
    """Its number within the trial, from 0."""
    service: str
    """The service, as named in `Description::services`."""


class ServiceCredentials(BaseModel):
    """The files of one service."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    files: SecretFiles
    """Its files."""
    index: Annotated[int, Field(ge=0, le=65535)]
    """Its number."""
    service: str
    """Which service."""


class SecuredService(BaseModel):
    """A service that needs credentials."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    addresses: list[str]
    """Every address of its host."""
    index: Annotated[int, Field(ge=0, le=65535)]
    """Its number within the trial, from 0."""
    service: str
    """Which service, as named in `Description::services`."""


Axis = TypeAliasType("Axis", Literal["wake_up", "copies", "discovery", "buffers", "batching", "other"])
"""What of a middleware can be tuned."""


class DeliveryDescription(BaseModel):
    """A delivery that a middleware has."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    delivery: Delivery
    """Which."""
    how: str
    """How it is done, in one sentence."""
    source: str
    """Whose example, tool or documentation does it so."""


class Dissector(BaseModel):
    """What shows a captured packet of the middleware field by field."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: str
    """Wireshark's name of the protocol, which filters its packets too."""
    remark: str | None = None
    """What Wireshark needs to be told, where it doesn't know the protocol's packets by itself."""


HistoryKind = TypeAliasType("HistoryKind", Literal["keep_last", "keep_all"])
"""Which messages are kept for a slow receiver, without how many."""


Identity = TypeAliasType("Identity", Literal["credentials", "user"])
"""What tells an application of a trial from a stranger."""


class LackingDelivery(BaseModel):
    """A delivery that a middleware lacks."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    delivery: Delivery
    """Which."""
    reason: str
    """Why, in one sentence."""


class LackingSecurity(BaseModel):
    """A level that can't be had, and why."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    level: SecurityLevel
    """Which."""
    reason: str
    """Why, in one sentence."""


class Library(BaseModel):
    """The library that a worker is linked with."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: str
    """Its name, or `none` for a baseline on the kernel alone."""
    origin: str
    """Where it comes from: a crate, a Debian package, bundled source."""
    released: str | None = None
    """
    The day (`2023-01-31`) since which the system's packages have this version, or on which its makers released it where
    the worker bundles an old one; none where it is current, or nothing on the machine says so.
    """
    version: str
    """The version that the library itself reports at run time where it can."""


Pattern = TypeAliasType(
    "Pattern",
    Literal["periodic", "burst", "unthrottled", "ping_pong", "request_response"],
)
"""The ways in which a stream's messages are produced."""


Per = TypeAliasType("Per", Literal["host", "network"])
"""For what a service is needed once."""


PortHolders = TypeAliasType(
    "PortHolders",
    Literal["endpoints", "publishers", "subscribers", "applications", "nothing"],
)
"""What takes a port of the trial's range each, so that the range is as large as the trial needs."""


class Protocol(BaseModel):
    """
    A protocol that a worker speaks. Two workers that both speak one may be paired: where all of it is alike, the messages of
    one are those of the other.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    message: str
    """How a message lies in it: its type and its encoding."""
    name: str
    """Its name: `rtps`, `mqtt`, `someip`, …"""
    topics: str
    """How endpoints of a stream find each other: by which names."""


class SecurityDescription(BaseModel):
    """A level that a trial can request, and what it means with this middleware."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    by_stream: bool
    """Whether an application may only use the streams of its own endpoints, and only in its own role."""
    handshake_untold: str | None = None
    """
    Why it is not told how long the handshake took by which both ends prove who they are; none where it is told with the
    match, and where there is no handshake, as the kernel vouches for users.
    """
    how: str
    """How it is done, in one sentence."""
    identity: Identity
    """What tells an application of the trial from a stranger."""
    level: SecurityLevel
    """Which."""


class Tuning(BaseModel):
    """What a profile does on an axis; one that sets options on different advice has several of an axis."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    axis: Axis
    """The axis."""
    set_by: list[str]
    """The options of the profile that are on it, and `delivery`; empty: nothing is set."""
    why: str
    """The text of the makers that advises so; or why nothing is set."""


class When(BaseModel):
    """A condition on an option's resolved value."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    option: str
    """The option's name."""
    values: list[OptionValue]
    """The values under which the condition holds."""


class ApplicationStart(BaseModel):
    """
    Initialise the middleware at this instant, create all endpoints, greet at once: each publisher sends the header
    alone, [`crate::GREETINGS_HZ`] times a second ([`crate::GREETINGS_OF_TRIAL_HZ`] all together), however rarely its
    stream has a message and however large it is.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    at_ns: Annotated[int, Field(ge=0)]
    """T0, the same for all applications that start together."""
    command: Literal["start"] = "start"


class ApplicationApproach(BaseModel):
    """
    Every subscriber has heard every publisher: publish messages of the full size from now on, by the stream's own
    schedule, the first of it at once. An application that joins an open window is not told this.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    command: Literal["approach"] = "approach"


class ApplicationMeasure(BaseModel):
    """
    Measure over this window. For an application that joins a trial whose window is open already `begin_ns` has
    passed; it then publishes from its schedule's next instant on, and its resources are those from now on.

    A publisher that has fallen behind its schedule goes on after the window, until [`crate::PUBLISHING_WINDOWS`]
    times its length have passed since its opening; what it has not offered by then is `unsent`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    begin_ns: Annotated[int, Field(ge=0)]
    """The common instant at which the window opens."""
    command: Literal["measure"] = "measure"
    end_ns: Annotated[int, Field(ge=0)]
    """The instant at which it closes."""


class ApplicationDrain(BaseModel):
    """The window is over and the publishers have told their counts: wait for what is still under way, then report `done`."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    command: Literal["drain"] = "drain"
    expected: list[ExpectedMessages]
    """What each publisher sent within the window."""
    until_ns: Annotated[int, Field(ge=0)]
    """When to stop waiting."""


class ApplicationStop(BaseModel):
    """Close the middleware and exit, whatever is under way."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    command: Literal["stop"] = "stop"


class ApplicationArmed(BaseModel):
    """The spec is valid, memory is reserved and touched, the middleware is not yet initialised."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    clock_cost_ns: float
    """What one reading of the clock costs here."""
    event: Literal["armed"] = "armed"
    resident_bytes: Annotated[int, Field(ge=0)]
    """Resident memory now: what the harness itself takes, so that the middleware's own can be told from it."""


class ApplicationRefused(BaseModel):
    """The spec requests something that this middleware can't do."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    capability: str
    """
    The capability requested: `size_bytes`, `reliability`, `durability`, `history`, `congestion`, `patience`, `queue`,
    `level`, `pattern`, `delivery`, `security`, `option`, `profile`, `placement`, `between_hosts`, `machine`, `service`,
    `contract_version`, `spec`.
    """
    event: Literal["refused"] = "refused"
    reason: str
    """What was requested, what there is, in one sentence."""


class ApplicationInitialised(BaseModel):
    """
    The middleware runs and all endpoints of this application exist; `effective` follows at once, and again before the
    window where something else is in force by then.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    event: Literal["initialised"] = "initialised"
    since_ns: Annotated[int, Field(ge=0)]
    """Since when."""


class ApplicationEffective(BaseModel):
    """What the middleware runs with."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    delivery: Delivery
    """Who calls the application with a message."""
    event: Literal["effective"] = "effective"
    paths: Annotated[list[MessagePath], Field(min_length=1)]
    """
    The paths that messages take under it: each takes some, and no other one any, which the proof of path must not
    contradict.
    """
    receive_mode: str
    """How that is done, in the middleware's own words."""
    security: SecurityLevel | None = None
    """The level of security that it keeps; none where it is open to all."""
    settings: dict[str, str]
    """Every other setting that matters to a comparison, by the middleware's own names."""
    transport: str
    """The transport in words: `tcp`, `shared memory`, `udp multicast + unicast`, …"""
    zero_copy: bool
    """Whether messages are written in place or copied by the publish call."""


class ApplicationMatched(BaseModel):
    """A publisher knows for the first time that a subscriber is there, as the description's `matching` says."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    answers: bool
    """Whether it publishes answers."""
    event: Literal["matched"] = "matched"
    handshake_ns: Annotated[int | None, Field(ge=0)] = None
    """
    How long the handshake took by which both ends then knew who the other is; none where there is none, or the
    middleware does not tell.
    """
    publisher: Annotated[int, Field(ge=0, le=65535)]
    """The publisher's index; of answers, the index of the subscriber that answers."""
    since_ns: Annotated[int, Field(ge=0)]
    """Since when."""
    stream: str
    """The stream's name."""


class ApplicationFirstMessage(BaseModel):
    """
    A subscriber has the first message of a publisher, which may be a greeting; or a ping-pong's client the first answer
    of a subscriber, whose way back is found later, by some middleware, than the way there.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    answers: bool
    """Whether it is an answer, at the client."""
    event: Literal["first_message"] = "first_message"
    publisher: Annotated[int, Field(ge=0, le=65535)]
    """The publisher's index; for an answer, the client's index."""
    received_ns: Annotated[int, Field(ge=0)]
    """When it was received."""
    stream: str
    """The stream's name."""
    subscriber: Annotated[int, Field(ge=0, le=65535)]
    """The subscriber's index; for an answer, the index of the subscriber that answered."""


class ApplicationFirstFullMessage(BaseModel):
    """The same of the first message that has its full size."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    answers: bool
    """Whether it is an answer, at the client."""
    event: Literal["first_full_message"] = "first_full_message"
    publisher: Annotated[int, Field(ge=0, le=65535)]
    """The publisher's index; for an answer, the client's index."""
    received_ns: Annotated[int, Field(ge=0)]
    """When it was received."""
    stream: str
    """The stream's name."""
    subscriber: Annotated[int, Field(ge=0, le=65535)]
    """The subscriber's index; for an answer, the index of the subscriber that answered."""


class ApplicationPublished(BaseModel):
    """The window is over: what this application's publishers sent in it."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    event: Literal["published"] = "published"
    publishers: list[PublisherCounts]
    """One entry a publisher; empty for an application without one."""


class ApplicationUnheard(BaseModel):
    """Told to stop before it was told to approach: what its endpoints know of those whom they should have met."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    endpoints: list[str]
    """A sentence for each endpoint that its middleware lets know."""
    event: Literal["unheard"] = "unheard"


class ApplicationClosed(BaseModel):
    """The middleware is closed; the process ends with exit status 0."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    event: Literal["closed"] = "closed"
    took_ns: Annotated[int, Field(ge=0)]
    """How long closing took."""


class ApplicationFailed(BaseModel):
    """Something went wrong that the trial can't go on after; the process ends with exit status 1."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    causes: list[str]
    """The chain of causes, outermost first."""
    doing: str
    """What was being done."""
    event: Literal["failed"] = "failed"


class FixedArrival(BaseModel):
    """All equal."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    kind: Literal["fixed"] = "fixed"


class PoissonArrival(BaseModel):
    """Exponential, from the seed and the publisher's index."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    kind: Literal["poisson"] = "poisson"
    seed: Annotated[int, Field(ge=0)]
    """The same seed gives the same schedule."""


class ConstantCompute(BaseModel):
    """Always the same."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    kind: Literal["constant"] = "constant"
    time_ns: Annotated[int, Field(ge=0)]
    """How long."""


class UniformCompute(BaseModel):
    """Every time between two, alike."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    kind: Literal["uniform"] = "uniform"
    maximum_ns: Annotated[int, Field(ge=0)]
    """The longest."""
    minimum_ns: Annotated[int, Field(ge=0)]
    """The shortest."""


class ExponentialCompute(BaseModel):
    """An exponential distribution."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    kind: Literal["exponential"] = "exponential"
    mean_ns: Annotated[int, Field(ge=0)]
    """Its mean."""


class NormalCompute(BaseModel):
    """A normal distribution."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    deviation_ns: Annotated[int, Field(ge=0)]
    """Its standard deviation."""
    kind: Literal["normal"] = "normal"
    mean_ns: Annotated[int, Field(ge=0)]
    """Its mean."""


class LognormalCompute(BaseModel):
    """A lognormal distribution."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    deviation_ns: Annotated[int, Field(ge=0)]
    """The standard deviation of the time itself."""
    kind: Literal["lognormal"] = "lognormal"
    mean_ns: Annotated[int, Field(ge=0)]
    """The mean of the time itself, not of its logarithm."""


class KeepLastHistory(BaseModel):
    """The newest `depth`: a newer message overwrites the oldest. It never waits, so it is never combined with [`Congestion::Block`]."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    depth: Annotated[int, Field(ge=1)]
    """How many."""
    kind: Literal["keep_last"] = "keep_last"


class KeepAllHistory(BaseModel):
    """The oldest, as many as [`Qos::queue_bytes`] have room for: none that was accepted is overwritten."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    kind: Literal["keep_all"] = "keep_all"


class ClosedPace(BaseModel):
    """
    As many requests as `outstanding` are under way at any time: the next is sent when a response has come, or the
    timeout of a request.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    approach_hz: float
    """The rate before the window."""
    kind: Literal["closed"] = "closed"


class BurstPattern(BaseModel):
    """`messages` at one intended instant, `rate_hz` times a second."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    kind: Literal["burst"] = "burst"
    messages: Annotated[int, Field(ge=0)]
    """Messages of one burst."""
    rate_hz: float
    """Bursts a second."""


class UnthrottledPattern(BaseModel):
    """As fast as the middleware accepts, until the window ends or `messages` are sent."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    approach_hz: float
    """The rate before the window."""
    kind: Literal["unthrottled"] = "unthrottled"
    messages: Annotated[int | None, Field(ge=0)] = None
    """The most messages each publisher sends within the window; none: until it ends."""


class PingPongPattern(BaseModel):
    """A message, then its answers from every subscriber, then the next message."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    answer_bytes: Annotated[int, Field(ge=32)]
    """The size of the answer."""
    approach_hz: float
    """The rate before the window."""
    interval_ns: Annotated[int, Field(ge=0)]
    """The least time between two messages; 0: no waiting."""
    kind: Literal["ping_pong"] = "ping_pong"
    messages: Annotated[int | None, Field(ge=0)] = None
    """The most messages each publisher sends within the window; none: until it ends."""
    patience_ns: Annotated[int, Field(ge=0)]
    """After this a missing answer is given up and the next message goes out."""


class ComputedPattern(BaseModel):
    """A node sends one at the end of each execution, before the window as within."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    kind: Literal["computed"] = "computed"
    rate_hz: float | None = None
    """Messages a second at most, in the long run; none: nothing bounds it."""


class OtherScheduling(BaseModel):
    """`SCHED_OTHER`."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    kind: Literal["other"] = "other"


class FifoScheduling(BaseModel):
    """`SCHED_FIFO` at a priority."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    kind: Literal["fifo"] = "fifo"
    priority: Annotated[int, Field(ge=1, le=99)]
    """1 to 99."""


class NewestTake(BaseModel):
    """The newest; those before it are passed over."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    kind: Literal["newest"] = "newest"


class QueueTake(BaseModel):
    """In the order in which they came: a timer takes all, a message's execution one."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    capacity: Annotated[int, Field(ge=1, le=65536)]
    """How many may wait; what comes then overflows and is never taken."""
    kind: Literal["queue"] = "queue"


class SourceTrigger(BaseModel):
    """It has no input and runs by an absolute schedule; what is overdue runs at once."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    kind: Literal["source"] = "source"
    rate_hz: float
    """Executions a second."""


class UnthrottledTrigger(BaseModel):
    """It has no input and runs again as soon as its last execution is over."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    approach_hz: float
    """Executions a second before the window."""
    kind: Literal["unthrottled"] = "unthrottled"


class TimerTrigger(BaseModel):
    """
    It runs when its timer fires, with whatever its inputs have by then;
    an instant whose successor has come too is skipped.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    kind: Literal["timer"] = "timer"
    rate_hz: float
    """Executions a second."""


class MessageTrigger(BaseModel):
    """It runs when messages come."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    kind: Literal["message"] = "message"
    when: Readiness
    """How many of its inputs have to have one."""


class CredentialsMade(BaseModel):
    """All is there."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    applications: dict[str, SecretFiles]
    """The files of each application, by its name."""
    event: Literal["made"] = "made"
    services: list[ServiceCredentials]
    """The files of each service."""
    stated: dict[str, str]
    """How they were made, in words: algorithms, sizes of keys, validity."""


class CredentialsRefused(BaseModel):
    """This worker can't have that level, or not under these options."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    capability: str
    """
    The capability requested: `size_bytes`, `reliability`, `durability`, `history`, `congestion`, `patience`, `queue`,
    `level`, `pattern`, `delivery`, `security`, `option`, `profile`, `placement`, `between_hosts`, `machine`, `service`,
    `contract_version`, `spec`.
    """
    event: Literal["refused"] = "refused"
    reason: str
    """What was requested, what there is, in one sentence."""


class CredentialsFailed(BaseModel):
    """They could not be made."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    causes: list[str]
    """The chain of causes, outermost first."""
    doing: str
    """What was being done."""
    event: Literal["failed"] = "failed"


class SubscriberMatching(BaseModel):
    """Of the subscriber itself."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    how: str
    """By what: a status, a listener, an accepted connection."""
    kind: Literal["subscriber"] = "subscriber"


class ServiceMatching(BaseModel):
    """Only of the service that passes its messages on; whether that has a subscriber for them it never knows."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    how: str
    """By what."""
    kind: Literal["service"] = "service"


class NeverMatching(BaseModel):
    """Never: no publisher tells `matched`."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    kind: Literal["never"] = "never"
    reason: str
    """Why it can't know, in one sentence."""


class BooleanOption(BaseModel):
    """`true` or `false`."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    kind: Literal["boolean"] = "boolean"


class IntegerOption(BaseModel):
    """A whole number within bounds, both included."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    kind: Literal["integer"] = "integer"
    maximum: int
    """The largest value."""
    minimum: int
    """The smallest value."""


class ChoiceOption(BaseModel):
    """One of these words."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    choices: list[str]
    """The words."""
    kind: Literal["choice"] = "choice"


class TextOption(BaseModel):
    """Any text."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    kind: Literal["text"] = "text"


class ServiceMeasure(BaseModel):
    """Report the resources spent over this window when it is over."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    begin_ns: Annotated[int, Field(ge=0)]
    """When the window opens."""
    command: Literal["measure"] = "measure"
    end_ns: Annotated[int, Field(ge=0)]
    """When it closes."""


class ServiceStop(BaseModel):
    """Shut down and exit."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    command: Literal["stop"] = "stop"


class ServiceReady(BaseModel):
    """It accepts applications from now on."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    event: Literal["ready"] = "ready"
    settings: dict[str, str]
    """The configuration really applied."""
    version: str
    """The version that the service reports."""


class ServiceRefused(BaseModel):
    """This worker has no such service, or can't run it as requested."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    capability: str
    """
    The capability requested: `size_bytes`, `reliability`, `durability`, `history`, `congestion`, `patience`, `queue`,
    `level`, `pattern`, `delivery`, `security`, `option`, `profile`, `placement`, `between_hosts`, `machine`, `service`,
    `contract_version`, `spec`.
    """
    event: Literal["refused"] = "refused"
    reason: str
    """What was requested, what there is, in one sentence."""


class ServiceMeasured(BaseModel):
    """What it spent over the window."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    event: Literal["measured"] = "measured"
    resources: Resources
    """The service's process and its children."""


class ServiceClosed(BaseModel):
    """It is shut down; the process ends with exit status 0."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    event: Literal["closed"] = "closed"


class ServiceFailed(BaseModel):
    """It could not start or it died; the process ends with exit status 1."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    causes: list[str]
    """The chain of causes, outermost first."""
    doing: str
    """What was being done."""
    event: Literal["failed"] = "failed"


ApplicationCommand = TypeAliasType(
    "ApplicationCommand",
    Annotated[
        ApplicationStart | ApplicationApproach | ApplicationMeasure | ApplicationDrain | ApplicationStop,
        Field(discriminator="command", title="ApplicationCommand"),
    ],
)
"""A command to an application, in the order in which they come."""


class PathProof(BaseModel):
    """
    Which paths the messages took: what interfaces counted over the window, and what the application had when all had heard
    each other and the window had not begun.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    interfaces: list[InterfaceTraffic] | None = None
    """Traffic of each interface that the application can see; none where its counters can't be read."""
    segments: list[MappedSegment] | None = None
    """The shared memory that it has mapped; none where the worker does not tell, or could not look."""
    shared_memory: list[str] | None = None
    """The names of shared memory that it has mapped, by workers that do not tell `segments`."""
    sockets: list[SocketUse] | None = None
    """Its sockets, those of equal ends together; none as for `segments`."""
    unseen: list[str] | None = None
    """Which of these could not be looked at, each with the reason."""


Arrival = TypeAliasType("Arrival", Annotated[FixedArrival | PoissonArrival, Field(discriminator="kind")])
"""How the intervals of a periodic stream, or of a client's requests, are distributed."""


ComputeSpec = TypeAliasType(
    "ComputeSpec",
    Annotated[
        ConstantCompute | UniformCompute | ExponentialCompute | NormalCompute | LognormalCompute,
        Field(discriminator="kind"),
    ],
)
"""How long an execution of a node, or a server for a response, computes, as CPU time of its thread; what is drawn below zero counts as zero."""


class Endpoint(BaseModel):
    """One publisher or subscriber that an application holds."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    index: Annotated[int, Field(ge=0, le=65535)]
    """Its index in the stream's `publishers` or `subscribers`."""
    role: Role
    """Whether it publishes or subscribes."""
    stream: str
    """The stream's name."""


History = TypeAliasType("History", Annotated[KeepLastHistory | KeepAllHistory, Field(discriminator="kind")])
"""Which messages are kept for a slow receiver."""


class PayloadSpec(BaseModel):
    """A typed message in place of octets."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    kind: PayloadKind
    """Its type."""
    serialisation: Serialisation | None = None
    """How it is serialised; none: as the worker does by default."""


class Qos(BaseModel):
    """What is requested of delivery, in neutral words; each worker maps it to its own and states the outcome in `effective`."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    congestion: Congestion
    """What becomes of a message for which a slow receiver has left no room."""
    durability: Durability
    """Whether a late joiner gets earlier messages."""
    history: History
    """Which messages are kept for a slow receiver."""
    level: Annotated[int | None, Field(ge=0, le=2)] = None
    """MQTT's level where a suite names it; none: 0 for best effort, 1 for reliable."""
    patience_ns: Annotated[int, Field(ge=0, le=3600000000000)]
    """How long a publish call may wait for room under [`Congestion::Block`]; then the message was not accepted."""
    queue_bytes: Annotated[int, Field(ge=1)]
    """The most that may be queued or kept for one slow receiver under [`History::KeepAll`]."""
    reliability: Reliability
    """Whether lost messages are sent again."""


Scheduling = TypeAliasType(
    "Scheduling",
    Annotated[OtherScheduling | FifoScheduling, Field(discriminator="kind")],
)
"""A scheduling class of Linux."""


TakeSpec = TypeAliasType("TakeSpec", Annotated[NewestTake | QueueTake, Field(discriminator="kind")])
"""Which of the messages that wait at an input an execution takes."""


TriggerSpec = TypeAliasType(
    "TriggerSpec",
    Annotated[
        SourceTrigger | UnthrottledTrigger | TimerTrigger | MessageTrigger,
        Field(discriminator="kind"),
    ],
)
"""What makes a node run."""


CredentialsEvent = TypeAliasType(
    "CredentialsEvent",
    Annotated[
        CredentialsMade | CredentialsRefused | CredentialsFailed,
        Field(discriminator="event", title="CredentialsEvent"),
    ],
)
"""What `credentials` prints: one line, and the process ends with the exit status 0, 2 or 1."""


class SecuredApplication(BaseModel):
    """An application that needs credentials."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    addresses: list[str]
    """Every address of its host."""
    application: str
    """Its name."""
    endpoints: list[Endpoint]
    """The endpoints that it holds, and may use."""


class Deliveries(BaseModel):
    """The deliveries of a middleware: each of the three is among those that it has or among those that it lacks."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    default: Delivery
    """What `default` stands for; one of those that it has."""
    has: Annotated[list[DeliveryDescription], Field(min_length=1)]
    """Those that it has."""
    lacks: list[LackingDelivery]
    """Those that it lacks."""


Matching = TypeAliasType(
    "Matching",
    Annotated[
        SubscriberMatching | ServiceMatching | NeverMatching,
        Field(discriminator="kind"),
    ],
)
"""How a publisher comes to know that a subscriber is there; what it then tells is `matched`."""


OptionKind = TypeAliasType(
    "OptionKind",
    Annotated[
        BooleanOption | IntegerOption | ChoiceOption | TextOption,
        Field(discriminator="kind"),
    ],
)
"""Which values an option takes."""


class Profile(BaseModel):
    """A named configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    delivery: Delivery | None = None
    """The delivery that it advises; none: the worker's default."""
    options: dict[str, OptionValue]
    """The options it sets away from their defaults."""
    summary: str
    """What it stands for and whose advice it follows."""
    tuning: list[Tuning] | None = None
    """What it does on each axis: all options and the delivery that it sets are named here. Empty in `default`."""


class ServiceNeed(BaseModel):
    """A process that a middleware needs beside the applications."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    library: Library | None = None
    """The system's program that it runs, where that isn't the worker with its library; none where it isn't installed."""
    missing: str | None = None
    """Why it can't run on this machine, with what to do; none where it can."""
    per: Per
    """How many: one for each host with applications, or one for each network."""
    programs: list[str] | None = None
    """The machine's programs that it executes, as absolute paths, so that they can be put where it runs."""
    service: str
    """Its name for `ServiceSpec::service`: `broker`, `router`, `routing_manager`, …"""
    when: list[When]
    """Needed only where every one of these holds; always where the list is empty."""


ServiceCommand = TypeAliasType(
    "ServiceCommand",
    Annotated[
        ServiceMeasure | ServiceStop,
        Field(discriminator="command", title="ServiceCommand"),
    ],
)
"""A command to a service."""


ServiceEvent = TypeAliasType(
    "ServiceEvent",
    Annotated[
        ServiceReady | ServiceRefused | ServiceMeasured | ServiceClosed | ServiceFailed,
        Field(discriminator="event", title="ServiceEvent"),
    ],
)
"""A service's events."""


class ApplicationDone(BaseModel):
    """All is received or given up, and the samples are written."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    event: Literal["done"] = "done"
    files: list[str]
    """The files written into the recording folder."""
    nodes: list[NodeCounts] | None = None
    """One entry a node."""
    path: PathProof
    """Which path the messages took."""
    resources: Resources
    """What the process spent over the window."""
    subscribers: list[SubscriberCounts]
    """One entry a subscriber and publisher."""


class OpenPace(BaseModel):
    """
    By an absolute schedule, whatever is still under way. A request that is due while as many as `outstanding` are is
    not sent, and counts as refused.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    arrival: Arrival
    """How the intervals are distributed."""
    kind: Literal["open"] = "open"
    rate_hz: float
    """Requests a second."""


class PeriodicPattern(BaseModel):
    """An absolute schedule, open loop: message k is intended at begin + k / rate."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    arrival: Arrival
    """How the intervals are distributed."""
    kind: Literal["periodic"] = "periodic"
    rate_hz: float
    """Messages a second."""


ApplicationEvent = TypeAliasType(
    "ApplicationEvent",
    Annotated[
        ApplicationArmed
        | ApplicationRefused
        | ApplicationInitialised
        | ApplicationEffective
        | ApplicationMatched
        | ApplicationFirstMessage
        | ApplicationFirstFullMessage
        | ApplicationPublished
        | ApplicationDone
        | ApplicationUnheard
        | ApplicationClosed
        | ApplicationFailed,
        Field(discriminator="event", title="ApplicationEvent"),
    ],
)
"""
An application's events. `armed` or `refused` comes first; after `refused` the process ends with exit status 2;
`failed` may come at any time and is the last.
"""


class NodeInput(BaseModel):
    """One stream that a node reads."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    index: Annotated[int, Field(ge=0, le=65535)]
    """The subscriber's index."""
    stream: str
    """The stream's name."""
    take: TakeSpec
    """Which of the messages that wait are taken."""


class NodeSpec(BaseModel):
    """One node that an application executes."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    compute: ComputeSpec
    """The CPU time that each execution really spends before it sends."""
    inputs: list[NodeInput]
    """What it reads: subscribers of this application that no other node has."""
    name: str
    """Its name, unique within the trial."""
    number: Annotated[int, Field(ge=0, le=65535)]
    """Its position among all nodes of the trial, by which the records name it."""
    outputs: list[NodeOutput]
    """What each execution sends, in this order: publishers of this application, of streams with [`crate::PatternSpec::Computed`]."""
    seed: Annotated[int, Field(ge=0)]
    """The same seed gives the same times to compute."""
    trigger: TriggerSpec
    """What makes it run."""


PaceSpec = TypeAliasType("PaceSpec", Annotated[OpenPace | ClosedPace, Field(discriminator="kind")])
"""When a client sends its requests."""


class Placement(BaseModel):
    """Where and how the operating system runs an application."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    cpus: list[Cpu]
    """The CPUs it may run on; empty: all that the host gives."""
    scheduling: Scheduling
    """Its scheduling class."""
    spin_ns: Annotated[int, Field(ge=0)]
    """A publisher wakes this much before each intended instant and spins until it; 0: it only sleeps."""


class Capabilities(BaseModel):
    """What a middleware can do."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    between_hosts: bool
    """Whether applications on different hosts can reach each other."""
    congestion: list[Congestion]
    """What it can do when the receiver is slower than the sender."""
    deliveries: Deliveries
    """Who can call an application with a message."""
    durabilities: list[Durability]
    """Durabilities that may be requested."""
    histories: list[HistoryKind]
    """Which messages it can keep for a slow receiver."""
    lacking_pause: str | None = None
    """Why an application that is paused and resumed (SIGSTOP, SIGCONT) takes no more part; none where it goes on."""
    lacking_security: list[LackingSecurity] | None = None
    """The other levels, each with the reason why it can't be had; empty where the worker doesn't say."""
    largest_message_bytes: Annotated[int, Field(ge=0)]
    """The largest message over its widest transport; a narrower transport may refuse less."""
    matching: Matching | None = None
    """How a publisher comes to know that a subscriber is there."""
    patterns: list[Pattern]
    """The patterns that it carries."""
    reliabilities: list[Reliability]
    """Reliabilities that may be requested (it may deliver more, and then says so in `effective`)."""
    same_process: bool
    """Whether publisher and subscriber may live in one application."""
    security: list[SecurityDescription]
    """Levels of security that a trial can request, each with what it means here."""
    serialisations: list[Serialisation] | None = None
    """How it serialises typed messages, its default first; empty where it has octets alone."""
    transports: list[str]
    """Values of the option `transport`, or the one path there is."""
    zero_copy: bool
    """Whether a message can be written in place, in memory of the middleware (a loan)."""


class OptionDescription(BaseModel):
    """One option of a middleware."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    default: OptionValue
    """The value as the middleware is shipped."""
    kind: OptionKind
    """Which values it takes."""
    name: str
    """Its name, `snake_case`, with its unit."""
    summary: str
    """What it does, in one sentence."""


class Description(BaseModel):
    """A worker's whole account of its middleware, printed by `describe`."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    capabilities: Capabilities
    """What it can do; everything else is refused before a trial."""
    contract_version: Annotated[int, Field(ge=0)]
    """[`crate::CONTRACT_VERSION`] of the worker."""
    dissectors: list[Dissector] | None = None
    """Wireshark's dissectors of what it puts on the wire; empty where it puts nothing there."""
    library: Library
    """The library really linked, with the version it reports itself."""
    middleware: str
    """The name used everywhere: lower case, as in `middlemark-worker-<middleware>`."""
    options: list[OptionDescription]
    """Every option with its default; a profile or a suite sets some of them."""
    ports: PortHolders | None = "endpoints"
    """What takes a port of the trial's range each, beside its services and one for the trial as a whole."""
    profiles: dict[str, Profile]
    """
    `default` (as shipped) and `tuned` (as its own documentation advises), by name; where that advises otherwise for
    latency than for throughput, `tuned_latency` and `tuned_throughput` too, one of which `tuned` then equals.
    """
    protocols: list[Protocol] | None = None
    """The protocols in which it speaks with other middlewares; empty where it speaks with itself alone."""
    services: list[ServiceNeed]
    """The services it needs, and when."""
    summary: str
    """One sentence: what is measured and over which path by default."""
    title: str
    """The name as its makers write it."""


class ServiceSpec(BaseModel):
    """The spec of one service process of a trial."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    addresses: Annotated[list[str], Field(min_length=1)]
    """
    Every address of the host it runs on, one for each of its networks, and never none: it serves on each of them.
    The first is the one that it calls itself by.
    """
    clock_offset_ns: int
    """
    How far this machine's `CLOCK_MONOTONIC` is ahead of the front's, on whose clock all instants of commands, events
    and samples are; 0 on the front's own machine.
    """
    congestion: Congestion
    """[`Congestion::Block`] where any stream requests it: then nothing that was accepted may be dropped."""
    contract_version: Annotated[int, Field(ge=0)]
    """[`crate::CONTRACT_VERSION`] of the front."""
    index: Annotated[int, Field(ge=0, le=65535)]
    """Its number within the trial, from 0."""
    interface: str
    """The network interface with the first address."""
    largest_message_bytes: Annotated[int, Field(ge=0)]
    """The largest message that it must pass on."""
    options: dict[str, OptionValue]
    """Options that the suite sets beyond the profile."""
    patience_ns: Annotated[int, Field(ge=0)]
    """The longest that any stream lets a publish call wait."""
    placement: Placement
    """Where and how the operating system runs it."""
    profile: str
    """The profile's name."""
    queue_bytes: Annotated[int, Field(ge=0)]
    """The most that any stream lets be queued for one slow receiver (`queue_bytes` of [`Qos`])."""
    rendezvous: Rendezvous
    """What keeps this trial apart from every other on the machine."""
    security: Security | None = None
    """What it keeps strangers out with; none where the trial is open to all."""
    service: str
    """Which service, as named in `Description::services`."""
    services: list[ServiceAddress]
    """
    The other services that it is linked with, itself not among them, each under the address by which this host
    reaches it. Of two that are linked each names the other, the one with the higher index connects, and the links
    of a trial have no circle.
    """


class RequestResponsePattern(BaseModel):
    """
    A request to a server, by the middleware's own means of asking and answering, and its response. The publishers are
    the clients, the subscribers the servers; see [`StreamSpec::is_joined`] for who asks whom.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    kind: Literal["request_response"] = "request_response"
    outstanding: Annotated[int, Field(ge=1, le=1024)]
    """The most requests of one client that are under way at once."""
    pace: PaceSpec
    """When a client sends its requests."""
    response_bytes: Annotated[int, Field(ge=32)]
    """The size of the response."""
    seed: Annotated[int, Field(ge=0)]
    """Decides, with the server's index, what is drawn for its computations."""
    server_time: ComputeSpec
    """How long the server computes for each response; a server has one computation at a time."""
    timeout_ns: Annotated[int, Field(ge=1)]
    """After this a request counts as unanswered, and its response, should it come, as late."""


PatternSpec = TypeAliasType(
    "PatternSpec",
    Annotated[
        PeriodicPattern
        | BurstPattern
        | UnthrottledPattern
        | PingPongPattern
        | RequestResponsePattern
        | ComputedPattern,
        Field(discriminator="kind"),
    ],
)
"""
How messages are produced. Before the measured window each pattern publishes at its rate from `approach` on, to
warm up; [`Self::Unthrottled`] and [`Self::PingPong`] do so at `approach_hz`, as does a closed loop of requests.
"""


class StreamSpec(BaseModel):
    """One topic from its publishers to its subscribers."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    messages: Annotated[int | None, Field(ge=0)] = None
    """
    The most messages that one of its publishers may send within the window, where that is less than
    [`Recording::messages`].
    """
    name: str
    """The topic's name, unique within the trial: letters, digits and `_`."""
    pattern: PatternSpec
    """How its messages are produced."""
    payload: PayloadSpec | None = None
    """What messages hold behind their header, those that answer them too; none: octets."""
    publishers: list[EndpointAddress]
    """Every publisher of the stream, by index, whichever application holds it."""
    qos: Qos
    """What is requested of its delivery."""
    recorded: Recorded | None = None
    """
    Of a periodic stream: the instants and sizes that its messages had when they were recorded, in place of equal
    intervals and one size; its rate is then the mean, its size the largest.
    """
    size_bytes: Annotated[int, Field(ge=32)]
    """The size of each message, header included."""
    subscribers: list[EndpointAddress]
    """Every subscriber of the stream, by index, whichever application holds it."""


class ApplicationSpec(BaseModel):
    """Everything an application needs to know of its trial, and no more."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    address: str
    """The address of the host this application runs on."""
    application: str
    """This application's name, unique within the trial."""
    clock_offset_ns: int
    """
    How far this machine's `CLOCK_MONOTONIC` is ahead of the front's, on whose clock all instants of commands, events
    and samples are; 0 on the front's own machine.
    """
    contract_version: Annotated[int, Field(ge=0)]
    """[`crate::CONTRACT_VERSION`] of the front."""
    delivery: Delivery
    """Who calls it with a message: what the suite requests, else what the profile sets, else the worker's default."""
    endpoints: list[Endpoint]
    """The endpoints that this application holds."""
    interface: str
    """The network interface with that address; middleware that would choose among interfaces is bound to it."""
    nodes: list[NodeSpec] | None = None
    """The nodes that this application executes between its subscribers and its publishers; none in most trials."""
    options: dict[str, OptionValue]
    """Options that the suite sets beyond the profile."""
    placement: Placement
    """Where and how the operating system runs it."""
    profile: str
    """The profile's name."""
    recording: Recording
    """How much is recorded of each message."""
    rendezvous: Rendezvous
    """What keeps this trial apart from every other on the machine."""
    security: Security | None = None
    """What it keeps strangers out with; none where the trial is open to all."""
    services: list[ServiceAddress]
    """The services that this host can reach, nearest first: an application uses the first of the kind that it needs."""
    streams: list[StreamSpec]
    """Every stream of the trial."""
    verify: bool
    """Whether subscribers check each message's bytes."""


class CredentialsRequest(BaseModel):
    """What `credentials` is asked: everything that may be named in what it makes."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    applications: list[SecuredApplication]
    """Every application of the trial."""
    contract_version: Annotated[int, Field(ge=0)]
    """[`crate::CONTRACT_VERSION`] of the front."""
    level: SecurityLevel
    """The level that the trial requests."""
    options: dict[str, OptionValue]
    """Options that the suite sets beyond the profile."""
    profile: str
    """The profile's name."""
    rendezvous: Rendezvous
    """What keeps this trial apart from every other."""
    services: list[SecuredService]
    """Every service of the trial."""
    streams: list[StreamSpec]
    """Every stream of the trial, as one of its hosts sees it."""
