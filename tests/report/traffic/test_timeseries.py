"""Latency over the window is drawn where there is a course, and not where all messages make a single part."""

from pathlib import Path

import pytest

from behaviour import Behaviour
from middlemark.analysis.run import analyse
from middlemark.report.elements.labels import series_by_experiment
from middlemark.report.traffic.timeseries import time_charts
from run_builder import build_run

SUITE = """
suite: over_time
trials: 2
middlewares: [one]
workloads: {workload: stream, pattern: periodic, size: 100 B, rate: RATE}
windows: {window: 1 s}
"""


@pytest.mark.parametrize(("rate", "drawn"), [("20 Hz", []), ("200 Hz", ["overtime"])])
def test_a_single_part_is_no_course_over_time(tmp_path: Path, rate: str, drawn: list[str]) -> None:
    findings = analyse(build_run(tmp_path / "run", SUITE.replace("RATE", rate), {"one": Behaviour()}))
    who = series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    assert [chart.id for chart in time_charts(findings.comparisons[0], who)] == drawn
