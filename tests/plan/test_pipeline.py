"""A pipeline comes to lie on a topology: nodes in applications on hosts, streams between them, chains along them."""

import pytest

from middlemark.plan import Computed, Experiment, NodeInput, expand
from middlemark.suite import Role, parse_suite

PIPELINE = """
suite: x
middlewares: toy
workloads:
  - workload: stack
    pattern: pipeline
    qos: {reliability: reliable, depth: 4}
    nodes:
      - {node: camera, outputs: [{stream: image}]}
      - {node: lidar, rate: 10 Hz, outputs: [{stream: points, size: 20 kB, qos: {reliability: best_effort}}]}
      - {node: detect, inputs: [image], compute: 1 ms, outputs: [{stream: objects, size: 1 kB}]}
      - {node: fuse, on: all, inputs: [objects, points], outputs: [{stream: tracks, size: 1 kB}]}
      - {node: watch, inputs: [objects, points]}
      - {node: plan, rate: 5 Hz, inputs: [tracks, {stream: objects, take: queue, capacity: 3}]}
    chains:
      - {chain: sight, path: [camera, detect, fuse, plan], deadline: 100 ms}
    applications:
      - {application: perception, nodes: [detect, fuse]}
      - {application: control, nodes: [plan], role: publisher}
    rate: [30 Hz, 60 Hz]
    size: 100 kB
"""


def planned(text: str = "") -> tuple[Experiment, ...]:
    return expand(parse_suite(PIPELINE + text, file="x.yaml").model_copy(), available=["toy"])


def test_a_rate_that_is_left_to_the_workload_widens_the_matrix() -> None:
    slow, fast = planned()
    assert [experiment.factors["rate"] for experiment in (slow, fast)] == ["30 Hz", "60 Hz"]
    assert slow.factors["graph"] == fast.factors["graph"]


def test_another_graph_is_another_experiment() -> None:
    other = expand(parse_suite(PIPELINE.replace("1 ms", "2 ms"), file="x.yaml"), available=["toy"])
    assert {each.id for each in planned()}.isdisjoint(each.id for each in other)


def test_a_stream_flows_as_often_as_its_node_can_run() -> None:
    streams = {stream.name: stream for stream in planned()[0].streams}
    assert {name: stream.pattern for name, stream in streams.items()} == {
        "image": Computed(rate_hz=30),
        "points": Computed(rate_hz=10),
        "objects": Computed(rate_hz=30),
        "tracks": Computed(rate_hz=10),
    }
    assert streams["image"].size_bytes == 100_000
    assert [streams[name].qos.reliability for name in ("image", "points")] == ["reliable", "best_effort"]


def test_nothing_bounds_what_follows_an_unthrottled_source() -> None:
    text = PIPELINE.replace("{node: camera,", "{node: camera, unthrottled: true,").replace(
        "    rate: [30 Hz, 60 Hz]\n", ""
    )
    (experiment,) = expand(parse_suite(text, file="x.yaml"), available=["toy"])
    rates = {
        stream.name: stream.pattern.rate_hz for stream in experiment.streams if isinstance(stream.pattern, Computed)
    }
    assert rates == {"image": None, "points": 10, "objects": None, "tracks": 10}


def test_each_reader_of_a_stream_is_a_subscriber_of_its_own() -> None:
    experiment = planned()[0]
    objects = next(stream for stream in experiment.streams if stream.name == "objects")
    assert (objects.publishers, objects.subscribers) == (("perception",), ("perception", "watch", "control"))
    taken = {(node.name, each.stream): each for node in experiment.nodes for each in node.inputs}
    assert [taken[name, "objects"].subscriber for name in ("fuse", "watch", "plan")] == [0, 1, 2]
    assert taken["plan", "objects"] == NodeInput.model_validate(
        {"stream": "objects", "subscriber": 2, "take": {"kind": "queue", "capacity": 3}}
    )
    ends = {(end.stream, end.role, end.index) for each in experiment.applications for end in each.endpoints}
    assert {("objects", Role.PUBLISHER, 0), ("objects", Role.SUBSCRIBER, 2)} < ends


@pytest.mark.parametrize(
    ("topology", "host_of"),
    [
        ("C1-1", ["local"] * 5),
        ("D1-1", ["host_0", "host_0", "host_1", "host_1", "host_0"]),
        ("D1-3", ["host_0", "host_0", "host_1", "host_2", "host_0"]),
        ("D3-1", ["host_0", "host_1", "host_3", "host_3", "host_2"]),
    ],
)
def test_sources_take_publishers_places_in_turn_and_all_else_subscribers(topology: str, host_of: list[str]) -> None:
    experiment = planned(f"topologies: {topology}\n")[0]
    names = ["camera", "lidar", "perception", "watch", "control"]
    assert {each.name: each.host for each in experiment.applications} == dict(zip(names, host_of, strict=True))


def test_nodes_share_the_topologys_processes_where_its_placement_is_the_same_process() -> None:
    experiment = planned("topologies: {topology: C1-1, placement: same_process}\n")[0]
    (application,) = experiment.applications
    assert {node.application for node in experiment.nodes} == {application.name}
    assert len(application.endpoints) == 4 + 7


def test_a_chain_knows_the_streams_along_its_path() -> None:
    (chain,) = planned()[0].chains
    assert (chain.nodes, chain.streams) == (("camera", "detect", "fuse", "plan"), ("image", "objects", "tracks"))
    assert chain.deadline_ns == 100_000_000


def test_faults_name_the_pipelines_own_applications() -> None:
    faults = "conditions: {faults: {timeline: t, events: [{at: 100 ms, do: kill, of: perception}]}}\n"
    assert planned(faults)[0].timeline[0].target == "perception"
