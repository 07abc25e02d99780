"""The program answers at once, and every error ends in one message and its exit code."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.core import TyperGroup
from typer.testing import CliRunner

from middlemark import __version__
from middlemark.cli.boundary import reported_errors
from middlemark.cli.main import app
from middlemark.errors import (
    EnvironmentNotReady,
    InternalError,
    Interrupted,
    MiddlemarkError,
    ResultsNotAccepted,
    StoreError,
    SuiteError,
    UsageError,
    WorkerFailed,
)

HEAVY = {
    "altair",
    "dask",
    "distributed",
    "jinja2",
    "numpy",
    "pint",
    "polars",
    "ruptures",
    "scipy",
    "uvicorn",
    "vl_convert",
}


def middlemark(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "middlemark", *arguments]
    environment = {**os.environ, "NO_COLOR": "1", "TERMINAL_WIDTH": "100", **environment}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def _commands() -> Iterator[str]:
    """Every command, with the group that it is in."""
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    for name, command in group.commands.items():
        yield name
        yield from (f"{name} {inner}" for inner in getattr(command, "commands", ()))


def test_help_names_the_commands() -> None:
    answer = middlemark("--help")
    assert answer.returncode == 0
    assert "list" in answer.stdout


@pytest.mark.parametrize("command", sorted(_commands()))
def test_help_names_values_by_words_and_switches_by_nothing(command: str) -> None:
    answer = CliRunner().invoke(app, [*command.split(), "--help"], env={"TERMINAL_WIDTH": "120", "NO_COLOR": "1"})
    assert answer.exit_code == 0
    assert "Usage" in answer.stdout
    assert not re.search(r"<(bool|int|float|str|path|list)", answer.stdout)


@pytest.mark.parametrize("arguments", ["--help", "run --help", "list middlewares"])
def test_what_only_shows_loads_nothing_heavy(arguments: str) -> None:
    code = "import atexit, sys; atexit.register(lambda: print('loaded:', *sys.modules)); from middlemark.cli.main import main; main()"
    answer = subprocess.run(
        [sys.executable, "-c", code, *arguments.split()], capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in answer.stdout.rpartition("loaded:")[2].split()}
    assert "typer" in loaded
    assert not HEAVY & loaded


def test_what_leads_a_campaign_waits_for_no_statistics() -> None:
    code = "import sys, middlemark.campaign.campaign; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "scipy" in loaded, "its parts are loaded when they are first asked for"
    assert not {"scipy.stats", "ruptures", "altair"} & set(loaded)


def test_version() -> None:
    assert middlemark("--version").stdout == f"middlemark {__version__}\n"


def test_a_wrong_command_is_a_usage_error() -> None:
    answer = middlemark("lits")
    assert answer.returncode == 2
    assert "Did you mean 'list'" in answer.stderr


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("no such suite"), 2),
        (SuiteError("unknown key", file="mine.yaml", line=3, column=1), 2),
        (EnvironmentNotReady("no worker", remedy="make workers"), 3),
        (WorkerFailed("it ended", exit_status=-9, last_log_lines=["bus error"]), 3),
        (StoreError(Path("/runs/1"), "the disk is full", "make room"), 3),
        (ResultsNotAccepted("one trial is invalid"), 1),
        (Interrupted("ended by the user"), 130),
        (InternalError("this can't be"), 4),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_every_error_ends_in_its_message_and_exit_code(
    error: MiddlemarkError, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended, reported_errors(["middlemark"]):
        raise error
    assert ended.value.code == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("error: ")
    for part in str(error).splitlines():
        assert part.strip() in shown.err


def test_an_interrupt_ends_with_130() -> None:
    with pytest.raises(SystemExit) as ended, reported_errors(["middlemark"]):
        raise KeyboardInterrupt
    assert ended.value.code == 130


def test_the_unexpected_ends_with_4_and_a_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with pytest.raises(SystemExit) as ended, reported_errors(["middlemark", "run", "quick"]):
        raise ZeroDivisionError("by nothing")
    assert ended.value.code == 4
    [log] = (tmp_path / "middlemark").iterdir()
    assert str(log) in capsys.readouterr().err
    text = log.read_text(encoding="utf-8")
    assert "middlemark run quick" in text
    assert "ZeroDivisionError: by nothing" in text


def test_the_log_goes_elsewhere_where_the_state_folder_can_not_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(SystemExit), reported_errors(["middlemark"]):
        raise ZeroDivisionError
    [log] = tmp_path.glob("*.log")
    assert str(log) in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_the_log_goes_into_no_other_users_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As with `sudo -E`, which keeps that user's folders."""
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    os.chown(theirs, 65534, -1)
    monkeypatch.setenv("XDG_STATE_HOME", str(theirs))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(SystemExit), reported_errors(["middlemark"]):
        raise ZeroDivisionError
    [log] = tmp_path.glob("*.log")
    assert str(log) in capsys.readouterr().err
    assert list(theirs.iterdir()) == []


def test_nothing_that_a_suite_says_is_a_command_to_the_terminal(tmp_path: Path) -> None:
    suite = tmp_path / "odd.yaml"
    suite.write_text('"\\e]52;c;Y2F0\\a[/x]": 1\nsuite: odd\n', encoding="utf-8")
    answer = middlemark("run", str(suite), "--dry-run")
    assert answer.returncode == 2
    assert "\x1b" not in answer.stdout + answer.stderr
    assert "]52;c;Y2F0" in answer.stderr


WITHOUT_JSON = {
    "serve": "it shows pages",
    "join": "it measures until it is ended",
    "init": "it writes the file that is named",
}
"""Commands that say nothing which a program would read."""


def commands(group: TyperGroup) -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from commands(command)
        else:
            yield name, command


def test_every_command_that_tells_something_has_it_as_json() -> None:
    program = typer.main.get_command(app)
    assert isinstance(program, TyperGroup)
    found = {name: {option for p in command.params for option in p.opts} for name, command in commands(program)}
    assert {"run", "history", "show", "gate"} <= found.keys()
    assert {name for name, options in found.items() if "--json" not in options} == WITHOUT_JSON.keys()
