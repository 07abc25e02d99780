"""A publisher that is stopped in the middle of a window can't hide the queue that it leaves (coordinated omission)."""

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from middlemark.plan import Valid
from middlemark.results.progress import Event, StepReached
from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import RunFolder
from middlemark.testbed.processes import ledger
from middlemark.worker import executables

SUITE = """
suite: stall
trials: 1
middlewares: udp
workloads: [{workload: imu, rate: 500 Hz, size: 100 B}]
windows: {warm_up: 100 ms, window: 1500 ms, drain: 500 ms}
disturbance: {steal: 100 %}
"""
STALL_S = 0.3
LONG_NS = 50_000_000
# Found before the test has a worker folder of its own.
UDP = executables.workers().get("udp")


@pytest.fixture
def udp(tmp_path: Path) -> None:
    if UDP is None:
        pytest.skip("the worker `udp` is not built")
    (tmp_path / "workers" / UDP.name).symlink_to(UDP)


def publisher_pid(state: Path) -> int:
    entries = [entry for path in (state / "middlemark/ledgers").iterdir() for entry in ledger.read(path)]
    publisher = next(entry for entry in entries if entry.what.endswith("application publisher_0"))
    assert publisher.process is not None
    return publisher.process.pid


class StopPublisher:
    """Stops the publisher for a while, half a second into the window."""

    def __init__(self, state: Path) -> None:
        self.state = state

    def observe(self, event: Event) -> None:
        if isinstance(event, StepReached) and event.step == "measuring":
            threading.Timer(0.6, self.stop).start()

    def stop(self) -> None:
        pid = publisher_pid(self.state)
        os.kill(pid, signal.SIGSTOP)
        threading.Timer(STALL_S, os.kill, (pid, signal.SIGCONT)).start()


@pytest.mark.worker
@pytest.mark.usefixtures("udp")
def test_a_stalled_publisher_shows_in_the_latency_from_the_intended_send_only(
    campaign: Callable[..., list[TrialRecord]], tmp_path: Path
) -> None:
    (record,) = campaign(SUITE, StopPublisher(tmp_path / "state"))
    assert record.outcome == Valid()
    received = RunFolder(tmp_path / "run").trial(record.trial.id).read_received()
    late = received.select(
        from_intended=(pl.col("received_ns") - pl.col("intended_ns") > LONG_NS).sum(),
        from_sent=(pl.col("received_ns") - pl.col("sent_ns") > LONG_NS).sum(),
        longest=(pl.col("received_ns") - pl.col("intended_ns")).max(),
    ).row(0, named=True)
    assert len(received) == 750
    # 500 messages a second fell due in 300 ms; all but those of the last 50 ms waited for longer than that.
    assert late["from_intended"] >= 120
    assert late["longest"] >= 290_000_000
    # The system may take the CPU from the subscriber now and then, but not each time.
    assert late["from_sent"] <= late["from_intended"] / 4
