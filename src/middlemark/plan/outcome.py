"""How a trial ended: a closed set, stored as data, and the warnings that go with it.

It judges nothing: `campaign` and `analysis` decide which outcome a trial has.
"""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from middlemark.suite import Model
from middlemark.suite.yaml.model import Index, Nanoseconds, StreamName


class InvalidKind(StrEnum):
    """Why the figures of a trial that ran to its end don't count."""

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
    """A link was not what was asked for, before or after the trial."""


class InvalidReason(Model):
    """One reason why a trial doesn't count."""

    kind: InvalidKind
    text: str
    """What was seen and what is allowed, with the figures."""


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
    """It ran, and its figures count."""

    kind: Literal["valid"] = "valid"

    @property
    def detail(self) -> str:
        """Nothing to say."""
        return ""


class Invalid(Model):
    """It ran, and its figures are kept but don't count."""

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

    @property
    def detail(self) -> str:
        """What did not arrive."""
        return f"no first message of {', '.join(map(str, self.missing))}"


class NotApplicable(Model):
    """The middleware can't do what the experiment asks, and said so before the trial."""

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
    """What a reader of figures has to know beside them."""

    GOVERNOR = "governor"
    TURBO = "turbo"
    C_STATES = "c_states"
    CPU_ISOLATION = "cpu_isolation"
    LOAD = "load"
    STEAL = "steal"
    SOCKET_BUFFERS = "socket_buffers"
    CLOCK_SOURCE = "clock_source"
    TIMER_COST = "timer_cost"
    SCHEDULING = "scheduling"
    CPUS_SHARED = "cpus_shared"
    LEFT_OUT = "left_out"
    OVERLOAD = "overload"
    NEGATIVE_LATENCY = "negative_latency"
    SAMPLES_FULL = "samples_full"
    FEW_SAMPLES = "few_samples"
    REFUSED_MESSAGES = "refused_messages"
    CLOCK_OFFSET = "clock_offset"
    """Hosts have clocks of their own; how well they agree bounds every one-way time."""
    CPU_LOAD = "cpu_load"
    """A host's CPUs were not kept as busy as asked."""
    NEVER_SETTLED = "never_settled"
    """The latency of a stream held no level to the window's end."""
    ACROSS = "across"
    """The run was gone on with by another build, or on another machine, than it was begun."""
    SETTLED_LATE = "settled_late"
    """A part of the window, at its begin, had another latency than the rest."""
    DISTURBED = "disturbed"
    """The latency of a stream left its level within the window and came back."""
    DEPENDENT_TRIALS = "dependent_trials"
    """Each trial resembles the one before it, while intervals over trials suppose that they are independent."""


class Caution(Model):
    """A typed warning: stored with the result and shown beside the figure."""

    kind: WarningKind
    text: str
    """What was seen, in one sentence, with the figure."""
    remedy: str
    """What to do about it, best a command."""
