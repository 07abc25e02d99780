"""A worker is asked for its description, and nothing that it answers costs more than an error."""

from pathlib import Path

import pytest

from middlemark.errors import WorkerFailed
from middlemark.worker import description
from middlemark.worker.description import describe


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("exec cat /dev/zero", "more than"),
        ("exec cat /dev/zero >&2", "more than"),
        ("exec sleep 600", "not ended"),
        ("setsid sleep 3 & exit 0", "not ended"),
        ("echo '{'; exit 0", "did not print a description"),
        ("head -c 1000000 /dev/zero | tr '\\0' '['", "did not print a description"),
        ("exit 3", "failed"),
    ],
    ids=["output", "errors", "time", "child", "cut off", "deep", "status"],
)
def test_a_worker_that_describes_itself_badly_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, why: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(description, "DEADLINE_S", 1.0)
    worker = tmp_path / "middlemark-worker-odd"
    worker.write_text(f"#!/bin/sh\n{script}\n")
    worker.chmod(0o755)
    with pytest.raises(WorkerFailed, match=why):
        describe(worker)
