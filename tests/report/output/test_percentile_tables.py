"""The tables for other tools: every distribution of streams and chains, with all valid trials' messages."""

from pathlib import Path

from behaviour import Behaviour
from known_suites import CHAIN_OF_THREE_NODES
from middlemark.report.output.data import percentile_tables
from run_builder import build_run


def test_chains_have_tables_beside_their_streams(tmp_path: Path) -> None:
    tables, damaged = percentile_tables(
        build_run(tmp_path / "run", CHAIN_OF_THREE_NODES, {"udp": Behaviour(latency_ns=500_000)})
    )
    assert damaged == []
    by_what = {(table.stream, str(table.distribution)): table.text for table in tables}
    assert {("image", "latency_from_send"), ("whole", "end_to_end"), ("whole", "communication")} <= set(by_what)
    assert "Trials = 2" in by_what["whole", "end_to_end"]
    assert "TotalCount     =      200.000" in by_what["image", "latency_from_send"]
