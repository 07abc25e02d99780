"""What an observer samples from outside is what the processes themselves account for, in the same trial."""

from pathlib import Path

import pytest

from middlemark.analysis.metrics.resources import resource_values
from middlemark.analysis.stats.quantiles import Measured
from middlemark.campaign import order
from middlemark.campaign.campaign import run_new
from middlemark.errors import EnvironmentNotReady
from middlemark.plan import Valid
from middlemark.results.run_folder import RunFolder
from middlemark.suite import LoadedSuite, parse_suite
from middlemark.suite.metrics import Key, process_subject
from middlemark.testbed.processes.child import executable
from middlemark.worker import executables

SUITE = """
suite: watched
trials: 1
middlewares: udp
observe: resources
workloads: {workload: imu, rate: 20 kHz, size: 1 kB}
windows: {first_message: 20 s, warm_up: 200 ms, window: 2 s, drain: 300 ms}
disturbance: {steal: 100 %}
"""


def is_built() -> bool:
    try:
        executable("resources")
    except EnvironmentNotReady:
        return False
    return "udp" in executables.workers()


pytestmark = [
    pytest.mark.timed,
    pytest.mark.worker,
    pytest.mark.skipif(not is_built(), reason="the worker `udp` or middlemark-resources is not built"),
]


def test_the_observer_and_the_processes_account_for_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    suite = LoadedSuite(file="watched.yaml", text=SUITE, suite=parse_suite(SUITE, file="watched.yaml"))
    run_new(tmp_path / "run", order.order_suite(suite, [], None))
    (folder,) = (each for each in RunFolder(tmp_path / "run").stored_trials() if each.read_record().trial.observation)
    record = folder.read_record()
    assert record.outcome == Valid(), record.outcome
    values = resource_values(record, folder.read_processes(), folder.read_machine())

    def sampled(process: str, metric: str) -> float:
        value = values[Key(process_subject(process), metric)]
        assert isinstance(value, Measured)
        return value.value

    for name, own in record.resources.items():
        own_percent = 100 * (own.cpu_user_ns + own.cpu_system_ns) / own.wall_ns
        assert sampled(name, "sampled_cpu_percent_of_core") == pytest.approx(own_percent, rel=0.15, abs=2)
        assert sampled(name, "resident_bytes") == pytest.approx(own.resident_bytes, rel=0.1)
        assert sampled(name, "unique_bytes") <= sampled(name, "proportional_bytes") <= sampled(name, "resident_bytes")
        switches_hz = (own.voluntary_switches + own.involuntary_switches) / (own.wall_ns / 1e9)
        found_hz = sampled(name, "voluntary_switches_hz") + sampled(name, "involuntary_switches_hz")
        assert found_hz == pytest.approx(switches_hz, rel=0.2, abs=50)
