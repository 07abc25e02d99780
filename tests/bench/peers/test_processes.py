"""A peer is watched while its ends exchange messages, and one that exchanges none is no measurement."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import processes
from middlemark.testbed.processes import ledger
from middlemark.testbed.processes.ledger import Ledger
from peer import Command, Metric, Session

SPIN = "while :; do :; done"


@pytest.fixture
def entries() -> Iterator[Ledger]:
    with ledger.opened() as opened:
        yield opened


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


def session(script: str) -> Session:
    """A peer that rests after a warm-up, as sockperf does; it exchanges a message a second."""
    command = Command(("sh", "-c", script), (0,))
    return Session((command,), 0, lambda _: {Metric.RATE: 1.0}, preparing_s=0.1, announced_by="begin")


def test_a_peer_that_announces_its_test_is_not_watched_in_its_pause(tmp_path: Path, entries: Ledger) -> None:
    resting_then_busy = f"sleep 0.7; echo begin; timeout 2 sh -c '{SPIN}'"
    spent_ns = processes.measured(session(resting_then_busy), 1.0, tmp_path, entries)[Metric.CPU]
    assert spent_ns > 0.01e9  # of a second's CPU time, on however busy a machine; while it rests it takes none


def test_a_peer_fills_no_message(tmp_path: Path, entries: Ledger) -> None:
    found = processes.measured(session(f"echo begin; timeout 2 sh -c '{SPIN}'"), 1.0, tmp_path, entries)
    assert found[Metric.UNFILLED] == found[Metric.RATE]


def test_a_peer_that_never_announces_its_test_has_failed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, entries: Ledger
) -> None:
    monkeypatch.setattr(processes, "PATIENCE_S", 0.1)
    with pytest.raises(processes.PeerFailedError, match="'begin' was not said"):
        processes.measured(session("echo hello; exec sleep 60"), 1.0, tmp_path, entries)


def test_the_cpu_time_of_a_peer_that_ends_meanwhile_is_not_told(tmp_path: Path, entries: Ledger) -> None:
    found = processes.measured(session(f"echo begin; timeout 0.5 sh -c '{SPIN}'"), 2.0, tmp_path, entries)
    assert found.keys() == {Metric.RATE, Metric.UNFILLED}


def test_a_peer_that_ends_with_its_input_has_the_time_to_remove_what_it_made(tmp_path: Path, entries: Ledger) -> None:
    left = tmp_path / "left"
    script = f"touch {left}; echo begin; read _; sleep 0.5; rm {left}"
    command = Command(("sh", "-c", script), (0,), ends_with_input=True)
    with processes.peer_process(command, tmp_path / "0.log", entries):
        processes.wait_announced("begin", tmp_path / "0.log")
        assert left.exists()
    assert not left.exists()
