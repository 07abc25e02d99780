"""Suites of which more than one test has a run built by `run_builder`, each named by what its runs show.

A test that needs another number of trials, another size or other middlewares replaces that line.
"""

CAPACITY_SEARCH = """
suite: load
trials: 1
middlewares: all
workloads: {workload: stream, pattern: capacity, size: 64 B, search: {lowest: 500 Hz, highest: 4 kHz, latency: 1 ms}}
windows: {window: 200 ms}
"""
CHAIN_IN_TWO_CONDITIONS = """
suite: chained
trials: 1
middlewares: all
workloads:
  workload: pair
  pattern: pipeline
  windows: {window: 500 ms}
  nodes:
    - {node: camera, rate: 20 Hz, outputs: [{stream: frame, size: 1 kB}]}
    - {node: drive, inputs: [frame]}
  chains: [{chain: way, path: [camera, drive]}]
conditions: [{cpus: spread}, {cpus: spread, keep_awake: true}]
"""
CHAIN_OF_THREE_NODES = """
suite: chained
trials: 2
middlewares: all
topologies: C1-1
workloads:
  - workload: chained
    pattern: pipeline
    windows: {window: 1 s}
    nodes:
      - {node: camera, rate: 100 Hz, compute: 1 ms, outputs: [{stream: image, size: 1 kB}]}
      - {node: detect, inputs: [image], compute: 1 ms, outputs: [{stream: objects, size: 1 kB}]}
      - {node: show, inputs: [objects]}
    chains: [{chain: whole, path: [camera, detect, show]}]
"""
PAUSED_SUBSCRIBERS = """
suite: struck
trials: 3
middlewares: all
workloads: {workload: imu, windows: {window: 4 s}}
topologies: C1-3
conditions: {faults: pause}
"""
THIRTEEN_SIZES = """
suite: many
trials: 1
middlewares: all
workloads: {workload: imu, size: [32 B, 64 B, 100 B, 128 B, 200 B, 256 B, 400 B, 512 B, 800 B, 1 kB, 2 kB, 4 kB, 8 kB],
  windows: {window: 2 s}}
"""
