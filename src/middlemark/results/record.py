"""What is stored of one trial: frozen models, versioned, with the unit at the end of every name.

It computes nothing and touches no file: `trial_folder` reads and writes these records, `campaign` fills them in,
`manifest` is the run's. The worker contract's fields have a version of their own here, to outlive its changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from middlemark.plan import Caution, Outcome, Trial, Valid
from middlemark.results.counts import Counts, FirstMatch, FirstMessage, MessagePath, NodeCounts, PathProof, Resources
from middlemark.suite import Action, Delivery, Model, Security
from middlemark.suite.yaml.model import Count, Index, Name, Nanoseconds, ProcessName, SignedNanoseconds, TestbedName

FORMAT_VERSION: Final = 1
"""The version of the run folder: a change that an old reader would misread raises it."""


class Window(Model):
    """The instants of a trial on the clock of its machine."""

    t0_ns: Nanoseconds
    begin_ns: Nanoseconds
    end_ns: Nanoseconds

    @model_validator(mode="after")
    def _is_in_order(self) -> Self:
        if not self.t0_ns <= self.begin_ns < self.end_ns:
            raise ValueError(f"the window runs from {self.begin_ns} to {self.end_ns}, after T0 at {self.t0_ns}")
        return self


class HappenedFault(Model):
    """One fault of the timeline, as it really happened."""

    action: Action
    target: str
    asked_ns: Nanoseconds
    """From the window's start, as planned."""
    began_ns: Nanoseconds
    done_ns: Nanoseconds
    """On the clock of the window; a restart is done when the new process publishes and subscribes."""


class LoadReached(Model):
    """How busy the CPUs of a host were kept beside the applications."""

    asked_percent: float
    reached_percent: float
    """The mean of its loaded CPUs."""
    reached_by_cpu_percent: dict[Index, float] = {}
    """By CPU."""


class KeptAwakeFacts(Model):
    """How CPUs were kept from sleeping, and the CPU time of the processes that did so."""

    means: str
    spinners_cpu_ns: Nanoseconds


class CpuDistance(Model):
    """What a cache line took from one of a trial's CPUs to another and back."""

    cpus: tuple[Count, Count]
    before_ns: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    """The trial."""
    after_ns: Annotated[float, Field(gt=0, allow_inf_nan=False)]


class ClockAgreement(Model):
    """How far a host's own clock was ahead of the clock of all stamps, over the whole trial."""

    offset_ns: SignedNanoseconds
    bound_ns: Nanoseconds
    """The truth is at most so far from the offset."""
    source: Literal["exchanges", "ptp"]


class LinkMeasured(Model):
    """What the probe saw of one link, or of the route between two machines, before or after a trial."""

    host: Name
    network: Name | None
    """None for a route over no declared network."""
    to: Name | None = None
    """Of a route, the host at its other end."""
    when: Literal["before", "after"]
    backend: str
    """What made the link what it is, in words."""
    figures: dict[str, float | Annotated[int, Field(ge=-(2**62), le=2**62)] | None]
    """Names with their units: round trip, rate and loss of each direction."""
    problem: str | None = None
    """Why it is not the link that was requested."""

    @property
    def is_dead(self) -> bool:
        """Whether nothing came through."""
        return self.problem is not None and not self.figures.get("pings")

    @property
    def name(self) -> str:
        """`host/network`, or the two ends of a route."""
        if self.to is None:
            return f"{self.host}/{self.network}"
        return f"{self.host} – {self.to}" + ("" if self.network is None else f" over {self.network}")


class Effective(Model):
    """The configuration that an application really ran with; older runs have no `delivery`."""

    transport: str
    delivery: Delivery | None = None
    receive_mode: str
    zero_copy: bool
    settings: dict[str, str]
    paths: tuple[MessagePath, ...] = ()
    """Those that messages may take; none is stated by records of older versions."""
    security: Security = Security.NONE
    """What it keeps strangers out with."""


class ServiceConfiguration(Model):
    """The configuration that a service really ran with."""

    version: str
    settings: dict[str, str]


Phase = Literal["discovery", "warm_up", "window", "drain"]
"""From arming to the last first message; to the window; the window; until the drain is over."""


class LinkTraffic(Model):
    """What one host's interface transmitted during one phase: whole frames, Ethernet's header included."""

    host: Name
    network: Name
    phase: Phase
    duration_ns: Nanoseconds
    sent_bytes: Count
    sent_packets: Count
    received_bytes: Count
    received_packets: Count


class CapturedLink(Model):
    """The counts of the frames that passed one link: each is captured, beyond the file's size, or lost."""

    host: Name
    network: Name
    captured: Count
    cut: Count
    """Of the captured, those of which less than the whole is kept."""
    beyond: Count
    """Came when the file had its size."""
    lost: Count
    """Came faster than they could be taken."""


class CaptureRecord(Model):
    """What belongs to a trial's captured frames beside the file."""

    snap_bytes: Count
    most_bytes: Count
    file_bytes: Count
    links: tuple[CapturedLink, ...]
    readable_headers: Count | None = None
    """The headers of the trial's messages that are in the file as they were sent; older versions did not look."""


class KernelRecording(Model):
    """What belongs to a recording of kernel events beside the events themselves."""

    processes: dict[ProcessName, Count]
    """By process, its number on the machine."""
    forwarders: tuple[Count, ...] = ()
    """The numbers of the relays that forward packets."""
    events: Count
    lost: Count
    """Events that found no room: with any, the recording has gaps."""
    calls: dict[Count, str]
    """The names of the system calls, by number."""


class TrialRecord(Model):
    """All that is known of one trial but its samples: `trial.json`."""

    format_version: Literal[1] = FORMAT_VERSION
    trial: Trial
    outcome: Outcome
    attempt: Annotated[int, Field(ge=1, le=1000)] = 1
    """Which attempt this is: a trial that the machine disturbed is repeated."""
    warnings: tuple[Caution, ...] = ()
    testbed: TestbedName | None = None
    """Of a run over a fleet: the test-bed that measured it; the manifest has its facts."""
    across: tuple[str, ...] = ()
    """Where the run was continued with `--across`: the differences from its start."""
    effective: dict[Name, Effective] = {}
    """By application."""
    credentials: dict[str, str] = {}
    """How those of its processes were made, in the worker's words; empty where it was open to all."""
    services: dict[ProcessName, ServiceConfiguration] = {}
    """By service, as its last process said when it was ready."""
    counts: Counts = Counts()
    initialised_after_ns: dict[Name, Nanoseconds] = {}
    """By application: when all its endpoints existed, from T0."""
    matched: tuple[FirstMatch, ...] = ()
    first_message: tuple[FirstMessage, ...] = ()
    window: Window | None = None
    """None where the trial ended before its window was fixed."""
    resources: dict[ProcessName, Resources] = {}
    """By process: every application, and every service under its own name."""
    path: dict[Name, PathProof] = {}
    """By application."""
    nodes: tuple[NodeCounts, ...] = ()
    """Of a pipeline, in the plan's order."""
    faults: tuple[HappenedFault, ...] = ()
    """What went wrong within the window, as it was requested."""
    interrupted: tuple[Name, ...] = ()
    """Applications of which a process ended within the window: its samples and counts ended with it."""
    memory_growth_bytes: dict[ProcessName, Annotated[int, Field(ge=-(2**53), le=2**53)]] = {}
    """Of a trial with faults, by process that lived through the window: resident at its end less at its start."""
    cpu_load: dict[Name, LoadReached] = {}
    """By loaded host."""
    kept_awake: KeptAwakeFacts | None = None
    """None where the CPUs might sleep."""
    cpu_distance: CpuDistance | None = None
    """Between the first two CPUs of this machine that its applications had; none where they had fewer."""
    links: tuple[LinkMeasured, ...] = ()
    clocks: dict[Name, ClockAgreement] = {}
    """By host with a clock of its own."""
    kernel_path: KernelRecording | None = None
    """Of a trial whose observation is `kernel_path`."""
    wire: tuple[LinkTraffic, ...] = ()
    """Of a trial whose observation is `wire`."""
    capture: CaptureRecord | None = None
    """Of a trial whose observation is `capture`."""
    unavailable: dict[str, str] = {}
    """Of an observed trial: what could not be seen, with the reason."""

    @model_validator(mode="after")
    def _speaks_of_its_own_trial(self) -> Self:
        streams = {stream.name: stream for stream in self.trial.experiment.streams}
        paths = [
            (subscriber.stream, subscriber.publisher, subscriber.subscriber) for subscriber in self.counts.subscribers
        ]
        paths += [(message.stream, message.publisher, message.subscriber) for message in self.first_message]
        sent = [(publisher.stream, publisher.publisher) for publisher in self.counts.publishers]
        sent += [(match.stream, match.publisher) for match in self.matched if not match.answers]
        for stream, publisher in (*sent, *(path[:2] for path in paths)):
            if stream not in streams or publisher >= len(streams[stream].publishers):
                raise ValueError(f"the trial has no publisher {publisher} of {stream}")
        answering = [(match.stream, 0, match.publisher) for match in self.matched if match.answers]
        for stream, _, subscriber in (*paths, *answering):
            if subscriber >= len(streams[stream].subscribers):
                raise ValueError(f"the trial has no subscriber {subscriber} of {stream}")
        applications = {application.name for application in self.trial.experiment.applications}
        strange = {*self.effective, *self.initialised_after_ns, *self.path, *self.interrupted} - applications
        strange |= {node.node for node in self.nodes} - {node.name for node in self.trial.experiment.nodes}
        if strange:
            raise ValueError(f"the trial has no {', '.join(sorted(strange))}")
        return self

    def clock_bound_ns(self, stream: str) -> int:
        """By how much a one-way time of the stream may be off because its ends have different clocks."""
        planned = next(
            planned_stream for planned_stream in self.trial.experiment.streams if planned_stream.name == stream
        )
        return self.clocks_apart_ns(planned.publishers, planned.subscribers)

    def clocks_apart_ns(self, first: Sequence[str], second: Sequence[str]) -> int:
        """The same of a time from any of some applications to any of others; on one host it is by one clock."""
        host_of = self._host_of()
        pairs = {(host_of[application], host_of[peer]) for application in first for peer in second}
        return max((self._bound_of(host) + self._bound_of(peer) for host, peer in pairs if host != peer), default=0)

    def clock_bound_at_ns(self, application: str) -> int:
        """The same of a time from an instant of this machine, as the common start or a fault, to an application's."""
        return self._bound_of(self._host_of()[application])

    def _host_of(self) -> dict[str, str]:
        return {application.name: application.host for application in self.trial.experiment.applications}

    def _bound_of(self, host: str) -> int:
        clock = self.clocks.get(host)
        return 0 if clock is None else clock.bound_ns


def is_valid(record: TrialRecord) -> bool:
    """Whether the trial's metrics count."""
    return isinstance(record.outcome, Valid)
