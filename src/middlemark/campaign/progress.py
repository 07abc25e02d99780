"""The events of a campaign, under the name by which it tells them; `plan.progress` defines them for the views' sake."""

from middlemark.plan.progress import (
    CampaignFinished,
    CampaignStarted,
    Event,
    Headline,
    Observer,
    StepReached,
    TrialFinished,
    TrialStarted,
    Unobserved,
)

__all__ = [
    "CampaignFinished",
    "CampaignStarted",
    "Event",
    "Headline",
    "Observer",
    "StepReached",
    "TrialFinished",
    "TrialStarted",
    "Unobserved",
]
