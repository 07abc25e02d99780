"""A demand becomes one experiment for each way to carry it: all streams at once, on the processes' hosts."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from middlemark.errors import EnvironmentNotReady, UsageError
from middlemark.plan import Experiment, Periodic, Recorded, experiments_of, observed
from middlemark.plan.patterns import ExponentialTime, OpenRequests
from middlemark.suite import Demand, HostKind, Observation, Windows, load_demand, parse_demand

PROFILES = {"udp": ("default",), "zenoh": ("default", "tuned"), "synthetic": ("default",)}
AMR = """\
application: amr
processes: [drivers, {process: perception}, control]
streams:
  - {topic: imu, publishers: drivers, subscribers: [perception, control], size: 320 B, rate: 200 Hz, deadline: 5 ms}
  - {topic: lidar, publishers: drivers, subscribers: perception, size: 1 MB, rate: 10 Hz, qos: {reliability: reliable}}
  - {topic: cmd, publishers: control, subscribers: drivers, size: 64 B, rate: 20 Hz, arrival: poisson}
"""


def demand(more: str = "", text: str = AMR) -> Demand:
    return parse_demand(text + more, file="amr.yaml")


def planned(more: str = "", text: str = AMR) -> tuple[Experiment, ...]:
    return experiments_of(demand(more, text), PROFILES)


def test_every_middleware_and_profile_runs_all_streams_at_once() -> None:
    found = planned()
    assert [(each.middleware, each.profile) for each in found] == [
        ("udp", "default"),
        ("zenoh", "default"),
        ("zenoh", "tuned"),
    ]
    for each in found:
        assert [(stream.name, stream.size_bytes) for stream in each.streams] == [
            ("imu", 320),
            ("lidar", 1_000_000),
            ("cmd", 64),
        ]
        assert each.streams[1].qos.reliability == "reliable"
    assert len({each.id for each in found}) == 3


def test_each_node_is_one_application_with_all_its_ends() -> None:
    ends = {each.name: [(e.stream, e.role, e.index) for e in each.endpoints] for each in planned()[0].applications}
    assert ends == {
        "drivers": [("imu", "publisher", 0), ("lidar", "publisher", 0), ("cmd", "subscriber", 0)],
        "perception": [("imu", "subscriber", 0), ("lidar", "subscriber", 0)],
        "control": [("imu", "subscriber", 1), ("cmd", "publisher", 0)],
    }


def test_nodes_without_a_host_are_on_this_machine_where_no_wire_is_to_be_seen() -> None:
    assert [host.kind for host in planned()[0].hosts] == [HostKind.LOCAL]
    assert observed(demand()) == (Observation.RESOURCES,)


def test_hosts_that_nodes_name_are_joined_by_one_network_with_the_link() -> None:
    text = AMR.replace("{process: perception}", "{process: perception, host: station}").replace(
        "processes:", "link: {delay: 2 ms}\nprocesses:"
    )
    experiment = planned(text=text)[0]
    assert [(host.name, host.kind) for host in experiment.hosts] == [("local", "netns"), ("station", "netns")]
    assert {link.outgoing.delay_ns for link in experiment.links} == {2_000_000}
    assert observed(demand(text=text)) == (Observation.RESOURCES, Observation.WIRE)


def test_a_named_topology_keeps_its_networks_and_takes_the_nodes() -> None:
    text = AMR.replace("{process: perception}", "{process: perception, host: host_1}")
    experiment = planned("topology: D1-1\n", text)[0]
    assert (experiment.topology, len(experiment.links)) == ("D1-1", 2)
    assert [(each.name, each.host) for each in experiment.applications] == [
        ("drivers", "host_0"),
        ("perception", "host_1"),
        ("control", "host_0"),
    ]


def test_what_differs_in_a_stream_is_another_experiment() -> None:
    assert planned()[0].id != planned(text=AMR.replace("320 B", "321 B"))[0].id


def test_profiles_and_middlewares_can_be_chosen() -> None:
    found = planned("middlewares: [synthetic, {middleware: zenoh, profiles: tuned}]\n")
    assert [(each.middleware, each.profile) for each in found] == [("synthetic", "default"), ("zenoh", "tuned")]


def test_a_middleware_without_a_worker_is_named() -> None:
    with pytest.raises(EnvironmentNotReady, match="names `dds`"):
        planned("middlewares: dds\n")


@given(trials=st.integers(1, 20), rate=st.integers(1, 1000), part=st.sampled_from(["p50", "p90", "p99"]))
def test_the_window_holds_the_messages_that_the_deadline_is_judged_by(trials: int, rate: int, part: str) -> None:
    text = AMR.replace("rate: 200 Hz, deadline: 5 ms", f"rate: {rate} Hz, deadline: 5 ms, within: {part}")
    window_s = planned(f"trials: {trials}\n", text)[0].windows.window_ns / 1e9
    needed = {"p50": 20, "p90": 100, "p99": 1000}[part]
    assert 2 <= window_s <= 20
    assert window_s == 20 or window_s * rate * trials * 2 >= needed


RECORDED = """\
application: drive
processes: [a, b]
streams:
  - {topic: x, publishers: a, subscribers: b, recorded: m.csv}
"""


def recorded(folder: Path, instants_ns: list[int], more: str = "") -> Demand:
    (folder / "drive.yaml").write_text(RECORDED + more, encoding="utf-8")
    lines = [f"x,{at_ns},{100 + number}" for number, at_ns in enumerate(instants_ns)]
    (folder / "m.csv").write_text("topic,at_ns,size_bytes\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return load_demand(str(folder / "drive.yaml")).demand


def test_a_recording_is_cut_to_the_window_and_keeps_its_instants_and_sizes(tmp_path: Path) -> None:
    asked = recorded(tmp_path, [0, 5_000_000, 700_000_000, 1_500_000_000], "window: 1 s\n")
    stream = experiments_of(asked, PROFILES)[0].streams[0]
    assert stream.recorded == Recorded(
        offsets_ns=(0, 5_000_000, 700_000_000), sizes_bytes=(100, 101, 102), period_ns=1_000_000_000
    )
    assert (stream.size_bytes, stream.mean_bytes) == (102, 101)
    assert isinstance(stream.pattern, Periodic)
    assert stream.pattern.rate_hz == 3


def test_a_recording_without_a_message_in_the_window_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"first 1 s .* have no message of `x`"):
        experiments_of(recorded(tmp_path, [1_500_000_000, 3_000_000_000], "window: 1 s\n"), PROFILES)


@given(
    offsets_ns=st.lists(st.integers(0, 999), min_size=1, max_size=20).map(sorted),
    window_ns=st.integers(1, 5000),
)
def test_the_messages_of_a_window_are_those_whose_instants_lie_in_it(offsets_ns: list[int], window_ns: int) -> None:
    played = Recorded(offsets_ns=tuple(offsets_ns), sizes_bytes=(32,) * len(offsets_ns), period_ns=1000)
    instants = [whole * 1000 + at_ns for whole in range(6) for at_ns in offsets_ns]
    assert played.most_messages(window_ns) == sum(at_ns < window_ns for at_ns in instants)


ASKING = (
    AMR
    + """\
services:
  - {service: route, clients: [control, drivers], servers: perception, size: 64 B, response: 16 kB, rate: 5 Hz,
     server_time: {distribution: exponential, mean: 2 ms}, timeout: 3 s, deadline: 100 ms, within: p90}
"""
)


def test_a_service_is_a_stream_of_requests_with_its_clients_and_servers() -> None:
    experiment = planned(text=ASKING)[0]
    route = experiment.streams[-1]
    assert (route.name, route.publishers, route.subscribers) == ("route", ("control", "drivers"), ("perception",))
    assert isinstance(route.pattern, OpenRequests)
    assert (route.pattern.rate_hz, route.pattern.response_bytes, route.size_bytes) == (5, 16_000, 64)
    assert route.pattern.server_time == ExponentialTime(mean_ns=2_000_000)
    ends = {
        each.name: [(e.role, e.index) for e in each.endpoints if e.stream == "route"]
        for each in experiment.applications
    }
    assert ends == {"drivers": [("publisher", 1)], "perception": [("subscriber", 0)], "control": [("publisher", 0)]}


def test_the_last_request_of_the_window_has_its_whole_timeout() -> None:
    windows = planned("windows: {drain: 1 s}\n", ASKING)[0].windows
    assert (windows.drain_ns, windows.late_after_ns) == (3_000_000_000, 3_000_000_000)


def test_the_last_message_of_the_window_has_its_whole_deadline() -> None:
    windows = planned(text=AMR.replace("deadline: 5 ms", "deadline: 6 s"))[0].windows
    assert (windows.drain_ns, windows.late_after_ns) == (6_000_000_000, 6_000_000_000)


def test_what_is_sent_again_after_seconds_is_not_lost() -> None:
    assert planned()[0].windows.drain_ns > 3_000_000_000 > Windows().drain


def test_the_window_holds_the_responses_that_a_deadline_is_judged_by() -> None:
    text = ASKING.replace("deadline: 5 ms", "loss: 1 %")
    window_s = planned("trials: 2\n", text)[0].windows.window_ns / 1e9
    assert window_s * 2 * 5 * 2 >= 100


@pytest.mark.parametrize("change", [("16 kB", "17 kB"), ("mean: 2 ms", "mean: 3 ms"), ("timeout: 3 s", "timeout: 4 s")])
def test_what_differs_in_a_service_is_another_experiment(change: tuple[str, str]) -> None:
    assert planned(text=ASKING)[0].id != planned(text=ASKING.replace(*change))[0].id
