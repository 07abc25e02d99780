"""Latency over load is drawn with what the search found on it: the capacity, and the knee."""

from dataclasses import replace

import pytest

from behaviour import Behaviour
from known_suites import CAPACITY_SEARCH
from middlemark.analysis.run import RunFindings, analyse
from middlemark.analysis.search.capacity import Capacity, LoadPoint
from middlemark.plan.schedule import Load
from middlemark.report.elements.chart import Chart
from middlemark.report.elements.labels import series_by_experiment
from middlemark.report.traffic.capacity_charts import capacity_charts
from run_builder import build_run


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> RunFindings:
    return analyse(build_run(tmp_path_factory.mktemp("load") / "run", CAPACITY_SEARCH, {"one": Behaviour()}))


def climbing(searched: Capacity, *, bent: bool) -> Capacity:
    """Flat up to 2 kHz, then tenfold with each step."""
    loads = [Load(rate_hz, 64) for rate_hz in (500.0, 1000.0, 2000.0, 2800.0, 4000.0)]
    medians_ns = (20e3, 21e3, 22e3, 220e3, 2200e3)
    points = tuple(LoadPoint(load, 3, 3, at_ns, 3 * at_ns, 0.0) for load, at_ns in zip(loads, medians_ns, strict=True))
    return replace(
        searched, points=points, middle=replace(searched.middle, sustained=loads[3]), knee=loads[2] if bent else None
    )


def drawn(findings: RunFindings, *, bent: bool) -> Chart:
    who = series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    (chart,) = capacity_charts([climbing(findings.capacities[0], bent=bent)], findings.experiments, who)
    return chart


def test_the_knee_is_marked_on_the_median_and_said_in_the_caption(findings: RunFindings) -> None:
    chart = drawn(findings, bent=True)
    assert chart.spec["datasets"]["knees"] == [{"series": "one", "load": 2000.0, "us": 22.0}]
    assert "Diamond: the knee" in chart.caption
    assert "n = 3 trials at each load." in chart.caption


def test_without_a_knee_nothing_is_marked_or_said(findings: RunFindings) -> None:
    chart = drawn(findings, bent=False)
    assert "knees" not in chart.spec["datasets"]
    assert "knee" not in chart.caption


def test_a_size_of_which_nothing_is_sustained_is_a_gap_in_the_line_and_no_bridge(findings: RunFindings) -> None:
    searched = findings.capacities[0]
    who = series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    brackets = [(Load(4000.0, 64), None), (None, Load(500.0, 1000)), (Load(2000.0, 64_000), None)]
    own = [
        replace(searched, middle=replace(searched.middle, sustained=sustained, not_sustained=not_sustained))
        for sustained, not_sustained in brackets
    ]
    rates = capacity_charts(own, findings.experiments, who)[0]
    assert sorted((row["bytes"], row["hz"]) for row in rates.spec["datasets"]["rows"]) == [
        (64, 4000.0),
        (1000, None),
        (64_000, 2000.0),
    ]
    assert "gap in a line" in rates.caption
