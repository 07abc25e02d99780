"""A trial has the level of security that it requests, or doesn't count; what it proves itself with is kept nowhere."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from middlemark.plan import Failed, Invalid, InvalidKind, NotApplicable, Valid
from middlemark.results.record import TrialRecord
from middlemark.suite import Security
from staged import suite_text

Campaign = Callable[..., list[TrialRecord]]


def secured(campaign: Campaign, level: str, **options: object) -> TrialRecord:
    (record,) = campaign(suite_text(more=f"conditions: {{security: {level}}}", **options))
    return record


def test_a_level_that_a_worker_lacks_is_not_applicable_with_its_reason(campaign: Campaign) -> None:
    reason = "it can't be encrypted: it passes plain datagrams"
    assert secured(campaign, "encrypted").outcome == NotApplicable(capability="security", reason=reason)


def test_a_trial_without_security_runs_open_to_all(campaign: Campaign) -> None:
    record = secured(campaign, "none")
    assert (record.outcome, record.credentials) == (Valid(), {})


def test_a_trial_with_security_states_what_its_applications_keep_and_how(campaign: Campaign) -> None:
    record = secured(campaign, "authenticated")
    assert (record.outcome, record.credentials) == (Valid(), {"word": "16 bytes"})
    assert {effective.security for effective in record.effective.values()} == {Security.AUTHENTICATED}


def test_a_service_gets_credentials_too(campaign: Campaign, tmp_path: Path) -> None:
    assert secured(campaign, "authenticated", brokered=True).outcome == Valid()
    (spec,) = (tmp_path / "run").rglob("spec.json")
    assert json.loads(spec.read_text())["broker_0"]["security"]["level"] == "authenticated"


def test_no_secret_is_stored(campaign: Campaign, tmp_path: Path) -> None:
    assert secured(campaign, "authenticated").outcome == Valid()
    files = [path for path in tmp_path.rglob("*") if path.is_file() and "workers" not in path.parts]
    assert [path for path in files if b"PRIVATE KEY" in path.read_bytes()] == []
    (spec,) = (path for path in files if path.name == "spec.json")
    for process in json.loads(spec.read_text()).values():
        assert process["security"]["files"]["word.pem"].startswith("sha256:")


def test_applications_that_keep_another_level_make_a_trial_invalid(campaign: Campaign) -> None:
    outcome = secured(campaign, "authenticated", keeps_security=False).outcome
    assert isinstance(outcome, Invalid)
    text = "the trial requests security authenticated, but publisher_0 keeps none, subscriber_0 keeps none"
    assert [(reason.kind, reason.text) for reason in outcome.reasons] == [(InvalidKind.PATH, text)]


def test_options_that_leave_no_way_to_a_level_are_not_applicable(campaign: Campaign) -> None:
    outcome = secured(campaign, "authenticated", credentials="refused").outcome
    assert outcome == NotApplicable(capability="security", reason="not under these options")


@pytest.mark.parametrize(
    ("how", "doing", "cause"),
    [
        ("failed", "drawing a word", "no luck"),
        ("lacking", "making credentials", "the worker made none for publisher_0"),
        ("junk", "making credentials", "middlemark-worker-fake credentials printed no answer of the contract: "),
    ],
)
def test_credentials_that_were_not_made_are_a_failure_with_its_cause(
    campaign: Campaign, tmp_path: Path, how: str, doing: str, cause: str
) -> None:
    outcome = secured(campaign, "authenticated", credentials=how).outcome
    assert isinstance(outcome, Failed)
    assert (outcome.application, outcome.doing) == ("credentials", doing)
    assert outcome.causes[0].startswith(cause)
    assert "PRIVATE KEY" not in "".join(path.read_text() for path in (tmp_path / "run").rglob("*.json*"))
