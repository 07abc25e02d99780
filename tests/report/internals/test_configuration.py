"""The path a message took is told by what the kernel counted, not by what the middleware said."""

from pathlib import Path

import pytest

from behaviour import Behaviour
from middlemark.analysis.run import analyse
from middlemark.report.elements.labels import series_by_experiment
from middlemark.report.internals.configuration import path_table
from middlemark.results.counts import InterfaceTraffic, PathProof
from middlemark.results.record import KeptAwakeFacts, LoadReached
from shared_runs import SharedRuns

SUITE = """
suite: ways
trials: 2
middlewares: all
workloads: {workload: imu, windows: {window: 1 s}}
topologies: C1-3
conditions: {cpu_load: 50 %, deployment: {deployment: multi_container, ipc: host}}
"""
MESSAGES = 200


def row_of(runs: SharedRuns, path: Path, sent_bytes: int, segments: tuple[str, ...] = ()) -> dict[str, str]:
    """The table's row where interfaces carried so many bytes for each message."""
    run = runs.copy(path / "run", SUITE, {"one": Behaviour(transport="tcp")})
    traffic = InterfaceTraffic(
        interface="lo", received_bytes=0, received_packets=0, sent_bytes=sent_bytes * MESSAGES, sent_packets=1
    )
    for trial, reached in zip(run.stored_trials(), (48.0, 50.0), strict=True):
        record = trial.read_record()
        proof = dict.fromkeys(record.path, PathProof(interfaces=(traffic,), shared_memory=segments))
        load = {"local": LoadReached(asked_percent=50, reached_percent=reached)}
        kept = KeptAwakeFacts(means="spinners in an idle control group", spinners_cpu_ns=1_250_000_000)
        trial.write_record(record.model_copy(update={"path": proof, "cpu_load": load, "kept_awake": kept}))
    findings = analyse(run)
    who = series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    table = path_table(findings.comparisons[0], who)
    assert table is not None
    return dict(zip(table.headings, table.lines[0], strict=True))


@pytest.mark.parametrize(
    ("sent_bytes", "segments", "way"),
    [
        (3120, (), "by the network"),
        (3120, ("one",), "by the network"),
        (40, ("one",), "by shared memory"),
        (0, (), "by neither"),
    ],
)
def test_the_way_is_told_from_interfaces_and_segments(
    runs: SharedRuns, tmp_path: Path, sent_bytes: int, segments: tuple[str, ...], way: str
) -> None:
    row = row_of(runs, tmp_path, sent_bytes, segments)
    assert row["messages went"] == way
    assert row["shared memory"] == ("1 segment" if segments else "none")
    assert row["on interfaces, a message"].startswith({3120: "lo 3.12 kB", 40: "lo 40 B", 0: "nothing"}[sent_bytes])


def test_deployment_and_what_was_done_to_the_cpus_stand_beside_the_path(runs: SharedRuns, tmp_path: Path) -> None:
    row = row_of(runs, tmp_path, 1000)
    assert row["deployment"] == "multi container, ipc host"
    assert row["CPU load"] == "local: 50 % requested, 49.0 % (48.0–50.0) reached"
    assert row["CPUs kept awake by"] == "spinners in an idle control group; 1.25 s of CPU time a trial"
