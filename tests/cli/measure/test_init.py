"""`middlemark init`: what it writes is a suite that can be run, and nothing is written that is none."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from middlemark.cli.main import app
from middlemark.errors import MiddlemarkError, UsageError
from middlemark.plan import expand
from middlemark.suite import load_suite


def init(*arguments: object, answers: str | None = None) -> Result:
    return CliRunner().invoke(app, ["init", *map(str, arguments)], input=answers)


@pytest.mark.parametrize("messages", ["imu", "ping_pong", "2 MB at 10 Hz", "64 KiB at 1 kHz"])
@pytest.mark.parametrize("middlewares", ["all", "udp", "udp, tcp"])
@pytest.mark.parametrize("topology", ["C1-1", "D1-1", "routed-3"])
def test_the_suite_that_is_written_can_be_run(tmp_path: Path, middlewares: str, messages: str, topology: str) -> None:
    file = tmp_path / "my-robot.yaml"
    done = init(file, "--middlewares", middlewares, "--messages", messages, "--topology", topology)
    assert done.exit_code == 0, done.output
    suite = load_suite(str(file)).suite
    assert suite.suite == "my-robot"
    experiments = expand(suite, available=["tcp", "udp"])
    assert {experiment.middleware for experiment in experiments} == (
        {"udp"} if middlewares == "udp" else {"tcp", "udp"}
    )
    assert {experiment.topology for experiment in experiments} == {topology}


def test_three_questions_are_asked_where_somebody_can_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("middlemark.cli.measure.init.is_asked", lambda: True)
    done = init(tmp_path / "own.yaml", answers="udp\n2 MB at 10 Hz\n\n")
    assert done.exit_code == 0, done.output
    assert done.stdout.count("?") == 3
    assert load_suite(str(tmp_path / "own.yaml")).suite.topologies[0].topology == "C1-1"


def test_where_nobody_can_answer_the_missing_option_is_named(tmp_path: Path) -> None:
    refused = init(tmp_path / "own.yaml", "--middlewares", "udp", "--topology", "C1-1")
    assert isinstance(refused.exception, UsageError)
    assert "--messages 'imu'" in str(refused.exception)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--messages", "imus"),
        ("--messages", "2 MB"),
        ("--topology", "C9"),
        ("--middlewares", "{"),
        ("--middlewares", ""),
    ],
)
def test_an_answer_that_makes_no_suite_is_refused_and_nothing_is_written(
    tmp_path: Path, option: str, value: str
) -> None:
    answers = {"--middlewares": "udp", "--messages": "imu", "--topology": "C1-1"} | {option: value}
    refused = init(tmp_path / "own.yaml", *(word for pair in answers.items() for word in pair))
    assert isinstance(refused.exception, MiddlemarkError)
    assert not (tmp_path / "own.yaml").exists()


def test_a_file_that_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("mine", encoding="utf-8")
    refused = init(tmp_path / "own.yaml", "--middlewares", "udp", "--messages", "imu", "--topology", "C1-1")
    assert isinstance(refused.exception, UsageError)
    assert (tmp_path / "own.yaml").read_text(encoding="utf-8") == "mine"
