"""The parts of the time to first message stand beside each other; a metric of no table has one all the same."""

from pathlib import Path

import pytest

from behaviour import MS, Behaviour
from middlemark.analysis.run import analyse
from middlemark.report.elements.labels import series_by_experiment
from middlemark.report.output.section import sections_of
from middlemark.report.traffic import setting_tables
from middlemark.report.traffic.setting_tables import first_message_table
from middlemark.suite import Dimension
from middlemark.suite.metrics import Metric, metric_named
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


def test_a_metric_of_the_catalogue_that_no_table_has_is_shown_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    findings = analyse(build_run(tmp_path / "run", SUITE, {"one": Behaviour()}))
    series_of = series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    monkeypatch.setattr(setting_tables, "PLAIN", (metric_named("loss"),))
    (section,) = sections_of(findings, series_of)
    assert "Further metrics" not in [table.title for table in section.tables]
    new = Metric("kept_up", "achieved_share", Dimension.FRACTION, lower_is_better=False)
    monkeypatch.setattr(setting_tables, "PLAIN", (metric_named("loss"), new))
    (section,) = sections_of(findings, series_of)
    (further,) = (table for table in section.tables if table.title == "Further metrics")
    assert [heading.split(",")[0] for heading in further.headings] == ["middleware", "delivery", "kept_up"]
    assert further.lines[0][2].split()[0] in {"1", "100"}
