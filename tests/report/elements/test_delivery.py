"""Wherever middlewares stand beside each other, the delivery of each is told."""

from pathlib import Path

from behaviour import Behaviour
from known_suites import CAPACITY_SEARCH
from middlemark.analysis.run import analyse
from middlemark.report.conclusions.warnings import outcome_table
from middlemark.report.elements.labels import series_by_experiment
from middlemark.report.traffic.capacity import capacity_lines, capacity_table
from middlemark.report.traffic.setting_tables import (
    accounting_table,
    loss_table,
    outlier_table,
    process_table,
    rate_table,
)
from middlemark.suite import Delivery
from run_builder import build_run

SUITE = """
suite: told
trials: 4
middlewares: all
workloads: [{workload: imu, windows: {window: 1 s}}]
"""
TOLD = {"called": "library_thread", "polling": "polling"}
BEHAVIOURS = {"called": Behaviour(), "polling": Behaviour(delivery=Delivery.POLLING)}


def test_each_table_of_a_setting_tells_the_delivery_of_each_row(tmp_path: Path) -> None:
    findings = analyse(build_run(tmp_path / "run", SUITE, BEHAVIOURS))
    who = series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    for table in (accounting_table, loss_table, outcome_table, outlier_table, process_table, rate_table):
        shown = [table(comparison, who) for comparison in findings.comparisons]
        assert {each.headings[1] for each in shown} == {"delivery"}, shown[0].title
        assert {row[0]: row[1] for each in shown for row in each.lines} == TOLD, shown[0].title


def test_searches_tell_their_delivery_in_words_only_where_they_differ(tmp_path: Path) -> None:
    findings = analyse(build_run(tmp_path / "run", CAPACITY_SEARCH, BEHAVIOURS))
    who = series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    shown = capacity_table(findings.capacities, who)
    assert shown is not None
    assert {row[0]: row[1] for row in shown.lines} == TOLD
    for line in capacity_lines(findings.capacities, who):
        label, _, _, delivery = line.split(":")[0].split(", ")
        assert delivery == TOLD[label]
    (alone,) = capacity_lines(findings.capacities[:1], who)
    assert "library_thread" not in alone
