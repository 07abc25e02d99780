"""Scaling factors in words: who, how steep, from where to where."""

import re
from dataclasses import replace
from io import StringIO
from pathlib import Path

from rich.console import Console

from behaviour import Behaviour
from middlemark.analysis.run import analyse
from middlemark.report.elements.labels import series_by_experiment
from middlemark.report.output.terminal import print_summary
from middlemark.report.traffic.scaling import scaling_charts, scaling_lines
from middlemark.suite import Delivery
from run_builder import build_run

SUITE = """
suite: sizes
trials: 6
middlewares: all
sizes: [1 kB, 10 kB, 100 kB]
workloads: [{workload: imu, windows: {window: 1 s}}]
"""


def test_each_middleware_has_a_line_and_the_summary_shows_it(tmp_path: Path) -> None:
    behaviours = {name: Behaviour(latency_ns=50_000, per_byte_ns=0.5, drift=0.01) for name in ("one", "two")}
    findings = analyse(build_run(tmp_path / "run", SUITE, behaviours))
    first, second = scaling_lines(findings)
    assert re.match(r"one imu: 0\.(49|5)\d* ns a byte \(0\.[45]\d*–0\.5\d*\) upon [45]\d\.\d µs", first)
    assert "3 sizes from 1.00 kB to 100 kB" in first
    assert second.startswith("two imu: ")
    console = Console(file=StringIO(), record=True, width=200)
    print_summary(findings, console)
    assert "ns a byte" in "".join(console.export_text().splitlines())


def test_where_deliveries_differ_each_line_and_the_caption_say_so(tmp_path: Path) -> None:
    how = Behaviour(per_byte_ns=0.5)
    behaviours = {"one": how, "two": replace(how, delivery=Delivery.OWN_THREAD)}
    findings = analyse(build_run(tmp_path / "run", SUITE, behaviours))
    first, second = scaling_lines(findings)
    assert first.startswith("one imu delivery=library_thread: ")
    assert second.startswith("two imu delivery=own_thread: ")
    who = series_by_experiment(findings.manifest, [each.experiment for each in findings.experiments])
    (chart,) = scaling_charts(findings, who)
    assert chart.caption.endswith("Deliveries differ: library_thread (one); own_thread (two).")


def test_a_run_of_one_size_has_none(tmp_path: Path) -> None:
    suite = SUITE.replace("sizes: [1 kB, 10 kB, 100 kB]\n", "")
    assert scaling_lines(analyse(build_run(tmp_path / "run", suite, {"one": Behaviour()}))) == []
