"""How a trial ended: a closed set of outcomes, stored as data, with the warnings beside them.

It judges nothing: `campaign` and `analysis` decide which outcome a trial has, and what to warn of.
"""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from middlemark.suite import Model
from middlemark.suite.yaml.model import Index, Nanoseconds, ProcessName, StreamName
from middlemark.suite.yaml.quantity import first_few


class InvalidKind(StrEnum):
    """Why the metrics of a trial that ran to its end don't count."""

    STEAL = "steal"
    """The hypervisor took more CPU time than the suite allows."""
    ACCOUNTING = "accounting"
    """Sent is not received + late + lost."""
    CORRUPT = "corrupt"
    """Bytes arrived other than they were sent."""
    FOREIGN = "foreign"
    """Messages of another trial arrived."""
    CLOCK = "clock"
    """The clock did not behave: receive stamps before send stamps."""
    LEFTOVER = "leftover"
    """A process did not close as it should."""
    LINK = "link"
    """A link was not what was requested, before or after the trial."""
    PATH = "path"
    """The kernel's counters contradict the path that messages are stated to take."""
    CONDITION = "condition"
    """What loaded a CPU or kept it awake ended within the trial."""


class InvalidReason(Model):
    """One reason why a trial doesn't count."""

    kind: InvalidKind
    text: str
    """What was seen and what is allowed, with the values."""


class MissingPath(Model):
    """A publisher whose first message never reached a subscriber, or a subscriber whose answer never came back."""

    stream: StreamName
    answers: bool = False
    publisher: Index
    subscriber: Index

    def __str__(self) -> str:
        if self.answers:
            return f"{self.stream}'s answers from subscriber {self.subscriber} to publisher {self.publisher}"
        return f"{self.stream} from publisher {self.publisher} to subscriber {self.subscriber}"


class Valid(Model):
    """It ran, and its metrics count."""

    kind: Literal["valid"] = "valid"

    @property
    def detail(self) -> str:
        """Nothing to say."""
        return ""


class Invalid(Model):
    """It ran, and its metrics are kept but don't count."""

    kind: Literal["invalid"] = "invalid"
    reasons: Annotated[tuple[InvalidReason, ...], Field(min_length=1)]

    @property
    def detail(self) -> str:
        """All reasons."""
        return "; ".join(f"{reason.kind}: {reason.text}" for reason in self.reasons)


class NoCommunication(Model):
    """At least one first message did not arrive by its deadline."""

    kind: Literal["no_communication"] = "no_communication"
    missing: Annotated[tuple[MissingPath, ...], Field(min_length=1)]
    reasons: dict[ProcessName, tuple[str, ...]] = {}
    """By application, what its endpoints know of those whom they should have met."""

    def __hash__(self) -> int:
        """As every outcome has one; a dictionary has none."""
        return hash((self.kind, self.missing))

    @property
    def detail(self) -> str:
        """What did not arrive, and what is known of why; of many paths, applications and endpoints some."""
        missing = first_few(map(str, self.missing), 5, "path", ", ")
        applications = (f"{name}: {first_few(sentences, 2, 'endpoint')}" for name, sentences in self.reasons.items())
        return "; ".join(filter(None, [f"no first message of {missing}", first_few(applications, 4, "application")]))


class NotApplicable(Model):
    """The middleware can't do what the experiment requests, and its worker refused before the trial."""

    kind: Literal["not_applicable"] = "not_applicable"
    capability: str
    reason: str

    @property
    def detail(self) -> str:
        """The worker's reason."""
        return f"{self.capability}: {self.reason}"


class Failed(Model):
    """A process ended or reported a failure."""

    kind: Literal["failed"] = "failed"
    application: str
    """The application or service that failed; `middlemark` where it was the front."""
    doing: str
    """What was being done."""
    causes: tuple[str, ...]
    """The chain of causes, outermost first."""
    exit_status: int | None = None
    """The process's exit status, negative for a signal; none where it still ran."""
    last_log_lines: tuple[str, ...] = ()

    @property
    def detail(self) -> str:
        """Who failed, at what, and why."""
        return f"{self.application}, {self.doing}: {': '.join(self.causes)}"


class TimedOut(Model):
    """A wait came to its deadline."""

    kind: Literal["timed_out"] = "timed_out"
    waiting_for: str
    """What did not come, and from whom."""
    deadline_ns: Nanoseconds
    """How long it was waited for."""

    @property
    def detail(self) -> str:
        """What did not come."""
        return f"waited {self.deadline_ns / 1e9:g} s for {self.waiting_for}"


Outcome = Annotated[Valid | Invalid | NoCommunication | NotApplicable | Failed | TimedOut, Field(discriminator="kind")]
"""How a trial ended."""

ACCEPTED = {"valid", "not_applicable"}
"""The kinds that a campaign is to end with; a trial of another doesn't count, unless a search came for it."""


class WarningKind(StrEnum):
    """What a reader of metrics has to know beside them."""

    GOVERNOR = "governor"
    TURBO = "turbo"
    C_STATES = "c_states"
    LOAD = "load"
    STEAL = "steal"
    SOCKET_BUFFERS = "socket_buffers"
    CLOCK_SOURCE = "clock_source"
    TIMER_COST = "timer_cost"
    SCHEDULING = "scheduling"
    LEFT_OUT = "left_out"
    OVERLOAD = "overload"
    NEGATIVE_LATENCY = "negative_latency"
    SAMPLES_FULL = "samples_full"
    REFUSED_MESSAGES = "refused_messages"
    CLOCK_OFFSET = "clock_offset"
    """Hosts have clocks of their own; how well they agree bounds every one-way time."""
    CPU_LOAD = "cpu_load"
    """A host's CPUs were not kept as busy as requested."""
    CPUS_MOVED = "cpus_moved"
    """The host of a virtual machine moved its CPUs: they were not equally far apart in all trials."""
    NEVER_SETTLED = "never_settled"
    """The latency of a stream reached no steady state in the window."""
    ACROSS = "across"
    """The run was continued with another build or on another machine."""
    SETTLED_LATE = "settled_late"
    """Latency reached its steady state only within the window."""
    DISTURBED = "disturbed"
    """The latency of a stream left its steady state within the window and returned."""
    DEPENDENT_TRIALS = "dependent_trials"
    """Each trial resembles the one before it, but intervals over trials assume independent trials."""
    REPEATED = "repeated"
    """Disturbed at each attempt, a trial was measured at the end of the campaign and not beside those of its block."""
    ELSEWHERE = "elsewhere"
    """Its block had begun on another test-bed of the fleet, which was lost, and was measured anew as a whole."""


class Caution(Model):
    """A typed warning: stored with the result and shown beside the metrics."""

    kind: WarningKind
    text: str
    """What was seen, in one sentence, with the value."""
    remedy: str
    """What to do about it, best a command."""
