"""A trial is not measured open to all where it requests a level of security that its middleware lacks."""

from collections.abc import Callable

import pytest

from middlemark.plan import NotApplicable, Valid
from middlemark.results.record import TrialRecord
from staged import suite_text

Campaign = Callable[..., list[TrialRecord]]


def secured(campaign: Campaign, level: str) -> TrialRecord:
    (record,) = campaign(suite_text(more=f"conditions: {{security: {level}}}"))
    return record


@pytest.mark.parametrize(
    ("level", "why"),
    [("encrypted", "it passes plain datagrams"), ("authenticated", "its worker says of no way to it")],
)
def test_a_level_that_a_worker_lacks_is_not_applicable_with_its_reason(
    campaign: Campaign, level: str, why: str
) -> None:
    reason = f"it can't be {level}: {why}"
    assert secured(campaign, level).outcome == NotApplicable(capability="security", reason=reason)


def test_a_trial_without_security_runs_open_to_all(campaign: Campaign) -> None:
    assert secured(campaign, "none").outcome == Valid()
