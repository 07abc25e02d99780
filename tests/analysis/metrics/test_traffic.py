"""What left the hosts, by phase, and how much of it each delivered byte took."""

import pytest

from behaviour import Behaviour
from middlemark.analysis.metrics.traffic import payload_hosts, receiving_hosts, wire_values
from middlemark.results.record import LinkTraffic, Phase, TrialRecord
from middlemark.suite.metrics import TRIAL, Key
from shared_runs import SharedRuns

SUITE = """
suite: known
trials: 1
middlewares: one
topologies: D1-1
workloads: [{{workload: {workload}, size: 100 B, windows: {{window: 2 s}}}}]
"""


def record_of(runs: SharedRuns, workload: str, **sent_bytes: int) -> TrialRecord:
    (folder,) = runs.run(SUITE.format(workload=workload), {"one": Behaviour()}).stored_trials()
    phases: tuple[Phase, ...] = ("discovery", "warm_up", "window", "drain")
    wire = [
        LinkTraffic(
            host=host,
            network="network",
            phase=phase,
            duration_ns=1,
            sent_bytes=sent_bytes.get(phase, 0),
            sent_packets=sent_bytes.get(phase, 0) // 100,
            received_bytes=7,
            received_packets=1,
        )
        for phase in phases
        for host in ("host_0", "host_1")
    ]
    return folder.read_record().model_copy(update={"wire": tuple(wire)})


def values(record: TrialRecord) -> dict[str, float]:
    found = wire_values(record)
    assert all(key == Key(TRIAL, key.metric) for key in found)
    return {key.metric: each.value for key, each in found.items()}  # type: ignore[union-attr]


def test_phases_are_counted_apart_where_bytes_leave(runs: SharedRuns) -> None:
    found = values(record_of(runs, "imu", discovery=500, window=100_000))
    assert (found["wire_discovery_bytes"], found["wire_window_bytes"], found["wire_drain_bytes"]) == (1000, 200_000, 0)
    assert found["wire_window_packets"] == 2000


def test_the_overhead_is_of_the_bytes_that_were_delivered(runs: SharedRuns) -> None:
    record = record_of(runs, "imu", window=100_000)
    delivered = sum(each.received for each in record.counts.subscribers)
    found = values(record)
    assert found["wire_overhead_ratio"] == pytest.approx(200_000 / (delivered * 100))
    assert found["wire_bytes_per_message"] == pytest.approx(200_000 / delivered)


def test_there_is_no_overhead_where_a_killed_subscriber_lost_its_counts(runs: SharedRuns) -> None:
    record = record_of(runs, "imu", window=100_000).model_copy(update={"interrupted": ("subscriber_0",)})
    found = values(record)
    assert found["wire_window_bytes"] == 200_000
    assert {name for name in found if name.endswith(("ratio", "per_message"))} == set()


def test_answers_are_payload_too(runs: SharedRuns) -> None:
    record = record_of(runs, "ping_pong", window=100_000)
    delivered = sum(each.received for each in record.counts.subscribers)
    assert any(each.answers for each in record.counts.subscribers)
    assert values(record)["wire_overhead_ratio"] == pytest.approx(200_000 / (delivered * 100))


def test_a_trial_without_readings_has_no_figures(runs: SharedRuns) -> None:
    record = record_of(runs, "imu").model_copy(update={"wire": ()})
    assert values(record) == {}


def test_what_a_host_sends_that_only_receives_is_control(runs: SharedRuns) -> None:
    found = values(record_of(runs, "imu", window=100_000))
    assert (found["wire_control_bytes"], found["wire_control_packets"]) == (100_000, 1000)
    assert (found["wire_data_bytes"], found["wire_data_packets"]) == (100_000, 1000)
    both_ways = values(record_of(runs, "ping_pong", window=100_000))
    assert not {"wire_control_bytes", "wire_data_bytes"} & both_ways.keys()


def test_each_host_is_known_to_send_payload_or_to_receive_it(runs: SharedRuns) -> None:
    one_way = record_of(runs, "imu").trial.experiment
    assert (payload_hosts(one_way), receiving_hosts(one_way)) == ({"host_0"}, {"host_1"})
    both_ways = record_of(runs, "ping_pong").trial.experiment
    assert payload_hosts(both_ways) == receiving_hosts(both_ways) == {"host_0", "host_1"}
