"""The shell completes suites, middlewares and conditions, and never fails."""

from types import SimpleNamespace

import pytest

from middlemark.cli import arguments


@pytest.fixture(autouse=True)
def two_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("middlemark.worker.executables.workers", lambda: {"udp": None, "zenoh": None})


def test_suites_are_completed() -> None:
    assert arguments.suites("qu") == ["quick"]


def test_middlewares_are_completed() -> None:
    assert arguments.middlewares("z") == ["zenoh"]


def test_conditions_are_those_of_the_suite_on_the_command_line() -> None:
    context = SimpleNamespace(params={"suite": "smoke"})
    assert arguments.conditions(context, "middleware=") == []
    context = SimpleNamespace(params={"suite": "quick"})
    assert arguments.conditions(context, "middleware=") == ["middleware=udp", "middleware=zenoh"]


def test_a_suite_that_can_not_be_read_completes_to_nothing() -> None:
    assert arguments.conditions(SimpleNamespace(params={"suite": "no such"}), "m") == []
