"""A percentile curve shows no percentile that fewer than ten messages support, and a lost message as one that took for ever."""

from pathlib import Path

import pytest

from behaviour import Behaviour
from middlemark.analysis.run import analyse
from middlemark.report.elements.labels import series_by_experiment
from middlemark.report.traffic.distributions import percentile_curve
from middlemark.suite.metrics import Distribution
from run_builder import build_run

SUITE = """
suite: curved
trials: 3
middlewares: all
workloads: [{workload: imu, rate: 1 kHz, windows: {window: 1 s}}]
"""


@pytest.mark.parametrize("loss", [0.0, 0.2])
def test_a_curve_ends_where_ten_messages_are_beyond(tmp_path: Path, loss: float) -> None:
    findings = analyse(build_run(tmp_path / "run", SUITE, {"one": Behaviour(loss=loss)}))
    who = series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    (comparison,) = findings.comparisons
    chart = percentile_curve(comparison, who, Distribution.LATENCY_FROM_SEND)
    assert chart is not None
    (rows,) = chart.spec["datasets"].values()
    curve = findings.experiments[0].shapes.curves["imu", Distribution.LATENCY_FROM_SEND]
    assert curve.n == pytest.approx(3000 * (1 - loss), rel=0.05)
    assert curve.n_messages == 3000
    lost = 3000 - curve.n
    assert max(row["one_in"] for row in rows) == pytest.approx(3000 / max(lost, 10), rel=0.2)
    middle = min(rows, key=lambda row: abs(row["one_in"] - 2))
    assert middle["time"] == pytest.approx(50 if not loss else 53, rel=0.06)
