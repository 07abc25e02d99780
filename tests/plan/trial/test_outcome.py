"""Outcomes are data: each is told apart by its kind, survives being stored, and says in one sentence what happened."""

import pytest
from inline_snapshot import snapshot
from pydantic import TypeAdapter, ValidationError

from middlemark.plan import (
    Failed,
    Invalid,
    InvalidKind,
    InvalidReason,
    MissingPath,
    NoCommunication,
    NotApplicable,
    Outcome,
    TimedOut,
    Valid,
)

OUTCOMES: list[Outcome] = [
    Valid(),
    Invalid(
        reasons=(InvalidReason(kind=InvalidKind.STEAL, text="7.1 % of the CPUs' time was stolen, 2 % are allowed"),)
    ),
    NoCommunication(missing=(MissingPath(stream="imu", publisher=0, subscriber=1),)),
    NotApplicable(capability="size_bytes", reason="4 MB are more than the 1400 B of one message"),
    Failed(
        application="publisher_0", doing="open the session", causes=("no route", "bind: address in use"), exit_status=1
    ),
    TimedOut(waiting_for="`armed` from subscriber_0", deadline_ns=5_000_000_000),
]
ADAPTER: TypeAdapter[Outcome] = TypeAdapter(Outcome)


@pytest.mark.parametrize("outcome", OUTCOMES, ids=lambda outcome: outcome.kind)
def test_an_outcome_survives_being_stored(outcome: Outcome) -> None:
    assert ADAPTER.validate_json(ADAPTER.dump_json(outcome)) == outcome


def test_the_set_of_outcomes_is_closed() -> None:
    with pytest.raises(ValidationError):
        ADAPTER.validate_python({"kind": "skipped"})


def test_an_outcome_says_what_happened() -> None:
    assert {outcome.kind: outcome.detail for outcome in OUTCOMES} == snapshot(
        {
            "valid": "",
            "invalid": "steal: 7.1 % of the CPUs' time was stolen, 2 % are allowed",
            "no_communication": "no first message of imu from publisher 0 to subscriber 1",
            "not_applicable": "size_bytes: 4 MB are more than the 1400 B of one message",
            "failed": "publisher_0, open the session: no route: bind: address in use",
            "timed_out": "waited 5 s for `armed` from subscriber_0",
        }
    )


def test_of_many_silent_endpoints_some_are_named() -> None:
    silent = NoCommunication(
        missing=tuple(MissingPath(stream="imu", publisher=0, subscriber=number) for number in range(7)),
        reasons={f"subscriber_{number}": ("no writer of a",) * 3 for number in range(6)},
    )
    paths, *applications = silent.detail.split("; subscriber_")
    assert paths.endswith("imu from publisher 0 to subscriber 4 and 2 other paths")
    assert applications == [
        *(f"{number}: no writer of a; no writer of a and 1 other endpoint" for number in range(3)),
        "3: no writer of a; no writer of a and 1 other endpoint and 2 other applications",
    ]


@pytest.mark.parametrize("outcome", ["invalid", "no_communication"])
def test_an_outcome_without_its_reason_is_refused(outcome: str) -> None:
    with pytest.raises(ValidationError):
        ADAPTER.validate_python({"kind": outcome, "reasons": []})
