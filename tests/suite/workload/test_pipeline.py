"""A pipeline's graph is read whole, or its mistake is told with its place and what is allowed."""

import pytest
from inline_snapshot import snapshot

from middlemark.errors import SuiteError
from middlemark.suite import Readiness, Suite, Take, parse_suite

PIPELINE = """\
suite: mine
middlewares: all
workloads:
  - workload: stack
    pattern: pipeline
    nodes:
      - node: camera
        rate: 30 Hz
        outputs: [{stream: image, size: 4 kB}]
      - node: detect
        inputs: [image]
        compute: {distribution: normal, mean: 2 ms, deviation: 100 us}
        outputs: [{stream: objects, size: 1 kB}]
      - node: plan
        rate: 10 Hz
        inputs: [objects]
        outputs: [{stream: command, size: 100 B}]
      - node: act
        inputs: [command]
    chains:
      - chain: whole
        path: [camera, detect, plan, act]
    applications:
      - application: perception
        nodes: [detect, plan]
"""


def read(text: str) -> Suite:
    return parse_suite(text, file="mine.yaml")


def told_with(right: str, wrong: str) -> str:
    assert PIPELINE.count(right) == 1
    with pytest.raises(SuiteError) as raised:
        read(PIPELINE.replace(right, wrong))
    return str(raised.value)


def test_what_makes_a_node_run_follows_from_its_rate_and_its_inputs() -> None:
    camera, detect, plan, act = read(PIPELINE).workloads[0].nodes or ()
    assert camera.is_source
    assert not plan.is_source
    assert [node.runs_on for node in (camera, detect, plan, act)] == [None, Readiness.ANY, None, Readiness.ANY]
    assert [node.take_of(node.inputs[0]) for node in (detect, plan, act)] == [Take.QUEUE, Take.NEWEST, Take.QUEUE]


def test_a_size_and_a_rate_that_nodes_leave_out_widen_the_matrix() -> None:
    text = PIPELINE.replace("\n        rate: 30 Hz", "").replace(", size: 4 kB", "")
    with pytest.raises(SuiteError, match="nothing makes the node `camera` run"):
        read(text)
    workload = read(text + "    size: [1 kB, 2 kB]\n    rate: [10 Hz, 20 Hz]\n").workloads[0]
    assert workload.needs("size")
    assert workload.needs("rate")


MISTAKES = {
    "a stream that no node sends": (
        "inputs: [image]",
        "inputs: [imaje]",
        snapshot("""\
mine.yaml:11:18: no node sends `imaje`
  inputs: [imaje]
allowed: did you mean `image`? (image, objects, command)\
"""),
    ),
    "a stream that no node reads": (
        "inputs: [command]",
        "inputs: [objects]",
        snapshot("""\
mine.yaml:17:19: no node reads `command`
  outputs: [{stream: command, size: 100 B}]
allowed: a node with it among its `inputs`\
"""),
    ),
    "a stream that two nodes send": (
        "{stream: command, size: 100 B}",
        "{stream: image, size: 100 B}",
        snapshot("""\
mine.yaml:17:19: `camera` sends `image` already
  outputs: [{stream: image, size: 100 B}]
allowed: each stream is sent by one node, once\
"""),
    ),
    "nodes that run in a circle": (
        "inputs: [image]",
        "inputs: [image, command]",
        snapshot("""\
mine.yaml:10:9: the nodes form a cycle: detect → plan → detect
  - node: detect
allowed: a graph without cycles\
"""),
    ),
    "a node that nothing makes run": (
        "\n        rate: 30 Hz",
        "",
        snapshot("""\
mine.yaml:7:9: nothing makes the node `camera` run
  - node: camera
allowed: `rate`, `inputs` or `unthrottled: true`; or a `rate` beside `nodes`, for all such\
"""),
    ),
    "a node that does nothing": (
        "\n        inputs: [command]",
        "",
        snapshot("""\
mine.yaml:18:9: the node `act` reads nothing and sends nothing
  - node: act
allowed: `inputs` or `outputs`\
"""),
    ),
    "a chain that is no path": (
        "[camera, detect, plan, act]",
        "[camera, plan, act]",
        snapshot("""\
mine.yaml:22:24: the chain `whole` is no path: `plan` reads nothing of `camera`
  path: [camera, plan, act]
allowed: after `camera`: detect\
"""),
    ),
    "a chain of a node that is not there": (
        "[camera, detect, plan, act]",
        "[camera, detekt]",
        snapshot("""\
mine.yaml:22:24: there is no node `detekt`
  path: [camera, detekt]
allowed: did you mean `detect`? (camera, detect, plan, act)\
"""),
    ),
    "a node in two applications": (
        "nodes: [detect, plan]",
        "nodes: [detect, plan]\n      - {application: other, nodes: [plan]}",
        snapshot("""\
mine.yaml:26:38: `perception` has the node `plan` already
  - {application: other, nodes: [plan]}
allowed: each node once\
"""),
    ),
    "an application named as a node that is not in it": (
        "application: perception",
        "application: camera",
        snapshot("""\
mine.yaml:24:9: the node `camera` is an application of its own, of the same name
  - application: camera
allowed: another name, or the node in it\
"""),
    ),
    "a computation whose figures do not fit": (
        "mean: 2 ms, deviation: 100 us",
        "minimum: 2 ms",
        snapshot("""\
mine.yaml:12:9: this computation has no `deviation`
  compute: {distribution: normal, minimum: 2 ms}
allowed: a time; or uniform: minimum, maximum; exponential: mean; normal: mean, deviation; lognormal: mean, deviation\
"""),
    ),
    "passing over where each message is an execution": (
        "inputs: [image]",
        "inputs: [{stream: image, take: newest}]",
        snapshot("""\
mine.yaml:11:34: the node `detect` runs on any message, so it passes none over
  inputs: [{stream: image, take: newest}]
allowed: `take: newest` with `on: all`, or with a timer's `rate`\
"""),
    ),
    "a size that no stream needs": (
        "    pattern: pipeline\n",
        "    pattern: pipeline\n    size: 1 kB\n",
        snapshot("""\
mine.yaml:6:5: every node has its own size
  size: 1 kB
allowed: a stream that has none of its own\
"""),
    ),
    "nodes of another pattern": (
        "pattern: pipeline",
        "pattern: periodic",
        snapshot("""\
mine.yaml:23:5: a periodic workload has no `applications`
  applications:
allowed: size, rate, arrival, topics, payload, serialisation, qos\
"""),
    ),
}


@pytest.mark.parametrize(("right", "wrong", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_with_its_place_and_what_is_allowed(right: str, wrong: str, said: str) -> None:
    assert told_with(right, wrong) == said
