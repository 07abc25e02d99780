"""Where the time of real messages goes: each middleware's path is found, and raw datagrams spend theirs in the kernel."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from middlemark.analysis.kernel_path import Part, Paths, paths
from middlemark.analysis.kernel_trace import KernelTrace
from middlemark.analysis.run_folder import RunFolder
from middlemark.campaign import order
from middlemark.campaign.campaign import run_new
from middlemark.suite import LoadedSuite, parse_suite
from middlemark.testbed import kernel_path
from middlemark.worker import locate

BUILT = locate.workers()
# The harness's own: two clock readings, a header, a copy; and two records of system calls, which the observer adds.
HARNESS_NS = 25_000

pytestmark = [
    pytest.mark.worker,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root may observe the kernel"),
]


@pytest.mark.parametrize("topology", ["C1-1", "D1-1"])
@pytest.mark.parametrize("middleware", ["udp", "tcp", "uds", "zenoh", "cyclonedds", "fastdds", "mqtt"])
def test_the_way_of_nearly_every_message_is_found(
    middleware: str, topology: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if middleware not in BUILT:
        pytest.skip(f"the worker `{middleware}` is not built")
    if missing := kernel_path.missing():
        pytest.skip(missing)
    if (middleware, topology) == ("uds", "D1-1"):
        pytest.skip("its sockets reach no other host")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    found = _paths(middleware, topology, tmp_path / "run")
    aside = sum(found.set_aside.values())
    # A receiver of memory or of a local socket that was awake already was woken for none of them.
    assert aside <= 0.25 * (aside + len(found.parts))
    if middleware in {"udp", "tcp"}:
        assert aside <= 0.02 * (aside + len(found.parts))
    if middleware == "udp":
        own = found.parts[f"{Part.MIDDLEWARE_SENDER}_ns"] + found.parts[f"{Part.MIDDLEWARE_RECEIVER}_ns"]
        assert own.quantile(0.5) < HARNESS_NS
        assert found.parts["packets"].to_list() == [1] * len(found.parts)
    assert found.parts["hops"].min() == (2 if middleware == "mqtt" else 1)


def _paths(middleware: str, topology: str, folder: Path) -> Paths:
    text = f"""
suite: observed
trials: 1
middlewares: [{middleware}]
topologies: [{topology}]
workloads: [{{workload: imu, rate: 200 Hz}}]
observe: kernel_path
windows: {{first_message: 5 s, warm_up: 50 ms, window: 500 ms, drain: 2 s}}
disturbance: {{steal: 100 %}}
"""
    suite = LoadedSuite(file="observed.yaml", text=text, suite=parse_suite(text, file="observed.yaml"))
    run_new(folder, order.place(suite, [], None))
    observed = [each for each in RunFolder(folder).stored_trials() if each.kernel_path.exists()]
    assert len(observed) == 1
    record = observed[0].read_record()
    assert record.kernel_path
    assert (record.kernel_path.lost, record.unavailable) == (0, {})
    events = observed[0].read_kernel_events()
    assert len(events) == record.kernel_path.events
    processes, stream = record.kernel_path.processes, record.trial.experiment.streams[0]
    found = paths(
        KernelTrace(events),
        observed[0].read_received(),
        lambda publisher, subscriber: (
            processes[stream.publishers[publisher]],
            processes[stream.subscribers[subscriber]],
        ),
    )
    for row in found.parts.iter_rows(named=True):
        assert sum(row[f"{part}_ns"] for part in Part) == row["whole_ns"]
        assert min(row[f"{part}_ns"] for part in Part) >= 0
    return found
