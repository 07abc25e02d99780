"""A pipeline is drawn as it will run: where each node lives, what makes it run, what it sends."""

from inline_snapshot import snapshot

from middlemark.plan import expand
from middlemark.report.elements.topology_text import pipeline_text
from middlemark.suite import parse_suite

SUITE = """
suite: x
middlewares: toy
topologies: D1-1
workloads:
  workload: stack
  pattern: pipeline
  nodes:
    - {node: camera, rate: 30 Hz, compute: 500 us, outputs: [{stream: image, size: 920 kB}]}
    - {node: lidar, unthrottled: true, outputs: [{stream: points, size: 1 MB}]}
    - node: fuse
      on: all
      inputs: [image, points]
      compute: {distribution: normal, mean: 8 ms, deviation: 1 ms}
      outputs: [{stream: tracks, size: 1 kB}, {stream: view, size: 2 kB}]
    - node: plan
      rate: 10 Hz
      inputs: [tracks]
      compute: {distribution: uniform, minimum: 1 ms, maximum: 2 ms}
    - {node: show, inputs: [view]}
  chains:
    - {chain: sight, path: [camera, fuse, plan], deadline: 200 ms}
  applications:
    - {application: head, nodes: [fuse, plan]}
"""


def test_each_node_and_each_chain_has_a_line() -> None:
    (experiment,) = expand(parse_suite(SUITE, file="x.yaml"), available=["toy"])
    assert pipeline_text(experiment) == snapshot("""\
camera  camera on host_0  source at 30 Hz               computes 500 µs               sends image (920 kB)
lidar   lidar on host_0   source, unthrottled           computes nothing              sends points (1 MB)
fuse    head on host_1    on all of image, points       computes 8 ms ± 1 ms, normal  sends tracks (1 kB), view (2 kB)
plan    head on host_1    timer at 10 Hz, takes tracks  computes 1 ms to 2 ms
show    show on host_1    on view                       computes nothing
chain sight: camera → fuse → plan within 200 ms\
""")
