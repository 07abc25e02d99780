"""One run of each kind, stored in format 1: loaded, reported and exported for ever, with the figures of its day."""

import io
import json
from collections import Counter
from pathlib import Path

import jsonschema
import polars as pl
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from rich.console import Console

from middlemark.analysis.catalogue.library import RunLibrary
from middlemark.analysis.compare.pairing import pair_within_run
from middlemark.analysis.dataframes import LoadedRun
from middlemark.analysis.decisions.claims import judge_own_claims
from middlemark.analysis.decisions.gate import judge_conditions, parse_condition
from middlemark.analysis.kernel.segments import PathPart
from middlemark.analysis.search.capacity import State
from middlemark.plan import Side
from middlemark.plan.factors import SIDE_FACTOR
from middlemark.report.conclusions.recommendation import recommendation
from middlemark.report.output.data import export, schemas
from middlemark.report.output.formats import ExportFormat
from middlemark.report.output.html import render
from middlemark.report.output.terminal import print_summary
from shared_runs import GOLDEN, SharedRuns

KINDS = ("pipeline", "links", "capacity", "demand", "sides", "observers")


OUTCOMES = {
    "stored_pipeline": {"valid": 2},
    "stored_links": {"valid": 6},
    "stored_capacity": {"valid": 8, "not_applicable": 1},
    "stored_demand": {"valid": 4, "not_applicable": 2},
    "stored_sides": {"valid": 4},
    "stored_observers": {"valid": 3},
}
ESTIMATES: dict[str, dict[tuple[str, str | None, str, str], float]] = {
    "stored_pipeline": {
        ("tcp-stack-C1-1-6c85ea47", None, "chain:camera_to_actuator", "end_to_end_p50_ns"): 35394099.0,
        ("tcp-stack-C1-1-6c85ea47", None, "chain:camera_to_actuator", "passed_over_share"): 0.5,
        ("tcp-stack-C1-1-6c85ea47", None, "chain:camera_to_actuator", "typical_idle_ns"): 31902716.95238095,
        ("tcp-stack-C1-1-6c85ea47", None, "chain:lidar_to_tracks", "deadline_missed_share"): 0.9078947368421053,
        ("tcp-stack-C1-1-6c85ea47", None, "node:detect", "computation_p50_ns"): 1009787.0,
        ("tcp-stack-C1-1-6c85ea47", None, "node:fuse", "executions_hz"): 40.0,
        ("tcp-stack-C1-1-6c85ea47", None, "stream:image", "latency_from_send_p50_ns"): 73009.0,
    },
    "stored_links": {
        ("udp-imu-D1-1-22fc5b72", None, "flow:imu/0/0", "longest_gap_ns"): 29098805.0,
        ("udp-imu-D1-1-22fc5b72", None, "stream:imu", "latency_from_send_p50_ns"): 4740304.0,
        ("udp-imu-D1-1-22fc5b72", None, "stream:imu", "recovery_ns"): 28707043.0,
        ("udp-imu-D1-1-d433a2b6", None, "stream:imu", "missing_share"): 0.16071428571428573,
        ("udp-imu-D1-1-d433a2b6", None, "stream:imu", "recovery_ns"): 24574459.0,
        ("udp-imu-D1-1-d433a2b6", "wire", "trial", "wire_data_bytes"): 13310.0,
        ("udp-imu-D1-1-d433a2b6", "wire", "trial", "wire_data_packets"): 55.0,
        ("udp-imu-D1-1-d433a2b6", "wire", "trial", "wire_overhead_ratio"): 1.3864583333333333,
    },
    "stored_capacity": {
        ("synthetic-imu-C1-1-0732af01", None, "stream:imu", "latency_from_send_p50_ns"): 1000047.0,
        ("udp-imu-C1-1-a2224b35", None, "stream:imu", "latency_from_send_p50_ns"): 60901.0,
        ("udp-imu-C1-1-a2224b35", None, "stream:imu", "loss_share"): 0.0,
        ("udp-stream-C1-1-822d43a9", None, "stream:stream", "latency_from_intended_p50_ns"): 272983.0,
    },
    "stored_demand": {
        ("shm-stored_demand-stored_demand-bc0cb8a2", None, "stream:imu", "latency_from_intended_p50_ns"): 162944.0,
        ("shm-stored_demand-stored_demand-bc0cb8a2", None, "trial", "cpu_percent_of_core"): 2.12685882295296,
        ("tcp-stored_demand-stored_demand-cc183cf5", None, "stream:imu", "latency_from_intended_p50_ns"): 203887.5,
        ("tcp-stored_demand-stored_demand-cc183cf5", None, "stream:scan", "goodput_bytes_per_s"): 68336.66666666667,
    },
    "stored_sides": {
        ("udp-imu-C1-1-165b2f8b", None, "stream:imu", "latency_from_send_p50_ns"): 49599.0,
        ("udp-imu-C1-1-a5b019a2", None, "stream:imu", "latency_from_send_p50_ns"): 51586.5,
        ("udp-imu-C1-1-a5b019a2", None, "trial", "first_message_ns"): 909330.0,
    },
    "stored_observers": {
        ("tcp-imu-D1-1-35395b89", None, "stream:imu", "latency_from_send_p50_ns"): 96954.0,
        ("tcp-imu-D1-1-35395b89", "kernel_path", "stream:imu", "path_sampled_messages"): 60.0,
        ("tcp-imu-D1-1-35395b89", "resources", "process:subscriber_0", "unique_bytes"): 8441856.0,
        ("tcp-imu-D1-1-35395b89", "resources", "trial", "cpu_per_message_ns"): 125553.27301649548,
        ("tcp-imu-D1-1-35395b89", "resources", "trial", "cpu_pressure_percent"): 94.94788993002824,
    },
}
"""By experiment, observation, subject and metric."""

TOLD = {
    "stored_pipeline": ("camera_to_actuator", "lidar_to_tracks"),
    "stored_links": ("cut and paused", "kill of subscriber_0", "link down of host_1", "capture.pcapng"),
    "stored_capacity": ("48 kB", "not 72 kB (size)", "3 of 5 claims hold, 2 refuted", "Enough trials"),
    "stored_demand": (
        "No candidate is shown to meet all requirements of stored_demand",
        "not applicable",
    ),
    "stored_sides": ("UDP sockets (default, base)", "base: no loss", "0 of 5 claims hold"),
    "stored_observers": ("observed from outside", "packets on a message's path"),
}
"""In the terminal."""

WORDS = {
    "stored_pipeline": ("camera_to_actuator", "lidar_to_tracks", "perception"),
    "stored_links": ("cut and paused", "subscriber_0", "capture.pcapng", "10 Mbit/s", "Wireshark"),
    "stored_capacity": ("48 kB", "72 kB", "holds", "refuted", "median(latency)[middleware=udp, workload=imu]"),
    "stored_demand": ("/cmd_vel", "No candidate is shown to meet all requirements of stored_demand"),
    "stored_sides": ("base", "head", "median(latency)[side=head]"),
    "stored_observers": ("Observations", "Kernel operations of a message", "The machine"),
}
"""On the page."""

MANY_TABLES = ("stored_pipeline", "stored_demand", "stored_capacity")
"""Percentile tables take a fifth of a second each, and these have many; `analysis.percentile_tables` has its own tests."""


def stored(runs: SharedRuns, kind: str) -> LoadedRun:
    return runs.golden(f"run-format-1-{kind}")


@pytest.fixture(scope="module", params=KINDS)
def run(runs: SharedRuns, request: pytest.FixtureRequest) -> LoadedRun:
    return stored(runs, request.param)


def test_every_trial_is_read(run: LoadedRun) -> None:
    assert dict(Counter(run.trials["outcome"])) == OUTCOMES[run.manifest.suite]
    assert run.metrics["trial"].n_unique() == OUTCOMES[run.manifest.suite]["valid"]
    assert run.findings.missing == ()
    assert run.damaged == ()


def test_its_estimates_are_those_that_it_was_stored_with(run: LoadedRun) -> None:
    keys = ("experiment", "observation", "subject", "metric")
    found = run.estimates.rows_by_key(keys, named=True, unique=True)
    expected = ESTIMATES[run.manifest.suite]
    assert {key: found[key]["estimate"] for key in expected} == pytest.approx(expected, rel=1e-6)


def test_its_records_are_what_their_schemas_say(run: LoadedRun) -> None:
    said = {name: jsonschema.Draft202012Validator(schema) for name, schema in schemas().items()}
    assert list(said["manifest"].iter_errors(json.loads(run.folder.manifest_path.read_bytes()))) == []
    for trial in run.folder.stored_trials():
        assert list(said["trial"].iter_errors(json.loads(trial.record_path.read_bytes()))) == []


def test_its_report_has_all_its_parts(run: LoadedRun) -> None:
    page = render(run.findings)
    assert [words for words in WORDS[run.manifest.suite] if words not in page] == []
    assert "<!doctype html>" in page[:100].lower()


def test_the_terminal_tells_it(run: LoadedRun) -> None:
    console = Console(file=io.StringIO(), width=160)
    print_summary(run.findings, console)
    told = console.file.getvalue()  # type: ignore[attr-defined] # the text stream that it was given
    assert [words for words in TOLD[run.manifest.suite] if words not in told] == []


def test_every_export_is_read_by_its_own_reader(run: LoadedRun, tmp_path: Path) -> None:
    kinds = set(ExportFormat) - ({ExportFormat.HGRM} if run.manifest.suite in MANY_TABLES else set())
    written = {kind: export(run, kind, tmp_path / kind) for kind in kinds}
    frames = {"trials": run.trials, "metrics": run.metrics, "estimates": run.estimates}
    for name, frame in frames.items():
        assert pl.read_parquet(tmp_path / "parquet" / f"{name}.parquet").equals(frame)
        assert pl.read_csv(tmp_path / "csv" / f"{name}.csv", infer_schema_length=None).shape == frame.shape
    said = json.loads((tmp_path / "json" / "run.json").read_bytes())
    jsonschema.validate(said, json.loads((tmp_path / "json" / "run.schema.json").read_bytes()))
    assert {name: len(said[name]) for name in frames} == {name: len(frame) for name, frame in frames.items()}
    families = list(text_string_to_metric_families(written[ExportFormat.OPENMETRICS][0].read_text(encoding="utf-8")))
    told = run.estimates.filter(pl.col("estimate").is_not_null())
    assert {family.name for family in families} == {f"middlemark_{name}" for name in told["metric"]}
    for table in written.get(ExportFormat.HGRM, ()):
        assert table.read_text(encoding="utf-8").splitlines()[-1].startswith("#[Unit = ns, Trials = ")
    assert run.damaged == ()


def test_a_capacity_search_ends_where_it_ended_and_its_claims_come_to_the_same(runs: SharedRuns) -> None:
    findings = stored(runs, "capacity").findings
    (found,) = findings.capacities
    assert found.state is State.FOUND
    assert [load and load.size_bytes for load in (found.sustained, found.not_sustained)] == [48_000, 72_000]
    judgements = [each.judgement.value for each in judge_own_claims(findings)]
    assert judgements == ["holds", "refuted", "holds", "holds", "refuted"]
    assert [(width.n_trials, width.settled) for width in findings.manifest.widths] == [(3, False)] * 4


def test_two_trials_recommend_nothing_and_what_can_not_be_done_stays_out(runs: SharedRuns) -> None:
    said = recommendation(stored(runs, "demand").findings)
    assert said is not None
    assert said.fitting is None
    why = dict(said.others)
    assert list(why) == ["Shared-memory ring †", "TCP sockets †", "UDP sockets †"]
    assert "fewer than 3 trials" in why["TCP sockets †"]
    assert why["UDP sockets †"].startswith("not applicable: ")


def test_two_blocks_of_base_and_head_gate_nothing(runs: SharedRuns) -> None:
    pairs = pair_within_run(stored(runs, "sides").findings.experiments, SIDE_FACTOR, Side.BASE).pairs
    asked = [
        parse_condition(text) for text in ("median(latency) > +5000 %", "median(latency) > +5 %", "loss > +0.1 pp")
    ]
    assert [each.result.judgement.value for each in judge_conditions(pairs, asked)] == ["undecided"] * 3


def test_what_happened_to_links_and_processes_is_read(runs: SharedRuns) -> None:
    records = stored(runs, "links").records
    assert {each.trial.observation: len(each.wire) for each in records} == {None: 0, "capture": 0, "wire": 8}
    assert Counter(fault.action.value for each in records for fault in each.faults) == dict.fromkeys(
        ("kill", "restart", "link_down", "link_up", "pause", "resume"), 3
    )
    assert {(each.interrupted, len(each.cpu_load), len(each.links)) for each in records} == {
        (("subscriber_0",), 0, 4),
        ((), 2, 4),
    }
    captures = [each.capture for each in records if each.capture is not None]
    assert [(sum(link.captured for link in each.links), each.snap_bytes) for each in captures] == [(134, 64), (115, 64)]


def test_the_parts_of_a_message_on_the_kernels_path_are_its_whole_way(runs: SharedRuns) -> None:
    typical = stored(runs, "observers").estimates.filter(pl.col("metric").str.starts_with("path_typical_"))
    found = dict(typical.select("metric", "estimate").iter_rows())
    parts = [found[f"path_typical_{part}_ns"] for part in PathPart]
    assert sum(parts) == pytest.approx(found["path_typical_whole_ns"])


def test_all_stored_runs_stand_in_one_history() -> None:
    shelf = RunLibrary([GOLDEN]).look()
    assert shelf.unreadable == ()
    assert {f"stored_{kind}" for kind in KINDS} < {run.head.suite for run in shelf.runs}
