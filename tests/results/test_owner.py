"""A run folder of another user is refused by whoever reads one, unless its user says that it is trusted."""

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from behaviour import Behaviour
from middlemark import load
from middlemark.analysis.catalogue.library import RunLibrary
from middlemark.analysis.run import analyse
from middlemark.cli.main import app
from middlemark.errors import StoreError
from middlemark.results.run_folder import RunFolder
from run_builder import build_run

SUITE = "suite: small\ntrials: 2\nmiddlewares: all\nworkloads: [{workload: imu, windows: {window: 200 ms}}]\n"


@pytest.fixture
def of_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = build_run(tmp_path / "run", SUITE, {"one": Behaviour(), "two": Behaviour()}).path
    if os.geteuid() == 0:
        os.chown(path, 54321, -1)
    else:
        own = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: own + 1)
    return path


@pytest.mark.parametrize(
    "command",
    [
        ["report", "RUN"],
        ["report", "RUN", "--recompute"],
        ["export", "RUN"],
        ["compare", "RUN", "--by", "middleware"],
        ["gate", "RUN", "--by", "middleware", "--fail-if", "p99(latency) > +500 %"],
        ["claims", "RUN", "--claim", "no loss"],
        ["pack", "RUN", "memory://packed/run.tar"],
    ],
)
def test_every_command_that_reads_a_run_refuses_anothers_and_takes_it_with_trust(
    of_another: Path, command: list[str]
) -> None:
    words = [str(of_another) if word == "RUN" else word for word in command]
    before = sorted(of_another.iterdir())
    refused = CliRunner().invoke(app, words)
    assert isinstance(refused.exception, StoreError)
    assert "belongs to another user" in str(refused.exception)
    assert "--trust" in (refused.exception.remedy or "")
    assert sorted(of_another.iterdir()) == before
    taken = CliRunner().invoke(app, [*words, "--trust"])
    assert not isinstance(taken.exception, StoreError), taken.output


def test_going_on_with_anothers_run_is_refused(of_another: Path) -> None:
    refused = CliRunner().invoke(app, ["run", "--resume", str(of_another)])
    assert isinstance(refused.exception, StoreError)
    assert "belongs to another user" in str(refused.exception)


def test_notebooks_and_the_served_page_refuse_it_too(of_another: Path) -> None:
    with pytest.raises(StoreError, match="another user"):
        load(of_another)
    assert load(of_another, trust=True).trials.height == 4
    (said,) = RunLibrary([of_another.parent]).look().unreadable
    assert "belongs to another user" in said
    assert len(RunLibrary([of_another.parent], trust=True).look().runs) == 1


def test_roots_folders_are_everybodys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = build_run(tmp_path / "run", SUITE, {"one": Behaviour()})
    if os.geteuid() == 0:
        monkeypatch.setattr(os, "geteuid", lambda: 54321)
    assert not analyse(RunFolder(run.path)).damaged
