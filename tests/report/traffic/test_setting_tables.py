"""The parts of the time to first message stand beside each other, in the order in which they come."""

from pathlib import Path

from behaviour import MS, Behaviour
from middlemark.analysis.run import analyse
from middlemark.report.elements.labels import series_by_experiment
from middlemark.report.traffic.setting_tables import first_message_table
from run_builder import build_run

SUITE = """
suite: told
trials: 4
middlewares: all
workloads: [{workload: imu, windows: {window: 1 s}}]
"""


def test_the_time_to_first_message_is_shown_in_its_parts(tmp_path: Path) -> None:
    findings = analyse(build_run(tmp_path / "run", SUITE, {"one": Behaviour(first_message_ns=40 * MS, drift=0.0)}))
    who = series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    (comparison,) = findings.comparisons
    shown = first_message_table(comparison, who)
    assert shown is not None
    assert [heading.split(",")[0] for heading in shown.headings[2:]] == [
        "initialised",
        "matched",
        "first message",
        "first of full size",
    ]
    (row,) = shown.lines
    assert [float(cell.split()[0]) for cell in row[2:]] == [20, 30, 40, 41]
