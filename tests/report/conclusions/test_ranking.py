"""The table that answers tells both tails, and a message that never arrived as one that took for ever."""

import csv
import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

import middlemark
from behaviour import Behaviour
from middlemark.analysis.run import RunFindings, analyse
from middlemark.report.conclusions.ranking import Line, ranking_table
from middlemark.report.elements.labels import series_by_experiment
from middlemark.report.output.data import export
from middlemark.report.output.figures import write_parts
from middlemark.report.output.formats import ExportFormat, ReportFormat
from middlemark.report.output.html import render
from middlemark.report.output.terminal import print_summary
from middlemark.suite import Delivery
from run_builder import build_run

SUITE = """
suite: tails
trials: 6
middlewares: all
workloads: {workload: imu, rate: 5 kHz, windows: {window: 300 ms}}
"""
BEHAVIOURS = {
    "whole": Behaviour(),
    "lossy": Behaviour(loss=0.008),
    "lossier": Behaviour(loss=0.05),
}


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> RunFindings:
    return analyse(build_run(tmp_path_factory.mktemp("tails") / "run", SUITE, BEHAVIOURS))


def lines(findings: RunFindings) -> dict[str, Line]:
    who = series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    rankings = [ranking_table(comparison, who) for comparison in findings.comparisons]
    return {line.series.label: line for ranking in rankings for line in ranking.lines}


def test_the_tail_from_the_intended_send_stands_beside_that_from_the_actual_one(
    findings: RunFindings, tmp_path: Path
) -> None:
    shown = lines(findings)["whole"]
    assert 0 < float(shown.tail.text) < float(shown.tail_from_intended.text)
    assert "99 %<small>intended, µs</small>" in render(findings)
    console = Console(file=StringIO(), width=120)
    print_summary(findings, console)
    assert isinstance(console.file, StringIO)
    assert shown.tail_from_intended.text in console.file.getvalue()
    (ranking,) = [path for path in write_parts(findings, ReportFormat.CSV, tmp_path) if "ranking" in path.name]
    heading, first, *_ = list(csv.reader(ranking.read_text(encoding="utf-8").splitlines()))
    assert heading[3:5] == ["99 %, µs", "99 %, intended, µs"]
    assert len(first) == len(heading)


def test_where_messages_are_missing_the_tail_has_no_end_or_is_not_reported(
    findings: RunFindings,
) -> None:
    shown = lines(findings)
    assert shown["lossy"].tail.interval.endswith("∞")
    for tail in (shown["lossier"].tail, shown["lossier"].tail_from_intended):
        assert tail.is_missing
        assert tail.text.endswith("% of messages never arrived in 6 of 6 trials")


def test_a_program_reads_null_where_nothing_is_known_above(findings: RunFindings, tmp_path: Path) -> None:
    said, *_ = export(middlemark.load(findings.folder.path), ExportFormat.JSON, tmp_path)
    rows = json.loads(said.read_text(encoding="utf-8"), parse_constant=pytest.fail)["estimates"]
    (p99,) = [row for row in rows if row["middleware"] == "lossy" and row["metric"] == "latency_from_send_p99_ns"]
    assert p99["low"] < p99["estimate"]
    assert p99["high"] is None


def test_each_delivery_is_told_and_has_a_ranking_of_its_own(tmp_path: Path) -> None:
    behaviours = {
        "calling": Behaviour(),
        "called": Behaviour(),
        "polling": Behaviour(delivery=Delivery.POLLING),
        "older": Behaviour(delivery=None),
    }
    found = analyse(build_run(tmp_path / "run", SUITE, behaviours))
    told = {label: (line.delivery.text, line.rank) for label, line in lines(found).items()}
    assert {label: delivery for label, (delivery, _) in told.items()} == {
        "calling": "library_thread", "called": "library_thread", "polling": "polling", "older": "unknown",
    }  # fmt: skip
    assert told["polling"][1] == told["older"][1] == "1"
    assert len(found.comparisons) == 3
    console = Console(file=StringIO(), width=80)
    print_summary(found, console)
    assert isinstance(console.file, StringIO)
    assert "delivery polling" in console.file.getvalue()


def test_one_delivery_of_all_is_not_said_with_the_load(findings: RunFindings) -> None:
    assert len(findings.comparisons) == 1
    assert "delivery library" not in render(findings)
