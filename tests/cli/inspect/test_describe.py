"""`middlemark describe` shows on which axes a profile sets what, and on whose advice."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from campaigns.staged import FAKE_WORKER
from middlemark.cli.main import app


@pytest.fixture
def tuned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fake worker's description, with a tuned profile."""
    said = json.loads(subprocess.run([sys.executable, FAKE_WORKER, "describe"], capture_output=True, check=True).stdout)
    axes = [
        {"axis": "batching", "set_by": ["brokered"], "why": "its manual, chapter 3"},
        {"axis": "copies", "set_by": [], "why": "it has no loans"},
    ]
    said["profiles"]["tuned"] = {"summary": "t", "options": {"brokered": True}, "tuning": axes}
    worker = tmp_path / "middlemark-worker-fake"
    worker.write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps(said)}\nEND\n")
    worker.chmod(0o755)
    monkeypatch.setenv("MIDDLEMARK_WORKERS", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")


@pytest.mark.usefixtures("tuned")
def test_each_axis_is_shown_with_what_sets_it_or_why_nothing_does() -> None:
    answer = CliRunner().invoke(app, ["describe", "fake"])
    assert answer.exit_code == 0, answer.output
    lines = [" ".join(line.split()) for line in answer.stdout.splitlines()]
    assert "tuned batching brokered its manual, chapter 3" in lines
    assert "tuned copies nothing it has no loans" in lines


@pytest.mark.usefixtures("tuned")
def test_how_a_publisher_is_matched_is_shown_or_why_it_never_knows() -> None:
    lines = [" ".join(line.split()) for line in CliRunner().invoke(app, ["describe", "fake"]).stdout.splitlines()]
    assert "matching a publisher never knows of a subscriber: over UDP nobody can know" in lines
