"""A run over a fleet shows what each machine says, and where machines disagree on the order."""

from pathlib import Path

import pytest

from behaviour import Behaviour
from middlemark.analysis.run import RunFindings, analyse
from middlemark.report.elements.labels import Series, series_by_experiment
from middlemark.report.internals.machines import machine_lines, machine_table
from middlemark.report.output.html import write_report
from middlemark.report.output.run_data import run_data
from middlemark.results.run_folder import RunFolder
from run_builder import build_run

SUITE = """
suite: fleet
trials: 8
middlewares: all
workloads: {workload: imu, windows: {window: 1 s}}
topologies: C1-1
"""


def on_machines(run: RunFolder, names: str) -> RunFindings:
    """The run as if its blocks were measured on these machines in turn."""
    for folder in run.stored_trials():
        record = folder.read_record()
        folder.finish(record.model_copy(update={"testbed": names[record.trial.block % len(names)]}))
    return analyse(run)


@pytest.fixture
def findings(tmp_path: Path) -> RunFindings:
    run = build_run(tmp_path / "run", SUITE, {"one": Behaviour(), "two": Behaviour(latency_ns=100_000.0)})
    return on_machines(run, "ab")


def series(findings: RunFindings) -> dict[str, Series]:
    return series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))


def test_each_machine_has_a_row_and_all_together_one_with_how_far_they_differ(findings: RunFindings) -> None:
    table = machine_table(findings.comparisons[0], series(findings))
    assert table is not None
    names, blocks = ([row[at] for row in table.lines] for at in (2, 3))
    assert names == ["a", "b", "all 2"]
    assert blocks == ["4", "4", "8"]
    assert table.lines[-1][-2].endswith("%")


def test_of_three_machines_what_one_more_would_show_is_a_row_and_words(tmp_path: Path) -> None:
    run = build_run(tmp_path / "run", SUITE, {"one": Behaviour(), "two": Behaviour(latency_ns=100_000.0)})
    findings = on_machines(run, "abc")
    table = machine_table(findings.comparisons[0], series(findings))
    assert table is not None
    assert [row[2] for row in table.lines] == ["a", "b", "c", "all 3", "one more"]
    (line,) = machine_lines(findings.comparisons[0], series(findings))
    assert "one more: " in line
    (across,) = [place["machines"] for place in run_data(findings)["rankings"][0]["places"] if place["machines"]]
    assert across["next_low"] < across["next_high"]


def test_the_terminal_and_programs_are_told_the_same(findings: RunFindings) -> None:
    (line,) = machine_lines(findings.comparisons[0], series(findings))
    assert "on 2 machines" in line
    assert "I²" in line
    places = run_data(findings)["rankings"][0]["places"]
    (across,) = [place["machines"] for place in places if place["machines"]]
    assert [own["machine"] for own in across["ratios"]] == ["a", "b"]
    assert across["disagree"] is False


def test_the_page_has_the_machines_of_a_setting(findings: RunFindings) -> None:
    assert "<h3>Machines</h3>" in write_report(findings).read_text()


def test_one_machine_is_no_table(tmp_path: Path) -> None:
    findings = on_machines(build_run(tmp_path / "run", SUITE, {"one": Behaviour(), "two": Behaviour()}), "a")
    assert machine_table(findings.comparisons[0], series(findings)) is None
