"""`middlemark list` shows what can be named, for people and for programs."""

import json

import pytest
from typer.testing import CliRunner

from middlemark.cli.main import app
from middlemark.suite import (
    COUNTED_TOPOLOGIES,
    shipped_suite_names,
    shipped_timelines,
    shipped_topologies,
    shipped_workloads,
)

RUNNER = CliRunner()


def listed(*arguments: str) -> str:
    answer = RUNNER.invoke(app, ["list", *arguments])
    assert answer.exit_code == 0, answer.output
    return answer.stdout


def test_json_holds_every_name() -> None:
    everything = json.loads(listed("--json"))
    assert [row["suite"] for row in everything["suites"]] == list(shipped_suite_names())
    assert [row["workload"] for row in everything["workloads"]] == list(shipped_workloads())
    assert [row["topology"] for row in everything["topologies"]] == [*COUNTED_TOPOLOGIES, *shipped_topologies()]
    assert [row["timeline"] for row in everything["timelines"]] == list(shipped_timelines())
    assert set(everything) == {
        *("suites", "applications", "middlewares", "workloads", "topologies", "timelines", "papers")
    }
    assert [row["application"] for row in everything["applications"]] == ["robot"]


@pytest.mark.parametrize(
    ("subject", "shown"),
    [
        ("suites", "quick"),
        ("workloads", "ping_pong"),
        ("topologies", "C3-1"),
        ("timelines", "rejoin"),
        ("papers", "zenoh-iiot-2025"),
    ],
)
def test_one_subject_is_shown_alone(subject: str, shown: str) -> None:
    text = listed(subject)
    assert shown in text
    assert text.count("summary") == 1


def test_without_a_worker_the_way_to_find_out_why_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("middlemark.worker.executables.workers", dict)
    assert "middlemark doctor" in listed("middlewares")
    assert json.loads(listed("middlewares", "--json")) == {"middlewares": []}


def test_an_unknown_subject_is_a_usage_error() -> None:
    assert RUNNER.invoke(app, ["list", "suits"]).exit_code == 2
