"""The progress of a campaign: its events, and the observer that they are told to.

Nothing is stored, computed or shown here: `campaign` tells what happens, `report.output.live` shows it, and neither
knows the other. A campaign works the same with no one watching.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from middlemark.plan import Trial
from middlemark.results.record import TrialRecord


@dataclass(frozen=True)
class LiveMetrics:
    """The first metrics of a trial, for the eye while the campaign runs; the report has its own."""

    first_message_ns: int | None
    """From T0 to the last of the first messages."""
    latency_median_ns: float | None
    """One way, from the actual send; for a ping-pong the round trip."""
    round_trip: bool
    """Whether that is a round trip."""
    sent: int
    received: int


@dataclass(frozen=True)
class CampaignStarted:
    """The run folder is there and the first trial is about to begin."""

    run_folder: Path
    suite: str
    trials: int
    """All trials of the campaign."""
    stored: int
    """Those of them that an earlier, interrupted run has finished."""


@dataclass(frozen=True)
class CampaignExtended:
    """The stored results require further trials."""

    trials: int
    """All trials of the campaign, as far as is known now."""
    why: str


@dataclass(frozen=True)
class TrialStarted:
    """An attempt of a trial begins."""

    trial: Trial
    attempt: int
    """From 1; above 1 after an attempt that the machine disturbed."""


@dataclass(frozen=True)
class StepReached:
    """The trial under way has come to another step of its life."""

    trial: Trial
    step: str
    """In words for the eye: `arming`, `first messages`, `measuring`, `draining`, `stopping`, `storing`."""
    seconds: float | None
    """How long this step takes at least where that is known (the window), else None."""


@dataclass(frozen=True)
class TrialFinished:
    """A trial is stored."""

    record: TrialRecord
    """Of its last attempt."""
    metrics: LiveMetrics | None
    """None where nothing was measured."""
    seconds: float
    """How long it took, attempts together."""
    seconds_left: float
    """For the rest of the campaign, from the windows still to come and the fixed costs seen so far."""
    n_more: int = 0
    """How many were stored together with it and are told next."""


@dataclass(frozen=True)
class CampaignFinished:
    """All trials are stored, or the campaign was interrupted."""

    run_folder: Path
    interrupted: bool
    outcomes: dict[str, int]
    """How many trials ended with each kind of outcome."""


Event = CampaignStarted | CampaignExtended | TrialStarted | StepReached | TrialFinished | CampaignFinished


class Observer(Protocol):
    """Takes each event as it happens; it is called between the steps of a trial and must return at once."""

    def observe(self, event: Event) -> None:
        """Takes one event."""


class Unobserved:
    """The observer of a campaign that no one watches."""

    def observe(self, event: Event) -> None:
        """Takes the event and leaves it at that."""
