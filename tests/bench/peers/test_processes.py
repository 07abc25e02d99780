"""A peer is watched while its ends exchange messages, and one that exchanges none is no measurement."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import processes

SPIN = "while :; do :; done"


@contextmanager
def running(script: str) -> Iterator[list[subprocess.Popen[bytes]]]:
    process = subprocess.Popen(["sh", "-c", script])
    try:
        yield [process]
    finally:
        process.kill()
        process.wait()


def test_a_peer_is_not_watched_before_its_ends_have_found_each_other(tmp_path: Path) -> None:
    found = tmp_path / "found"
    with running(f"sleep 0.7; touch {found}; {SPIN}") as peer:
        processes.wait_busy(peer)
        assert found.exists()


def test_a_peer_that_stays_quiet_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "PATIENCE_S", 0.1)
    with running("exec sleep 60") as peer, pytest.raises(processes.PeerFailedError, match="nothing was exchanged"):
        processes.wait_busy(peer)
