"""The path a message took is told by what was counted and seen, not by what the middleware said."""

from dataclasses import replace
from pathlib import Path

import pytest

from behaviour import Behaviour
from middlemark.analysis.experiment.path import Transmitted
from middlemark.analysis.run import analyse
from middlemark.report.elements.labels import series_by_experiment
from middlemark.report.internals.configuration import DISTANCE, configurations, path_table, path_words
from middlemark.results.counts import InterfaceTraffic, MappedSegment, PathProof, SocketProtocol, SocketUse
from middlemark.results.record import CpuDistance, KeptAwakeFacts, LoadReached
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
        apart = CpuDistance(cpus=(0, 1), before_ns=77, after_ns=77 + reached)
        told = {"path": proof, "cpu_load": load, "kept_awake": kept, "cpu_distance": apart}
        trial.write_record(record.model_copy(update=told))
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
    assert row[DISTANCE] == "101 ns (77.0–127)"


def test_sockets_and_segments_of_all_applications_are_told_together(runs: SharedRuns, tmp_path: Path) -> None:
    run = runs.copy(tmp_path / "run", SUITE, {"one": Behaviour(transport="tcp")})
    for trial in run.stored_trials():
        record = trial.read_record()
        proof = dict.fromkeys(record.path, seen(None)) | {next(iter(record.path)): seen(64)}
        trial.write_record(record.model_copy(update={"path": proof}))
    findings = analyse(run)
    who = series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    [shown] = configurations(findings.comparisons[0], who)
    assert shown.sockets == (
        "local /run/m to unnamed: 8 sockets",
        "tcp 10.0.0.1 to 10.0.0.2: 4 sockets, 4.00 kB sent before the window",
        "udp 0.0.0.0: 4 sockets",
    )
    assert shown.shared_memory == ("segment_s: 4.10 kB, 64 messages in it",)
    table = path_table(findings.comparisons[0], who)
    assert table is not None
    row = dict(zip(table.headings, table.lines[0], strict=True))
    assert (row["shared memory"], row["messages went"]) == ("1 segment, 64 messages in it", "by shared memory")


def test_what_could_not_be_looked_at_is_told_with_the_reason_and_the_application(
    runs: SharedRuns, tmp_path: Path
) -> None:
    run = runs.copy(tmp_path / "run", SUITE, {"one": Behaviour(transport="tcp")})
    for trial in run.stored_trials():
        record = trial.read_record()
        proof = dict.fromkeys(record.path, PathProof(unseen=("sockets: not permitted",)))
        proof["publisher_0"] = PathProof(unseen=("segments: not permitted", "sockets: not permitted"))
        trial.write_record(record.model_copy(update={"path": proof}))
    findings = analyse(run)
    who = series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    [shown] = configurations(findings.comparisons[0], who)
    everyone = "sockets: not permitted (publisher_0, subscriber_0, subscriber_1, subscriber_2)"
    assert shown.unseen == f"segments: not permitted (publisher_0); {everyone}"
    table = path_table(findings.comparisons[0], who)
    assert table is not None
    assert dict(zip(table.headings, table.lines[0], strict=True))["messages went"] == "–"


def test_messages_that_others_have_overwritten_were_not_seen() -> None:
    amounts = Transmitted(interfaces=(), payload_bytes=4e6, segments=(6, 6), in_memory=(0, 0))
    assert path_words(amounts) == "not seen"
    assert path_words(replace(amounts, in_memory=(0, 1))) == "by shared memory"
    assert path_words(replace(amounts, segments=(0, 0))) == "by neither"


def seen(messages: int | None) -> PathProof:
    """What one application had before the window."""
    sockets = (
        SocketUse(protocol=SocketProtocol.TCP, local="10.0.0.1", peer="10.0.0.2", sockets=1, sent_bytes=1000),
        SocketUse(protocol=SocketProtocol.UDP, local="0.0.0.0", sockets=1),  # noqa: S104 - what a socket has
        SocketUse(protocol=SocketProtocol.LOCAL, local="/run/m", peer="unnamed", sockets=2),
    )
    segment = MappedSegment(name="segment_s", identity="0:1:2", size_bytes=4096, messages=messages)
    return PathProof(interfaces=(), segments=(segment,), sockets=sockets)
