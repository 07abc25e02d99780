"""The tables for other tools: every distribution of streams and chains, with all valid trials' messages."""

from pathlib import Path

from middlemark.analysis.percentile_tables import percentile_tables
from run_builder import Behaviour, build_run

SUITE = """
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
      - {node: show, inputs: [image]}
    chains: [{chain: whole, path: [camera, show]}]
"""


def test_chains_have_tables_beside_their_streams(tmp_path: Path) -> None:
    tables, damaged = percentile_tables(build_run(tmp_path / "run", SUITE, {"udp": Behaviour(latency_ns=500_000)}))
    assert damaged == []
    by_what = {(table.stream, str(table.distribution)): table.text for table in tables}
    assert {("image", "latency_from_send"), ("whole", "end_to_end"), ("whole", "communication")} <= set(by_what)
    assert "Trials = 2" in by_what["whole", "end_to_end"]
    assert "TotalCount     =      200.000" in by_what["image", "latency_from_send"]
